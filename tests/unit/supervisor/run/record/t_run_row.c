/* SPDX-License-Identifier: Apache-2.0 */
/* t_run_row.c - a queued run restored from a row. */
#include <stdio.h>

#include "supervisor/run/record/run_row.h"
#include "tests/unit/tap.h"

/* The trust of a run of a template for TRUSTS, restored from a row with OPTIONS. */
static enum template_trust revived(unsigned trusts, const char *options)
{
	struct requestor q = {.name = (char *)"alice"};
	struct template t = {.id = (char *)"echo", .trust = trusts, .users = 1};
	struct store_run row = {.inputs = "{}", .options = options};
	struct run *r;
	enum template_trust trust;

	snprintf(row.id, sizeof(row.id), "run_%026d", 2);
	r = run_row_revive(&row, &q, &t);
	trust = r->trust;
	run_free(r);
	return trust;
}

TEST(trust)
{
	const unsigned both = TRUST_LOCAL | TRUST_REMOTE;

	is_int(revived(both, "{\"trust\":\"remote\"}"), TRUST_REMOTE,
	       "who was trusted little is trusted little");
	is_int(revived(both, "{\"trust\":\"local\"}"), TRUST_LOCAL,
	       "who was trusted is trusted");
	is_int(revived(both, "{}"), TRUST_REMOTE,
	       "a row that does not say gives little");
	is_int(revived(both, NULL), TRUST_REMOTE,
	       "a row without options gives little trust");
	is_int(revived(both, "{"), TRUST_REMOTE,
	       "a row with broken options gives little trust");
	is_int(revived(both, "{\"trust\":\"full\"}"), TRUST_REMOTE,
	       "a word that is none gives little");
	is_int(revived(both, "{\"trust\":1}"), TRUST_REMOTE,
	       "a trust that is no word gives little trust");
	is_int(revived(TRUST_LOCAL, NULL), TRUST_LOCAL,
	       "a template for the trusted alone was run by one of them");
}

/* The number of rounds before a run restored from OPTIONS. */
static uint32_t rounds_before(const char *options)
{
	struct requestor q = {.name = (char *)"alice"};
	struct template t = {.id = (char *)"echo", .users = 1};
	struct store_run row = {.inputs = "{}", .options = options};
	struct run *r = run_row_revive(&row, &q, &t);
	uint32_t rounds = r->rounds.given;

	is_int(r->rounds.used, rounds, "none of these is awaited");
	run_free(r);
	return rounds;
}

TEST(rounds)
{
	const uint32_t one =
	    rounds_before("{\"attempts\":[],\"attemptStartedAt\":5}");
	const uint32_t rests = rounds_before("{\"attempts\":[{}]}");
	const uint32_t two =
	    rounds_before("{\"attempts\":[{}],\"attemptStartedAt\":5}");

	is_int(rounds_before("{}"), 0, "what has not begun has asked nothing");
	ok(one > 0 && run_round_is_old(1, one),
	   "rounds of the attempt that a server died with are over");
	is_int(rests, one, "rounds of an ended attempt are over");
	ok(two > one && run_round_is_old(one + 1, two),
	   "rounds of the next server's attempt are over when that server dies");
	ok(!run_round_is_old(two + 1, two + 3),
	   "rounds of the present attempt are not over");
}

TEST(task)
{
	struct requestor q = {.name = (char *)"alice"};
	struct template t = {.id = (char *)"echo", .users = 1};
	struct store_run row = {.inputs = "{}",
				.options =
				    "{\"capabilities\":{\"elicitation\":{}}}",
				.task = STORE_TASK_OUTPUT,
				.task_ttl_ms = 9};
	struct run *r;

	snprintf(row.id, sizeof(row.id), "run_%026d", 2);
	r = run_row_revive(&row, &q, &t);
	is_str(json_object_to_json_string_ext(r->task.capabilities,
					      JSON_C_TO_STRING_PLAIN),
	       "{\"elicitation\":{}}",
	       "a task's client can be asked what it could be");
	ok(r->task.told && !r->task.pending && r->task.ttl_ms == 9,
	   "a revived task was told to the client");
	run_free(r);
}

TEST(try)
{
	struct requestor q = {.name = (char *)"alice"};
	struct template t = {.id = (char *)"echo", .users = 1};
	struct store_run row = {.inputs = "{\"a\":1}",
				.retried_from = "run_first"};
	struct run *r = run_row_revive(&row, &q, &t);

	is_str(r->retried_from, "run_first",
	       "a revived run repeats the same run");
	is_int(r->kept.bytes, 7, "a revived run's row has the inputs already");
	ok(store_has_inputs(&row) && store_keeps_inputs(&row),
	   "the inputs of a revived run stay in the row");
	run_free(r);
	row.inputs_lack = "[\"password\"]";
	ok(!store_has_inputs(&row) && store_keeps_inputs(&row),
	   "without a secret it is not started, but the rest stays");
	row.inputs_lack = "{\"bytes\":7}";
	ok(store_has_inputs(&row) && !store_keeps_inputs(&row),
	   "what is too long starts it, and then goes");
}

TEST(attempts)
{
	struct requestor q = {.name = (char *)"alice"};
	struct template t = {.id = (char *)"echo", .users = 1};
	struct store_run row = {
	    .inputs = "{}",
	    .options = "{\"attempts\":[{\"attempt\":1,\"cpuMs\":70},"
		       "{\"attempt\":2},{\"attempt\":3,\"cpuMs\":5}],"
		       "\"attemptStartedAt\":9}"};
	struct run *r = run_row_revive(&row, &q, &t);

	is_int(run_attempts(r), 3, "a revived run has the attempts of the row");
	is_int(r->attempts.started_ms, 9,
	       "a revived run has the start of the attempt");
	is_int(r->attempts.cpu_ms, 75,
	       "a revived run has the CPU time of all attempts");
	row.options = "{}";
	run_row_attempts(r, &row);
	is_int(r->attempts.cpu_ms, 0, "one without any has used none yet");
	run_free(r);
}

TEST(rounds_told)
{
	struct store_run row = {.options = "{\"roundsUsed\":3}"};

	is_int(run_row_rounds_used(&row), 3, "a row has the last round used");
	row.options = "{\"roundsUsed\":-1}";
	is_int(run_row_rounds_used(&row), 0, "what is no number is none");
	row.options = "{\"roundsUsed\":4294967295}";
	is_int(run_row_rounds_used(&row), 0,
	       "a number of rounds that is too large is none");
	row.options = "{\"roundsUsed\":4294967294}";
	is_int(run_row_rounds_used(&row), 4294967294,
	       "the largest number of rounds is read");
	row.options = "no JSON";
	is_int(run_row_rounds_used(&row), 0, "a broken row has none");
	row.options = NULL;
	is_int(run_row_rounds_used(&row), 0,
	       "a row without options has no rounds");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_remote_row.c - the state, the end and the log of a remote run, by the run's row. */
#include <stdio.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/cluster/remote_row.h"
#include "supervisor/run/record/run_row.h"
#include "tests/unit/tap.h"

static size_t lines;

static void on_line(struct run_watch *w, struct run *r,
		    const struct run_notice *n)
{
	(void)w, (void)r;
	lines += n->kind == NOTICE_LOG;
}

TEST(log_elsewhere)
{
	struct requestor q = {.name = (char *)"alice"};
	struct template t = {.id = (char *)"echo", .users = 1};
	struct store_run row = {.inputs = "{}", .options = "{}"};
	struct run *r = run_row_revive(&row, &q, &t);
	struct run_watch w = {.on_notice = on_line};

	run_watch_add(r, &w);
	remote_row_tell_log(r, "09:00 warning first\n");
	is_int((long long)lines, 1, "a line of another server's is told");
	remote_row_tell_log(r, "09:00 warning first\n09:01 error second\n");
	is_int((long long)lines, 2,
	       "of a longer log only the new line is reported");
	run_watch_del(&w);
	run_free(r);
}

/* Return a remote run in the state BEFORE, ended by a row with STATUS and the view TEXT. */
static struct run *ended_elsewhere(enum run_state before,
				   enum store_status status, const char *text)
{
	static struct requestor q = {.name = (char *)"alice"};
	static struct template t = {.id = (char *)"echo",
				    .version_text = (char *)"1.0.0",
				    .users = 100};
	struct store_run row = {.inputs = "{}", .options = "{}"};
	struct run *r = run_row_revive(&row, &q, &t);
	struct json_object *view = json_tokener_parse(text);

	log_set_level(LOG_LEVEL_ERROR);
	r->remote.place = RUN_REMOTE;
	run_mirror(r, before);
	row.status = status;
	remote_row_end(r, &row, view);
	json_object_put(view);
	return r;
}

TEST(end_elsewhere)
{
	static const char failed[] =
	    "{\"error\":{\"errorCode\":\"RUN_TIMEOUT\",\"message\":\"late\","
	    "\"details\":{\"limit\":1}}}";
	struct run *r = ended_elsewhere(RUN_RUNNING, STORE_FAILED, failed);

	is_str(run_state_name(r->state), "failed",
	       "a run whose row has failed is failed");
	is_str(r->error.code, "RUN_TIMEOUT",
	       "a run whose row has failed has the row's error code");
	is_str(r->error.message, "late",
	       "a run whose row has failed has the row's message");
	ok(r->error.details != NULL,
	   "a run whose row has failed has the details of the row's error");
	run_free(r);
	r = ended_elsewhere(RUN_RUNNING, STORE_FAILED, "{}");
	is_str(r->error.code, "EXECUTION_ERROR",
	       "one that does not say how has failed all the same");
	is_str(r->error.message, "", "without a word");
	run_free(r);
	r = ended_elsewhere(RUN_AWAITING_INPUT, STORE_SUCCEEDED, failed);
	is_str(run_state_name(r->state), "succeeded",
	       "one that was asking has succeeded");
	is_str(r->error.code, NULL,
	       "a run whose row has succeeded has no error");
	run_free(r);
	r = ended_elsewhere(RUN_RUNNING, STORE_PARTIAL_SUCCESS, failed);
	is_str(run_state_name(r->state), "partial_success",
	       "a run whose row has succeeded in part is a partial success");
	is_str(r->error.code, NULL, "a partial success has no error");
	run_free(r);
	r = ended_elsewhere(RUN_QUEUED, STORE_CANCELED,
			    "{\"error\":{\"errorCode\":\"RUN_CANCELED\"}}");
	is_str(run_state_name(r->state), "canceled",
	       "one that waited was cancelled");
	is_str(r->error.code, "RUN_CANCELED",
	       "a run whose row was cancelled has the row's error code");
	run_free(r);
	r = ended_elsewhere(RUN_RUNNING, STORE_CANCELED, "{}");
	is_str(run_state_name(r->state), "canceled",
	       "a running run whose row was cancelled is cancelled");
	run_free(r);
}

TEST(log_elsewhere_in_pieces)
{
	struct requestor q = {.name = (char *)"alice"};
	struct template t = {.id = (char *)"echo", .users = 1};
	struct store_run row = {.inputs = "{}", .options = "{}"};
	struct run *r = run_row_revive(&row, &q, &t);
	struct run_watch w = {.on_notice = on_line};

	lines = 0;
	run_watch_add(r, &w);
	remote_row_tell_log(r, NULL);
	remote_row_tell_log(r, "09:00 warning fir");
	is_int((long long)lines, 0, "half a line is told later");
	remote_row_tell_log(r, "09:00 warning first\n09:01 no-level x\nno\n"
			       "09:02 a-level-whose-name-is-too-long x\n");
	is_int((long long)lines, 1, "what has no level is no line of a log");
	remote_row_tell_log(r, "09:00 warn");
	is_int((long long)lines, 1,
	       "one that is shorter than before tells nothing");
	run_watch_del(&w);
	run_free(r);
}

TEST(heard)
{
	struct store_run row = {
	    .options =
		"{\"roundsUsed\":3,\"heard\":[\"guest_a\",\"guest_b\"]}"};

	ok(remote_row_heard(&row, "guest_a") &&
	       remote_row_heard(&row, "guest_b"),
	   "a row names the guests that its run has heard");
	ok(!remote_row_heard(&row, "guest_c") &&
	       !remote_row_heard(&row, "guest"),
	   "a row names no guest that its run has not heard");
	row.options = "{\"roundsUsed\":-1}";
	ok(!remote_row_heard(&row, "guest_a"),
	   "a row without names says of no guest that it was heard");
	row.options = "no JSON";
	ok(!remote_row_heard(&row, "guest_a"),
	   "a broken row names no guest as heard");
	row.options = NULL;
	ok(!remote_row_heard(&row, "guest_a"),
	   "a row without options names no guest as heard");
}

TEST(state)
{
	static const struct {
		struct store_run row;
		enum run_state want;
	} cases[] = {
	    {{.status = STORE_QUEUED}, RUN_QUEUED},
	    {{.status = STORE_RUNNING}, RUN_RUNNING},
	    {{.status = STORE_RUNNING, .awaiting = true}, RUN_AWAITING_INPUT},
	    {{.status = STORE_RUNNING, .awaiting = true, .cancelling = true},
	     RUN_CANCELLING},
	    {{.status = STORE_SUCCEEDED}, RUN_SUCCEEDED},
	    {{.status = STORE_PARTIAL_SUCCESS}, RUN_PARTIAL_SUCCESS},
	    {{.status = STORE_FAILED}, RUN_FAILED},
	    {{.status = STORE_CANCELED}, RUN_CANCELED},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_str(run_state_name(remote_row_state(&cases[i].row)),
		       run_state_name(cases[i].want),
		       "the row of a run that is %s says so",
		       run_state_name(cases[i].want));
}

TEST(reply)
{
	struct store_run row = {.options = "{\"reply\":true}"};

	ok(remote_row_is_reply(&row),
	   "a row says whether its result is a reply");
	row.options = "{\"reply\":false}";
	ok(!remote_row_is_reply(&row),
	   "a row says that its result is no reply");
	row.options = NULL;
	ok(!remote_row_is_reply(&row),
	   "a row without options says that the result is no reply");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_admission.c - admission of a further run of a requestor, and the texts of refusals.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/requestor/admission.h"
#include "tests/unit/tap.h"

static struct requestors all;
static struct config *config;
static struct sched sched;

static void configure(const char *text)
{
	char errmsg[256] = "";

	config_free(config);
	config = config_new(0);
	if (config_read_text(config, "f", text, strlen(text), errmsg,
			     sizeof(errmsg)) < 0)
		printf("# %s\n", errmsg);
	requestors_fini(&all);
	requestors_apply(&all, config);
	sched_init(&sched);
}

/* Let one run of Q wait. */
static void wait_one(struct requestor *q, int64_t bytes)
{
	static struct sched_item items[1000];
	static size_t n;
	struct sched_item *item = &items[n++];

	item->bytes = bytes;
	sched_put(&sched, &q->lane, item);
}

/* How many runs of Q are let in, MOST at the most. */
static int fill(struct requestor *q, bool shared, int most)
{
	struct admission a = {config, &sched, shared, false, 1};
	struct tool_error r = {0};
	int n = 0;

	for (; n < most && admission_check_run(&a, q, &r); n++)
		wait_one(q, 1);
	tool_error_fini(&r);
	return n;
}

/* Check a refusal with CODE about LIMIT, and all members of a refusal. */
static void refused(const struct tool_error *r, const char *code,
		    const char *limit, const char *what)
{
	struct json_object *d = r->details;

	is_str(r->code, code, "%s: %s", what, code);
	is_str(json_member_str(d, "limit"), limit, "%s: of %s", what, limit);
	ok(json_member(d, "used") && json_member(d, "allowed") &&
	       json_member_str(d, "unit") &&
	       strstr(json_member_str(d, "whoCanRaise"), "operator") &&
	       json_object_get_int64(json_member(d, "retryAfterMs")) > 0,
	   "%s: with used, allowed, unit, whoCanRaise, retryAfterMs", what);
}

TEST(queue)
{
	struct requestor *a, *b, *c, *d;
	struct tool_error r = {0};
	struct admission ask = {NULL, &sched, true, false, 1};

	configure("[limits]\nmax_queued_runs = 100\n"
		  "[requestor \"d\"]\nuid = 4\nmax_queued_runs = 2\n");
	a = requestors_of_uid(&all, 1);
	b = requestors_of_uid(&all, 2);
	c = requestors_of_uid(&all, 3);
	d = requestors_of_uid(&all, 4);
	is_int(fill(a, true, 1000), 84,
	       "one has nine tenths of the queue, in steps of an eighth");
	is_int(fill(b, true, 1000), 12, "another likewise of what is left");
	is_int(fill(c, true, 1000), 3,
	       "a third requestor has room in the queue");
	is_int(fill(requestors_of_uid(&all, 5), true, 1000), 1, "to the last");
	is_int(a->refused, 1, "who was refused is counted");
	ask.config = config;
	ok(!admission_check_run(&ask, d, &r),
	   "the queue is full for a third requestor");
	refused(&r, "QUEUE_FULL", "max_queued_runs", "a full queue");
	tool_error_fini(&r);
	ask.starts = true;
	ok(admission_check_run(&ask, d, &r),
	   "what starts at once need not wait");

	configure("[limits]\nmax_queued_runs = 100\n"
		  "[requestor \"d\"]\nuid = 4\nmax_queued_runs = 2\n");
	d = requestors_of_uid(&all, 4);
	is_int(fill(d, true, 1000), 2, "a limit of one's own");
	ask = (struct admission){config, &sched, true, false, 1};
	ok(!admission_check_run(&ask, d, &r), "counts");
	refused(&r, "QUEUE_FULL", "max_queued_runs", "one's own");
	ok(strstr(json_member_str(r.details, "whoCanRaise"),
		  "[requestor \"d\"]") != NULL,
	   "a refusal names the section whose limit counts");
	tool_error_fini(&r);
	is_int(fill(requestors_of_uid(&all, 1), false, 1000), 98,
	       "who is alone may have it all");
}

/*
 * The refusal of a full queue for A, with MINE runs of A waiting and THEIRS of B.
 */
static char *told(int mine, int64_t bytes, int theirs, int64_t their_bytes)
{
	struct admission ask = {NULL, &sched, true, false, 1};
	struct requestor *a, *b;
	struct tool_error r = {0};
	char *text;

	configure("[limits]\nmax_queued_runs = 100\n");
	ask.config = config;
	a = requestors_of_uid(&all, 1);
	b = requestors_of_uid(&all, 2);
	for (int i = 0; i < mine; i++)
		wait_one(a, bytes);
	for (int i = 0; i < theirs; i++)
		wait_one(b, their_bytes);
	text = admission_check_run(&ask, a, &r)
		   ? NULL
		   : xasprintf("%s: %s %s", r.code, r.message,
			       json_text(r.details, NULL));
	tool_error_fini(&r);
	return text;
}

/* A refusal has the same text whatever other requestors use. */
TEST(silence)
{
	static const struct {
		int mine;
		int64_t bytes;
		int theirs;
		int64_t their_bytes;
		const char *what;
	} all_cases[] = {
	    {90, 1, 1, 1, "runs, and a run of another's waits"},
	    {90, 1, 10, 1, "runs, and ten of another's"},
	    {1, 250 << 20, 1, 5 << 20, "bytes, and 5 MiB of another's wait"},
	    {1, 250 << 20, 9, 1, "bytes, and nine bytes of another's"},
	};

	int steps = 0;

	for (size_t i = 0; i < sizeof(all_cases) / sizeof(all_cases[0]); i++) {
		char *idle = told(all_cases[i].mine, all_cases[i].bytes, 0, 0);
		char *busy =
		    told(all_cases[i].mine, all_cases[i].bytes,
			 all_cases[i].theirs, all_cases[i].their_bytes);

		ok(idle != NULL && strstr(idle, "QUEUE_FULL") != NULL,
		   "a full queue of %s", all_cases[i].what);
		is_str(
		    busy, idle,
		    "a full queue is refused in the same words to a busy requestor");
		free(idle);
		free(busy);
	}
	for (int64_t theirs = 1; theirs <= 800; theirs++)
		steps += admission_share(800, theirs) !=
			 admission_share(800, theirs - 1);
	ok(steps <= 32, "of 800 others' runs a share tells %d steps", steps);
}

TEST(bytes)
{
	struct admission ask = {NULL, &sched, true, false, 1 << 20};
	struct requestor *a, *b;
	struct tool_error r = {0};

	configure("");
	ask.config = config;
	a = requestors_of_uid(&all, 1);
	b = requestors_of_uid(&all, 2);
	wait_one(a, 230LL << 20);
	ok(!admission_check_run(&ask, a, &r),
	   "memory for inputs is shared likewise");
	is_str(json_member_str(r.details, "limit"), "queued_bytes",
	       "a refusal for memory of inputs names the limit");
	tool_error_fini(&r);
	ok(admission_check_run(&ask, b, &r), "another has room");
	ask.bytes = 100ull << 20;
	ok(!admission_check_run(&ask, b, &r),
	   "inputs larger than the memory left are refused");
	tool_error_fini(&r);
}

TEST(quotas)
{
	struct admission ask = {NULL, &sched, true, true, 1};
	struct tool_error r = {0};
	struct requestor *q;

	configure("[requestor \"a\"]\nuid = 1\ncpu_seconds_per_hour = 5\n"
		  "artifact_bytes = 1000\n");
	ask.config = config;
	q = requestors_of_uid(&all, 1);
	requestor_charge(q, 4998);
	requestor_set_usage(q, 999, 0);
	ok(admission_check_run(&ask, q, &r), "below its quotas");
	requestor_charge(q, 0);
	ok(!admission_check_run(&ask, q, &r), "not at its CPU time");
	refused(&r, "QUOTA_EXCEEDED", "cpu_seconds_per_hour", "CPU time");
	tool_error_fini(&r);
	configure("[requestor \"a\"]\nuid = 1\nartifact_bytes = 1000\n");
	ask.config = config;
	q = requestors_of_uid(&all, 1);
	requestor_set_usage(q, 1000, 0);
	ok(!admission_check_run(&ask, q, &r),
	   "artifacts over the requestor's limit are refused");
	refused(&r, "QUOTA_EXCEEDED", "artifact_bytes", "artifacts");
	is_int(json_object_get_int64(json_member(r.details, "used")), 1000,
	       "a refusal for artifacts says how much is used");
	is_int(json_object_get_int64(json_member(r.details, "allowed")), 1000,
	       "what is allowed");
	tool_error_fini(&r);
}

int main(void)
{
	tap_run();
	requestors_fini(&all);
	config_free(config);
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_run_steps.c - what a worker may say of its steps, and what comes of it. */
#include <errno.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json_write.h"
#include "supervisor/run/run_steps.h"
#include "tests/unit/tap.h"

static struct str s(const char *text)
{
	return (struct str){text, strlen(text)};
}

static int declare(struct run_steps *steps, uint64_t index, uint64_t count,
		   const char *name)
{
	struct msg_step m = {.index = index, .count = count, .name = s(name)};
	const char *errmsg;

	return run_steps_apply(steps, &m, &errmsg);
}

static int change(struct run_steps *steps, uint64_t index,
		  enum msg_step_state to)
{
	struct msg_step m = {.index = index,
			     .state = to,
			     .attempts = 1,
			     .elapsed_ms = 3,
			     .code = s("E"),
			     .message = s("m")};
	const char *errmsg;

	return run_steps_apply(steps, &m, &errmsg);
}

TEST(changes)
{
	static const bool may[MSG_STEP_STATES][MSG_STEP_STATES] = {
	    [MSG_STEP_PENDING] =
		{[MSG_STEP_RUNNING] = true, [MSG_STEP_SKIPPED] = true},
	    [MSG_STEP_RUNNING] = {[MSG_STEP_RUNNING] = true,
				  [MSG_STEP_SUCCEEDED] = true,
				  [MSG_STEP_FAILED] = true,
				  [MSG_STEP_SKIPPED] = true},
	};
	static const char *const names[] = {"pending", "running", "succeeded",
					    "failed", "skipped"};

	for (int from = 0; from < MSG_STEP_STATES; from++)
		for (int to = MSG_STEP_RUNNING; to < MSG_STEP_STATES; to++) {
			struct run_steps steps = {0};

			declare(&steps, 0, 1, "a");
			if (from == MSG_STEP_SUCCEEDED ||
			    from == MSG_STEP_FAILED)
				change(&steps, 0, MSG_STEP_RUNNING);
			if (from != MSG_STEP_PENDING)
				change(&steps, 0, (enum msg_step_state)from);
			is_int(change(&steps, 0, (enum msg_step_state)to),
			       may[from][to] ? 0 : -EPROTO, "%s to %s: %s",
			       names[from], names[to],
			       may[from][to] ? "taken" : "refused");
			run_steps_fini(&steps);
		}
}

TEST(declaring)
{
	struct run_steps steps = {0};

	is_int(change(&steps, 0, MSG_STEP_RUNNING), -EPROTO,
	       "of no steps none can change");
	is_int(declare(&steps, 0, 1, "load"), 0, "one step is declared");
	is_str(steps.all[0].name, "load", "a declared step keeps the name");
	is_int(declare(&steps, 1, 3, "row"), 0, "three are declared at once");
	is_str(steps.all[3].name, "row[3]", "each with its number");
	is_int(declare(&steps, 3, 1, "again"), -EPROTO, "none twice");
	is_int(declare(&steps, 5, 1, "gap"), -EPROTO, "none out of order");
	is_int(declare(&steps, 4, STEPS_MAX, "many"), -EPROTO,
	       "more steps than a run may have are refused");
	is_int((int64_t)steps.n, 4, "what was refused changed nothing");
	is_int(change(&steps, 9, MSG_STEP_RUNNING), -EPROTO,
	       "an undeclared step cannot change");
	run_steps_fini(&steps);
}

TEST(close)
{
	struct run_steps steps = {0};
	struct buf out = {0};
	char *text;

	declare(&steps, 0, 3, "x");
	change(&steps, 0, MSG_STEP_RUNNING);
	change(&steps, 0, MSG_STEP_SUCCEEDED);
	change(&steps, 1, MSG_STEP_RUNNING);
	is_int((int64_t)run_steps_done(&steps), 1, "one of three is done");
	ok(run_steps_first_failed(&steps) == NULL, "none has failed");
	run_steps_close(&steps, "RUN_TIMEOUT", "too long");
	is_int((int64_t)run_steps_done(&steps), 3, "at the end all are done");
	is_int(steps.all[1].state, MSG_STEP_FAILED,
	       "the running one has failed");
	is_int(steps.all[2].state, MSG_STEP_SKIPPED,
	       "the pending one is skipped");
	is_str(run_steps_first_failed(&steps)->code, "RUN_TIMEOUT",
	       "the first failed step says why");
	json_open(&out, NULL);
	run_steps_write(&out, &steps);
	json_close(&out);
	text = buf_take(&out, NULL);
	is_str(
	    text,
	    "{\"steps\":[{\"name\":\"x[1]\",\"status\":\"succeeded\",\"attempts\":1,"
	    "\"elapsedMs\":3},{\"name\":\"x[2]\",\"status\":\"failed\","
	    "\"attempts\":1,\"elapsedMs\":3,\"error\":{\"code\":\"RUN_TIMEOUT\","
	    "\"message\":\"too long\"}},{\"name\":\"x[3]\",\"status\":"
	    "\"skipped\",\"attempts\":0,\"elapsedMs\":0}]}",
	    "the view has them all");
	free(text);
	run_steps_fini(&steps);
}

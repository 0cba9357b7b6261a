/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_call.c - the call of run_task_template or retry_task_run, for run.c:
 * waits for the run's end, shows its progress, and cancels it on ctrl-C. When
 * the server is lost the functions return CLI_TROUBLE and print how to find the
 * run again.
 */
#include "cli/run/run_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/server_flags.h"
#include "proto/json/json_pack.h"

#define POLL_MS 1000	     /* pollAfterMs of the contract */
#define CANCEL_WAIT_MS 75000 /* the longest grace is a minute */
#define ID_WAIT_MS 250	     /* for the run's id before cancelling */

static const char *tool_of(const struct run_call *r)
{
	return r->again != NULL ? "retry_task_run" : "run_task_template";
}

static struct json_object *call_arguments(const struct run_call *r,
					  const char *mode)
{
	struct json_object *options =
	    json_pack("timeoutMs?i mode:s idempotencyKey:s allowWrites?b",
		      r->timeout_ms, mode, r->key, r->allow_writes);

	if (r->again != NULL)
		return json_pack(
		    "runId:s templateVersion?s inputs?O members?O options:o",
		    r->again, r->version,
		    json_object_object_length(r->inputs) > 0 ? r->inputs : NULL,
		    r->members != NULL &&
			    json_object_object_length(r->members) > 0
			? r->members
			: NULL,
		    options);
	return json_pack("templateId:s templateVersion?s inputs:O options:o",
			 r->template, r->version, r->inputs, options);
}

static bool ask_to_cancel(struct run_call *r, const char *id)
{
	struct tool_result a;

	message_more("cancelling %s; again to leave at once", id);
	if (client_tool(r->client, "cancel_task_run", json_pack("runId:s", id),
			&a) != 0)
		return false;
	tool_result_fini(&a);
	return true;
}

/*
 * Cancel the run of a CALL under way. The run's id is not known yet, but a
 * second call with the same key returns the id without making another run. If
 * that answer is late, the request is cancelled instead. Returns the id of the
 * call to wait for.
 */
static int64_t cancel_call(struct run_call *r, int64_t call)
{
	int64_t again =
	    client_send_tool(r->client, tool_of(r), call_arguments(r, "async"));
	struct tool_result a;
	int rc;

	progress_hide(&r->progress);
	signals_seen();
	rc = client_wait(r->client, again, ID_WAIT_MS, &a);
	if (rc == -ETIMEDOUT) {
		message_more("cancelling; again to leave at once");
		client_cancel(r->client, call);
		return again;
	}
	if (rc == 0) {
		const char *id = json_member_str(a.value, "runId");

		if (id != NULL)
			ask_to_cancel(r, id);
		tool_result_fini(&a);
	}
	return call;
}

static void on_progress(void *arg, uint64_t done, uint64_t total,
			const char *message)
{
	struct run_call *r = arg;

	if (!r->cancelling)
		progress_set(&r->progress, done, total, message);
}

/* Wait for the answer to CALL, without a time limit. 0 or an exit status. */
static int wait_answer(struct run_call *r, int64_t call, struct tool_result *a)
{
	for (;;) {
		int ms = r->cancelling ? CANCEL_WAIT_MS
				       : progress_tick(&r->progress);
		int rc = client_wait(r->client, call, ms, a);

		if (rc == 0)
			return 0;
		if (rc == -EPIPE && client_sent_too_much())
			return client_trouble();
		if (rc == -EPIPE) {
			message_more(
			    "  hint: \"paddock ps -a%s\" tells what became "
			    "of the run, once a server is there again",
			    server_flags());
			return client_trouble();
		}
		if (rc == -ETIMEDOUT && r->cancelling) {
			message_print("the server does not end the run");
			return client_trouble();
		}
		if (rc == -EINTR) {
			r->cancelling = true;
			call = cancel_call(r, call);
		}
	}
}

bool run_call_ended(struct json_object *view)
{
	return !json_member_is(view, "status", "queued") &&
	       !json_member_is(view, "status", "running");
}

/* Wait POLL_MS; a signal cancels the run meanwhile. 0 or an exit status. */
static int pause_a_while(struct run_call *r, const char *id)
{
	int64_t end = clock_mono_ms() + POLL_MS;

	while (clock_mono_ms() < end) {
		int tick =
		    r->cancelling ? POLL_MS : progress_tick(&r->progress);
		int64_t left = end - clock_mono_ms();
		struct tool_result none;
		int rc = client_wait(
		    r->client, 0,
		    tick < 0 || tick > left ? (int)(left > 0 ? left : 0) : tick,
		    &none);

		if (rc == -EPIPE)
			return client_trouble();
		if (rc != -EINTR)
			continue;
		r->cancelling = true;
		progress_hide(&r->progress);
		signals_seen();
		if (!ask_to_cancel(r, id))
			return client_trouble();
	}
	return 0;
}

int run_call_follow(struct run_call *r, struct tool_result *a)
{
	char *id = xstrdup(json_member_str(a->value, "runId"));
	struct json_object *p;
	int rc = 0;

	while (rc == 0 && ((a->good && !run_call_ended(a->value)) ||
			   client_limited(a) > 0)) {
		rc = pause_a_while(r, id);
		if (rc == 0) {
			tool_result_fini(a);
			rc = wait_answer(
			    r,
			    client_send_tool(r->client, "get_task_run",
					     json_pack("runId:s", id)),
			    a);
		}
		p = rc == 0 ? json_member(a->value, "progress") : NULL;
		if (rc == 0 && a->good && !r->cancelling)
			progress_set(
			    &r->progress,
			    json_object_get_uint64(json_member(p, "doneSteps")),
			    json_object_get_uint64(
				json_member(p, "totalSteps")),
			    json_member_str(a->value, "message"));
	}
	progress_hide(&r->progress);
	free(id);
	return rc;
}

/*
 * Call, or, with ASKED (the answer with questions), repeat the call with
 * RESPONSES (lent); after RATE_LIMITED call again for a while. The key ensures
 * that only one run is made. 0 and the answer, or an exit status.
 */
static int ask_for_run(struct run_call *r, const char *mode,
		       const struct tool_result *asked,
		       struct json_object *responses, struct tool_result *a)
{
	int64_t until_ms = clock_mono_ms() + CLIENT_PATIENCE_MS, call;
	int rc;

	do {
		call = asked == NULL
			   ? client_send_tool(r->client, tool_of(r),
					      call_arguments(r, mode))
			   : client_send_answers(
				 r->client, tool_of(r), call_arguments(r, mode),
				 json_member_str(asked->value, "requestState"),
				 json_object_get(responses));
		client_on_progress(r->client, call, on_progress, r);
		rc = wait_answer(r, call, a);
		if (rc != 0 || r->cancelling)
			return rc;
		rc = client_ask_again(r->client, until_ms, a);
	} while (rc > 0);
	return rc < 0 ? client_trouble() : 0;
}

/* Cancel the run, since its question is not answered; A is then its handle. */
static int give_up_call(struct run_call *r, struct tool_result *a)
{
	const char *id;
	int rc;

	r->cancelling = true;
	signals_seen();
	rc = client_wait(
	    r->client,
	    client_send_tool(r->client, tool_of(r), call_arguments(r, "async")),
	    CANCEL_WAIT_MS, a);
	if (rc < 0)
		return client_trouble();
	id = json_member_str(a->value, "runId");
	return id == NULL || ask_to_cancel(r, id) ? 0 : client_trouble();
}

/* Answer the questions in A; A is then the answer to the repeated call. */
static int answer_asked(struct run_call *r, const char *mode,
			struct tool_result *a)
{
	struct tool_result asked = *a;
	struct json_object *responses;
	int rc;

	progress_hide(&r->progress);
	responses = answers_give(&r->answers, r->template,
				 json_member(asked.value, "inputRequests"));
	*a = (struct tool_result){0};
	rc = responses != NULL ? ask_for_run(r, mode, &asked, responses, a)
			       : give_up_call(r, a);
	/* an answer that comes too late: the same key tells the run's end */
	if (rc == 0 && !a->good &&
	    json_member_is(a->value, "errorCode", "REQUEST_STATE_REFUSED")) {
		tool_result_fini(a);
		rc = ask_for_run(r, mode, NULL, NULL, a);
	}
	json_object_put(responses);
	tool_result_fini(&asked);
	return rc;
}

int run_call_start(struct run_call *r, const char *mode, struct tool_result *a)
{
	unsigned char random[RUN_CALL_KEY_BYTES];
	int rc;

	if (r->key == NULL) {
		if (getrandom(random, sizeof(random), 0) !=
		    (ssize_t)sizeof(random))
			abort();
		memcpy(r->made_key, RUN_CALL_KEY_PREFIX,
		       sizeof(RUN_CALL_KEY_PREFIX));
		for (size_t i = 0; i < RUN_CALL_KEY_BYTES; i++)
			snprintf(r->made_key + strlen(RUN_CALL_KEY_PREFIX) +
				     2 * i,
				 3, "%02x", random[i]);
		r->key = r->made_key;
	}
	client_declare(r->client,
		       answers_capabilities(strcmp(mode, "async") == 0));
	progress_init(&r->progress, r->template, r->cli->quiet);
	rc = ask_for_run(r, mode, NULL, NULL, a);
	while (rc == 0 && a->asks && !r->cancelling)
		rc = answer_asked(r, mode, a);
	progress_hide(&r->progress);
	return rc;
}

void run_call_fini(struct run_call *r)
{
	progress_fini(&r->progress);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_reply.c - checks a client's answer to a question, and makes the text
 * that the worker gets: a small answer at once, a large one on a thread.
 * Nothing fails: the template gets an error for a wrong answer, and a question
 * that ends meanwhile cancels its job.
 */
#include "supervisor/mcp/input/input_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/session/session.h"

#define CPU_MS 5000 /* far more than 16 MiB can take */
/* the member with the user's data; other members are MCP's */
#define CONTENT "/content"

struct input_reply_job {
	struct thread_pool *o;
	struct requestor *who;
	struct thread_pool_job *job;
	struct pending_input *p; /* lives until the job ends or is cancelled */
	struct input_request q;	 /* taken from P, and given back */
	struct rpc_msg m;
	struct input_reply reply;
};

/* ---- on the loop or a thread ---- */

static void take_text(struct input_reply *reply, struct json_object *v)
{
	const char *text = json_text(v, &reply->len);

	reply->text = xstrndup(text, reply->len);
	json_object_put(v);
}

/* Make REPLY the error ERRMSG, which is emptied. */
static void make_refusal(struct input_reply *reply, struct tool_error *errmsg)
{
	struct json_object *e = json_object_new_object();

	reply->how = xstrdup(errmsg->code);
	json_add(e, "code:s message:s details?O", errmsg->code, errmsg->message,
		 errmsg->details);
	tool_error_fini(errmsg);
	take_text(reply, e);
}

static void make_answer(struct input_reply *reply,
			const struct input_request *q,
			struct json_object *result, struct schema_budget *b)
{
	struct tool_error errmsg = {0};
	struct json_object *answer =
	    input_request_result(q, result, b, &errmsg);
	const char *at;
	char *place;

	if (answer == NULL) {
		/*
		 * say first that the error is about the client's answer: the template's
		 * author does not know the place that the error names
		 */
		at = json_member_str(errmsg.details, "pointer");
		place = errmsg.message;
		errmsg.message = xasprintf(
		    "the client's answer does not fit what was asked: %s",
		    place);
		if (at != NULL && strncmp(at, CONTENT, strlen(CONTENT)) == 0)
			reply->wrong = place;
		else
			free(place);
		make_refusal(reply, &errmsg);
		return;
	}
	reply->ok = true;
	reply->how = xstrdup_opt(json_member_str(answer, "action"));
	take_text(reply, answer);
}

static void make(struct input_reply *reply, const struct input_request *q,
		 const struct rpc_msg *m, struct schema_budget *b)
{
	const char *message = json_member_str(m->error, "message");
	struct tool_error errmsg = {0};

	if (json_object_is_type(m->result, json_type_object)) {
		make_answer(reply, q, m->result, b);
		return;
	}
	tool_error_set(&errmsg, "INPUT_FAILED",
		       json_pack("code:O message:s",
				 json_member(m->error, "code"),
				 message != NULL ? message : ""),
		       "the client answered with an error");
	make_refusal(reply, &errmsg);
}

static void reply_fini(struct input_reply *reply)
{
	free(reply->how);
	free(reply->wrong);
	free(reply->text);
}

/* ---- a question asked once more ---- */

#define AGAIN_MAX 3 /* of a question */

/*
 * End P, which is asked of no client now, with REPLY; or ask a person a few times
 * more after a misfit, with the fault in the message: people mistype, and the
 * template is to get the answer that they mean.
 */
static void settle_reply(struct pending_input *p,
			 const struct input_reply *reply)
{
	struct run *r = p->input->run;

	if (reply->wrong == NULL || p->misfits == AGAIN_MAX ||
	    p->q.kind != WORKER_QUESTION_ELICIT) {
		input_answer(p, reply);
		return;
	}
	p->misfits++;
	audit_input("input_refused", p->asker, p->seq, reply->how);
	input_request_again(&p->q, reply->wrong);
	input_name(p); /* an answer by the old key is of before */
	input_route(p);
	run_tell(r, &(struct run_notice){.kind = NOTICE_ASKED});
}

/* ---- on a thread ---- */

static bool reply_goes_on(void *arg)
{
	return thread_pool_may_continue(arg);
}

static void check_reply(struct thread_pool_job *j, void *arg)
{
	struct input_reply_job *job = arg;
	struct schema_budget b = {
	    .allowed = SCHEMA_STEPS_MAX, .goes_on = reply_goes_on, .arg = j};

	make(&job->reply, &job->q, &job->m, &b);
	rpc_async_fini(job->who, &job->m);
}

/* ---- on the loop ---- */

static void on_read(void *arg, const struct thread_pool_result *end)
{
	struct input_reply_job *job = arg;

	(void)end;
	job->p->job = NULL;
	job->p->q = job->q;
	job->q = (struct input_request){0};
	settle_reply(job->p, &job->reply);
}

static void drop_reply(void *arg)
{
	struct input_reply_job *job = arg;

	/* when the job was not begun */
	rpc_async_free(job->o, job->who, &job->m);
	input_request_fini(&job->q);
	reply_fini(&job->reply);
	free(job);
}

static const struct thread_pool_kind kind = {.name = "input",
					     .cpu_ms = CPU_MS,
					     .work = check_reply,
					     .done = on_read,
					     .drop = drop_reply};

static void read_later(struct pending_input *p, struct requestor *from,
		       struct rpc_msg *m)
{
	struct input_reply_job *job = xcalloc(1, sizeof(*job));

	*job = (struct input_reply_job){.o = p->input->ctx->thread_pool,
					.who = from,
					.p = p,
					.q = p->q,
					.m = *m};
	job->job = thread_pool_submit(job->o, from, &kind, job);
	if (job->job == NULL) {
		free(job);
		input_fail(p, "too many large messages of the client are being "
			      "read already");
		return;
	}
	p->job = job;
	p->q = (struct input_request){0};
	*m = (struct rpc_msg){0};
}

void input_reply_read(struct pending_input *p, struct requestor *from,
		      struct rpc_msg *m)
{
	struct schema_budget b = {.allowed = SCHEMA_STEPS_INLINE};
	struct input_reply reply = {0};

	if (rpc_async_is_large(m->bytes)) {
		read_later(p, from, m);
		return;
	}
	make(&reply, &p->q, m, &b);
	settle_reply(p, &reply);
	reply_fini(&reply);
}

void input_reply_cancel(struct pending_input *p)
{
	if (p->job != NULL)
		thread_pool_cancel(p->job->job);
	p->job = NULL;
}

void input_reject(struct pending_input *p, struct tool_error *errmsg)
{
	struct input_reply reply = {0};

	make_refusal(&reply, errmsg);
	input_answer(p, &reply);
	reply_fini(&reply);
}

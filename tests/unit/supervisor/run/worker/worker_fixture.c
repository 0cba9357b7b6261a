/* SPDX-License-Identifier: Apache-2.0 */
/* worker_fixture.c - see worker_fixture.h. */
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

#include "base/clock.h"

struct worker_fixture it;

unsigned char frame[CHAN_FRAME_MAX];

void note(const char *fmt, ...)
{
	size_t n = strlen(it.line);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(it.line + n, sizeof(it.line) - n, fmt, ap);
	va_end(ap);
}

const char *noted(void)
{
	static char copy[NOTES_MAX];

	memcpy(copy, it.line, sizeof(copy));
	it.line[0] = '\0';
	return copy;
}

static void on_news(struct run_watch *watch, struct run *r,
		    const struct run_notice *n)
{
	(void)watch, (void)n;
	note("<%s>", run_state_name(r->state));
}

void on_ask(struct context *ctx, struct run *r,
	    const struct worker_question *ask)
{
	static const char *const kinds[] = {"elicit", "sample", "roots",
					    "call"};

	(void)ctx, (void)r;
	note("[%u %s%s%s %s]", ask->seq, kinds[ask->kind],
	     ask->tool != NULL ? "/" : "", ask->tool != NULL ? ask->tool : "",
	     json_text(ask->params, NULL));
}

void on_drop(struct context *ctx, struct run *r, uint32_t seq)
{
	(void)ctx, (void)r;
	note("[drop %u]", seq);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	worker_question_flush(arg);
}

static void on_nothing(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
}

void fill_bucket(void)
{
	it.w->tokens = worker_burst(it.r);
	it.w->tokens_ms = clock_mono_ms();
}

void begin(void)
{
	int ends[2];

	if (chan_pair(ends) < 0)
		abort();
	it.w = xcalloc(1, sizeof(*it.w));
	it.r = run_new(requestors_of_uid(&it.all, 7), it.template);
	it.r->job.worker = it.w;
	it.r->limits.output_bytes = 1000;
	it.r->limits.artifact_bytes = 0;
	it.r->limits.messages_per_second = 10000;
	it.w->run = it.r;
	it.ctx = (struct context){.base = it.base, .config = &it.config};
	it.env = (struct worker_env){
	    .ctx = &it.ctx, .on_ask = on_ask, .on_drop = on_drop};
	it.w->env = &it.env;
	it.w->spawned = xcalloc(1, sizeof(*it.w->spawned));
	it.w->spawned->fd = ends[0];
	it.end = ends[1];
	it.w->writable =
	    event_new(it.base, ends[0], EV_WRITE, on_writable, it.w);
	it.w->deadline = evtimer_new(it.base, on_nothing, NULL);
	TAILQ_INIT(&it.w->asked);
	TAILQ_INIT(&it.w->answers);
	it.w->run_whole = true;
	fill_bucket();
	it.w->phase = PHASE_TALKING;
	it.watch = (struct run_watch){.on_notice = on_news};
	run_apply(it.r, EV_START);
	run_watch_add(it.r, &it.watch);
	it.line[0] = '\0';
}

void end(void)
{
	run_watch_del(&it.watch);
	worker_question_fini(it.w);
	buf_fini(&it.w->result);
	tool_error_fini(&it.w->tool_error);
	event_free(it.w->writable);
	event_free(it.w->deadline);
	close(it.w->spawned->fd);
	free(it.w->spawned);
	close(it.end);
	free(it.w);
	it.r->job.worker = NULL;
	run_free(it.r);
}

int hear(const struct msg *m)
{
	return worker_recv(it.w, frame, msg_put(frame, m));
}

int ask(uint32_t seq, const char *params)
{
	struct msg m = {.type = MSG_INPUT,
			.input = {seq,
				  MSG_INPUT_ELICIT,
				  strlen(params),
				  {params, strlen(params)}}};

	return hear(&m);
}

int call(uint32_t seq, const char *params)
{
	struct msg m = {
	    .type = MSG_CALL,
	    .call = {seq, {"t", 1}, strlen(params), {params, strlen(params)}}};

	return hear(&m);
}

int reply(uint32_t seq, const char *json)
{
	return worker_answer_question(it.r, seq, true, json, strlen(json));
}

void read_one(void)
{
	const char *errmsg;
	struct msg m;
	ssize_t n = chan_recv_now(it.end, frame);

	if (n == -EAGAIN)
		note("(none)");
	else if (n <= 0 || msg_get(&m, frame, (size_t)n, &errmsg) < 0)
		note("(broken)");
	else if (m.type == MSG_ANSWER)
		note("(%u %s %.*s)", (unsigned)m.answer.seq,
		     m.answer.ok ? "ok" : "not", (int)m.answer.head.n,
		     m.answer.head.p);
	else
		note("(message %d)", m.type);
}

void set_up(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	it.base = event_base_new();
	it.template = xcalloc(1, sizeof(*it.template));
	it.template->users = 1;
	it.template->id = xstrdup("t");
	it.template->version_text = xstrdup("1.0.0");
}

int done(void)
{
	template_unref(it.template);
	requestors_fini(&it.all);
	event_base_free(it.base);
	return tap_done();
}

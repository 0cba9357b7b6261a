/* What workers ask, as the supervisor hears it, and its answers. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "ipc/chan.h"
#include "proto/json.h"
#include "supervisor/view.h"
#include "supervisor/worker_int.h"
#include "tests/tap.h"

#define NOTES_MAX 4096

/* A worker that is us; what happens to its run is written down as a line. */
static struct {
	struct event_base *base;
	struct requestors all;
	struct template *template;
	struct worker_env env;
	struct worker *w;
	struct run *r;
	struct run_watch watch;
	char line[NOTES_MAX];
	int end; /* the worker's */
} it;

static unsigned char frame[CHAN_FRAME_MAX];
static char bulk[MSG_ANSWER_MAX + 1];

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *fmt, ...)
{
	size_t n = strlen(it.line);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(it.line + n, sizeof(it.line) - n, fmt, ap);
	va_end(ap);
}

static const char *noted(void)
{
	static char copy[NOTES_MAX];

	memcpy(copy, it.line, sizeof(copy));
	it.line[0] = '\0';
	return copy;
}

static void on_news(struct run_watch *watch, struct run *r, enum run_news news)
{
	(void)watch, (void)news;
	note("<%s>", run_state_name(r->state));
}

static void on_ask(void *arg, struct run *r, const struct worker_ask *ask)
{
	static const char *const kinds[] = {"elicit", "sample", "call"};

	(void)arg, (void)r;
	note("[%u %s%s%s %s]", ask->seq, kinds[ask->kind],
	     ask->tool != NULL ? "/" : "", ask->tool != NULL ? ask->tool : "",
	     json_text(ask->params, NULL));
}

static void on_drop(void *arg, struct run *r, uint32_t seq)
{
	(void)arg, (void)r;
	note("[drop %u]", seq);
}

static void refuse_it(void *arg, struct run *r, const struct worker_ask *ask)
{
	(void)arg;
	worker_refuse_ask(r, ask, "not today");
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	worker_ask_flush(arg);
}

static void on_nothing(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
}

static void begin(void)
{
	int ends[2];

	if (chan_pair(ends) < 0)
		abort();
	it.w = xcalloc(1, sizeof(*it.w));
	it.r = run_new(requestors_of_uid(&it.all, 7), it.template);
	it.r->worker = it.w;
	it.r->limits.output_bytes = 1000;
	it.r->limits.artifact_bytes = 0;
	it.r->limits.messages_per_second = 10000;
	it.w->run = it.r;
	it.env = (struct worker_env){.base = it.base,
				     .on_ask = on_ask,
				     .on_drop = on_drop};
	it.w->env = &it.env;
	it.w->fd = ends[0];
	it.end = ends[1];
	it.w->writable = event_new(it.base, ends[0], EV_WRITE, on_writable, it.w);
	it.w->deadline = evtimer_new(it.base, on_nothing, NULL);
	TAILQ_INIT(&it.w->asked);
	TAILQ_INIT(&it.w->answers);
	it.w->run_whole = true;
	worker_hear_first(it.w);
	it.w->phase = PHASE_TALKING;
	it.watch = (struct run_watch){.on_news = on_news};
	run_apply(it.r, EV_START);
	run_watch_add(it.r, &it.watch);
	it.line[0] = '\0';
}

static void end(void)
{
	run_watch_del(&it.watch);
	worker_ask_fini(it.w);
	buf_fini(&it.w->result);
	event_free(it.w->writable);
	event_free(it.w->deadline);
	close(it.w->fd);
	close(it.end);
	free(it.w);
	it.r->worker = NULL;
	run_free(it.r);
}

static int hear(const struct msg *m)
{
	return worker_hear(it.w, frame, msg_put(frame, m));
}

static int ask(uint32_t seq, const char *params)
{
	struct msg m = {.type = MSG_INPUT,
			.input = {seq, MSG_INPUT_ELICIT, strlen(params),
				  {params, strlen(params)}}};

	return hear(&m);
}

static int call(uint32_t seq, const char *params)
{
	struct msg m = {.type = MSG_CALL,
			.call = {seq, {"t", 1}, strlen(params),
				 {params, strlen(params)}}};

	return hear(&m);
}

static int reply(uint32_t seq, const char *json)
{
	return worker_answer_ask(it.r, seq, true, json, strlen(json));
}

/* Note the next frame that the worker can read. */
static void read_one(void)
{
	const char *why;
	struct msg m;
	ssize_t n = chan_recv_now(it.end, frame);

	if (n == -EAGAIN)
		note("(none)");
	else if (n <= 0 || msg_get(&m, frame, (size_t)n, &why) < 0)
		note("(broken)");
	else if (m.type == MSG_ANSWER)
		note("(%u %s %.*s)", m.answer.seq, m.answer.ok ? "ok" : "not",
		     (int)m.answer.head.n, m.answer.head.p);
	else
		note("(%s)", msg_type_name(m.type));
}

static void asks_and_answers(void)
{
	begin();
	ask(1, "{\"message\":\"m\"}");
	is_str(noted(), "<awaiting_input>[1 elicit {\"message\":\"m\"}]",
	       "the run awaits input before the question is handed on");
	ask(2, "{}");
	call(5, "{\"a\":1}");
	is_str(noted(), "[2 elicit {}][5 call/t {\"a\":1}]", "others go on");
	is_int(reply(1, "true"), 0, "one is answered");
	is_str(noted(), "", "the run awaits another");
	is_int(reply(1, "true"), -ENOENT, "once");
	is_int(reply(3, "true"), -ENOENT, "and none that was not asked");
	is_int(worker_fail_ask(it.r, 2, "INPUT_TIMEOUT", "late"), 0,
	       "and may fail");
	is_str(noted(), "<running>", "then it goes on, whatever is called");
	is_int(reply(5, "[]"), 0, "which has its answer too");
	for (int i = 0; i < 4; i++)
		read_one();
	is_str(noted(),
	       "(1 ok true)(2 not {\"code\":\"INPUT_TIMEOUT\",\"message\":"
	       "\"late\"})(5 ok [])(none)",
	       "all of them reach the worker");
	end();
}

static void takes_parts(void)
{
	struct msg m = {.type = MSG_INPUT,
			.input = {1, MSG_INPUT_SAMPLE, 9, {"{\"a", 3}}};
	struct msg c = {.type = MSG_CHUNK, .chunk = {{"\":[1]}", 6}}};
	struct msg log = {.type = MSG_LOG, .log = {6, {"x", 1}}};

	begin();
	hear(&m);
	is_str(noted(), "", "a part of a question is none");
	is_int(reply(1, "1"), -ENOENT, "and has no answer");
	hear(&c);
	is_str(noted(), "<awaiting_input>[1 sample {\"a\":[1]}]", "the rest is");
	m.input.seq = 2;
	hear(&m);
	is_int(hear(&log), -EPROTO, "nothing else may come in between");
	end();
}

static void shows(void)
{
	const struct isolation iso = {0};
	struct json_object *v;

	begin();
	ask(1, "{}");
	v = view_run(it.r, &iso);
	is_str(json_object_get_string(json_member(v, "status")), "running",
	       "a run that awaits input is shown as running");
	ok(json_object_get_boolean(json_member(v, "awaitingInput")),
	   "with a word on what it waits for");
	json_object_put(v);
	end();
}

static void refuses(void)
{
	begin();
	it.env.on_ask = NULL;
	ask(1, "{}");
	call(2, "{}");
	read_one();
	read_one();
	ok(strstr(it.line, "(1 not {\"code\":\"ELICITATION_NOT_SUPPORTED\"") ==
		   it.line &&
	       strstr(it.line, "(2 not {\"code\":\"CALL_NOT_ALLOWED\"") != NULL,
	   "with nobody to ask each is refused by its own code");
	noted();
	it.env.on_ask = refuse_it;
	ask(3, "{}");
	read_one();
	is_str(noted(),
	       "<awaiting_input><running>(3 not "
	       "{\"code\":\"ELICITATION_NOT_SUPPORTED\",\"message\":\"not "
	       "today\"})",
	       "so may whoever is asked, at once");
	end();
}

static void is_cancelled(void)
{
	begin();
	ask(1, "{}");
	noted();
	run_apply(it.r, EV_CANCEL);
	ask(2, "{}");
	read_one();
	is_str(noted(),
	       "(2 not {\"code\":\"RUN_CANCELED\",\"message\":\"the run is being "
	       "cancelled\"})",
	       "a run that is being cancelled asks nobody");
	reply(1, "1");
	is_int(it.r->state, RUN_CANCELLING, "and no answer takes it back");
	end();
}

static int drop(uint32_t seq)
{
	return hear(&(struct msg){.type = MSG_DROP, .drop = {seq}});
}

static void is_dropped(void)
{
	begin();
	ask(1, "{}");
	call(2, "{}");
	noted();
	is_int(drop(1), 0, "a question can be withdrawn");
	is_int(reply(1, "1"), -ENOENT, "then it has no answer");
	read_one();
	is_str(noted(),
	       "[drop 1]<running>(1 not {\"code\":\"DROPPED\",\"message\":\"it "
	       "is awaited no more\"})",
	       "but that, and the run awaits it no more");
	reply(2, "1");
	is_int(drop(2), 0, "one whose answer is on its way may be, too");
	is_int(drop(2), 0, "and again");
	is_str(noted(), "", "which nobody is told");
	is_int(drop(3), -EPROTO, "one that was not asked may not");
	end();

	begin();
	it.env.on_ask = NULL;
	it.env.on_drop = NULL;
	run_apply(it.r, EV_CANCEL);
	call(1, "{}");
	is_int(drop(1), 0, "so it is when nobody is there to be asked");
	end();
}

static void ends(void)
{
	struct msg result = {.type = MSG_RESULT,
			     .result = {MSG_RESULT_VALUE, 4, {"null", 4}}};
	struct msg fail = {.type = MSG_FAIL,
			   .fail = {{"EXECUTION_ERROR", 15}, {"m", 1}, {0}}};

	begin();
	ask(1, "{}");
	noted();
	is_int(hear(&result), 0, "a result may come without its answers");
	is_str(noted(), "<running>", "and the run awaits none");
	is_int(reply(1, "1"), -ENOENT, "which is too late then");
	is_int(run_apply(it.r, EV_SUCCEED), 0, "it may succeed");
	end();

	begin();
	ask(1, "{}");
	hear(&fail);
	is_int(it.r->state, RUN_RUNNING, "so it is with a failure");
	is_int(run_apply(it.r, EV_FAIL), 0, "it may fail");
	end();
}

static void counts(void)
{
	int rc = 0;

	begin();
	for (uint32_t i = 1; rc == 0 && i <= MSG_ASKS_MAX; i++)
		rc = ask(i, "{}");
	is_int(rc, 0, "64 may wait");
	reply(7, "1");
	is_int(ask(65, "{}"), 0, "and one more when one of them was answered");
	is_int(ask(66, "{}"), -EPROTO, "but no more");
	end();

	begin();
	memset(bulk, ' ', sizeof(bulk));
	bulk[0] = '1';
	for (uint32_t i = 1; i <= 3; i++) {
		ask(i, "{}");
		worker_answer_ask(it.r, i, true, bulk, MSG_ANSWER_MAX);
	}
	is_int(it.w->asks, 3, "those count whose answer is not sent");
	end();
}

static void floods(void)
{
	size_t n = MSG_CHUNK_MAX - 2;
	int asked = 0, rc = 0;
	struct msg m = {.type = MSG_CALL, .call = {.tool = {"t", 1}}};

	begin();
	it.env.on_ask = NULL;
	memset(bulk, ' ', n);
	memcpy(bulk + n, "{}", 2);
	m.call.total = m.call.head.n = n + 2;
	m.call.head.p = bulk;
	while (rc == 0 && asked < 100000) {
		m.call.seq = (uint32_t)++asked;
		rc = hear(&m);
		while (chan_recv_now(it.end, frame) > 0)
			;
	}
	ok(rc == -EPROTO && asked > 500 && strcmp(it.r->error.code,
						  "PROTOCOL_VIOLATION") == 0,
	   "so many bytes of questions are a flood");
	end();
}

/* A question of 1 MiB: a message for each KiB, but for no rate a flood. */
static int ask_much(uint32_t seq)
{
	struct msg m = {.type = MSG_CALL,
			.call = {seq, {"t", 1}, MSG_ASK_MAX, {"{", 1}}};
	struct msg c = {.type = MSG_CHUNK};
	size_t left = MSG_ASK_MAX - 1;
	int rc = hear(&m);

	memset(bulk, ' ', left);
	bulk[left - 1] = '}';
	while (rc == 0 && left > 0) {
		size_t n = left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX;

		left -= n;
		c.chunk.data = (struct str){bulk + MSG_ASK_MAX - 1 - left - n, n};
		rc = hear(&c);
	}
	return rc;
}

static void floods_of_a_low_rate(void)
{
	struct msg log = {.type = MSG_LOG, .log = {6, {"x", 1}}};
	struct json_object *d;
	int rc = 0, logged = 0;

	begin();
	it.env.on_ask = NULL;
	it.r->limits.messages_per_second = MSG_RATE_MIN;
	it.r->limits.by[BOUND_MESSAGES] = BY_SERVER;
	worker_hear_first(it.w);
	for (uint32_t i = 1; i <= MSG_BURST_S && rc == 0; i++)
		rc = ask_much(i);
	is_int(rc, 0, "the largest question is a second's worth at the most");
	worker_hear_first(it.w);
	while (rc == 0 && logged < 100000) {
		rc = hear(&log);
		logged++;
	}
	ok(rc == -EPROTO && logged > 400, "four seconds' worth may come at once");
	d = it.r->error.details;
	is_str(json_text(d, NULL),
	       "{\"limit\":\"messages_per_second\",\"allowed\":100,"
	       "\"unit\":\"messages/s\",\"whoCanRaise\":\"the operator: "
	       "max_messages_per_second in [limits]\",\"offence\":\"a flood of "
	       "messages: over messages_per_second, which allows 100 and 400 at "
	       "once; who can raise that is the operator: "
	       "max_messages_per_second in [limits]\"}",
	       "more is an offence, which tells the limit and who can raise it");
	end();
}

/* Read and write until nothing moves. The CHUNKs and ANSWERs that came. */
static size_t drain(size_t *bytes)
{
	size_t frames = 0;
	const char *why;
	struct msg m;
	ssize_t n;

	*bytes = 0;
	do {
		event_base_loop(it.base, EVLOOP_NONBLOCK);
		n = chan_recv_now(it.end, frame);
		if (n <= 0 || msg_get(&m, frame, (size_t)n, &why) < 0)
			break;
		frames++;
		*bytes += m.type == MSG_CHUNK ? m.chunk.data.n : m.answer.head.n;
	} while (true);
	return frames;
}

static void is_large(void)
{
	struct msg artifact = {.type = MSG_ARTIFACT,
			       .artifact = {1, {"a", 1}, {"b", 1}, {"x", 1}}};
	size_t bytes;

	begin();
	memset(bulk, 'x', sizeof(bulk));
	bulk[0] = bulk[MSG_ANSWER_MAX - 1] = '"';
	for (uint32_t i = 1; i <= 6; i++)
		call(i, "{}");
	is_int(worker_answer_ask(it.r, 1, true, bulk, MSG_ANSWER_MAX), 0,
	       "an answer may be more than the socket takes");
	ok(it.w->unsent > 0, "what it does not take waits");
	hear(&artifact);
	is_int(it.w->phase, PHASE_ANSWER,
	       "an artifact's answer waits for its turn");
	is_int(hear(&artifact), -EPROTO, "and no other may come before it");
	drain(&bytes);
	is_int(it.w->phase, PHASE_TALKING, "which comes");
	ok(bytes > MSG_ANSWER_MAX, "after all of the large one");
	is_int(it.w->asks, 5, "that is outstanding no more");
	is_int(worker_answer_ask(it.r, 2, true, bulk, sizeof(bulk)), 0,
	       "one that is over 4 MiB");
	noted();
	read_one();
	ok(strstr(it.line, "(2 not {\"code\":\"ANSWER_TOO_LARGE\"") == it.line,
	   "becomes an error");
	for (uint32_t i = 3; i <= 6; i++)
		worker_answer_ask(it.r, i, true, bulk, MSG_ANSWER_MAX);
	ok(it.w->unsent <= 4 * MSG_ANSWER_MAX, "what waits is bounded");
	drain(&bytes);
	is_int(it.w->unsent + it.w->asks, 0, "and all of it is sent in the end");
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	it.base = event_base_new();
	it.template = xcalloc(1, sizeof(*it.template));
	it.template->users = 1;
	it.template->id = xstrdup("t");
	it.template->version_text = xstrdup("1.0.0");
	asks_and_answers();
	takes_parts();
	shows();
	refuses();
	is_cancelled();
	is_dropped();
	ends();
	counts();
	floods();
	floods_of_a_low_rate();
	is_large();
	template_unref(it.template);
	requestors_fini(&it.all);
	event_base_free(it.base);
	return tap_done();
}

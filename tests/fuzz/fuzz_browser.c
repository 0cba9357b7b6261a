/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker between a supervisor, a starter and a Chromium that answers right, wrong,
 * late, never, or dies. Each step takes two bytes of the input, and the text of a
 * message takes further bytes. The broker's code is real from its socket to its pipes,
 * but runs no processes: the fuzz target plays the supervisor, the starter and
 * Chromium. Each call must get one answer, and no session or tab may remain after its
 * end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "base/buf.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "browser/browser.h"
#include "browser/chromium.h"
#include "proto/json/json_pack.h"
#include "net/net_deny.h"
#include "browser/net/resolve.h"
#include "browser/process/chromium_starter.h"
#include "browser/rpc_server.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "base/os/fdpass.h"

#define STEPS_MAX 200
#define CALLS_MAX 300
#define PENDING_MAX 64
#define PUMPS 6

static struct browser broker;
static int supervisor, starter, names = -1;  /* our ends */
static int to_broker = -1, from_broker = -1; /* Chromium's */
static int watch = -1, connections = -1;

/* By number of the call: the broker has answered. */
static bool answered[CALLS_MAX + 1];
static uint32_t seqs;
static struct buf answer;
static uint64_t answer_left;
static char tab_id[64], session_id[64];

/* The commands that Chromium received and did not answer yet. */
static struct pending {
	int64_t id;
	char method[48], session[32];
} pending[PENDING_MAX];
static size_t n_pending;
static struct buf said; /* by the broker, to Chromium */
static unsigned ids;	/* the last id that Chromium gave out */

static const uint8_t *input;
static size_t left;

static struct str bytes(size_t n)
{
	struct str s = {(const char *)input, n < left ? n : left};

	input += s.n;
	left -= s.n;
	return s;
}

/* ---- the starter and Chromium's descriptors ---- */

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void chromium_gone(void)
{
	drop(&to_broker);
	drop(&from_broker);
	drop(&watch);
	drop(&connections);
	n_pending = 0;
	buf_fini(&said);
	said = (struct buf){0};
}

static void note(uint32_t start, enum chromium_starter_event_kind kind, int fd)
{
	struct chromium_starter_event n = {
	    .kind = kind, .start = start, .value = 77};

	(void)fdpass_send(starter, &n, sizeof(n), fd, MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
}

static void begin_chromium(uint32_t start)
{
	int in[2], out[2], pair[2], listener[2];

	chromium_gone();
	if (pipe2(in, O_NONBLOCK) != 0 || pipe2(out, O_NONBLOCK) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) != 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, listener) != 0)
		abort();
	from_broker = in[0];
	to_broker = out[1];
	watch = pair[1];
	note(start, CHROMIUM_STARTER_TO, in[1]);
	note(start, CHROMIUM_STARTER_FROM, out[0]);
	note(start, CHROMIUM_STARTER_LISTENER, listener[0]);
	note(start, CHROMIUM_STARTER_PID1, pair[0]);
	connections = listener[1]; /* nothing ever comes */
}

static uint32_t last_start;

static void obey_orders(void)
{
	struct chromium_starter_request o;

	while (recv(starter, &o, sizeof(o), MSG_DONTWAIT) == sizeof(o)) {
		if (o.kind == CHROMIUM_STARTER_START) {
			last_start = o.start;
			begin_chromium(o.start);
		} else {
			chromium_gone();
		}
	}
}

/* ---- messages of the broker ---- */

static void keep(char *to, size_t size, struct json_object *o, const char *key)
{
	const char *s = json_member_str(o, key);

	if (s != NULL)
		snprintf(to, size, "%s", s);
}

static void check_answer(uint32_t seq, bool ok)
{
	struct json_object *o =
	    json_unpack(buf_data(&answer), buf_len(&answer));

	assert(o != NULL && seq >= 1 && seq <= seqs && !answered[seq]);
	answered[seq] = true;
	assert(ok || (json_member_str(o, "code") != NULL &&
		      json_member_str(o, "message") != NULL));
	keep(tab_id, sizeof(tab_id), o, "tabId");
	keep(session_id, sizeof(session_id), o, "sessionId");
	json_object_put(o);
	buf_fini(&answer);
	answer = (struct buf){0};
}

static void hear_answers(void)
{
	static char frame[CHAN_FRAME_MAX];
	static uint32_t seq;
	static bool ok;
	const char *errmsg;
	struct msg m;
	ssize_t n;

	while ((n = chan_recv_now(supervisor, frame)) > 0) {
		assert(msg_get(&m, frame, (size_t)n, &errmsg) == 0);
		if (m.type == MSG_ANSWER) {
			assert(answer_left == 0);
			seq = m.answer.seq;
			ok = m.answer.ok;
			answer_left = m.answer.total - m.answer.head.n;
			buf_add(&answer, m.answer.head.p, m.answer.head.n);
		} else {
			assert(m.type == MSG_CHUNK &&
			       m.chunk.data.n <= answer_left);
			answer_left -= m.chunk.data.n;
			buf_add(&answer, m.chunk.data.p, m.chunk.data.n);
		}
		if (answer_left == 0)
			check_answer(seq, ok);
	}
}

static void take_command(const char *text, size_t n)
{
	struct json_object *o = json_unpack(text, n);
	struct pending *p = &pending[n_pending];

	assert(o != NULL && json_member_str(o, "method") != NULL);
	if (n_pending < PENDING_MAX) {
		*p = (struct pending){.id = json_member_int(o, "id")};
		keep(p->method, sizeof(p->method), o, "method");
		keep(p->session, sizeof(p->session), o, "sessionId");
		n_pending++;
	}
	json_object_put(o);
}

static void hear_commands(void)
{
	char piece[4096];
	const char *end;
	ssize_t n;

	while (from_broker >= 0 &&
	       (n = read(from_broker, piece, sizeof(piece))) > 0)
		buf_add(&said, piece, (size_t)n);
	while (buf_len(&said) > 0 &&
	       (end = memchr(buf_data(&said), '\0', buf_len(&said))) != NULL) {
		size_t len = (size_t)(end - (const char *)buf_data(&said));

		take_command(buf_data(&said), len);
		buf_drop(&said, len + 1);
	}
}

static void pump(void)
{
	for (int i = 0; i < PUMPS; i++) {
		event_base_loop(broker.base, EVLOOP_NONBLOCK);
		obey_orders();
		hear_commands();
		hear_answers();
	}
}

/* ---- messages of Chromium ---- */

static void say(const char *text, size_t n)
{
	if (to_broker < 0)
		return;
	(void)!write(to_broker, text, n);
	(void)!write(to_broker, "", 1);
}

static void say_object(struct json_object *o)
{
	const char *text =
	    json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);

	say(text, strlen(text));
	json_object_put(o);
}

static const struct {
	const char *method, *result;
} results[] = {
    {"Browser.getVersion", "{\"product\":\"Fuzz/1\"}"},
    {"Target.createBrowserContext", "{\"browserContextId\":\"C%u\"}"},
    {"Target.createTarget", "{\"targetId\":\"T%u\"}"},
    {"Target.attachToTarget", "{\"sessionId\":\"S%u\"}"},
    {"Page.navigate", "{\"frameId\":\"T%u\",\"loaderId\":\"L\"}"},
    {"Target.getTargetInfo",
     "{\"targetInfo\":{\"url\":\"http://a.example/%u\",\"title\":\"x\"}}"},
    {"Runtime.evaluate",
     "{\"result\":{\"type\":\"object\",\"value\":{\"n\":%u}}}"},
    {"Runtime.callFunctionOn",
     "{\"result\":{\"type\":\"object\",\"value\":{\"n\":%u}}}"},
    {"Storage.getCookies", "{\"cookies\":[{\"name\":\"a\",\"value\":\"%u\"}]}"},
    {"", "{\"executionContextId\":%u,\"data\":\"aGk=\"}"},
};

static struct pending *one_pending(uint8_t arg)
{
	return n_pending == 0 ? NULL : &pending[arg % n_pending];
}

/* Answer P with RESULT under NAME ("result" or "error"). RESULT is freed. */
static void reply(struct pending *p, const char *name,
		  struct json_object *result)
{
	struct json_object *o = json_pack("id:i", p->id);

	if (p->session[0] != '\0')
		json_object_object_add(o, "sessionId",
				       json_object_new_string(p->session));
	json_object_object_add(o, name, result);
	memmove(p, p + 1, (size_t)(&pending[--n_pending] - p) * sizeof(*p));
	say_object(o);
}

static void reply_well(uint8_t arg)
{
	struct pending *p = one_pending(arg);
	char text[200];
	size_t i = 0;

	if (p == NULL)
		return;
	while (results[i].method[0] != '\0' &&
	       strcmp(results[i].method, p->method) != 0)
		i++;
	/* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): the table's */
	snprintf(text, sizeof(text), results[i].result, ids++ % 4);
	reply(p, "result", json_unpack(text, strlen(text)));
}

static void reply_all_well(uint8_t arg)
{
	for (int i = 0; i <= arg % 8; i++) {
		while (n_pending > 0)
			reply_well(0);
		pump();
	}
}

static void reply_badly(uint8_t arg)
{
	struct pending *p = one_pending(arg);

	if (p != NULL)
		reply(p, "error", json_pack("code:i message:s", -1, "no"));
}

static void reply_anything(uint8_t arg)
{
	struct str s = bytes(arg % 64);
	struct json_object *o = json_unpack(s.p, s.n);
	struct pending *p = one_pending(arg);

	if (p != NULL && o != NULL)
		reply(p, "result", o);
	else
		json_object_put(o);
}

static const char *const events[] = {
    "{\"method\":\"Page.frameNavigated\",\"sessionId\":\"S%u\",\"params\":{"
    "\"frame\":{\"id\":\"T1\",\"loaderId\":\"L\",\"url\":\"http://b/\"}}}",
    "{\"method\":\"Page.lifecycleEvent\",\"sessionId\":\"S%u\",\"params\":{"
    "\"frameId\":\"T1\",\"loaderId\":\"L\",\"name\":\"DOMContentLoaded\"}}",
    "{\"method\":\"Target.targetCreated\",\"params\":{\"targetInfo\":{"
    "\"type\":\"page\",\"targetId\":\"P%u\",\"openerId\":\"T1\",\"url\":\"x\"}}}",
    "{\"method\":\"Target.targetCreated\",\"params\":{\"targetInfo\":{"
    "\"type\":\"page\",\"targetId\":\"P\",\"browserContextId\":\"C%u\"}}}",
    "{\"method\":\"Target.targetCrashed\",\"params\":{\"targetId\":\"T%u\"}}",
    "{\"method\":\"Target.targetDestroyed\",\"params\":{\"targetId\":\"T%u\"}}",
    "{\"method\":\"Target.targetInfoChanged\",\"params\":{\"targetInfo\":{"
    "\"targetId\":\"T%u\",\"url\":\"http://c/\",\"title\":\"t\"}}}",
    "{\"method\":\"Target.attachedToTarget\",\"sessionId\":\"S%u\",\"params\":{"
    "\"sessionId\":\"F\",\"targetInfo\":{\"type\":\"iframe\"}}}",
    "{\"method\":\"Target.detachedFromTarget\",\"sessionId\":\"S%u\",\"params\":"
    "{\"sessionId\":\"F\"}}",
    "{\"method\":\"Network.requestWillBeSent\",\"sessionId\":\"S%u\",\"params\":"
    "{\"requestId\":\"L\",\"loaderId\":\"L\",\"frameId\":\"T1\",\"request\":{"
    "\"url\":\"http://d/\"}}}",
    "{\"method\":\"Network.loadingFinished\",\"sessionId\":\"S%u\",\"params\":{"
    "\"requestId\":\"L\"}}",
    "{\"method\":\"Page.javascriptDialogOpening\",\"sessionId\":\"S%u\","
    "\"params\":{\"type\":\"beforeunload\"}}",
};

static void tell_event(uint8_t arg)
{
	char text[300];

	/* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): the table's */
	snprintf(text, sizeof(text), events[arg % ARRAY_LEN(events)],
		 (unsigned)(arg / ARRAY_LEN(events) % 4));
	say(text, strlen(text));
}

static void tell_anything(uint8_t arg)
{
	struct str s = bytes(arg);

	say(s.p, s.n);
}

static void end_one(uint8_t arg)
{
	struct chromium_init_event n = {
	    .kind = 1 + arg % 3, .used = arg, .allowed = 9};

	if (watch >= 0)
		(void)!send(watch, &n, sizeof(n), MSG_DONTWAIT);
}

static void die(uint8_t arg)
{
	if (arg % 2 == 0)
		note(last_start, CHROMIUM_STARTER_ENDED, -1);
	chromium_gone();
}

static void fail_to_start(uint8_t arg)
{
	note(last_start + arg % 2, CHROMIUM_STARTER_FAILED, -1);
}

/* ---- messages of the supervisor ---- */

static void send_call(const char *tool, struct json_object *body)
{
	static char frame[CHAN_FRAME_MAX];
	struct msg m = {.type = MSG_CALL};
	const char *text =
	    json_object_to_json_string_ext(body, JSON_C_TO_STRING_PLAIN);
	size_t n = strlen(text);

	if (seqs < CALLS_MAX && n <= MSG_CHUNK_MAX) {
		m.call.seq = ++seqs;
		m.call.tool = (struct str){tool, strlen(tool)};
		m.call.total = n;
		m.call.head = (struct str){text, n};
		if (chan_send(supervisor, frame, msg_put(frame, &m)) < 0)
			seqs--;
	}
	json_object_put(body);
}

static struct json_object *some_args(const struct browser_proto_action *a,
				     uint8_t arg)
{
	struct json_object *o = json_object_new_object();

	for (const struct browser_proto_arg *p = a->args; p->name != NULL;
	     p++) {
		if (p->type == BROWSER_PROTO_TAB_ID && tab_id[0] != '\0')
			json_object_object_add(o, p->name,
					       json_object_new_string(tab_id));
		else if (p->type == BROWSER_PROTO_SESSION_ID && arg >= 128 &&
			 session_id[0] != '\0')
			json_object_object_add(
			    o, p->name, json_object_new_string(session_id));
		else if (p->type == BROWSER_PROTO_STRING &&
			 (p->required || arg % 3 == 0))
			json_object_object_add(
			    o, p->name,
			    json_object_new_string(strcmp(p->name, "url") == 0
						       ? "http://a.example/"
						   : strcmp(p->name, "key") == 0
						       ? "Enter"
						       : "#a"));
	}
	return o;
}

static struct json_object *body_of(uint8_t who, struct json_object *args)
{
	static const char *const runs[] = {NULL, NULL, "run_1", "run_2"};
	const char *run = runs[who / 4 % 4];

	return json_pack(
	    "requestor:s trust:s run:s session:s hosts:o args:o "
	    "timeoutMs:i",
	    who % 2 == 0 ? "a" : "b", who % 4 < 2 ? "local" : "remote", run,
	    run != NULL && who / 16 % 4 == 0 && session_id[0] != '\0'
		? session_id
		: NULL,
	    run != NULL ? json_unpack("{\"h\":[\"*\"]}", 11) : NULL, args,
	    60000);
}

/* hosts is an array; json_unpack() makes objects alone. */
static struct json_object *with_hosts(struct json_object *body)
{
	struct json_object *h = json_member(json_member(body, "hosts"), "h");

	json_object_object_add(body, "hosts", json_object_get(h));
	return body;
}

static void call(uint8_t arg)
{
	size_t n = 0;
	struct str who = bytes(1);

	do
		n++;
	while (browser_proto_actions[n].name != NULL);
	const struct browser_proto_action *a = &browser_proto_actions[arg % n];

	send_call(a->name, with_hosts(body_of(who.n > 0 ? (uint8_t)who.p[0] : 0,
					      some_args(a, arg))));
}

static void call_anything(uint8_t arg)
{
	struct str s = bytes(arg % 128);
	struct json_object *o = json_unpack(s.p, s.n);
	size_t n = 0;

	do
		n++;
	while (browser_proto_actions[n].name != NULL);
	if (o != NULL && arg % 2 == 0)
		o = with_hosts(body_of(arg, o));
	if (o != NULL)
		send_call(arg % 5 == 0 ? "nothing"
				       : browser_proto_actions[arg % n].name,
			  o);
}

static void request(uint8_t arg)
{
	static const char *const names_of[] = {
	    "cancel", "run_ended", "requestor_gone", "sessions", "status"};

	send_call(names_of[arg % ARRAY_LEN(names_of)],
		  json_pack("seq:i run:s requestor:s", (arg % 32),
			    arg % 2 == 0 ? "run_1" : "run_2",
			    arg / 16 % 2 == 0 ? "a" : "b"));
}

static void request_anything(uint8_t arg)
{
	static const char *const names_of[] = {"cancel", "run_ended",
					       "requestor_gone", "sessions"};
	struct str s = bytes(arg % 64);
	struct json_object *o = json_unpack(s.p, s.n);

	if (o != NULL)
		send_call(names_of[arg % ARRAY_LEN(names_of)], o);
}

static void sweep(uint8_t arg)
{
	broker.limits.session_idle_ms = arg % 2 == 0 ? 0 : 600000;
	broker.limits.idle_ms = arg % 4 == 0 ? 0 : 60000;
	sessions_sweep(&broker);
	chromium_sweep(broker.chromium);
	broker.limits.session_idle_ms = 600000;
	broker.limits.idle_ms = 60000;
}

static void (*const steps[])(uint8_t arg) = {call,	    reply_all_well,
					     reply_well,    reply_badly,
					     tell_event,    reply_anything,
					     tell_anything, call_anything,
					     request,	    sweep,
					     die,	    end_one,
					     fail_to_start, request_anything,
					     call,	    reply_all_well};

/* ---- the whole input ---- */

static void on_lost(void *arg)
{
	(void)arg;
}

static void begin(void)
{
	int wire[2], orders[2], lookups[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, wire) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, orders) !=
		0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, lookups) !=
		0)
		abort();
	log_set_level(LOG_LEVEL_ERROR);
	broker = (struct browser){.limits = {.sessions = 8,
					     .tabs = 12,
					     .tabs_per_session = 4,
					     .session_idle_ms = 600000,
					     .session_max_ms = 3600000,
					     .idle_ms = 60000}};
	broker.base = event_base_new();
	TAILQ_INIT(&broker.calls);
	TAILQ_INIT(&broker.sessions);
	supervisor = wire[1];
	starter = orders[1];
	names = lookups[1];
	broker.resolver =
	    resolver_new(broker.base, lookups[0], false, on_lost, NULL);
	broker.chromium = chromium_new(&broker, "/bin/sh", orders[0]);
	broker.rpc = rpc_server_new(&broker, wire[0]);
	memset(answered, 0, sizeof(answered));
	seqs = last_start = ids = 0;
	tab_id[0] = session_id[0] = '\0';
	answer_left = 0;
}

static void end(void)
{
	struct call *c;

	while (!TAILQ_EMPTY(&broker.calls)) {
		TAILQ_FOREACH(c, &broker.calls, link)
			call_abort(c, "RUN_CANCELED", "the end");
		pump();
	}
	sessions_requestor_gone(&broker, "a");
	sessions_requestor_gone(&broker, "b");
	pump();
	for (uint32_t i = 1; i <= seqs; i++)
		assert(answered[i]);
	assert(broker.n_calls == 0);
	while (!TAILQ_EMPTY(&broker.sessions)) /* of a requestor made up */
		session_close(TAILQ_FIRST(&broker.sessions), "RUN_CANCELED",
			      "the end", false);
	assert(broker.n_sessions == 0 && broker.n_tabs == 0 &&
	       broker.hooks == NULL);
	chromium_free(broker.chromium);
	resolver_free(broker.resolver);
	rpc_server_free(broker.rpc);
	event_base_free(broker.base);
	chromium_gone();
	buf_fini(&answer);
	answer = (struct buf){0};
	drop(&supervisor);
	drop(&starter);
	drop(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	begin();
	input = data;
	left = size;
	for (int i = 0; left > 1 && i < STEPS_MAX; i++) {
		struct str s = bytes(2);

		steps[(uint8_t)s.p[0] % ARRAY_LEN(steps)]((uint8_t)s.p[1]);
		pump();
	}
	end();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_browser_status.c - the state of the browser for a client and for the log: without a
 * program, with an answering program, and with a client gone before the answer. The
 * test is the program; no Chromium is started.
 */
#include "supervisor/browser/browser_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "proto/json/json.h"
#include "supervisor/requestor/fair_queue.h"
#include "supervisor/session/request.h"
#include "supervisor/session/session.h"
#include "tests/unit/base/log_fixture.h"
#include "tests/unit/tap.h"

static struct config *config;
static struct fair_queue turns;
static struct sessions sessions;
static struct config_requestor section;
static struct context ctx;
static struct requestor requestor;
static struct session session;
static int program = -1; /* the program's end */
static int views;
static struct json_object *view; /* the last */

static void on_answer(void *arg, void *stream, const char *text, size_t len,
		      struct reply_hint hint)
{
	(void)arg, (void)stream, (void)text, (void)len, (void)hint;
}

static const struct session_ops ops = {.answer = on_answer};

/* The pid is of an ended child, not reaped yet. */
static int launch(void *arg, int end, int log, pid_t *pid)
{
	(void)arg, (void)log;
	program = fcntl(end, F_DUPFD_CLOEXEC, 0);
	*pid = fork();
	if (*pid == 0)
		_exit(0);
	return 0;
}

static void begin(const char *path)
{
	struct browser_process_env env = {.launch = launch};

	log_begin();
	config = config_new(0);
	config->browser_enabled = true;
	free(config->chromium);
	config->chromium = xstrdup(path);
	requestor =
	    (struct requestor){.name = (char *)"ada", .section = &section};
	ctx = (struct context){.base = event_base_new(),
			       .config = config,
			       .turns = &turns,
			       .sessions = &sessions};
	fair_queue_init(&turns, ctx.base);
	fair_queue_flow_init(&requestor.turns);
	sessions_init(&sessions);
	session_init(&session, &ctx, &requestor, &ops, NULL);
	session.via = TRUST_LOCAL;
	ctx.browser = browser_new(&ctx, "/bin/sh");
	browser_process_free(ctx.browser->process);
	env.base = ctx.base;
	ctx.browser->process = browser_process_new(&env);
	views = 0;
}

static void end(void)
{
	session_fini(&session);
	browser_stop(ctx.browser);
	browser_free(ctx.browser);
	if (program >= 0)
		close(program);
	program = -1;
	while (waitpid(-1, NULL, 0) > 0)
		;
	sessions_fini(&sessions);
	fair_queue_fini(&turns);
	event_base_free(ctx.base);
	config_free(config);
	json_object_put(view);
	view = NULL;
	log_end();
}

static void turn(void)
{
	event_base_loop(ctx.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

static void on_any(void *arg, const struct browser_rpc_answer *a)
{
	*(bool *)arg = a->ok;
}

/* Wait for a call of the supervisor; its tool, and its number in *SEQ. */
static const char *called(uint32_t *seq)
{
	static char frame[CHAN_FRAME_MAX], tool[32];
	const char *errmsg;
	struct msg m;
	ssize_t n;

	do
		turn();
	while (program < 0 || (n = chan_recv(program, frame)) == -EAGAIN);
	if (n <= 0 || msg_get(&m, frame, (size_t)n, &errmsg) < 0)
		abort();
	*seq = m.call.seq;
	snprintf(tool, sizeof(tool), "%.*s", (int)m.call.tool.n,
		 (const char *)m.call.tool.p);
	return tool;
}

static void answer(uint32_t seq, bool good, const char *text)
{
	static char frame[CHAN_FRAME_MAX];
	struct msg m = {
	    .type = MSG_ANSWER,
	    .answer = {seq, good, strlen(text), {text, strlen(text)}}};

	if (chan_send(program, frame, msg_put(frame, &m)) < 0)
		abort();
	for (int i = 0; i < 3; i++)
		turn();
}

/* Start the program by a call, which is answered. */
static void start(void)
{
	bool answered = false;
	uint32_t seq;

	requestor.browses = true;
	browser_process_ask(ctx.browser->process, "navigate",
			    json_object_new_object(), 1000, on_any, &answered);
	called(&seq);
	answer(seq, true, "{}");
	if (!answered)
		abort();
}

static void on_view(struct request *req, struct json_object *o)
{
	(void)req;
	views++;
	json_object_put(view);
	view = o;
}

/* Let the client, whose earlier question is answered, ask for the state. */
static struct request *look(void)
{
	static unsigned last_id;
	char text[80];
	struct rpc_msg m;
	struct request *req;

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\"}",
		 ++last_id);
	rpc_parse(&m, text, strlen(text));
	req = request_new(&session, NULL, &m, NULL);
	request_begin(req);
	browser_view(req, on_view);
	return req;
}

static const char *seen(void)
{
	return view == NULL ? NULL : json_text(view, NULL);
}

TEST(unasked)
{
	begin("/bin/sh");
	look();
	is_str(seen(), "{\"available\":true,\"path\":\"/bin/sh\"}",
	       "a browser that does not run is described at once");
	session.via = TRUST_REMOTE;
	look();
	is_str(seen(), "{\"available\":true}",
	       "a remote client does not see the path");
	end();
	begin("/no/such/program");
	look();
	ok(strstr(seen(), "{\"available\":false,\"reason\":\"the program that "
			  "chromium in [browser] names") != NULL &&
	       strstr(seen(), "path") == NULL,
	   "without a browser the reason is given, and no path");
	end();
}

/* The files are looked for once a second, and anew for another configuration. */
TEST(lack_kept)
{
	const char *lacks;

	begin("/no/such/program");
	lacks = browser_lacks(config);
	free(config->chromium);
	config->chromium = xstrdup("/bin/sh");
	ok(lacks != NULL && browser_lacks(config) == lacks,
	   "what the browser lacks is not looked for twice in a second");
	end();
	begin("/bin/sh");
	is_str(browser_lacks(config), NULL,
	       "what the browser lacks is looked for after a while");
	end();
}

#define STATUS(requestors)                                                     \
	"{\"running\":true,\"version\":\"C 1\",\"sandboxed\":true,"            \
	"\"starts\":2,\"crashes\":3,\"sessions\":4,\"tabs\":5,\"calls\":6,"    \
	"\"refusals\":7,\"cage\":{\"seccomp\":true,\"landlock\":4,"            \
	"\"limits\":true,\"uid\":77},\"requestors\":" requestors "}"

TEST(asked)
{
	uint32_t seq;

	begin("/bin/sh");
	start();
	look();
	is_int(views, 0, "a browser that runs is asked");
	is_str(called(&seq), "status", "the question is of its status");
	answer(seq, true, STATUS("{\"ada\":{\"sessions\":1,\"tabs\":2}}"));
	is_str(seen(),
	       "{\"available\":true,\"path\":\"/bin/sh\",\"version\":\"C 1\","
	       "\"sandboxed\":true,\"cage\":{\"seccomp\":true,\"landlock\":4,"
	       "\"limits\":true,\"ownUser\":true,\"cgroup\":\"none\"}}",
	       "a client with a session sees the cage");
	look();
	called(&seq);
	answer(seq, true, STATUS("{\"bob\":{\"sessions\":1,\"tabs\":2}}"));
	is_str(seen(), "{\"available\":true,\"path\":\"/bin/sh\"}",
	       "a client without a session does not see what others do");
	look();
	called(&seq);
	answer(seq, false, "{\"code\":\"X\",\"message\":\"no\"}");
	is_str(seen(), "{\"available\":true,\"path\":\"/bin/sh\"}",
	       "without an answer of use the path is told");
	requestor.browses = false;
	look();
	is_int(views, 4, "for a client that never browses none is asked");
	end();
}

TEST(gone)
{
	struct request *req;
	uint32_t seq, cancelled;

	begin("/bin/sh");
	start();
	req = look();
	called(&seq);
	request_drop(req, false);
	is_str(called(&cancelled), "cancel",
	       "the question of a client that went is cancelled");
	answer(seq, true, STATUS("{\"ada\":{}}"));
	is_int(views, 0, "an answer for a client that went is dropped");
	req = look();
	request_drop(req, false);
	look();
	called(&seq);
	answer(seq, true, STATUS("{\"ada\":{}}"));
	is_int(views, 1,
	       "an unsent question of a client that went is not sent");
	end();
}

TEST(logged)
{
	const char *lines;
	uint32_t seq;

	begin("/bin/sh");
	browser_log(ctx.browser);
	ok(strstr(log_lines(), "status=off starts=0 "
			       "why=\"nothing has asked for it\"") != NULL,
	   "the log tells that no browser is started");
	start();
	log_lines();
	browser_log(ctx.browser);
	is_str(log_lines(), "", "a browser that runs is asked for the log");
	called(&seq);
	answer(seq, true, STATUS("{\"ada\":{\"sessions\":1,\"tabs\":2}}"));
	lines = log_lines();
	ok(strstr(lines, "status=running starts=1 chromium=\"C 1\" "
			 "chromium_starts=2 crashes=3 sandboxed=yes sessions=4 "
			 "tabs=5 calls=6 refusals=7\n") != NULL,
	   "the log has the whole status");
	ok(strstr(lines, "requestor=ada sessions=1 tabs=2\n") != NULL,
	   "the log has a line for each requestor");
	browser_log(ctx.browser);
	called(&seq);
	answer(seq, true, "{\"sandboxed\":false}");
	ok(strstr(log_lines(),
		  "status=idle starts=1 chromium=\"\" "
		  "chromium_starts=0 crashes=0 sandboxed=no") != NULL,
	   "the log has what a short status tells");
	browser_log(ctx.browser);
	called(&seq);
	answer(seq, true, "{}");
	ok(strstr(log_lines(), "sandboxed=unknown") != NULL,
	   "the log tells what is unknown");
	browser_log(ctx.browser);
	called(&seq);
	answer(seq, false, "{\"code\":\"X\",\"message\":\"busy\"}");
	ok(strstr(log_lines(), "status=unknown why=\"busy\"\n") != NULL,
	   "the log tells why the status is unknown");
	end();
	begin("/no/such/program");
	browser_log(ctx.browser);
	ok(strstr(log_lines(), "status=none starts=0 why=\"the program that "
			       "chromium in [browser] names") != NULL,
	   "the log tells why there is no browser");
	end();
}

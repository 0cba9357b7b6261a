/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bare.h"

#include <event2/event.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/measure.h"
#include "browser/browser.h"
#include "browser/cdp/cdp.h"
#include "proto/json/json_pack.h"

#define NOBODY 65534
#define QUIET_MS 500 /* as wait_for_stable has it by default */
#define POLL_MS 50   /* the pause between looks, if only the load is missing */
#define COMMAND_MAX 16384
#define ARGS_MAX 128

struct bare {
	struct event_base *base;
	struct cdp *cdp;
	pid_t pid;
	char *context;
	char *loader; /* of the last whole document */
	struct json_object *result;
	bool answered;
};

/* ---- the same Chromium ---- */

/* Read the command of PID, NUL after each word; return the length. */
static size_t command_of(pid_t pid, char text[COMMAND_MAX])
{
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	n = fread(text, 1, COMMAND_MAX - 1, f);
	fclose(f);
	text[n] = '\0';
	return n;
}

/* Return the lowest process below PID: higher processes are starting scripts. */
static size_t chromium_below(pid_t pid, char text[COMMAND_MAX])
{
	static const char flag[] = "--remote-debugging-pipe";
	pid_t all[CHILDREN_MAX];
	size_t n = children_of(pid, all), len = 0;

	for (size_t i = 0; i < n && len == 0; i++)
		len = chromium_below(all[i], text);
	if (len > 0)
		return len;
	len = command_of(pid, text);
	return memmem(text, len, flag, sizeof(flag)) != NULL ? len : 0;
}

static void arguments(char **argv, char *text, size_t len, const char *home)
{
	static const char profile[] = "--user-data-dir=";
	size_t n = 0;

	for (char *s = text; s < text + len; s += strlen(s) + 1) {
		if (n == ARGS_MAX - 1)
			die("its command is too long");
		if (strncmp(s, "--proxy", 7) == 0)
			continue;
		argv[n++] = strncmp(s, profile, strlen(profile)) == 0
				? xasprintf("%s%s", profile, home)
				: s;
	}
	argv[n] = NULL;
}

static _Noreturn void become(char *const argv[], const char *home, int in,
			     int out)
{
	char *env[] = {xasprintf("HOME=%s", home), (char *)"LANG=C.UTF-8",
		       NULL};
	int null = open("/dev/null", O_RDWR);

	/* Chromium's sandbox does not start as root */
	if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
		_exit(126);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	in = fcntl(in, F_DUPFD, 10);
	out = fcntl(out, F_DUPFD, 10);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	dup2(in, 3);
	dup2(out, 4);
	if (argv[0] != NULL)
		execve(argv[0], argv, env);
	_exit(127);
}

/* ---- calls, one at a time ---- */

static void on_answer(void *arg, struct json_object *result, const char *error)
{
	struct bare *b = arg;

	if (result == NULL) {
		fprintf(stderr, "Chromium: %s\n",
			error != NULL ? error : "gone");
		exit(1);
	}
	b->result = json_object_get(result);
	b->answered = true;
}

/* Return the answer, the caller's. Takes PARAMS. */
static struct json_object *call(struct bare *b, const char *session,
				const char *method, struct json_object *params)
{
	b->answered = false;
	cdp_call(b->cdp, session, method, params, on_answer, b);
	while (!b->answered)
		event_base_loop(b->base, EVLOOP_ONCE);
	return b->result;
}

/* Return the text MEMBER of the answer. */
static char *call_for(struct bare *b, const char *session, const char *method,
		      struct json_object *params, const char *member)
{
	struct json_object *r = call(b, session, method, params);
	char *text = xstrdup(json_member_str(r, member));

	json_object_put(r);
	return text;
}

static void on_event(void *arg, const char *session, const char *method,
		     struct json_object *params)
{
	struct bare *b = arg;

	(void)session;
	if (strcmp(method, "Page.lifecycleEvent") != 0 ||
	    strcmp(json_member_str(params, "name"), "DOMContentLoaded") != 0)
		return;
	free(b->loader);
	b->loader = xstrdup(json_member_str(params, "loaderId"));
}

static void on_end(void *arg)
{
	(void)arg;
	fputs("Chromium has ended\n", stderr);
	exit(1);
}

struct bare *bare_start(pid_t broker, const char *home)
{
	static const struct cdp_ops ops = {.event = on_event, .end = on_end};
	struct bare *b = xcalloc(1, sizeof(*b));
	char text[COMMAND_MAX], *argv[ARGS_MAX];
	size_t len = chromium_below(broker, text);
	int to[2], from[2];

	if (len == 0)
		die("no Chromium runs");
	arguments(argv, text, len, home);
	if (mkdir(home, 0700) != 0 || pipe2(to, O_CLOEXEC) != 0 ||
	    pipe2(from, O_CLOEXEC) != 0 ||
	    (geteuid() == 0 && chown(home, NOBODY, NOBODY) != 0))
		die(home);
	b->pid = fork();
	if (b->pid < 0)
		die("fork");
	if (b->pid == 0)
		become(argv, home, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	b->base = event_base_new();
	b->cdp = cdp_new(b->base, from[0], to[1], &ops, b);
	b->context =
	    call_for(b, NULL, "Target.createBrowserContext",
		     json_pack("disposeOnDetach:b", 1), "browserContextId");
	return b;
}

pid_t bare_pid(const struct bare *b)
{
	return b->pid;
}

void bare_stop(struct bare *b)
{
	json_object_put(call(b, NULL, "Browser.close", NULL));
	cdp_free(b->cdp);
	waitpid(b->pid, NULL, 0);
	event_base_free(b->base);
	free(b->context);
	free(b->loader);
	free(b);
}

/* ---- a page ---- */

/* create_tab */
static void open_tab(struct bare *b, char **target, char **session)
{
	*target =
	    call_for(b, NULL, "Target.createTarget",
		     json_pack("url:s browserContextId:s width:i height:i",
			       "about:blank", b->context, 1280, 800),
		     "targetId");
	*session = call_for(b, NULL, "Target.attachToTarget",
			    json_pack("targetId:s flatten:b", *target, 1),
			    "sessionId");
	cdp_call(b->cdp, *session, "Network.enable",
		 json_pack("maxTotalBufferSize:i maxResourceBufferSize:i "
			   "maxPostDataSize:i",
			   0, 0, 0),
		 NULL, NULL);
	cdp_call(b->cdp, *session, "Target.setAutoAttach",
		 json_pack("autoAttach:b waitForDebuggerOnStart:b flatten:b", 1,
			   0, 1),
		 NULL, NULL);
	cdp_call(b->cdp, *session, "Page.setLifecycleEventsEnabled",
		 json_pack("enabled:b", 1), NULL, NULL);
	cdp_call(
	    b->cdp, *session, "Page.addScriptToEvaluateOnNewDocument",
	    json_pack("source:s worldName:s", script_source(), SCRIPT_WORLD),
	    NULL, NULL);
	json_object_put(call(b, *session, "Page.enable", NULL));
}

/* navigate */
static void go(struct bare *b, const char *target, const char *session,
	       const char *url)
{
	char *loader = call_for(b, session, "Page.navigate",
				json_pack("url:s", url), "loaderId");

	while (b->loader == NULL || strcmp(b->loader, loader) != 0)
		event_base_loop(b->base, EVLOOP_ONCE);
	free(loader);
	json_object_put(call(b, NULL, "Target.getTargetInfo",
			     json_pack("targetId:s", target)));
}

static struct json_object *evaluate(struct bare *b, const char *session,
				    int64_t world, const char *text)
{
	struct json_object *r, *v;

	r = call(
	    b, session, "Runtime.evaluate",
	    json_pack("expression:s contextId:i returnByValue:b awaitPromise:b "
		      "userGesture:b",
		      text, world, 1, 0, 0));
	v = json_object_get(json_member(json_member(r, "result"), "value"));
	json_object_put(r);
	return v;
}

/* Return the result of FUNCTION in page.js for ARGS; the caller's. */
static struct json_object *ask(struct bare *b, const char *target,
			       const char *session, const char *function,
			       const char *args)
{
	char *text = xasprintf("globalThis.paddock ? paddock.%s(%s) : null",
			       function, args);
	struct json_object *r, *v;
	int64_t world;

	r = call(b, session, "Page.createIsolatedWorld",
		 json_pack("frameId:s worldName:s", target, SCRIPT_WORLD));
	world = json_member_int(r, "executionContextId");
	json_object_put(r);
	v = evaluate(b, session, world, text);
	if (v == NULL) { /* the world is new */
		json_object_put(evaluate(b, session, world, script_source()));
		v = evaluate(b, session, world, text);
	}
	if (v == NULL)
		die(text);
	free(text);
	return v;
}

/* wait_for_stable: look again when the page can be quiet. */
static void settle(struct bare *b, const char *target, const char *session)
{
	for (;;) {
		struct json_object *v = ask(b, target, session, "quiet", "{}");
		int64_t left = QUIET_MS - json_member_int(v, "quietMs");
		bool loaded =
		    strcmp(json_member_str(v, "loadState"), "complete") == 0;
		struct timespec pause = {
		    .tv_nsec = 1000000L * (left > 0 ? left : POLL_MS)};

		json_object_put(v);
		if (loaded && left <= 0)
			return;
		nanosleep(&pause, NULL);
	}
}

void bare_page(struct bare *b, const char *url)
{
	char *target, *session;

	open_tab(b, &target, &session);
	go(b, target, session, url);
	settle(b, target, session);
	json_object_put(ask(b, target, session, "info",
			    "{maxElements: 50, visibleOnly: true}"));
	json_object_put(
	    ask(b, target, session, "content", "{maxLength: 4000}"));
	cdp_call(b->cdp, NULL, "Target.closeTarget",
		 json_pack("targetId:s", target), NULL, NULL);
	free(target);
	free(session);
}

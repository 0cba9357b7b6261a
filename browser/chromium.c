/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium.c - starts, watches and stops Chromium, for calls and for the sweep
 * of main.c. A failed start is the fault BROWSER_UNAVAILABLE of the waiting
 * calls, and the next start is delayed, longer each time.
 */
#include "browser/chromium.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "base/text/errmsg.h"
#include "browser/cdp/cdp.h"
#include "browser/session_access.h"
#include "proto/json/json_pack.h"
#include "browser/net/proxy.h"
#include "browser/process/chromium_process.h"

#define START_MS 30000
/* most between PID 1's event on a process and Chromium's own */
#define BLAME_MS 5000
#define BEAT_MS 500
#define SILENT_MS 2000 /* silence after which a page may be at fault */
#define DEAD_MS 30000  /* silence after which Chromium counts as dead */
/* first wait, after the second early death in a row */
#define BACKOFF_FIRST_MS 500
#define BACKOFF_MAX_MS 30000

enum state { OFF, STARTING, UP };

struct chromium {
	struct browser *b;
	enum state state;
	const char *path; /* NULL: no program was found */
	char *version;
	struct chromium_process *process;
	struct cdp *cdp;
	struct proxy *proxy;
	struct event *start_timeout; /* the timer of a start */
	struct event *beat;	     /* the timer of questions while up */
	int64_t asked_at; /* time of an unanswered question; 0: none */
	uint64_t starts, crashes;
	bool early; /* died, and no action has succeeded since */
	int64_t wait_ms, not_before;
	int64_t idle_since;
	char errmsg[300]; /* why Chromium is not up */
};

/* ---- start and stop ---- */

/* Stop Chromium. Not to be called from an event or answer of its connection. */
static void stop_chromium(struct chromium *ch)
{
	ch->state = OFF;
	chromium_process_stop(ch->process);
	if (ch->start_timeout != NULL)
		event_free(ch->start_timeout);
	ch->start_timeout = NULL;
	if (ch->beat != NULL)
		event_free(ch->beat);
	ch->beat = NULL;
	ch->asked_at = 0;
	cdp_free(ch->cdp);
	ch->cdp = NULL;
	proxy_free(ch->proxy);
	ch->proxy = NULL;
	sessions_lost(ch->b);
	calls_wake(ch->b, NULL, NULL);
}

static void on_death(struct chromium *ch, const char *how)
{
	log_warn("chromium", "died=\"%s\" state=%s sessions=%u", how,
		 ch->state == UP ? "up" : "starting", ch->b->n_sessions);
	ch->crashes++;
	if (ch->early)
		ch->wait_ms =
		    backoff_ms(ch->wait_ms, BACKOFF_FIRST_MS, BACKOFF_MAX_MS);
	ch->early = true;
	ch->not_before = clock_mono_ms() + ch->wait_ms;
	if (ch->state == STARTING)
		errmsg_set(ch->errmsg, sizeof(ch->errmsg),
			   "%s does not start: %s; its own sandbox needs user "
			   "namespaces",
			   ch->path, how);
	stop_chromium(ch);
}

static void on_cdp_end(void *arg)
{
	on_death(arg, "it closed its pipe");
}

static void on_start_timeout(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	on_death(arg, "no answer in 30 s");
}

static void on_cdp_event(void *arg, const char *attached, const char *method,
			 struct json_object *params)
{
	struct chromium *ch = arg;

	tab_event(ch->b, attached, method, params);
}

/* ---- does Chromium answer? ---- */

static void on_beat_answer(void *arg, struct json_object *result,
			   const char *error)
{
	struct chromium *ch = arg;

	(void)result, (void)error;
	ch->asked_at = 0;
}

/*
 * Ask Chromium for a sign of life. A single thread of Chromium answers for all
 * sessions. A page can keep that thread busy, or take its CPU: then PID 1 ends
 * the page.
 */
static void on_beat(evutil_socket_t fd, short what, void *arg)
{
	struct chromium *ch = arg;
	int64_t now = clock_mono_ms();

	(void)fd, (void)what;
	if (ch->asked_at == 0) {
		if (ch->b->n_sessions == 0 && ch->b->n_calls == 0)
			return;
		ch->asked_at = now;
		cdp_call(ch->cdp, NULL, "Browser.getVersion", NULL,
			 on_beat_answer, ch);
	} else if (now - ch->asked_at >= DEAD_MS) {
		on_death(ch, "no answer in 30 s");
	} else if (now - ch->asked_at >= SILENT_MS) {
		chromium_process_silent(ch->process, now - ch->asked_at);
	}
}

static void on_version(void *arg, struct json_object *result, const char *error)
{
	struct chromium *ch = arg;

	(void)error;
	free(ch->version);
	ch->version = xstrdup_opt(json_member_str(result, "product"));
	event_free(ch->start_timeout);
	ch->start_timeout = NULL;
	ch->state = UP;
	ch->beat = event_new(ch->b->base, -1, EV_PERSIST, on_beat, ch);
	event_add(ch->beat, CLOCK_TIMEVAL(BEAT_MS));
	ch->errmsg[0] = '\0';
	ch->idle_since = clock_mono_ms();
	log_info("chromium", "up=%s pid=%d",
		 ch->version == NULL ? "?" : ch->version,
		 (int)chromium_process_pid(ch->process));
	calls_wake(ch->b, NULL, NULL);
}

static bool on_client(void *arg, uint32_t proxy_ip, struct proxy_client *client)
{
	struct chromium *ch = arg;
	struct session *s = session_by_proxy_ip(ch->b, proxy_ip);

	if (s == NULL) {
		log_warn("proxy", "refused=\"a connection of no session\"");
		return false;
	}
	*client = (struct proxy_client){s->trust, s->requestor};
	return true;
}

static const char *on_reach(void *arg, uint32_t proxy_ip, const char *host,
			    unsigned port, const struct sockaddr *address)
{
	struct chromium *ch = arg;
	struct session *s = session_by_proxy_ip(ch->b, proxy_ip);

	return s == NULL ? "a session that has ended"
			 : session_access_reach(s, host, port, address);
}

static void on_unreached(void *arg, uint32_t proxy_ip, const char *host,
			 unsigned port, const char *errmsg, bool policy)
{
	struct chromium *ch = arg;
	struct session *s = session_by_proxy_ip(ch->b, proxy_ip);

	if (policy)
		ch->b->refusals++;
	if (s == NULL)
		return;
	if (policy)
		log_warn("policy",
			 "session=%s requestor=%s run=%s refused=\"%s\" "
			 "port=%u reason=\"%s\"",
			 s->id, s->requestor,
			 s->of_run == NULL ? "-" : s->of_run, host, port,
			 errmsg);
	session_failed(s, host, port, errmsg, policy);
}

static void on_up(void *arg, const struct chromium_pipes *ends)
{
	static const struct cdp_ops cdp_ops = {.event = on_cdp_event,
					       .end = on_cdp_end};
	static const struct proxy_ops proxy_ops = {
	    .client = on_client, .reach = on_reach, .failed = on_unreached};
	struct chromium *ch = arg;

	ch->proxy = proxy_new(ch->b->base, ends->listener, ch->b->resolver,
			      ch->b->alone, &proxy_ops, ch);
	ch->cdp = cdp_new(ch->b->base, ends->from, ends->to, &cdp_ops, ch);
	cdp_call(ch->cdp, NULL, "Target.setDiscoverTargets",
		 json_pack("discover:b", 1), NULL, NULL);
	cdp_call(ch->cdp, NULL, "Browser.getVersion", NULL, on_version, ch);
}

static void on_failed(void *arg, const char *errmsg)
{
	struct chromium *ch = arg;

	log_warn("chromium", "err=\"%s\"", errmsg);
	errmsg_set(ch->errmsg, sizeof(ch->errmsg), "%s", errmsg);
	stop_chromium(ch);
}

static void on_ended(void *arg, int status)
{
	char how[60];

	snprintf(how, sizeof(how), "%s %d",
		 WIFEXITED(status) ? "status" : "signal",
		 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	on_death(arg, how);
}

/*
 * Exit when Chromium's starter has ended; paddockd then starts another
 * paddock-browser.
 */
static void on_lost(void *arg)
{
	struct chromium *ch = arg;

	log_error("chromium", "err=\"its starter has ended\"");
	event_base_loopbreak(ch->b->base);
}

static int start_chromium(struct chromium *ch)
{
	const struct timeval start_timeout = {.tv_sec = START_MS / 1000};
	int rc = chromium_process_start(ch->process);

	if (rc < 0)
		return errmsg_set(ch->errmsg, sizeof(ch->errmsg),
				  "it cannot be started: %s", strerror(-rc));
	ch->starts++;
	ch->state = STARTING;
	ch->errmsg[0] = '\0';
	ch->start_timeout = evtimer_new(ch->b->base, on_start_timeout, ch);
	event_add(ch->start_timeout, &start_timeout);
	return 0;
}

static int refuse_unavailable(struct call *c, struct chromium *ch)
{
	return call_fault(c, "BROWSER_UNAVAILABLE", NULL, "%s", ch->errmsg);
}

/* Wait for Chromium. A start has its own time, outside the action's time. */
int chromium_ready(struct call *c)
{
	struct chromium *ch = c->b->chromium;
	uint64_t tried = 0;

	if (ch->state != UP)
		c->deadline = c->last;
	while (ch->state != UP) {
		if (ch->state == OFF) {
			if (ch->path == NULL || tried == ch->starts + 1)
				return refuse_unavailable(c, ch);
			if (ch->not_before > clock_mono_ms()) {
				if (call_wait(c, ch->not_before) < 0)
					return -1;
				continue;
			}
			if (start_chromium(ch) < 0)
				return refuse_unavailable(c, ch);
			/* a single attempt for each call */
			tried = ch->starts + 1;
		}
		if (call_wait(c, INT64_MAX) < 0)
			return -1;
	}
	call_begin(c);
	return 0;
}

struct cdp *chromium_cdp(struct chromium *ch)
{
	return ch->state == UP ? ch->cdp : NULL;
}

uint64_t chromium_starts(const struct chromium *ch)
{
	return ch->starts;
}

void chromium_worked(struct chromium *ch)
{
	ch->early = false;
	ch->wait_ms = 0;
}

void chromium_sweep(struct chromium *ch)
{
	int64_t now = clock_mono_ms();

	if (ch->b->n_sessions > 0 || ch->b->n_calls > 0)
		ch->idle_since = now;
	else if (ch->state == UP &&
		 now - ch->idle_since >= ch->b->limits.idle_ms) {
		log_info("chromium", "stopped=\"idle\"");
		stop_chromium(ch);
	}
}

/* The limits for which PID 1 ends a process: key, unit, who can raise it. */
static const struct {
	const char *key, *unit, *who, *why;
} ends[] = {
    [CHROMIUM_INIT_MEMORY] = {"max_memory", "bytes",
			      "the operator: max_memory in [browser]",
			      "for it used the most, %llu bytes, when all that "
			      "the browser may have, %llu, was used"},
    [CHROMIUM_INIT_TASKS] = {"max_processes", "threads",
			     "the operator: max_processes in [browser]",
			     "for it used the most, %llu threads, when all "
			     "that the browser may have, %llu, was used"},
    [CHROMIUM_INIT_THREADS] = {"threads of a page", "threads",
			       "nobody: it is fixed",
			       "for it had %llu threads, such as workers; a "
			       "page may have %llu"},
    [CHROMIUM_INIT_BUSY] = {"an answer of the browser", "ms",
			    "nobody: it is fixed",
			    "for it had %llu ms of CPU time while it kept "
			    "the browser from answering anybody, for %llu ms"},
};

/* The figure is the process's own, so it tells nothing of other sessions. */
char *chromium_ended_one(struct chromium *ch, struct json_object **details)
{
	const struct chromium_init_event *n =
	    ch->process == NULL ? NULL
				: chromium_process_over(ch->process, BLAME_MS);
	char why[200];

	if (n == NULL || n->kind >= ARRAY_LEN(ends))
		return NULL;
	snprintf(why, sizeof(why), ends[n->kind].why,
		 (unsigned long long)n->used, (unsigned long long)n->allowed);
	if (details != NULL)
		*details =
		    json_pack("limit:s used:i allowed:i unit:s whoCanRaise:s",
			      ends[n->kind].key, n->used, n->allowed,
			      ends[n->kind].unit, ends[n->kind].who);
	return xasprintf("the page's process was ended, %s; its tab is closed",
			 why);
}

const char *chromium_death_code(struct chromium *ch)
{
	return ch->process != NULL &&
		       chromium_process_over(ch->process, BLAME_MS) != NULL
		   ? "RESOURCE_LIMIT"
		   : "PAGE_CRASHED";
}

void chromium_view(const struct chromium *ch, struct json_object *o)
{
	int held = ch->state == UP ? chromium_process_held(ch->process) : -1;
	pid_t pid =
	    ch->process != NULL ? chromium_process_pid(ch->process) : -1;
	bool bad =
	    ch->path == NULL || (ch->state == OFF && ch->errmsg[0] != '\0');

	json_add(o, "available:b reason?s path?s version?s running:b", !bad,
		 bad ? ch->errmsg : NULL, ch->path, ch->version,
		 ch->state == UP);
	if (held >= 0)
		json_add(o, "sandboxed:b", held);
	json_add(o, "pid:o starts:i crashes:i",
		 pid > 0 ? json_object_new_int64(pid) : NULL, ch->starts,
		 ch->crashes);
}

void chromium_free(struct chromium *ch)
{
	if (ch->state != OFF)
		stop_chromium(ch);
	chromium_process_free(ch->process);
	free(ch->version);
	free(ch);
}

/* ---- the program ---- */

struct chromium *chromium_new(struct browser *b, const char *path, int starter)
{
	static const struct chromium_process_ops ops = {.up = on_up,
							.failed = on_failed,
							.ended = on_ended,
							.lost = on_lost};
	struct chromium *ch = xcalloc(1, sizeof(*ch));

	ch->b = b;
	ch->path = path;
	if (starter >= 0)
		ch->process = chromium_process_new(b->base, starter, &ops, ch);
	if (ch->path == NULL)
		errmsg_set(ch->errmsg, sizeof(ch->errmsg),
			   "neither chromium-headless-shell nor chromium is in "
			   "PATH or /usr/bin; install one of them, or name its "
			   "path");
	else if (access(ch->path, X_OK) != 0)
		errmsg_set(ch->errmsg, sizeof(ch->errmsg), "%s: %s", ch->path,
			   strerror(errno));
	return ch;
}

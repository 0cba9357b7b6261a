#include "broker/chromium.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/why.h"
#include "broker/cdp.h"
#include "broker/launch.h"
#include "broker/pack.h"
#include "broker/proxy.h"
#include "broker/renderers.h"

#define START_MS 30000
#define BACKOFF_FIRST_MS 500 /* after the second early death in a row */
#define BACKOFF_MAX_MS 30000

enum state { OFF, STARTING, UP };

struct chromium {
	struct broker *b;
	enum state state;
	char *path; /* NULL: none was found */
	char *version;
	struct launched world; /* pid -1: none */
	struct cdp *cdp;
	struct proxy *proxy;
	struct event *patience; /* while starting */
	uint64_t starts, crashes;
	unsigned early; /* deaths in a row without an action that went well */
	int64_t not_before;
	int64_t idle_since;
	char why[300]; /* it is not up, when it should be */
};

static const char *const names[] = {"chromium-headless-shell", "chromium"};
/* The real programs: what has their names in bin are scripts. */
static const char *const homes[] = {"/usr/lib/chromium"};

/*
 * There is but one way out, and nothing to look for there unasked: no
 * updates, no sync, no pings. Its sandbox is on, and stays so.
 */
static const char *const flags[] = {
    "--headless",
    "--remote-debugging-pipe",
    "--user-data-dir=/tmp/profile",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--proxy-server=socks5://127.0.0.1:1080", /* of no session: refused */
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--disable-gpu",
    "--disable-notifications",
    "--disable-print-preview",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-ipc-flooding-protection",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--window-size=1280,800",
    "--disk-cache-size=67108864",
    "about:blank",
};

/* ---- finding it ---- */

static char *in_folder(const char *folder, size_t n, const char *name)
{
	char *path = xasprintf("%.*s/%s", (int)n, folder, name);

	if (path[0] == '/' && access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *in_path(const char *name)
{
	const char *p = getenv("PATH");
	char *found = NULL;

	for (; p != NULL && found == NULL; p = strchr(p, ':')) {
		p += *p == ':';
		found = in_folder(p, strcspn(p, ":"), name);
	}
	return found != NULL ? found : in_folder("/usr/bin", 8, name);
}

/* Where it lies itself: links to it are not in its world. */
static char *resolved(char *path)
{
	char *real = path == NULL ? NULL : realpath(path, NULL);

	if (real == NULL)
		return path;
	free(path);
	return real;
}

static char *find(const char *path)
{
	char *found = NULL;

	if (path != NULL)
		return resolved(xstrdup(path));
	for (size_t i = 0; i < ARRAY_LEN(homes) && found == NULL; i++)
		found = in_folder(homes[i], strlen(homes[i]), names[0]);
	for (size_t i = 0; i < ARRAY_LEN(names) && found == NULL; i++)
		found = in_path(names[i]);
	return resolved(found);
}

struct chromium *chromium_new(struct broker *b)
{
	struct chromium *ch = xcalloc(1, sizeof(*ch));

	ch->b = b;
	ch->world.pid = -1;
	ch->path = find(b->limits.chromium);
	if (ch->path == NULL)
		why_set(ch->why, sizeof(ch->why),
			"neither chromium-headless-shell nor chromium is in "
			"PATH or /usr/bin; install one of them, or name its "
			"path");
	else if (access(ch->path, X_OK) != 0)
		why_set(ch->why, sizeof(ch->why), "%s: %s", ch->path,
			strerror(errno));
	return ch;
}

/* ---- up and down ---- */

static void wake_all(struct broker *b)
{
	struct call *c;

	TAILQ_FOREACH(c, &b->calls, link)
	call_wake(c);
}

/* Not from within an event or an answer of its own connection. */
static void down(struct chromium *ch)
{
	ch->state = OFF;
	if (ch->world.pid > 0)
		kill(ch->world.pid, SIGKILL); /* chromium_reap() hears of it */
	ch->world.pid = -1;
	if (ch->patience != NULL)
		event_free(ch->patience);
	ch->patience = NULL;
	cdp_free(ch->cdp);
	ch->cdp = NULL;
	proxy_free(ch->proxy);
	ch->proxy = NULL;
	sessions_lost(ch->b);
	wake_all(ch->b);
}

static void died(struct chromium *ch, const char *how)
{
	int64_t wait = 0;

	log_warn("chromium", "died=\"%s\" state=%s sessions=%u", how,
		 ch->state == UP ? "up" : "starting", ch->b->n_sessions);
	ch->crashes++;
	if (ch->early++ > 0)
		wait = BACKOFF_FIRST_MS << (ch->early < 8 ? ch->early - 2 : 6);
	if (wait > BACKOFF_MAX_MS)
		wait = BACKOFF_MAX_MS;
	ch->not_before = clock_mono_ms() + wait;
	if (ch->state == STARTING)
		why_set(ch->why, sizeof(ch->why),
			"%s does not start: %s; its own sandbox needs user "
			"namespaces",
			ch->path, how);
	down(ch);
}

static void on_cdp_end(void *arg)
{
	died(arg, "it closed its pipe");
}

static void on_impatient(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	died(arg, "no answer in 30 s");
}

static void on_cdp_event(void *arg, const char *attached, const char *method,
			 struct json_object *params)
{
	struct chromium *ch = arg;

	tab_event(ch->b, attached, method, params);
}

static void on_version(void *arg, struct json_object *result, const char *error)
{
	struct chromium *ch = arg;

	(void)error;
	free(ch->version);
	ch->version = xstrdup_opt(member_str(result, "product"));
	event_free(ch->patience);
	ch->patience = NULL;
	ch->state = UP;
	ch->why[0] = '\0';
	ch->idle_since = clock_mono_ms();
	log_info("chromium", "up=%s pid=%d",
		 ch->version == NULL ? "?" : ch->version, (int)ch->world.pid);
	wake_all(ch->b);
}

static bool on_client(void *arg, uint32_t way, enum url_trust *trust)
{
	struct chromium *ch = arg;
	struct session *s = session_of_way(ch->b, way);

	if (s == NULL) {
		log_warn("proxy", "refused=\"a connection of no session\"");
		return false;
	}
	*trust = s->trust;
	return true;
}

static void on_unreached(void *arg, uint32_t way, const char *host,
			 unsigned port, const char *why, bool policy)
{
	struct chromium *ch = arg;
	struct session *s = session_of_way(ch->b, way);

	if (policy)
		ch->b->refusals++;
	if (s == NULL)
		return;
	if (policy)
		log_warn("policy",
			 "session=%s requestor=%s run=%s refused=\"%s\" "
			 "port=%u reason=\"%s\"",
			 s->id, s->requestor, s->of_run == NULL ? "-" : s->of_run, host, port,
			 why);
	session_failed(s, host, port, why, policy);
}

static int start(struct chromium *ch)
{
	static const struct cdp_ops cdp_ops = {.event = on_cdp_event,
					       .end = on_cdp_end};
	static const struct proxy_ops proxy_ops = {.client = on_client,
						   .failed = on_unreached};
	const struct timeval patience = {.tv_sec = START_MS / 1000};
	char *argv[ARRAY_LEN(flags) + 2];
	int rc;

	argv[0] = ch->path;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		argv[i + 1] = (char *)(uintptr_t)flags[i];
	argv[ARRAY_LEN(flags) + 1] = NULL;
	rc = launch(&ch->world, argv, ch->why, sizeof(ch->why));
	if (rc < 0) {
		log_warn("chromium", "err=\"%s\"", ch->why);
		return rc;
	}
	ch->starts++;
	ch->state = STARTING;
	ch->proxy = proxy_new(ch->b->base, ch->world.listener, &proxy_ops, ch);
	ch->cdp =
	    cdp_new(ch->b->base, ch->world.from, ch->world.to, &cdp_ops, ch);
	ch->patience = evtimer_new(ch->b->base, on_impatient, ch);
	event_add(ch->patience, &patience);
	cdp_call(ch->cdp, NULL, "Target.setDiscoverTargets",
		 pack("discover:b", 1), NULL, NULL);
	cdp_call(ch->cdp, NULL, "Browser.getVersion", NULL, on_version, ch);
	return 0;
}

static int unavailable(struct call *c, struct chromium *ch)
{
	return call_fault(c, "BROWSER_UNAVAILABLE", NULL, "%s", ch->why);
}

int chromium_ready(struct call *c)
{
	struct chromium *ch = c->b->chromium;
	uint64_t tried = 0;

	while (ch->state != UP) {
		if (ch->state == OFF) {
			if (ch->path == NULL || tried == ch->starts + 1)
				return unavailable(c, ch);
			if (ch->not_before > clock_mono_ms()) {
				if (call_wait(c, ch->not_before) < 0)
					return -1;
				continue;
			}
			if (start(ch) < 0)
				return unavailable(c, ch);
			tried = ch->starts + 1; /* one try a call */
		}
		if (call_wait(c, INT64_MAX) < 0)
			return -1;
	}
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
	ch->early = 0;
}

void chromium_stop(struct chromium *ch, const char *why)
{
	if (ch->state == OFF)
		return;
	log_info("chromium", "stopped=\"%s\"", why);
	down(ch);
}

/* All children are PIDs 1 of worlds, this one's or one that was killed. */
void chromium_reap(struct chromium *ch)
{
	char how[60];
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != ch->world.pid)
			continue;
		ch->world.pid = -1;
		snprintf(how, sizeof(how), "%s %d",
			 WIFEXITED(status) ? "status" : "signal",
			 WIFEXITED(status) ? WEXITSTATUS(status)
					   : WTERMSIG(status));
		died(ch, how);
	}
}

void chromium_sweep(struct chromium *ch)
{
	int64_t now = clock_mono_ms();

	if (ch->b->n_sessions > 0 || ch->b->n_calls > 0)
		ch->idle_since = now;
	else if (ch->state == UP &&
		 now - ch->idle_since >= ch->b->limits.idle_ms)
		chromium_stop(ch, "idle");
}

void chromium_view(const struct chromium *ch, struct json_object *o)
{
	int held = ch->state == UP ? renderers_sandboxed(ch->world.pid)
				   : -ENOENT;
	bool bad = ch->path == NULL || (ch->state == OFF && ch->why[0] != '\0');

	json_object_object_add(o, "available", json_object_new_boolean(!bad));
	if (bad)
		json_object_object_add(o, "reason",
				       json_object_new_string(ch->why));
	if (ch->path != NULL)
		json_object_object_add(o, "path",
				       json_object_new_string(ch->path));
	if (ch->version != NULL)
		json_object_object_add(o, "version",
				       json_object_new_string(ch->version));
	json_object_object_add(o, "running",
			       json_object_new_boolean(ch->state == UP));
	if (held >= 0)
		json_object_object_add(o, "sandboxed",
				       json_object_new_boolean(held));
	json_object_object_add(
	    o, "pid",
	    ch->world.pid > 0 ? json_object_new_int64(ch->world.pid) : NULL);
	json_object_object_add(o, "starts",
			       json_object_new_int64((int64_t)ch->starts));
	json_object_object_add(o, "crashes",
			       json_object_new_int64((int64_t)ch->crashes));
}

void chromium_free(struct chromium *ch)
{
	pid_t pid = ch->world.pid;
	int status;

	if (ch->state != OFF)
		down(ch);
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	free(ch->path);
	free(ch->version);
	free(ch);
}

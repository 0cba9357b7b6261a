/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreters.c - has a worker look for interpreters, as a run would see them,
 * when a daemon has started or get_runtime_profile first asks. The result is
 * kept until a reload, or until the machine's interpreters change. A worker that
 * fails, which health.c tells of, is tried again every few seconds; meanwhile
 * the result is Lua alone.
 */
#include "supervisor/run/health/interpreters.h"

#include <ctype.h>
#include <errno.h>
#include <lua.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "proto/json/json_pack.h"
#include "supervisor/context.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/spawn/isolation.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/runtime/runtime.h"

#define PATIENCE_MS 5000
#define AGAIN_MS 20
#define RETRY_MS 5000 /* after a program did not run: is it mended? */
#define OUTPUT_BYTES (32u << 10)
#define LOOK_BYTES (512u << 20)
#define MODULES_MAX 500
#define NAME_MAX_BYTES 64u
#define LUA LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE

/* Print the modules beside Python's own that any program may import. */
#define MODULES                                                                \
	"import pkgutil, sys\n"                                                \
	"print('python', sys.version.split()[0])\n"                            \
	"names = sorted({m.name for m in pkgutil.iter_modules(p for p in "     \
	"sys.path if p.endswith('-packages')) if m.name.isascii() and "        \
	"m.name[0] != '_'})\n"                                                 \
	"for name in names[:500]:\n"                                           \
	"    print('module', name)\n"                                          \
	"print('more', max(0, len(names) - 500))\n"

#define SHELL "/bin/sh"
static const char script[] =
    "-c\0"
    "p=/usr/bin/python3; [ -x $p ] || p=python3\n"
    "$p -I -c \"$0\" 2>/dev/null\n"
    "n=$(node --version 2>/dev/null) && echo node ${n#v}\n"
    "bash -c 'echo bash ${BASH_VERSION%%(*}' 2>/dev/null\n"
    "exit 0\0" MODULES;

/* Folders of the machine whose change may change the result. */
static const char *const looked_at[] = {
    "/usr/bin",
    "/usr/local/bin",
    "/usr/lib/python3/dist-packages",
};
#define PLACES ARRAY_LEN(looked_at)

struct asker {
	interpreters_done *done;
	void *arg;
	TAILQ_ENTRY(asker) link; /* entry in interpreters.askers */
};

struct look { /* the life of one worker */
	struct spawner_child child;
	struct interpreters *of;
	int fd;
	struct event *readable, *deadline;
	bool told, killed, held;  /* HELD: by a cgroup */
	struct json_object *view; /* the result, made of the worker's output */
	/* why there is none: for clients, and what the worker said */
	char why[256], said[256];
	bool sure, no_groups; /* see struct isolation */
};

struct interpreters {
	struct context *ctx;
	struct json_object *view; /* the result; NULL: not known */
	struct timespec changed[PLACES];
	struct look *look; /* the look under way, or NULL */
	bool forgotten;	   /* the look's result is out of date already */
	/* timer to try again, when no worker could be had */
	struct event *again;
	int64_t until_ms;    /* when to stop trying */
	bool once_more;	     /* look again after the look under way */
	struct event *retry; /* timer to look again after a failure */
	TAILQ_HEAD(, asker) askers;
};

/* ---- results ---- */

static bool is_version_word(const char *word, const char *more)
{
	size_t n = strlen(word);

	for (const char *p = word; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr(more, *p) == NULL)
			return false;
	return n > 0 && n <= NAME_MAX_BYTES;
}

/*
 * Add a line to VIEW: "python 3.11.2", then "module numpy" or "more 7"; or
 * "node 20.1.0".
 */
static void take_version_line(struct json_object *view, const char *key,
			      const char *value)
{
	struct json_object *python = json_member(view, "python");
	struct json_object *modules = json_member(python, "modules");

	if (strcmp(key, "module") == 0 && is_version_word(value, "_") &&
	    modules != NULL && json_length(modules) < MODULES_MAX)
		json_object_array_add(modules, json_text_new(value));
	else if (strcmp(key, "more") == 0 && python != NULL &&
		 strtol(value, NULL, 10) > 0)
		json_add(python, "moreModules:i",
			 (int64_t)strtol(value, NULL, 10));
	else if (strcmp(key, "python") == 0 && is_version_word(value, "._+-"))
		json_add(view, "python:o",
			 json_pack("version:s modules:o", value,
				   json_object_new_array()));
	else if ((strcmp(key, "node") == 0 || strcmp(key, "bash") == 0) &&
		 is_version_word(value, "._+-"))
		json_object_object_add(view, key,
				       json_pack("version:s", value));
}

static struct json_object *interpreters_view(struct str said)
{
	struct json_object *view = json_object_new_object();
	char *text = xcalloc(1, said.n + 1), *at = text, *line;

	memcpy(text, said.p, said.n);
	while ((line = strsep(&at, "\n")) != NULL) {
		char *value = strchr(line, ' ');

		if (value == NULL)
			continue;
		*value++ = '\0';
		take_version_line(view, line, value);
	}
	free(text);
	json_add(view, "lua:o", json_pack("version:s", LUA));
	return view;
}

/* ---- the machine's interpreters ---- */

static void note_changed(struct timespec changed[PLACES])
{
	struct stat st;

	loop_guard_allow("a few folders of the machine's own, named here");
	for (size_t i = 0; i < PLACES; i++)
		changed[i] = stat(looked_at[i], &st) == 0
				 ? st.st_ctim
				 : (struct timespec){0};
	loop_guard_forbid();
}

static bool is_as_it_was(const struct interpreters *i)
{
	struct timespec now[PLACES];

	note_changed(now);
	for (size_t at = 0; at < PLACES; at++)
		if (now[at].tv_sec != i->changed[at].tv_sec ||
		    now[at].tv_nsec != i->changed[at].tv_nsec)
			return false;
	return true;
}

/* ---- failures: can a program be run at all? ---- */

static void __attribute__((format(printf, 3, 4)))
fail(struct look *l, bool sure, const char *fmt, ...)
{
	va_list ap;

	if (l->why[0] != '\0')
		return; /* the first cause counts */
	l->sure = sure;
	va_start(ap, fmt);
	vsnprintf(l->why, sizeof(l->why), fmt, ap);
	va_end(ap);
}

/*
 * Note for health whether L's program ran. A server that ends, or is quiet, has
 * ended the worker itself.
 */
static void note_trial(struct look *l)
{
	struct isolation *iso = l->of->ctx->isolation;

	if (l->of->ctx->quiet)
		return;
	if (l->view != NULL)
		l->why[0] = l->said[0] = '\0';
	else
		fail(l, true, "a program that was started to try did not run");
	if (strcmp(iso->no_start, l->why) != 0 && l->why[0] != '\0')
		log_error("programs", "run=no why=\"%s\" said=\"%s\"", l->why,
			  l->said);
	else if (iso->no_start[0] != '\0' && l->why[0] == '\0')
		log_info("programs", "run=yes");
	snprintf(iso->no_start, sizeof(iso->no_start), "%s", l->why);
	snprintf(iso->no_start_why, sizeof(iso->no_start_why), "%s", l->said);
	iso->no_start_sure = l->why[0] != '\0' && l->sure;
	iso->no_groups = l->why[0] != '\0' && l->no_groups;
}

/* ---- the worker ---- */

static void tell_all(struct interpreters *i)
{
	struct json_object *view =
	    i->view != NULL ? json_object_get(i->view)
			    : json_pack("lua:o", json_pack("version:s", LUA));
	struct asker *a;

	while ((a = TAILQ_FIRST(&i->askers)) != NULL) {
		TAILQ_REMOVE(&i->askers, a, link);
		a->done(a->arg, view);
		free(a);
	}
	json_object_put(view);
	if (i->ctx->isolation->no_start[0] != '\0')
		event_add(i->retry, CLOCK_TIMEVAL(RETRY_MS));
}

/* End the look, whose worker is gone. Keep its result, if there is one. */
static void end_probe(struct look *l)
{
	struct interpreters *i = l->of;

	i->look = NULL;
	note_trial(l);
	if (!i->forgotten) {
		json_object_put(i->view);
		i->view = json_object_get(l->view);
	}
	json_object_put(l->view);
	event_free(l->readable);
	event_free(l->deadline);
	close(l->fd);
	free(l);
	tell_all(i);
	if (i->once_more)
		event_add(i->retry, CLOCK_TIMEVAL(0));
	i->once_more = false;
}

static void kill_look(struct look *l)
{
	l->killed = true;
	if (l->child.pid > 0)
		kill(l->child.pid, SIGKILL);
}

static void send_run(struct look *l)
{
	static const struct str name = {"interpreters", 12}, id = {"look", 4},
				shell = {SHELL, sizeof(SHELL) - 1};
	uint8_t frame[CHAN_FRAME_MAX];
	struct msg m = {.type = MSG_RUN,
			.run = {.run_id = id,
				.template_id = name,
				.entry = shell,
				.timeout_ms = PATIENCE_MS,
				.memory_bytes = LOOK_BYTES,
				.output_bytes = OUTPUT_BYTES,
				.messages_per_second = MSG_RATE_MIN,
				.code_bytes = sizeof(script),
				.head = {script, sizeof(script)}}};

	if (chan_send(l->fd, frame, msg_put(frame, &m)) < 0)
		kill_look(l);
}

/*
 * Put the worker into a cgroup of its own, as any run's. Where no cgroup may be
 * made no run of a program can begin, which every later run is told, until a
 * cgroup can be made.
 */
static bool hold_probe(struct look *l)
{
	static const struct cgroup_limits limits = {.memory_bytes = LOOK_BYTES,
						    .processes = 32};
	int rc = cgroup_run_begin(l->child.slot, &limits, l->child.pid);

	l->held = rc == 0;
	if (rc == 0 || rc == -ENOTSUP)
		return true;
	l->no_groups = rc == -EACCES || rc == -EPERM || rc == -EROFS;
	fail(l, l->no_groups,
	     "no cgroup can be made for a run: %s; start paddockd as root, or "
	     "in a systemd unit with Delegate=yes",
	     strerror(-rc));
	return false;
}

static void on_spawned(struct spawner_child *child, int err)
{
	struct look *l = CONTAINER(child, struct look, child);

	if (err != 0) {
		fail(l, false, "no worker for a program could be started: %s",
		     strerror(err));
		end_probe(l);
	} else if (l->killed || !hold_probe(l))
		kill_look(l);
	else
		send_run(l);
}

/* Take one frame of the worker's. False: there is no more now, or at all. */
static bool take_frame(struct look *l)
{
	uint8_t frame[CHAN_FRAME_MAX];
	const char *errmsg;
	struct msg m;
	ssize_t n = chan_recv(l->fd, frame);

	if (n == -EAGAIN)
		return false;
	if (n <= 0 || msg_get(&m, frame, (size_t)n, &errmsg) < 0) {
		event_del(l->readable); /* on_exit_of() follows */
		if (n != 0)
			kill_look(l);
		return false;
	}
	/* the result is small, so it comes in one message */
	if (m.type == MSG_RESULT && !l->told &&
	    m.result.head.n == m.result.total)
		l->view = interpreters_view(m.result.head);
	if (m.type == MSG_FAIL && !l->told)
		snprintf(l->said, sizeof(l->said), "%.*s",
			 (int)m.fail.message.n, m.fail.message.p);
	l->told = l->told || m.type == MSG_RESULT || m.type == MSG_FAIL;
	return true;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	(void)take_frame(arg);
}

static void on_exit_of(struct spawner_child *child, int status,
		       const struct rusage *use)
{
	struct look *l = CONTAINER(child, struct look, child);
	struct cgroup_use ignored;

	(void)status, (void)use;
	child->pid = 0; /* reaped: nobody is killed any more */
	/* frames may be unread, the result among them */
	while (take_frame(l))
		;
	if (l->held)
		cgroup_run_end(child->slot, &ignored);
	end_probe(l);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct look *l = arg;
	int64_t left_ms = 0;

	(void)fd, (void)what;
	fail(l, false,
	     "a program that was started to try gave no answer in %d s",
	     PATIENCE_MS / 1000);
	kill_look(l);
	if (l->child.pid == 0)
		left_ms = spawner_overdue(l->of->ctx->spawner, &l->child);
	if (left_ms > 0)
		event_add(l->deadline, CLOCK_TIMEVAL(left_ms));
}

/* Spawn the worker in the cage of any program, whose package is not used. */
static int spawn_probe(struct look *l, int end_of_worker)
{
	const struct context *ctx = l->of->ctx;
	int rc = -ESTALE;

	for (size_t i = 0; i < ctx->catalogue->n && rc == -ESTALE; i++) {
		const struct template *t = ctx->catalogue->all[i];
		struct spawner_job job = {
		    .kind = t->runtime,
		    .cpu_ms = PATIENCE_MS,
		    .memory_bytes = LOOK_BYTES,
		    .package = t->dir,
		    .package_id = t->folder,
		    .digest = t->digest,
		    .limits = {.processes = 32, .open_files = 64, .files = 64}};

		if (runtimes[t->runtime]->sees_host)
			rc = spawner_spawn(ctx->spawner, &l->child,
					   end_of_worker, &job);
	}
	return rc;
}

static int start_probe(struct interpreters *i)
{
	struct look *l = xcalloc(1, sizeof(*l));
	int ends[2], rc = chan_pair(ends);

	l->of = i;
	l->child.on_spawned = on_spawned;
	l->child.on_exit = on_exit_of;
	if (rc == 0) {
		rc = spawn_probe(l, ends[1]);
		close(ends[1]);
		if (rc < 0)
			close(ends[0]);
	}
	if (rc < 0) {
		free(l);
		return rc;
	}
	l->fd = ends[0];
	l->readable = event_new(i->ctx->base, l->fd, EV_READ | EV_PERSIST,
				on_readable, l);
	l->deadline = evtimer_new(i->ctx->base, on_deadline, l);
	event_add(l->readable, NULL);
	event_add(l->deadline, CLOCK_TIMEVAL(PATIENCE_MS));
	i->look = l;
	i->forgotten = false;
	note_changed(i->changed);
	return 0;
}

/*
 * Start a look. A zygote being started, or a slot, will be there soon: try
 * again.
 */
static void probe_interpreters(struct interpreters *i)
{
	int rc = i->ctx->quiet ? -EPERM : start_probe(i);

	if (rc == -EAGAIN && i->ctx->isolation->no_programs[0] == '\0' &&
	    clock_mono_ms() < i->until_ms)
		event_add(i->again, CLOCK_TIMEVAL(AGAIN_MS));
	else if (rc < 0)
		tell_all(i);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	probe_interpreters(arg);
}

static void look_for(struct interpreters *i)
{
	i->until_ms = clock_mono_ms() + PATIENCE_MS;
	probe_interpreters(i);
}

static bool is_looking(const struct interpreters *i)
{
	return i->look != NULL || evtimer_pending(i->again, NULL);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	if (!is_looking(arg))
		look_for(arg);
}

/* ---- callers ---- */

struct interpreters *interpreters_new(struct context *ctx)
{
	struct interpreters *i = xcalloc(1, sizeof(*i));

	i->ctx = ctx;
	i->again = evtimer_new(ctx->base, on_again, i);
	i->retry = evtimer_new(ctx->base, on_retry, i);
	TAILQ_INIT(&i->askers);
	return i;
}

void interpreters_free(struct interpreters *i)
{
	if (i == NULL)
		return;
	tell_all(i);
	event_free(i->again);
	event_free(i->retry);
	json_object_put(i->view);
	free(i);
}

void interpreters_forget(struct interpreters *i)
{
	json_object_put(i->view);
	i->view = NULL;
	i->forgotten = true;
}

void interpreters_ask(struct interpreters *i, interpreters_done *done,
		      void *arg)
{
	struct asker *a;

	if (i->view != NULL && !is_as_it_was(i))
		interpreters_forget(i);
	a = xcalloc(1, sizeof(*a));
	*a = (struct asker){.done = done, .arg = arg};
	TAILQ_INSERT_TAIL(&i->askers, a, link);
	if (is_looking(i))
		return; /* the look under way tells all callers */
	if (i->view != NULL)
		tell_all(i);
	else
		look_for(i);
}

void interpreters_try(struct interpreters *i)
{
	if (i->look != NULL)
		i->once_more = i->forgotten;
	else if (i->view == NULL && !is_looking(i) &&
		 !evtimer_pending(i->retry, NULL))
		look_for(i);
}

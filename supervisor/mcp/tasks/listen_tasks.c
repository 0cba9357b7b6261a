/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen_tasks.c - watches the tasks of a listening request, for listen.c, and
 * sends notifications: of local runs by their notices, of remote runs by their
 * rows, of ended runs by the stored result. A failed read of the store is
 * repeated; an expired task is dropped.
 */
#include "supervisor/mcp/tasks/listen_tasks.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/mcp/tasks/task_lookup.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/record/task_json.h"
#include "supervisor/session/response.h"
#include "supervisor/mcp/tasks/remote_run_watch.h"

#define METHOD "notifications/tasks"
/* wait after a failure of the store or the threads */
#define LOOK_AGAIN_MS 1000

struct task {
	struct listen_tasks *of;
	char id[ID_SIZE];
	struct run *run; /* borrowed, while the run is watched; or NULL */
	struct run_watch watch;
	struct remote_run_watch *away; /* watch of a remote run, or NULL */
	bool due;		       /* the task may have changed */
	bool ended;		       /* the run has ended, and is recorded */
	int64_t not_before_ms;	       /* monotonic: send nothing before */
	char said[65];		/* digest of the last notification, or "" */
	TAILQ_ENTRY(task) link; /* in listen_tasks.all, by turn */
};

struct listen_tasks {
	struct request *request;
	listen_tasks_due due;
	TAILQ_HEAD(, task) all;
	/* the task being read, or shown by a thread; or NULL */
	struct task *busy;
};

struct listen_tasks *listen_tasks_new(struct request *req, listen_tasks_due due)
{
	struct listen_tasks *all = xcalloc(1, sizeof(*all));

	all->request = req;
	all->due = due;
	TAILQ_INIT(&all->all);
	return all;
}

static void unwatch(struct task *t)
{
	if (t->run != NULL)
		run_watch_del(&t->watch);
	t->run = NULL;
	remote_run_watch_free(t->away);
	t->away = NULL;
}

static void forget_task(struct task *t)
{
	unwatch(t);
	TAILQ_REMOVE(&t->of->all, t, link);
	free(t);
}

void listen_tasks_free(struct listen_tasks *all)
{
	struct task *t;

	if (all == NULL)
		return;
	while ((t = TAILQ_FIRST(&all->all)) != NULL)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): t is unlinked */
		forget_task(t);
	free(all);
}

bool listen_tasks_any(const struct listen_tasks *all)
{
	return !TAILQ_EMPTY(&all->all);
}

/* ---- changes of a task ---- */

static void mark_due(struct task *t, bool now)
{
	struct listen_tasks *all = t->of;

	t->due = true;
	all->due(all->request, now);
}

/*
 * While the watches of a run are told, a callback may remove only its own
 * watch.
 */
static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct task *t = CONTAINER(w, struct task, watch);

	(void)r;
	switch (n->kind) {
	case NOTICE_STATE:
	case NOTICE_PROGRESS:
	case NOTICE_ASKED:
		mark_due(t, false);
		break;
	case NOTICE_RECORDED:
		if (n->unrecorded != NULL)
			break;
		t->ended = true;
		t->not_before_ms = 0;
		mark_due(t, true);
		break;
	case NOTICE_RELEASED: /* go on by the row */
		unwatch(t);
		mark_due(t, false);
		break;
	default:
		break;
	}
}

static void watch_ours(struct task *t, struct run *r)
{
	t->run = r;
	t->watch.on_notice = on_notice;
	run_watch_add(r, &t->watch);
}

static void on_remote(void *arg, enum remote_run_event ev, struct run *r)
{
	struct task *t = arg;

	if (ev == REMOTE_RUN_OURS)
		watch_ours(t, r);
	t->ended = ev == REMOTE_RUN_OVER;
	mark_due(t, false);
}

/* ---- the row of a task ---- */

struct look {
	struct run_row_lookup row;
	struct request *request; /* the listening request; held */
	struct listen_tasks *of;
	char id[ID_SIZE];
	void (*found)(struct listen_tasks *all, struct look *l, struct run *r,
		      const struct store_result *res);
	void (*done)(struct request *req, bool found); /* for a new id */
};

static void on_row(struct run_row_lookup *row, struct run *r,
		   const struct store_result *res)
{
	struct look *l = CONTAINER(row, struct look, row);

	if (request_unref(l->request))
		l->found(l->of, l, r, res);
	free(l);
}

/*
 * Read the row. WHOLE: with the result, so the request counts as a large read.
 */
static void look_for(const struct look *like, bool whole)
{
	struct look *l = xcalloc(1, sizeof(*l));
	struct request *req = like->of->request;

	*l = *like;
	l->request = req;
	l->row = (struct run_row_lookup){.ctx = req->ctx,
					 .requestor = req->requestor,
					 .id = l->id,
					 .found = on_row};
	(whole ? request_ref_large : request_ref)(req);
	run_lookup_row(&l->row, whole);
}

/* ---- a new task ---- */

/*
 * Log the refusal. Unknown, expired, another requestor's or no task at all: the
 * client does not learn which.
 */
static void not_found(struct request *req, const char *id)
{
	requestor_missed(req->requestor);
	audit_refused(req->requestor, req->msg.method, id, "TASK_NOT_FOUND");
}

static void on_asked_for(struct listen_tasks *all, struct look *l,
			 struct run *r, const struct store_result *res)
{
	struct task *t;
	bool found;

	if (r != NULL)
		found = task_lookup_is_task(r);
	else
		/* cppcheck-suppress nullPointer ; without R there is RES */
		found = res->rc == 0 && task_json_row_is_live(res->runs);
	if (!found) {
		not_found(all->request, l->id);
		l->done(all->request, false);
		return;
	}
	t = xcalloc(1, sizeof(*t));
	t->of = all;
	memcpy(t->id, l->id, sizeof(t->id));
	t->due = true;
	TAILQ_INSERT_TAIL(&all->all, t, link);
	if (r != NULL)
		watch_ours(t, r);
	else /* told first as it is, and watched from then on */
		t->ended = res->runs->status > STORE_RUNNING;
	l->done(all->request, true);
}

void listen_tasks_add(struct listen_tasks *all, const char *id,
		      void (*done)(struct request *req, bool found))
{
	struct look l = {.of = all, .found = on_asked_for, .done = done};
	struct run *r;

	if (!id_ok(id, "run")) {
		not_found(all->request, id);
		done(all->request, false);
		return;
	}
	snprintf(l.id, sizeof(l.id), "%s", id);
	r = run_lookup_ours(all->request, id);
	if (r != NULL)
		on_asked_for(all, &l, r, NULL);
	else
		look_for(&l, false);
}

/* ---- notifications ---- */

static int64_t wait_ms(const struct task *t)
{
	int64_t left = t->not_before_ms - clock_mono_ms();

	return left > 0 ? left : 0;
}

int64_t listen_tasks_wait_ms(const struct listen_tasks *all)
{
	int64_t least = -1;
	const struct task *t;

	if (all->busy != NULL)
		return -1;
	TAILQ_FOREACH(t, &all->all, link)
		if (t->due && (least < 0 || wait_ms(t) < least))
			least = wait_ms(t);
	return least;
}

/* Send TASK (*taken*), the state of T, unless it was sent before. */
static void tell_task(struct task *t, struct json_object *task)
{
	/* the parts which matter to clients: no clock, no poll interval */
	static const char *const parts[] = {"status", "statusMessage",
					    "inputRequests"};
	struct sha256 sha;
	char now[65];

	sha256_begin(&sha);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		size_t len;
		const char *text = json_text(json_member(task, parts[i]), &len);

		sha256_add(&sha, text, len + 1);
	}
	sha256_end(&sha, now);
	if (strcmp(now, t->said) == 0) {
		json_object_put(task);
		return;
	}
	memcpy(t->said, now, sizeof(now));
	t->not_before_ms = clock_mono_ms() + LISTEN_TASKS_EVERY_MS;
	request_notify(t->of->request, METHOD, task);
}

static void end_was_told(struct task *t)
{
	audit_task("task_result_retrieved", t->of->request->requestor, t->id,
		   NULL);
	forget_task(t);
}

/* The notification was sent (LEFT), or the threads have too much to do. */
static void on_left(struct request *req, void *arg, bool left)
{
	struct listen_tasks *all = arg;
	struct task *t = all->busy;

	all->busy = NULL;
	if (left) {
		end_was_told(t);
	} else {
		t->due = true;
		t->not_before_ms = clock_mono_ms() + LOOK_AGAIN_MS;
	}
	all->due(req, false);
}

/* Send TASK (*taken*), the ended T with the result of A. */
static void tell_task_end(struct task *t, struct json_object *task,
			  const struct run_result_source *a)
{
	struct listen_tasks *all = t->of;

	if (a->status == STORE_CANCELED) {
		request_notify(all->request, METHOD, task);
		end_was_told(t);
		return;
	}
	all->busy = t;
	response_tell_task(all->request, METHOD, task, a, on_left, all);
}

static void tell_ours(struct task *t)
{
	const struct request *req = t->of->request;
	struct run_result_source a;
	struct run *r = t->run;

	if (!t->ended && run_terminal(r)) /* not public before it is recorded */
		return;
	if (!t->ended) {
		tell_task(t,
			  task_json_detailed(r, input_requests(r, req->terms)));
		return;
	}
	a = task_lookup_source_live(req, r);
	tell_task_end(t, task_json_detailed(r, NULL), &a);
}

static void tell_row(struct task *t, const struct store_run *row)
{
	struct request *req = t->of->request;
	struct remote_run_watcher w = {.ctx = req->ctx,
				       .requestor = req->requestor,
				       .kind = STORE_MAIL_WATCH,
				       .on_event = on_remote,
				       .arg = t};
	struct json_object *made;
	struct run_result_source a;

	if (row->status <= STORE_RUNNING) {
		memcpy(w.run_id, t->id, sizeof(w.run_id));
		if (t->away == NULL)
			t->away = remote_run_watch_new(&w, row);
		tell_task(t, task_json_detailed_row(
				 row, task_lookup_questions(req, row)));
	} else if (!t->ended) { /* the row had no result: read it whole next */
		t->ended = t->due = true;
	} else {
		a = task_lookup_source(req, row, &made);
		tell_task_end(t, task_json_detailed_row(row, NULL), &a);
		json_object_put(made);
	}
}

static void on_shown(struct listen_tasks *all, struct look *l, struct run *r,
		     const struct store_result *res)
{
	struct task *t = all->busy;

	(void)l;
	all->busy = NULL;
	if (r != NULL) {
		unwatch(t);
		watch_ours(t, r);
		t->due = true;
	} else if (res->rc == 0 && task_json_row_is_live(res->runs)) {
		tell_row(t, res->runs);
	} else if (res->rc == 0 || res->rc == -ENOENT) {
		forget_task(t);
	} else {
		t->due = true;
		t->not_before_ms = clock_mono_ms() + LOOK_AGAIN_MS;
	}
	all->due(all->request, false);
}

void listen_tasks_tell(struct listen_tasks *all)
{
	struct look l = {.of = all, .found = on_shown};
	struct task *t;

	TAILQ_FOREACH(t, &all->all, link)
		if (t->due && wait_ms(t) == 0)
			break;
	assert(t != NULL); /* the caller has checked listen_tasks_wait_ms() */
	TAILQ_REMOVE(&all->all, t, link);
	TAILQ_INSERT_TAIL(&all->all, t, link);
	t->due = false;
	if (t->run != NULL && !task_json_is_live(t->run)) {
		forget_task(t);
	} else if (t->run != NULL) {
		tell_ours(t);
	} else {
		all->busy = t;
		memcpy(l.id, t->id, sizeof(l.id));
		look_for(&l, t->ended);
	}
}

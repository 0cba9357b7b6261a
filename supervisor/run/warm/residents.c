/* SPDX-License-Identifier: Apache-2.0 */
/*
 * residents.c - the table of residents: exec/runs_queue.c has runs wait for their
 * resident, worker.c takes a resident's process for a run and gives the process back.
 * Nothing here fails a run but a lack of room; a process that ends is noted with the
 * reason, which the next run under the name is told.
 */
#include "supervisor/run/warm/residents.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/egress/egress.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/warm/residents_private.h"
#include "supervisor/run/warm/warm.h"
#include "supervisor/runtime/runtime.h"
#include "supervisor/spawn/cgroup.h"

#define LOST_KEPT_MAX 64 /* lost states of a requestor that are remembered */

/* ---- the table ---- */

/* Return the key of a resident in the table, the caller's. */
static char *key_of(const struct requestor *q, const char *template_id,
		    const char *name)
{
	return xasprintf("%s\n%s/%s", q->name, template_id, name);
}

struct resident *residents_find(const struct residents *all,
				const struct requestor *q,
				const char *template_id, const char *name)
{
	char *key = key_of(q, template_id, name);
	struct resident *x;

	HASH_FIND_STR(all->by_key, key, x);
	free(key);
	return x;
}

/* Take X from the list in which X is. */
static void unlist(struct resident *x)
{
	if (x->is_rest) {
		TAILQ_REMOVE(&x->requestor->lost_residents, x, link);
		x->requestor->n_lost_residents--;
	} else {
		TAILQ_REMOVE(&x->all->list, x, link);
	}
	x->is_rest = false;
}

static void resident_free(struct resident *x)
{
	unlist(x);
	HASH_DEL(x->all->by_key, x);
	template_unref(x->template);
	free(x->lost);
	free(x->key);
	free(x);
}

void resident_put_to_rest(struct resident *x)
{
	struct requestor *q = x->requestor;

	if (x->home == HOME_ASKED)
		return; /* until the answer */
	if (residents_are_shared(x->all)) {
		if (x->home == HOME_HERE)
			x->all->homes->leave(x->all->homes_arg, x, x->lost);
		resident_free(x);
		return;
	}
	if (x->lost == NULL) {
		resident_free(x);
		return;
	}
	unlist(x);
	x->is_rest = true;
	TAILQ_INSERT_TAIL(&q->lost_residents, x, link);
	if (++q->n_lost_residents > LOST_KEPT_MAX)
		resident_free(TAILQ_FIRST(&q->lost_residents));
}

static struct resident *resident_new(struct residents *all, struct run *r)
{
	struct resident *x = xcalloc(1, sizeof(*x));

	x->all = all;
	x->requestor = r->requestor;
	x->template = template_ref(r->template);
	x->key = key_of(r->requestor, r->template->id, r->notebook.name);
	x->name = strrchr(x->key, '/') + 1;
	TAILQ_INIT(&x->turns);
	HASH_ADD_KEYPTR(hh, all->by_key, x->key, strlen(x->key), x);
	TAILQ_INSERT_TAIL(&all->list, x, link);
	return x;
}

/* Return the resident that R needs, which is among those in use from now on. */
static struct resident *use_resident(struct residents *all, struct run *r)
{
	struct resident *x = residents_find(all, r->requestor, r->template->id,
					    r->notebook.name);

	if (x == NULL)
		return resident_new(all, r);
	if (x->is_rest) {
		unlist(x);
		TAILQ_INSERT_TAIL(&all->list, x, link);
	}
	return x;
}

static void note_use(struct resident *x)
{
	x->used_ms = clock_mono_ms();
	x->last_used_ms = clock_wall_ms();
	resident_note_changed(x);
}

/* Is the process a shim, which stops the processes of its program itself? */
static bool has_shim(const struct resident *x)
{
	return runtimes[x->template->runtime]->has_shim;
}

/* ---- the end of a process ---- */

static void on_spawned_ending(struct spawned *b, int err)
{
	(void)b, (void)err; /* a resident's process was spawned long ago */
}

static void on_ending_exit(struct spawned *b, int status,
			   const struct rusage *use)
{
	struct residents *all = b->owner;
	struct cgroup_use group;

	(void)status, (void)use;
	if (b->held)
		cgroup_run_end(b->child.slot, &group);
	TAILQ_REMOVE(&all->ending, b, link);
	spawned_free(b);
}

static const struct spawned_ops ending_ops = {on_spawned_ending,
					      on_ending_exit};

static void note_lost(struct resident *x, const char *why)
{
	if (why != NULL)
		log_info("resident",
			 "requestor=%s template=%s name=%s runs=%llu "
			 "ended=\"%s\"",
			 x->requestor->name, x->template->id, x->name,
			 (unsigned long long)x->runs, why);
	free(x->lost);
	x->lost = xstrdup_opt(why);
	x->spawned = NULL;
	x->alive = x->doomed = false;
	x->runs = x->bytes = 0;
	if (TAILQ_EMPTY(&x->turns))
		resident_put_to_rest(x);
}

static void stop_reading(struct spawned *b)
{
	if (b->readable != NULL)
		event_free(b->readable);
	b->readable = NULL;
}

void resident_end(struct resident *x, const char *why)
{
	struct spawned *b = x->spawned;

	stop_reading(b);
	b->ops = &ending_ops;
	b->owner = x->all;
	TAILQ_INSERT_TAIL(&x->all->ending, b, link);
	spawned_signal(b, SIGKILL);
	note_lost(x, why);
}

/* End the process of X now, or after its run. */
static void doom_resident(struct resident *x, const char *why)
{
	if (x->spawned != NULL)
		resident_end(x, why);
	else
		x->doomed = x->alive;
}

/* ---- a process without a run ---- */

static void on_exit_of(struct spawned *b, int status, const struct rusage *use)
{
	struct resident *x = b->owner;
	struct cgroup_use group;

	(void)use;
	if (b->held)
		cgroup_run_end(b->child.slot, &group);
	note_lost(x, warm_why(status));
	spawned_free(b);
}

static const struct spawned_ops rest_ops = {on_spawned_ending, on_exit_of};

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	uint8_t frame[CHAN_FRAME_MAX];
	struct resident *x = arg;
	const char *errmsg;
	struct msg m;
	ssize_t n = chan_recv(fd, frame);

	(void)what;
	if (n == -EAGAIN)
		return;
	if (n <= 0)
		event_del(x->spawned->readable); /* on_exit_of() follows */
	else if (!has_shim(x) || msg_get(&m, frame, (size_t)n, &errmsg) < 0 ||
		 m.type != MSG_WAITING)
		resident_end(x, "its worker sent what it may not send between "
				"runs");
	else {
		resident_note_changed(x);
		residents_room_weigh(x, m.waiting.memory_bytes);
	}
}

/* ---- the runs of a resident ---- */

bool residents_join(struct residents *all, struct run *r)
{
	struct resident *x = r->job.resident;

	if (r->record.revived && r->notebook.name == NULL &&
	    r->template->notebook != NULL && r->inputs != NULL)
		residents_name_read(r);
	if (r->notebook.name == NULL || all == NULL)
		return true;
	if (x == NULL) {
		x = use_resident(all, r);
		r->job.resident = x;
		TAILQ_INSERT_TAIL(&x->turns, r, job.turn);
	}
	return residents_home_is_known(x) && TAILQ_FIRST(&x->turns) == r;
}

struct run *residents_leave(struct residents *all, struct run *r)
{
	struct resident *x = r->job.resident;
	bool first;

	(void)all;
	if (x == NULL)
		return NULL;
	first = TAILQ_FIRST(&x->turns) == r;
	TAILQ_REMOVE(&x->turns, r, job.turn);
	r->job.resident = NULL;
	if (TAILQ_EMPTY(&x->turns) && !x->alive) {
		resident_put_to_rest(x);
		return NULL;
	}
	return first ? TAILQ_FIRST(&x->turns) : NULL;
}

static bool is_same_job(const struct spawner_job *a,
			const struct spawner_job *b)
{
	return a->memory_bytes == b->memory_bytes && a->locks == b->locks &&
	       memcmp(&a->limits, &b->limits, sizeof(a->limits)) == 0;
}

/* Is the process of X still what R is to have? */
static bool is_current(const struct resident *x, const struct run *r,
		       const struct spawner_job *job,
		       struct json_object *network)
{
	return strcmp(x->template->digest, r->template->digest) == 0 &&
	       strcmp(x->template->version_text, r->template->version_text) ==
		   0 &&
	       is_same_job(&x->job, job) &&
	       egress_child_serves(x->spawned->egress, network,
				   grants_secrets(r->template));
}

static struct spawned *take_process(struct resident *x,
				    const struct spawned_ops *ops, void *owner)
{
	struct spawned *b = x->spawned;

	stop_reading(b);
	if (!has_shim(x))
		spawned_signal(b, SIGCONT);
	x->spawned = NULL;
	x->bytes = 0;
	b->ops = ops;
	b->owner = owner;
	return b;
}

/* Tell R which run of which state it is. */
static void count_run(struct resident *x, struct run *r)
{
	x->runs++;
	note_use(x);
	r->notebook.cell = (int64_t)x->runs;
	free(r->notebook.lost);
	r->notebook.lost = x->runs == 1 ? x->lost : NULL;
	if (x->runs == 1)
		x->lost = NULL;
	TAILQ_REMOVE(&x->all->list, x, link);
	TAILQ_INSERT_TAIL(&x->all->list, x, link);
}

struct spawned *residents_take(struct residents *all, struct run *r,
			       struct spawner_job *job,
			       struct json_object *network,
			       const struct spawned_ops *ops, void *owner,
			       int *rc)
{
	struct resident *x = r->job.resident;

	*rc = 0;
	job->in = true;
	job->cpu_ms = (uint64_t)all->ctx->config->resident_life_ms;
	if (x->spawned != NULL && !is_current(x, r, job, network))
		resident_end(x,
			     "its template, or what the template is granted, "
			     "has changed");
	if (x->spawned != NULL) {
		count_run(x, r);
		return take_process(x, ops, owner);
	}
	*rc = residents_room_make(all, r);
	if (*rc < 0)
		return NULL;
	template_unref(x->template);
	x->template = template_ref(r->template);
	x->job = *job;
	x->alive = true;
	x->born_ms = clock_mono_ms();
	x->created_ms = clock_wall_ms();
	all->begun++;
	count_run(x, r);
	return NULL;
}

void residents_rest(struct residents *all, struct run *r, struct spawned *b,
		    uint64_t bytes)
{
	struct resident *x = r->job.resident;

	all->restored += !r->notebook.kept;
	note_use(x);
	x->spawned = b;
	b->ops = &rest_ops;
	b->owner = x;
	b->readable = event_new(all->ctx->base, b->fd, EV_READ | EV_PERSIST,
				on_readable, x);
	event_add(b->readable, NULL);
	if (x->doomed || all->stopped)
		resident_end(x, all->stopped ? "the server was stopped"
					     : "its template or its requestor "
					       "has changed");
	else if (!evtimer_pending(all->look, NULL))
		evtimer_add(all->look, CLOCK_TIMEVAL(RESIDENTS_LOOK_MS));
	if (x->spawned != NULL && !has_shim(x)) {
		spawned_signal(b, SIGSTOP);
		residents_room_weigh(x, bytes);
	}
}

void residents_lost(struct residents *all, struct run *r, const char *why)
{
	struct resident *x = r->job.resident;

	(void)all;
	if (x != NULL && x->alive)
		note_lost(x, why != NULL ? why : r->notebook.lost);
}

/* ---- changes ---- */

static bool is_granted(const struct resident *x)
{
	struct tool_error no = {0};
	bool granted = grants_allow(x->template, x->all->ctx->config, &no);

	tool_error_fini(&no);
	return granted;
}

void residents_reloaded(struct residents *all, const struct catalogue *c)
{
	struct resident *x, *next;

	for (x = TAILQ_FIRST(&all->list); x != NULL; x = next) {
		const struct template *t = catalogue_find(
		    c, x->template->id, x->template->version_text);

		next = TAILQ_NEXT(x, link);
		if (x->alive && x->requestor->gone)
			doom_resident(x, "its requestor was removed");
		else if (x->alive &&
			 (t == NULL ||
			  strcmp(t->digest, x->template->digest) != 0))
			doom_resident(x, "its template has changed");
		else if (x->alive && !is_granted(x))
			doom_resident(x, "its template has lost a grant");
	}
}

int residents_end_for(struct residents *all, const struct requestor *q,
		      const char *template_id, const char *name,
		      const char *why)
{
	struct resident *x = residents_find(all, q, template_id, name);

	if (x == NULL || x->is_rest)
		return -ENOENT;
	if (x->spawned == NULL || !TAILQ_EMPTY(&x->turns))
		return -EBUSY;
	resident_end(x, why);
	return 0;
}

int residents_end(struct residents *all, const struct requestor *q,
		  const char *template_id, const char *name)
{
	return residents_end_for(all, q, template_id, name,
				 "it was ended on request");
}

/* ---- views ---- */

struct json_object *resident_view(const struct resident *x)
{
	return json_pack("requestor:s templateId:s version:s name:s state:s "
			 "runs:i memoryBytes?i createdAt:i lastUsedAt:i",
			 x->requestor->name, x->template->id,
			 x->template->version_text, x->name,
			 x->spawned != NULL ? "idle" : "running", x->runs,
			 x->bytes, x->created_ms, x->last_used_ms);
}

struct json_object *residents_view(const struct residents *all,
				   const struct requestor *q)
{
	struct json_object *list = json_object_new_array();
	const struct resident *x;

	TAILQ_FOREACH(x, &all->list, link)
		if (x->alive && (q == NULL || x->requestor == q))
			json_object_array_add(list, resident_view(x));
	return list;
}

unsigned residents_count(const struct residents *all)
{
	return all != NULL ? residents_room_count(all, NULL) : 0;
}

void residents_log(const struct residents *all)
{
	log_info("resident",
		 "alive=%u idle_bytes=%llu begun=%llu restored=%llu "
		 "evicted=%llu",
		 residents_room_count(all, NULL),
		 (unsigned long long)residents_room_bytes(all, NULL),
		 (unsigned long long)all->begun,
		 (unsigned long long)all->restored,
		 (unsigned long long)all->evicted);
}

struct residents *residents_new(struct context *ctx)
{
	struct residents *all = xcalloc(1, sizeof(*all));

	all->ctx = ctx;
	TAILQ_INIT(&all->list);
	TAILQ_INIT(&all->ending);
	all->look = evtimer_new(ctx->base, residents_room_look, all);
	return all;
}

void residents_disown(struct residents *all)
{
	struct resident *x, *next;

	if (all == NULL)
		return;
	for (x = TAILQ_FIRST(&all->list); x != NULL; x = next) {
		next = TAILQ_NEXT(x, link);
		if (x->alive)
			doom_resident(x, "its node was taken for dead");
	}
}

void residents_stop(struct residents *all)
{
	struct resident *x, *next;

	if (all == NULL)
		return;
	all->stopped = true;
	for (x = TAILQ_FIRST(&all->list); x != NULL; x = next) {
		next = TAILQ_NEXT(x, link);
		if (x->spawned != NULL)
			resident_end(x, "the server was stopped");
	}
}

void residents_free(struct residents *all)
{
	struct resident *x, *next;

	if (all == NULL)
		return;
	residents_stop(all);
	HASH_ITER(hh, all->by_key, x, next)
		resident_free(x);
	event_free(all->look);
	free(all);
}

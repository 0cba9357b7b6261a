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
#include <sys/queue.h>

#include "base/clock.h"
#include "base/fair_share.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "base/text/json_view.h"
#include "base/text/quantity.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/config/config.h"
#include "supervisor/context.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/warm/warm.h"
#include "supervisor/runtime/runtime.h"
#include "supervisor/spawn/cgroup.h"

#define LOOK_MS 1000	 /* between looks for residents to be ended */
#define LOST_KEPT_MAX 64 /* lost states of a requestor that are remembered */

struct resident {
	struct residents *all;
	struct requestor *requestor;
	struct template *template; /* a counted reference */
	char name[RESIDENT_NAME_MAX + 1];
	struct spawner_job job;	 /* of the process; its pointers are not used */
	struct spawned *spawned; /* the process, while it has no run; or NULL */
	bool alive;		 /* there is a process, perhaps with a run */
	bool doomed;		 /* to be ended after its run */
	uint64_t runs;		 /* of the present process */
	uint64_t bytes;		 /* memory, while the process is stopped */
	int64_t born_ms, used_ms; /* monotonic */
	char *lost; /* why the state before was lost; NULL: no state was */
	TAILQ_HEAD(, run) turns; /* runs, the first may have the process */
	TAILQ_ENTRY(resident) link;
};

struct residents {
	struct context *ctx;
	TAILQ_HEAD(, resident) list; /* the longest unused first */
	TAILQ_HEAD(, spawned) ending;
	struct event *look;
	uint64_t begun, restored, evicted;
	bool stopped;
};

/* ---- the table ---- */

static bool is_for(const struct resident *x, const struct run *r)
{
	return x->requestor == r->requestor &&
	       strcmp(x->template->id, r->template->id) == 0 &&
	       strcmp(x->name, r->notebook.name) == 0;
}

static struct resident *find_resident(const struct residents *all,
				      const struct run *r)
{
	struct resident *x;

	TAILQ_FOREACH(x, &all->list, link)
		if (is_for(x, r))
			break;
	return x;
}

static void resident_free(struct resident *x)
{
	TAILQ_REMOVE(&x->all->list, x, link);
	template_unref(x->template);
	free(x->lost);
	free(x);
}

/* Forget the longest lost states of Q beyond the bound. */
static void forget_lost(struct residents *all, const struct requestor *q)
{
	struct resident *x, *next;
	size_t n = 0;

	TAILQ_FOREACH(x, &all->list, link)
		n += x->requestor == q && !x->alive;
	for (x = TAILQ_FIRST(&all->list); x != NULL && n > LOST_KEPT_MAX;
	     x = next) {
		next = TAILQ_NEXT(x, link);
		if (x->requestor != q || x->alive || !TAILQ_EMPTY(&x->turns))
			continue;
		resident_free(x);
		n--;
	}
}

static struct resident *resident_new(struct residents *all, struct run *r)
{
	struct resident *x = xcalloc(1, sizeof(*x));

	forget_lost(all, r->requestor); /* here, where nobody walks the list */
	x->all = all;
	x->requestor = r->requestor;
	x->template = template_ref(r->template);
	snprintf(x->name, sizeof(x->name), "%s", r->notebook.name);
	TAILQ_INIT(&x->turns);
	TAILQ_INSERT_TAIL(&all->list, x, link);
	return x;
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
}

static void stop_reading(struct spawned *b)
{
	if (b->readable != NULL)
		event_free(b->readable);
	b->readable = NULL;
}

/* End the process of X, which has no run. */
static void end_process(struct resident *x, const char *why)
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
		end_process(x, why);
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

static struct resident *longest_unused(const struct residents *all,
				       const struct requestor *q)
{
	struct resident *x;

	TAILQ_FOREACH(x, &all->list, link)
		if (x->requestor == q && x->spawned != NULL)
			break;
	return x;
}

/* The memory of the stopped residents of Q, or of all (Q NULL). */
static int64_t resting_bytes(const struct residents *all,
			     const struct requestor *q)
{
	const struct resident *x;
	int64_t sum = 0;

	TAILQ_FOREACH(x, &all->list, link)
		if (q == NULL || x->requestor == q)
			sum += (int64_t)x->bytes;
	return sum;
}

/* The memory of X has come: the requestor of X keeps to a share. */
static void weigh_resident(struct resident *x, uint64_t bytes)
{
	struct residents *all = x->all;
	const struct requestor *q = x->requestor;
	struct resident *old;
	int64_t share;

	x->bytes = bytes;
	share = fair_share(all->ctx->config->resident_memory,
			   resting_bytes(all, NULL) - resting_bytes(all, q));
	while (resting_bytes(all, q) > share &&
	       (old = longest_unused(all, q)) != NULL) {
		all->evicted++;
		end_process(old, "idle notebooks had more memory together than "
				 "the requestor's share (the operator can "
				 "raise that: resident_memory in [limits])");
	}
}

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
		end_process(x, "its worker sent what it may not send between "
			       "runs");
	else
		weigh_resident(x, m.waiting.memory_bytes);
}

/* ---- time passes ---- */

static int64_t lower_ms(int64_t own, int64_t all)
{
	return own > 0 && own < all ? own : all;
}

static const char *is_due(const struct resident *x, int64_t now)
{
	const struct config *c = x->all->ctx->config;
	const struct config_requestor *own = x->requestor->section;

	if (now - x->used_ms >=
	    lower_ms(own->resident_idle_ms, c->resident_idle_ms))
		return "nobody used it for a while (resident_idle_ms)";
	if (now - x->born_ms >=
	    lower_ms(own->resident_life_ms, c->resident_life_ms))
		return "it had lived as long as it may (resident_life_ms)";
	return NULL;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct residents *all = arg;
	struct resident *x, *next;
	int64_t now = clock_mono_ms();
	bool more = false;

	(void)fd, (void)what;
	for (x = TAILQ_FIRST(&all->list); x != NULL; x = next) {
		const char *why = x->spawned != NULL ? is_due(x, now) : NULL;

		next = TAILQ_NEXT(x, link);
		if (why != NULL)
			end_process(x, why);
		else
			more |= x->spawned != NULL;
	}
	if (more)
		evtimer_add(all->look, CLOCK_TIMEVAL(LOOK_MS));
}

/* ---- the runs of a resident ---- */

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	return n >= 1 && n <= RESIDENT_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

/* A schema's format is an annotation, so the name is checked here, too. */
bool residents_name(const struct template *t, struct json_object *inputs,
		    const char **name, struct tool_error *e)
{
	struct json_object *o =
	    t->notebook != NULL ? json_member(inputs, t->notebook) : NULL;

	*name = NULL;
	if (o == NULL)
		return true;
	if (json_object_is_type(o, json_type_string) &&
	    (size_t)json_object_get_string_len(o) ==
		strlen(json_object_get_string(o)))
		*name = json_object_get_string(o);
	if (*name != NULL && is_name(*name))
		return true;
	tool_error_set(e, "INVALID_PARAMETER", NULL,
		       "%s is no name of a notebook: a name has 1 to %d "
		       "letters, digits, '.', '_' and '-'",
		       t->notebook, RESIDENT_NAME_MAX);
	return false;
}

/* Read the name from the inputs of R, which was made of another server's row. */
static void read_name(struct run *r)
{
	struct json_view inputs = {r->inputs, r->inputs_len}, v;
	char name[RESIDENT_NAME_MAX + 3]; /* as long as the quoted text */

	if (!json_view_member(inputs, r->template->notebook, &v) ||
	    !json_view_is_string(v) || v.n >= sizeof(name))
		return;
	name[json_view_unquote(v, name)] = '\0';
	if (is_name(name))
		r->notebook.name = xstrdup(name);
}

bool residents_join(struct residents *all, struct run *r)
{
	struct resident *x = r->job.resident;

	if (r->record.revived && r->notebook.name == NULL &&
	    r->template->notebook != NULL && r->inputs != NULL)
		read_name(r);
	if (r->notebook.name == NULL || all == NULL)
		return true;
	if (x == NULL) {
		x = find_resident(all, r);
		if (x == NULL)
			x = resident_new(all, r);
		r->job.resident = x;
		TAILQ_INSERT_TAIL(&x->turns, r, job.turn);
	}
	return TAILQ_FIRST(&x->turns) == r;
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
	if (TAILQ_EMPTY(&x->turns) && !x->alive && x->lost == NULL) {
		resident_free(x);
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

static unsigned count_alive(const struct residents *all,
			    const struct requestor *q)
{
	const struct resident *x;
	unsigned n = 0;

	TAILQ_FOREACH(x, &all->list, link)
		n += x->alive && (q == NULL || x->requestor == q);
	return n;
}

static int64_t most_of(const struct residents *all, const struct requestor *q)
{
	int64_t own = q->section->max_residents;

	return own > 0 ? own : all->ctx->config->max_residents;
}

/* Fail R, since N residents are all that may be. -EDQUOT. */
static int refuse_room(struct run *r, const char *key, int64_t n,
		       const char *who)
{
	run_set_error(
	    r, "QUOTA_EXCEEDED",
	    json_pack("limit:s used:i allowed:i unit:s whoCanRaise:s", key, n,
		      n, "notebooks", who),
	    "%lld notebooks are in use, which is all that may be; await the "
	    "end of their runs, or use a name again (%s can raise that: %s)",
	    (long long)n, who, key);
	return -EDQUOT;
}

/* Make room for one more process of R's requestor, at the requestor's own cost. */
static int make_room(struct residents *all, struct run *r)
{
	int64_t own = most_of(all, r->requestor);
	int64_t most = all->ctx->config->max_residents_in_all;
	struct resident *old;

	while (count_alive(all, r->requestor) >= own ||
	       count_alive(all, NULL) >= most) {
		old = longest_unused(all, r->requestor);
		if (old == NULL)
			return count_alive(all, r->requestor) >= own
				   ? refuse_room(r, "max_residents", own,
						 "the operator")
				   : refuse_room(r, "max_residents_in_all",
						 most, "the operator");
		all->evicted++;
		end_process(old,
			    "another notebook of the same requestor needed "
			    "its place (max_residents)");
	}
	return 0;
}

/* Is the process of X still what R is to have? */
static bool is_current(const struct resident *x, const struct run *r,
		       const struct spawner_job *job)
{
	return strcmp(x->template->digest, r->template->digest) == 0 &&
	       strcmp(x->template->version_text, r->template->version_text) ==
		   0 &&
	       is_same_job(&x->job, job);
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
	x->used_ms = clock_mono_ms();
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
			       const struct spawned_ops *ops, void *owner,
			       int *rc)
{
	struct resident *x = r->job.resident;

	*rc = 0;
	job->in = true;
	job->cpu_ms = (uint64_t)all->ctx->config->resident_life_ms;
	if (x->spawned != NULL && !is_current(x, r, job))
		end_process(x, "its template, or what the template is granted, "
			       "has changed");
	if (x->spawned != NULL) {
		count_run(x, r);
		return take_process(x, ops, owner);
	}
	*rc = make_room(all, r);
	if (*rc < 0)
		return NULL;
	template_unref(x->template);
	x->template = template_ref(r->template);
	x->job = *job;
	x->alive = true;
	x->born_ms = clock_mono_ms();
	all->begun++;
	count_run(x, r);
	return NULL;
}

void residents_rest(struct residents *all, struct run *r, struct spawned *b,
		    uint64_t bytes)
{
	struct resident *x = r->job.resident;

	all->restored += !r->notebook.kept;
	x->used_ms = clock_mono_ms();
	x->spawned = b;
	b->ops = &rest_ops;
	b->owner = x;
	b->readable = event_new(all->ctx->base, b->fd, EV_READ | EV_PERSIST,
				on_readable, x);
	event_add(b->readable, NULL);
	if (x->doomed || all->stopped)
		end_process(x, all->stopped ? "the server was stopped"
					    : "its template or its requestor "
					      "has changed");
	else if (!evtimer_pending(all->look, NULL))
		evtimer_add(all->look, CLOCK_TIMEVAL(LOOK_MS));
	if (x->spawned != NULL && !has_shim(x)) {
		spawned_signal(b, SIGSTOP);
		weigh_resident(x, bytes);
	}
}

void residents_lost(struct residents *all, struct run *r, const char *why)
{
	struct resident *x = r->job.resident;

	(void)all;
	if (x != NULL && x->alive)
		note_lost(x, why != NULL ? why : r->notebook.lost);
}

/* ---- changes, views ---- */

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

int residents_end(struct residents *all, const struct requestor *q,
		  const char *template_id, const char *name)
{
	struct resident *x;

	TAILQ_FOREACH(x, &all->list, link)
		if (x->requestor == q &&
		    (x->alive || !TAILQ_EMPTY(&x->turns)) &&
		    strcmp(x->template->id, template_id) == 0 &&
		    strcmp(x->name, name) == 0)
			break;
	if (x == NULL)
		return -ENOENT;
	if (x->spawned == NULL || !TAILQ_EMPTY(&x->turns))
		return -EBUSY;
	end_process(x, "it was ended on request");
	return 0;
}

static struct json_object *view_of(const struct resident *x)
{
	int64_t ago = clock_wall_ms() - clock_mono_ms();
	char born[CLOCK_ISO_SIZE], used[CLOCK_ISO_SIZE];

	clock_iso(born, ago + x->born_ms);
	clock_iso(used, ago + x->used_ms);
	return json_pack("requestor:s templateId:s version:s name:s state:s "
			 "runs:i memoryBytes?i createdAt:s lastUsedAt:s",
			 x->requestor->name, x->template->id,
			 x->template->version_text, x->name,
			 x->spawned != NULL ? "idle" : "running", x->runs,
			 x->bytes, born, used);
}

struct json_object *residents_view(const struct residents *all,
				   const struct requestor *q)
{
	struct json_object *list = json_object_new_array();
	const struct resident *x;

	TAILQ_FOREACH(x, &all->list, link)
		if (x->alive && (q == NULL || x->requestor == q))
			json_object_array_add(list, view_of(x));
	return list;
}

void residents_log(const struct residents *all)
{
	log_info("resident",
		 "alive=%u idle_bytes=%llu begun=%llu restored=%llu "
		 "evicted=%llu",
		 count_alive(all, NULL),
		 (unsigned long long)resting_bytes(all, NULL),
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
	all->look = evtimer_new(ctx->base, on_look, all);
	return all;
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
			end_process(x, "the server was stopped");
	}
}

void residents_free(struct residents *all)
{
	if (all == NULL)
		return;
	residents_stop(all);
	while (!TAILQ_EMPTY(&all->list))
		resident_free(TAILQ_FIRST(&all->list));
	event_free(all->look);
	free(all);
}

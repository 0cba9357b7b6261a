/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c - the table of conditions for starting runs. main.c asks before
 * anything is started; http_routes.c, contract_tools.c, daemon.c and runs.c
 * while the server serves. Nothing here fails; a condition that cannot be
 * checked counts as met.
 */
#include "supervisor/run/health/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/os/log.h"
#include "base/os/log_append.h"
#include "base/os/no_core.h"
#include "base/mem.h"
#include "supervisor/run/audit.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/store/state/disk_space.h"
#include "supervisor/packages/templates/catalogue.h"
#include "proto/json/json_pack.h"
#include "supervisor/runtime/runtime.h"

#define LATELY_MS 250
#define SELDOM_MS 10000
#define SKIPPED_MAX 100 /* packages that are told of */

/* ---- while the server serves: each function returns a fault, or NULL ---- */

static const char *cage(struct context *ctx, enum health_status *v)
{
	static char says[HEALTH_ERRMSG_SIZE];
	const char *why = NULL;

	(void)v;
	for (int i = 0; ctx->spawner != NULL && why == NULL && i < RUNTIMES;
	     i++)
		if (runtimes[i]->always)
			why =
			    spawner_trouble(ctx->spawner, (enum runtime_kind)i);
	if (why == NULL)
		return ctx->measured ? NULL
				     : "the cage is still being measured";
	snprintf(says, sizeof(says), "no worker can be caged: %s", why);
	return says;
}

static const char *draining(struct context *ctx, enum health_status *v)
{
	(void)v;
	return ctx->draining ? "the server is draining: it is about to end"
			     : NULL;
}

static const char *quiet(struct context *ctx, enum health_status *v)
{
	*v = HEALTH_WARNING;
	return ctx->quiet && !ctx->draining
		   ? "the server is quiet: it queues runs, and starts none"
		   : NULL;
}

/*
 * Check DIR's folders, with the faulty folder in *WHICH. The result is at most
 * a quarter of a second old.
 */
static int state_lately(const char *dir, const char **which)
{
	static const char *of;
	static char *at;
	static int64_t asked_ms;
	static int rc;
	int64_t now = clock_mono_ms();

	if (of != dir || now - asked_ms >= LATELY_MS) {
		free(at);
		loop_guard_allow("four folders of ours, four times a second");
		rc = store_folders(dir, &at);
		loop_guard_forbid();
		asked_ms = now;
		of = dir;
	}
	if (which != NULL)
		*which = at;
	return rc;
}

/*
 * Return the fault of the store. Before the store's first request its folder is
 * not looked at.
 */
const char *health_state(const struct config *config, struct store *store)
{
	const char *sick = store_failing_message(store);
	int rc = sick != NULL || !store_is_begun(store)
		     ? 0
		     : state_lately(config->state_dir, NULL);

	return rc == 0 ? sick : store_says(rc);
}

static const char *state(struct context *ctx, enum health_status *v)
{
	(void)v;
	if (ctx->others && !ctx->opened && ctx->measured)
		return "its record of runs is being opened";
	return health_state(ctx->config, ctx->store);
}

/*
 * Return the fault of the state folder for the operator: the path, the cause
 * and the remedy.
 */
static const char *state_where(struct context *ctx)
{
	static char text[HEALTH_ERRMSG_SIZE];
	const char *at = NULL;
	const char *errmsg = store_failing(ctx->store);
	int rc;

	if (errmsg != NULL || !store_is_begun(ctx->store))
		return errmsg;
	rc = state_lately(ctx->config->state_dir, &at);
	if (rc == 0)
		return NULL;
	snprintf(text, sizeof(text), "%s: %s; %s", at, strerror(-rc),
		 store_remedy(rc));
	return text;
}

/*
 * A server without its database may soon be declared dead by others, and ends
 * its runs before that.
 */
static const char *database(struct context *ctx, enum health_status *v)
{
	(void)v;
	if (ctx->cluster == NULL || !store_is_begun(ctx->store))
		return NULL;
	if (store_lease_left_ms(ctx->store) <= 0)
		return "its database has not heard of it for longer than its "
		       "lease, so it runs nothing";
	return !store_is_silent(ctx->store)
		   ? NULL
		   : "its database has answered no heartbeat for 3 s";
}

static const char *disk_where(struct context *ctx)
{
	static char text[HEALTH_ERRMSG_SIZE];

	snprintf(text, sizeof(text),
		 "make room where %s is, also for files (df -i), or set a "
		 "lower disk_reserve_bytes",
		 ctx->config->state_dir);
	return text;
}

static const char *disk(struct context *ctx, enum health_status *v)
{
	enum disk_space room = disk_space_lately(ctx->config);

	if (room != DISK_SPACE_SPENT)
		*v = HEALTH_WARNING;
	return disk_space_message(room);
}

/* Return the warning that WHAT loses lines, for -RC, until now. */
static const char *loses(enum health_status *v, const char *what, int rc,
			 char *says, size_t size)
{
	if (rc == 0)
		return NULL;
	*v = HEALTH_WARNING;
	snprintf(says, size, "%s cannot be written: %s", what,
		 log_append_why(-rc));
	return says;
}

static const char *logs(struct context *ctx, enum health_status *v)
{
	static char says[128];

	(void)ctx;
	return loses(v, "its log", log_failing(), says, sizeof(says));
}

static const char *audits(struct context *ctx, enum health_status *v)
{
	static char says[128];

	(void)ctx;
	return loses(v, "its audit log", audit_failing(), says, sizeof(says));
}

static const char *templates(struct context *ctx, enum health_status *v)
{
	static char says[128];
	const struct catalogue *c = ctx->catalogue;

	(void)v;
	if (!ctx->others || c == NULL || c->n > 0 || c->n_problems == 0)
		return NULL;
	snprintf(says, sizeof(says),
		 "no template could be loaded, so nothing is served: %zu are "
		 "broken",
		 c->n_problems);
	return says;
}

static const char *templates_where(struct context *ctx)
{
	static char text[HEALTH_ERRMSG_SIZE];
	const struct catalogue_problem *p = ctx->catalogue->problems;

	snprintf(text, sizeof(text), "the first is %s: %s", p->path, p->errmsg);
	return text;
}

/* At most ten seconds old: the check reads a file of /proc. */
static const char *crashes(struct context *ctx, enum health_status *v)
{
	static const char *why;
	static int64_t asked_ms;
	int64_t now = clock_mono_ms();

	(void)ctx;
	if (asked_ms == 0 || now - asked_ms >= SELDOM_MS) {
		why = no_core_why();
		asked_ms = now;
	}
	*v = HEALTH_WARNING;
	return why;
}

/*
 * With vm.overcommit_memory 2 the kernel refuses the last process to ask, and
 * shared mappings are in no account.
 */
static const char *promises(struct context *ctx, enum health_status *v)
{
	static bool strict;
	static int64_t asked_ms;
	int64_t now = clock_mono_ms();

	(void)ctx;
	if (asked_ms == 0 || now - asked_ms >= SELDOM_MS) {
		char *text = buf_file("/proc/sys/vm/overcommit_memory", 16);

		strict = text != NULL && text[0] == '2';
		free(text);
		asked_ms = now;
	}
	*v = HEALTH_WARNING;
	return strict ? "vm.overcommit_memory is 2, by which memory that is "
			"promised and never used counts, so a program of one "
			"run can leave none to promise to others"
		      : NULL;
}

/* Before Linux 6.14 a file that no format fits has the kernel start modprobe. */
static bool starts_modprobe(void)
{
	char *release = buf_file("/proc/sys/kernel/osrelease", 256);
	char *path = buf_file("/proc/sys/kernel/modprobe", 256);
	unsigned int major = 0, minor = 0;
	bool old = release != NULL &&
		   sscanf(release, "%u.%u", &major, &minor) == 2 &&
		   (major < 6 || (major == 6 && minor < 14));
	bool starts = old && path != NULL && path[0] == '/';

	free(release);
	free(path);
	return starts;
}

static const char *modules(struct context *ctx, enum health_status *v)
{
	static bool starts;
	static int64_t asked_ms;
	int64_t now = clock_mono_ms();

	(void)ctx;
	if (asked_ms == 0 || now - asked_ms >= SELDOM_MS) {
		starts = starts_modprobe();
		asked_ms = now;
	}
	*v = HEALTH_WARNING;
	return starts
		   ? "this kernel starts modprobe, as root, for each file of "
		     "no known format that a program executes, which is on "
		     "no run's account"
		   : NULL;
}

#define REFUSED_MS 60000

/* Was a client refused, in the last minute, for want of memory? */
static bool refused_lately(const struct memory *m)
{
	static uint64_t seen;
	static int64_t at_ms;
	uint64_t refused = m->refused;
	int64_t now = clock_mono_ms();

	if (refused != seen)
		at_ms = now;
	seen = refused;
	return at_ms != 0 && now - at_ms < REFUSED_MS;
}

static const char *memory(struct context *ctx, enum health_status *v)
{
	*v = HEALTH_WARNING;
	return ctx->requestors != NULL &&
		       refused_lately(&ctx->requestors->memory)
		   ? "clients were refused in the last minute, since what is "
		     "kept for them has no more room in server_memory"
		   : NULL;
}

static const char *memory_where(struct context *ctx)
{
	static char text[HEALTH_ERRMSG_SIZE];
	const struct memory *m = &ctx->requestors->memory;

	snprintf(text, sizeof(text),
		 "%lld of %lld bytes are kept for clients; the log says for "
		 "whom (USR1); server_memory in [limits] can be raised",
		 (long long)m->held, (long long)m->most);
	return text;
}

/* ---- the table ---- */

static const struct check {
	const char *name; /* name of the condition, for people */
	/* before the start: 0 or the exit status, with the reason */
	int (*before)(const struct health_start *c, char *errmsg, size_t size);
	bool only_warns;  /* a failure before the start only warns */
	bool stdio_warns; /* the failure only warns for one client's server */
	/* while serving: the fault, for clients to read; NULL: none */
	const char *(*now)(struct context *ctx, enum health_status *v);
	const char *cure; /* the remedy, by the operator */
	/* the remedy with paths, for local clients; NULL: use CURE */
	const char *(*where)(struct context *ctx);
} checks[] = {
    {"templates that can be loaded", .before = health_start_templates,
     .now = templates, .where = templates_where,
     .cure = "paddock template check says what is wrong with each; HUP loads "
	     "them again"},
    {"a log", .before = health_start_log, .now = logs,
     .cure = "make room where it is, or have its reader read on; "
	     "then it is written again"},
    {"an audit log", .before = health_start_audit, .now = audits,
     .cure = "make room where it is, or have its reader read on; "
	     "then it is written again"},
    {"a socket", .before = health_start_socket},
    {"a port", .before = health_start_listen},
    {"a cage that is measured", .now = cage,
     .cure = "wait a moment; the log tells what came of it"},
    {"programs that can be run", .now = health_programs,
     .where = health_programs_where,
     .cure = "paddock doctor and the log tell more; where a try failed it is "
	     "made again every 5 s"},
    {"a server that stays", .now = draining, .cure = "wait for the next one"},
    {"a server that starts runs", .now = quiet,
     .cure = "whoever sent it TSTP sends it CONT"},
    /* a stdio client gets the reason in answers, and can still list runs */
    {"a state folder that takes runs", .before = health_start_state,
     .stdio_warns = true, .now = state,
     .cure = "the log of the server says where that is, and what would help",
     .where = state_where},
    {"a database", .before = health_start_database, .now = database,
     .cure = "see that the database answers, and the way to it; then all goes "
	     "on by itself"},
    {"room on the disk", .before = health_start_disk, .only_warns = true,
     .now = disk,
     .cure = "make room there, or set a lower disk_reserve_bytes; the log "
	     "says where",
     .where = disk_where},
    {"the browser", .before = health_start_browser, .only_warns = true,
     .now = health_browser,
     .cure = "the log says more; the next call that needs it starts it again"},
    {"the process that keeps root's rights", .now = health_keeper,
     .cure = "restart paddockd; the log says what it was asked for last"},
    {"file descriptors", .before = health_start_descriptors,
     .now = health_descriptors,
     .cure = "set a higher LimitNOFILE in the unit, or have fewer connections "
	     "and runs at once"},
    {"memory for what clients send", .now = memory,
     .cure = "raise server_memory in [limits], or see in the log for whom most "
	     "is kept",
     .where = memory_where},
    {"memory that runs cannot promise away", .now = promises,
     .cure =
	 "set sysctl vm.overcommit_memory to 0 or 1; the memory that runs use is "
	 "held all the same"},
    {"programs for which the kernel starts none", .now = modules,
     .cure =
	 "use Linux 6.14 or later, or set sysctl kernel.modprobe to nothing "
	 "once the machine has the modules that it needs"},
    {"crashes that nobody is told of", .now = crashes,
     .cure =
	 "set sysctl kernel.core_pattern to the name of a file; of a program "
	 "it may be the name where paddockd is started with a limit of cores "
	 "above 0, as LimitCORE=1:infinity in its unit gives it"},
};

#define CHECKS ARRAY_LEN(checks)

void health_check_start(const struct health_start *c, health_report tell,
			void *arg)
{
	char errmsg[HEALTH_ERRMSG_SIZE];

	for (size_t i = 0; i < CHECKS; i++) {
		const struct check *k = &checks[i];
		int status = k->before == NULL
				 ? 0
				 : k->before(c, errmsg, sizeof(errmsg));

		if (status != 0)
			tell(arg,
			     k->only_warns || (k->stdio_warns && c->stdio)
				 ? HEALTH_WARNING
				 : HEALTH_FAILED,
			     status, errmsg);
	}
}

static const char *run_check(struct context *ctx, size_t i,
			     enum health_status *v)
{
	const char *says;

	*v = HEALTH_FAILED;
	says = checks[i].now == NULL ? NULL : checks[i].now(ctx, v);
	if (says == NULL)
		*v = HEALTH_OK;
	return says;
}

const char *health_reason(struct context *ctx)
{
	for (size_t i = 0; i < CHECKS; i++) {
		enum health_status v;
		const char *says = run_check(ctx, i, &v);

		if (v == HEALTH_FAILED)
			return says;
	}
	return NULL;
}

struct json_object *health_warnings(struct context *ctx)
{
	struct json_object *list = NULL;

	for (size_t i = 0; i < CHECKS; i++) {
		enum health_status v;
		const char *says = run_check(ctx, i, &v);

		if (v != HEALTH_WARNING)
			continue;
		if (list == NULL)
			list = json_object_new_array();
		json_object_array_add(list, json_object_new_string(says));
	}
	return list;
}

/* ---- for programs ---- */

static struct json_object *one_view(struct context *ctx, size_t i, bool local)
{
	static const char *const names[] = {[HEALTH_OK] = "well",
					    [HEALTH_WARNING] = "warning",
					    [HEALTH_FAILED] = "failing"};
	enum health_status v;
	const char *says = run_check(ctx, i, &v), *where = NULL;

	if (says != NULL && local && checks[i].where != NULL)
		where = checks[i].where(ctx);
	if (where == NULL)
		where = checks[i].cure;
	return json_pack("name:s verdict:s says?s cure?s", checks[i].name,
			 names[v], says, says != NULL ? where : NULL);
}

/* Add to V the packages that are not served as they are, with a bound. */
static void add_skipped(struct json_object *v, const struct catalogue *c)
{
	struct json_object *list = json_object_new_array();
	size_t n = c->n_problems < SKIPPED_MAX ? c->n_problems : SKIPPED_MAX;

	for (size_t i = 0; i < n; i++) {
		const struct catalogue_problem *p = &c->problems[i];

		json_object_array_add(list,
				      json_pack("path:s why:s kept:b", p->path,
						p->errmsg, p->kept));
	}
	json_add(v, "skipped:o skippedMore?i", list, c->n_problems - n);
}

struct json_object *health_view(struct context *ctx, bool local)
{
	struct json_object *list = json_object_new_array(), *v;
	const char *errmsg = health_reason(ctx);

	for (size_t i = 0; i < CHECKS; i++)
		if (checks[i].now != NULL)
			json_object_array_add(list, one_view(ctx, i, local));
	v = json_pack("ready:b reason?s checks:o database?o", errmsg == NULL,
		      errmsg, list, health_database_view(ctx, local));
	if (local && ctx->catalogue != NULL)
		add_skipped(v, ctx->catalogue);
	return v;
}

/* ---- to the log ---- */

/*
 * Log the state folder's health. The store logs its own, and disk_space.c the
 * disk's.
 */
void health_watch(struct context *ctx)
{
	static int told;
	const char *at = NULL;
	int rc = !store_is_begun(ctx->store) ||
			 store_failing_message(ctx->store) != NULL
		     ? told
		     : state_lately(ctx->config->state_dir, &at);

	(void)disk_space_lately(ctx->config);
	(void)refused_lately(&ctx->requestors->memory);
	if (rc == told)
		return;
	told = rc;
	if (rc != 0)
		log_error("health",
			  "state=failing path=\"%s\" err=\"%s\" "
			  "msg=\"%s\"",
			  at, strerror(-rc), store_remedy(rc));
	else
		log_info("health", "state=ok dir=\"%s\"",
			 ctx->config->state_dir);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c - the table of what has to hold for runs to be started, and what is
 * asked of it: by main.c before anything is started, by http_routes.c, contract_tools.c,
 * daemon.c and runs.c while it serves. It fails never; what cannot be told is
 * taken for well.
 */
#include "supervisor/health/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/run/audit.h"
#include "supervisor/state/disk_space.h"
#include "proto/json/json_pack.h"

#define LATELY_MS 250

/* ---- while it serves: what each finds, or NULL ---- */

static const char *cage(struct context *ctx, enum health_status *v)
{
	(void)v;
	return ctx->measured ? NULL : "the cage is still being measured";
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

/* As it was at most a quarter of a second ago. */
static int state_lately(const char *dir, const char **which)
{
	static const char *of;
	static char *at;
	static int64_t asked_ms;
	static int rc;
	int64_t now = clock_mono_ms();

	if (of != dir || now - asked_ms >= LATELY_MS) {
		free(at);
		rc = store_folders(dir, &at);
		asked_ms = now;
		of = dir;
	}
	if (which != NULL)
		*which = at;
	return rc;
}

/* Before the store is asked for anything nobody looks at its folder. */
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

/* Of the folder, for the operator: which, why, and what would mend it. */
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

static const char *disk_where(struct context *ctx)
{
	static char text[HEALTH_ERRMSG_SIZE];

	snprintf(text, sizeof(text),
		 "make room where %s is, or set a lower "
		 "disk_reserve_bytes",
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

/* WHAT lost lines for -RC, and still does. */
static const char *loses(enum health_status *v, const char *what, int rc,
			 char *says, size_t size)
{
	if (rc == 0)
		return NULL;
	*v = HEALTH_WARNING;
	snprintf(says, size, "%s cannot be written: %s", what, strerror(-rc));
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

/* ---- the table ---- */

static const struct check {
	const char *name; /* what would be had */
	/* before the start: 0 or the status that ends it, with why */
	int (*before)(const struct health_start *c, char *errmsg, size_t size);
	bool only_warns;  /* that start goes on all the same… */
	bool stdio_warns; /* …or that of one client's server */
	/* while it serves: what is wrong, for clients to read; NULL: nothing */
	const char *(*now)(struct context *ctx, enum health_status *v);
	const char *cure; /* of that, by the operator */
	const char *(*where)(struct context *ctx); /* with paths; NULL: that */
} checks[] = {
    {"the folders of templates", .before = health_start_templates},
    {"a log", .before = health_start_log, .now = logs,
     .cure = "make room where it is; then it is written again"},
    {"an audit log", .before = health_start_audit, .now = audits,
     .cure = "make room where it is; then it is written again"},
    {"a socket", .before = health_start_socket},
    {"a port", .before = health_start_listen},
    {"a cage that is measured", .now = cage,
     .cure = "wait a moment; the log tells what came of it"},
    {"a server that stays", .now = draining, .cure = "wait for the next one"},
    {"a server that starts runs", .now = quiet,
     .cure = "whoever sent it TSTP sends it CONT"},
    /* one client is answered why, and lists what there is all the same */
    {"a state folder that takes runs", .before = health_start_state,
     .stdio_warns = true, .now = state,
     .cure = "the log of the server says where that is, and what would help",
     .where = state_where},
    {"a database", .before = health_start_database},
    {"room on the disk", .before = health_start_disk, .only_warns = true,
     .now = disk,
     .cure = "make room there, or set a lower disk_reserve_bytes; the log "
	     "says where",
     .where = disk_where},
    {"the browser", .before = health_start_browser, .only_warns = true},
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

static const char *look(struct context *ctx, size_t i, enum health_status *v)
{
	const char *says;

	*v = HEALTH_FAILED;
	says = checks[i].now == NULL ? NULL : checks[i].now(ctx, v);
	if (says == NULL)
		*v = HEALTH_OK;
	return says;
}

static const char *first(struct context *ctx, enum health_status wanted)
{
	for (size_t i = 0; i < CHECKS; i++) {
		enum health_status v;
		const char *says = look(ctx, i, &v);

		if (v == wanted)
			return says;
	}
	return NULL;
}

const char *health_reason(struct context *ctx)
{
	return first(ctx, HEALTH_FAILED);
}

const char *health_warning(struct context *ctx)
{
	return first(ctx, HEALTH_WARNING);
}

/* ---- for programs ---- */

static struct json_object *one_view(struct context *ctx, size_t i, bool local)
{
	static const char *const names[] = {[HEALTH_OK] = "well",
					    [HEALTH_WARNING] = "warning",
					    [HEALTH_FAILED] = "failing"};
	enum health_status v;
	const char *says = look(ctx, i, &v), *where = NULL;

	if (says != NULL && local && checks[i].where != NULL)
		where = checks[i].where(ctx);
	if (where == NULL)
		where = checks[i].cure;
	return json_pack("name:s verdict:s says?s cure?s", checks[i].name,
			 names[v], says, says != NULL ? where : NULL);
}

struct json_object *health_view(struct context *ctx, bool local)
{
	struct json_object *list = json_object_new_array();
	const char *errmsg = health_reason(ctx);

	for (size_t i = 0; i < CHECKS; i++)
		if (checks[i].now != NULL)
			json_object_array_add(list, one_view(ctx, i, local));
	return json_pack("ready:b reason?s checks:o database?o", errmsg == NULL,
			 errmsg, list, health_database_view(ctx, local));
}

/* ---- to the log ---- */

/* The store tells of itself, and disk_space.c of the room: what is left is the folder. */
void health_watch(struct context *ctx)
{
	static int told;
	const char *at = NULL;
	int rc = !store_is_begun(ctx->store) ||
			 store_failing_message(ctx->store) != NULL
		     ? told
		     : state_lately(ctx->config->state_dir, &at);

	(void)disk_space_lately(ctx->config);
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

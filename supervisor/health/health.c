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
#include "supervisor/health/health_checks.h"

#define LATELY_MS 250

/* ---- while it serves: what each finds, or NULL ---- */

static const char *cage(struct server *srv, enum health_verdict *v)
{
	(void)v;
	return server_is_measured(srv) ? NULL
				       : "the cage is still being measured";
}

static const char *draining(struct server *srv, enum health_verdict *v)
{
	(void)v;
	return srv->draining ? "the server is draining: it is about to end"
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

const char *health_state(const struct config *config, struct store *store)
{
	const char *sick = store == NULL ? NULL : store_sick_says(store);
	int rc = sick != NULL || store == NULL
		     ? 0
		     : state_lately(config->state_dir, NULL);

	return rc == 0 ? sick : store_says(rc);
}

static const char *state(struct server *srv, enum health_verdict *v)
{
	(void)v;
	if (srv->others && !srv->opened && server_is_measured(srv))
		return "its record of runs is being opened";
	return health_state(srv->config, srv->store);
}

/* Of the folder, for the operator: which, why, and what would mend it. */
static const char *state_where(struct server *srv)
{
	static char text[HEALTH_WHY];
	const char *at = NULL;
	const char *why = srv->store == NULL ? NULL : store_sick(srv->store);
	int rc;

	if (why != NULL || srv->store == NULL)
		return why;
	rc = state_lately(srv->config->state_dir, &at);
	if (rc == 0)
		return NULL;
	snprintf(text, sizeof(text), "%s: %s; %s", at, strerror(-rc),
		 store_remedy(rc));
	return text;
}

static const char *disk_where(struct server *srv)
{
	static char text[HEALTH_WHY];

	snprintf(text, sizeof(text), "make room where %s is, or set a lower "
		 "disk_reserve_bytes", srv->config->state_dir);
	return text;
}

static const char *disk(struct server *srv, enum health_verdict *v)
{
	enum disk_room room = disk_room_lately(srv->config);

	if (room != DISK_SPENT)
		*v = HEALTH_WARNS;
	return disk_says(room);
}

/* WHAT lost lines for -RC, and still does. */
static const char *loses(enum health_verdict *v, const char *what, int rc,
			 char *says, size_t size)
{
	if (rc == 0)
		return NULL;
	*v = HEALTH_WARNS;
	snprintf(says, size, "%s cannot be written: %s", what, strerror(-rc));
	return says;
}

static const char *logs(struct server *srv, enum health_verdict *v)
{
	static char says[128];

	(void)srv;
	return loses(v, "its log", log_failing(), says, sizeof(says));
}

static const char *audits(struct server *srv, enum health_verdict *v)
{
	static char says[128];

	(void)srv;
	return loses(v, "its audit log", audit_failing(), says, sizeof(says));
}

/* ---- the table ---- */

static const struct check {
	const char *name; /* what would be had */
	/* before the start: 0 or the status that ends it, with why */
	int (*before)(const struct health_case *c, char *why, size_t size);
	bool only_warns; /* that start goes on all the same… */
	bool stdio_warns; /* …or that of one client's server */
	/* while it serves: what is wrong, for clients to read; NULL: nothing */
	const char *(*now)(struct server *srv, enum health_verdict *v);
	const char *cure; /* of that, by the operator */
	const char *(*where)(struct server *srv); /* with paths; NULL: that */
} checks[] = {
    {.name = "the folders of templates", .before = health_templates},
    {.name = "a log", .before = health_log, .now = logs,
     .cure = "make room where it is; then it is written again"},
    {.name = "an audit log", .before = health_audit, .now = audits,
     .cure = "make room where it is; then it is written again"},
    {.name = "a socket", .before = health_socket},
    {.name = "a port", .before = health_listen},
    {.name = "a cage that is measured", .now = cage,
     .cure = "wait a moment; the log tells what came of it"},
    {.name = "a server that stays", .now = draining,
     .cure = "wait for the next one"},
    /* one client is answered why, and lists what there is all the same */
    {.name = "a state folder that takes runs", .before = health_state_before,
     .stdio_warns = true, .now = state,
     .cure = "the log of the server says where that is, and what would help",
     .where = state_where},
    {.name = "room on the disk", .before = health_disk_before,
     .only_warns = true, .now = disk,
     .cure = "make room there, or set a lower disk_reserve_bytes; the log "
	     "says where",
     .where = disk_where},
    {.name = "the browser", .before = health_browser, .only_warns = true},
};

#define CHECKS ARRAY_LEN(checks)

void health_before(const struct health_case *c, health_tell tell, void *arg)
{
	char why[HEALTH_WHY];

	for (size_t i = 0; i < CHECKS; i++) {
		const struct check *k = &checks[i];
		int status = k->before == NULL ? 0
					       : k->before(c, why, sizeof(why));

		if (status != 0)
			tell(arg,
			     k->only_warns || (k->stdio_warns && c->stdio)
				 ? HEALTH_WARNS
				 : HEALTH_FAILS,
			     status, why);
	}
}

static const char *look(struct server *srv, size_t i, enum health_verdict *v)
{
	const char *says;

	*v = HEALTH_FAILS;
	says = checks[i].now == NULL ? NULL : checks[i].now(srv, v);
	if (says == NULL)
		*v = HEALTH_WELL;
	return says;
}

static const char *first(struct server *srv, enum health_verdict wanted)
{
	for (size_t i = 0; i < CHECKS; i++) {
		enum health_verdict v;
		const char *says = look(srv, i, &v);

		if (v == wanted)
			return says;
	}
	return NULL;
}

const char *health_reason(struct server *srv)
{
	return first(srv, HEALTH_FAILS);
}

const char *health_warning(struct server *srv)
{
	return first(srv, HEALTH_WARNS);
}

/* ---- for programs ---- */

static void add(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static struct json_object *one_view(struct server *srv, size_t i, bool local)
{
	static const char *const names[] = {[HEALTH_WELL] = "well",
					    [HEALTH_WARNS] = "warning",
					    [HEALTH_FAILS] = "failing"};
	struct json_object *o = json_object_new_object();
	enum health_verdict v;
	const char *says = look(srv, i, &v), *where = NULL;

	if (says != NULL && local && checks[i].where != NULL)
		where = checks[i].where(srv);
	add(o, "name", checks[i].name);
	add(o, "verdict", names[v]);
	if (says != NULL) {
		add(o, "says", says);
		add(o, "cure", where != NULL ? where : checks[i].cure);
	}
	return o;
}

struct json_object *health_view(struct server *srv, bool local)
{
	struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();
	const char *why = health_reason(srv);

	json_object_object_add(o, "ready", json_object_new_boolean(why == NULL));
	if (why != NULL)
		add(o, "reason", why);
	for (size_t i = 0; i < CHECKS; i++)
		if (checks[i].now != NULL)
			json_object_array_add(list, one_view(srv, i, local));
	json_object_object_add(o, "checks", list);
	return o;
}

/* ---- to the log ---- */

/* The store tells of itself, and disk_space.c of the room: what is left is the folder. */
void health_watch(struct server *srv)
{
	static int told;
	const char *at = NULL;
	int rc = srv->store == NULL || store_sick_says(srv->store) != NULL
		     ? told
		     : state_lately(srv->config->state_dir, &at);

	(void)disk_room_lately(srv->config);
	if (rc == told)
		return;
	told = rc;
	if (rc != 0)
		log_error("health", "state=failing path=\"%s\" err=\"%s\" "
			  "msg=\"%s\"", at, strerror(-rc), store_remedy(rc));
	else
		log_info("health", "state=ok dir=\"%s\"",
			 srv->config->state_dir);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - would a run be started here, and what keeps it? One table of what
 * has to hold, looked at before the start (paddockd --check, and the start
 * itself) and while the server lives (readyz, get_runtime_profile and with it
 * "paddock doctor" and "paddock status", USR1, and each new run).
 */
#ifndef SUPERVISOR_HEALTH_HEALTH_H
#define SUPERVISOR_HEALTH_HEALTH_H

#include <json-c/json.h>

#include "supervisor/context.h"
#include "supervisor/store/store.h"

enum health_status {
	HEALTH_OK,
	HEALTH_WARNING, /* runs are started, but it should be mended */
	HEALTH_FAILED,	/* none is */
};

/* ---- before the start ---- */

struct health_start {
	const struct config *config;
	bool stdio; /* one client's: there is neither socket nor port */
	bool check; /* nothing is going to be started */
};

/* STATUS is what a start that ends by it ends with (sysexits(3)). */
typedef void (*health_report)(void *arg, enum health_status verdict, int status,
			      const char *says);

/*
 * Look at all that a start of C would need, without a trace: no file is made,
 * no port stays bound. TELL is called with what is not well, each a plain sentence.
 */
void health_check_start(const struct health_start *c, health_report tell,
			void *arg);

/* ---- while it serves ---- */

/*
 * Why no run would be started now, without a path or a figure of this machine;
 * NULL: one would.
 */
const char *health_reason(struct context *ctx);
/* What should be mended although runs are started, or NULL. */
const char *health_warning(struct context *ctx);
/* The part of that which is the store's and its folder's alone. */
const char *health_state(const struct config *config, struct store *store);

/*
 * {ready, reason, checks: [{name, verdict, says, cure}], database}. LOCAL: the cure
 * may name paths of this machine.
 */
struct json_object *health_view(struct context *ctx, bool local);

/*
 * Of a database that is a server, as it was about a second ago: {reachable, standby,
 * latencyUs, nodes, waiting}, and for LOCAL its name, versions and all in words; or
 * NULL.
 */
struct json_object *health_database_view(struct context *ctx, bool local);
/* The same in one line, for people; it never has a password. */
void health_database_text(const struct store_database *d, char *to,
			  size_t size);

/* Once a second: what is not well any more, or again, is logged once. */
void health_watch(struct context *ctx);

/* ---- its checks before the start, in health_start.c, for health.c ---- */

#define HEALTH_ERRMSG_SIZE 1024

/* Each: 0, or the status (sysexits(3)) of a start that ends by it, with ERRMSG. */
int health_start_templates(const struct health_start *c, char *errmsg,
			   size_t size);
int health_start_state(const struct health_start *c, char *errmsg, size_t size);
int health_start_database(const struct health_start *c, char *errmsg,
			  size_t size);
int health_start_disk(const struct health_start *c, char *errmsg, size_t size);
int health_start_log(const struct health_start *c, char *errmsg, size_t size);
int health_start_audit(const struct health_start *c, char *errmsg, size_t size);
int health_start_socket(const struct health_start *c, char *errmsg,
			size_t size);
int health_start_listen(const struct health_start *c, char *errmsg,
			size_t size);
int health_start_browser(const struct health_start *c, char *errmsg,
			 size_t size);

#endif

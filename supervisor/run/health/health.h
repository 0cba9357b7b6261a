/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - would a run be started here, and if not, why? One table of
 * conditions, checked before the start (paddockd --check, and the start itself)
 * and while the server lives (readyz, get_runtime_profile and with it "paddock
 * doctor" and "paddock status", USR1, and each new run).
 */
#ifndef SUPERVISOR_HEALTH_HEALTH_H
#define SUPERVISOR_HEALTH_HEALTH_H

#include <json-c/json.h>

#include "supervisor/context.h"
#include "supervisor/store/store.h"

enum health_status {
	HEALTH_OK,
	HEALTH_WARNING, /* runs are started, but a fault should be mended */
	HEALTH_FAILED,	/* no run is started */
};

/* ---- before the start ---- */

struct health_start {
	const struct config *config;
	bool stdio; /* serves one client: neither socket nor port */
	bool check; /* --check: nothing will be started */
};

/*
 * Called with each fault. STATUS is the exit status of a start that ends by the
 * fault (sysexits(3)).
 */
typedef void (*health_report)(void *arg, enum health_status verdict, int status,
			      const char *says);

/*
 * Check all conditions of a start of C, without a trace: no file is made, no
 * port stays bound. TELL is called with each fault, as a plain sentence.
 */
void health_check_start(const struct health_start *c, health_report tell,
			void *arg);

/* ---- while it serves ---- */

/*
 * Return why no run would be started now, without a path or a figure of this
 * machine; NULL: runs are started.
 */
const char *health_reason(struct context *ctx);
/* Return the faults to mend although runs are started: strings; NULL: none. */
struct json_object *health_warnings(struct context *ctx);
/* Return the fault of the store and its folder alone, or NULL. */
const char *health_state(const struct config *config, struct store *store);

/*
 * Return {ready, reason, checks: [{name, verdict, says, cure}], database}.
 * LOCAL: the cure may name paths of this machine, and there are skipped:
 * [{path, why, kept}], the packages that could not be loaded, and skippedMore.
 */
struct json_object *health_view(struct context *ctx, bool local);

/*
 * Return the state of a database server, about a second old: {reachable,
 * standby, latencyUs, nodes, waiting}, and for LOCAL its name, versions and a
 * sentence; NULL: the database is no server.
 */
struct json_object *health_database_view(struct context *ctx, bool local);
/* Write the state in one line, for people; it never has a password. */
void health_database_text(const struct store_database *d, char *to,
			  size_t size);

/*
 * Log each new fault, and each mended fault, once. To be called once a second.
 */
void health_watch(struct context *ctx);

/* ---- checks while it serves, in health_helpers.c, for health.c ---- */

/* Each returns the fault, and sets *V to HEALTH_WARNING if runs go on; NULL. */
const char *health_programs(struct context *ctx, enum health_status *v);
const char *
health_programs_where(struct context *ctx); /* the remedy, or NULL */
const char *health_browser(struct context *ctx, enum health_status *v);
const char *health_keeper(struct context *ctx, enum health_status *v);
const char *health_descriptors(struct context *ctx, enum health_status *v);

/* ---- checks before the start, in health_start.c, for health.c ---- */

#define HEALTH_ERRMSG_SIZE 1024

/*
 * The checks return 0, or the status (sysexits(3)) of a start that ends by the
 * fault, with ERRMSG.
 */
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
int health_start_descriptors(const struct health_start *c, char *errmsg,
			     size_t size);
int health_start_browser(const struct health_start *c, char *errmsg,
			 size_t size);

#endif

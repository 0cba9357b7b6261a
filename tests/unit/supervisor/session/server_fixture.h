/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_fixture.h - a server in the process of a test: store, templates, runs, threads
 * and sessions are real; there is no spawner, so that a test starts and ends each run,
 * and no transport, so that a test is the client.
 */
#ifndef TESTS_UNIT_SUPERVISOR_SESSION_SERVER_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_SESSION_SERVER_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/run/exec/runs_private.h"
#include "supervisor/requestor/fair_queue.h"
#include "supervisor/session/request.h"
#include "supervisor/session/session.h"
#include "supervisor/spawn/isolation.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

extern struct server {
	struct context context;
	struct config *config;
	struct isolation isolation;
	struct requestors requestors;
	struct sessions sessions;
	struct fair_queue turns;
	struct fair_queue_flow chores;
	struct event *on_store;
	char *dir; /* the state folder; packages are in its templates/ */
} server;

/* Start a server without templates; CONFIG is the text of a file, or NULL. */
void server_begin(const char *config);
void server_end(void);
/*
 * Write a package, which server_load() loads with all others. MEMBERS (NULL: none) are
 * members of the manifest, as in "\"name\":\"N\"", in place of the fixture's own.
 */
void server_package(const char *id, const char *version, const char *members);
void server_file(const char *id, const char *version, const char *name,
		 const char *text);
void server_load(void);
/* Return once all requests to the store so far have been answered. */
void server_settle(void);
/* Run the loop until IT is set; a test that waits too long ends. */
#define server_until(it)                                                       \
	do {                                                                   \
		alarm(HELP_WAIT_MS / 1000);                                    \
		while (!(it))                                                  \
			event_base_loop(server.context.base, EVLOOP_ONCE);     \
		alarm(0);                                                      \
	} while (0)
/* Run what is due now, and wait for nothing. */
void server_turn(void);

/* ---- runs ---- */

/* Return the newest open run, or NULL. */
struct run *server_run(void);
/* Let R run as if a worker had been started for R. */
void server_run_start(struct run *r);
/* End R with OUTPUT (JSON), as a worker would, and wait until the end is recorded. */
void server_run_end(struct run *r, const char *output);
/* The same, but do not wait. */
void server_run_leave(struct run *r, const char *output);
/* The same with an error; TEXT is its message. */
void server_run_fail(struct run *r, const char *code, const char *text);
/*
 * Keep an artifact of R, which goes on, in the store: LEN bytes of DATA. The id is
 * *lent* until the next call.
 */
const char *server_artifact(const struct run *r, const char *name,
			    const char *type, const char *data, size_t len);

/* ---- clients ---- */

struct client {
	struct session session;
	bool deaf, backlogged; /* no push stream; too much is unread */
	unsigned last_id;
	struct json_object *answers; /* by id */
	struct json_object *told; /* array: notifications, and requests to it */
	struct reply_hint hint;	  /* of the last answer */
	const char *capabilities; /* JSON; sent with each stateless request */
};

/*
 * Connect a client of user UID that speaks REV; since 2026-07-28 its terms are in each
 * request, else it has been initialized.
 */
void client_begin(struct client *c, uid_t uid, enum mcp_revision rev);
void client_end(struct client *c);
/* Declare CAPABILITIES (JSON, *lent*). */
void client_declare(struct client *c, const char *capabilities);

/* Send a request with PARAMS (a printf format of JSON); returns its id. */
unsigned client_send(struct client *c, const char *method, const char *params,
		     ...) __attribute__((format(printf, 3, 4)));
/* Send TEXT, a message or a batch, as it is. */
void client_say(struct client *c, const char *text);
/* Return the answer to request ID, lent until client_end(); NULL: none yet. */
struct json_object *client_answered(const struct client *c, unsigned id);
/* Wait for the answer to request ID. */
struct json_object *client_wait(struct client *c, unsigned id);
/* client_send(), and client_wait(). */
struct json_object *client_call(struct client *c, const char *method,
				const char *params, ...)
    __attribute__((format(printf, 3, 4)));
/* Call TOOL with the arguments ARGS; the answer is the whole message. */
struct json_object *client_tool(struct client *c, const char *tool,
				const char *args, ...)
    __attribute__((format(printf, 3, 4)));
/* Cancel request ID. */
void client_cancel(struct client *c, unsigned id);
/* Return the notifications with METHOD told since the last call. */
int client_told(struct client *c, const char *method);

/*
 * Return what is at POINTER in O: the bytes of a string, else JSON text. NULL: nothing.
 * *Lent* by O.
 */
const char *at(struct json_object *o, const char *pointer);
/* at() in the JSON that is the text of a tool's ANSWER. */
const char *tool_at(struct json_object *answer, const char *pointer);

#endif

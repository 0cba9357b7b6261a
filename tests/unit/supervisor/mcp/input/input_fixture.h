/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_fixture.h - clients, and a run whose template asks the clients questions: the
 * test plays sessions and worker. Questions, answers and withdrawals are noted with the
 * client's name and the route.
 */
#ifndef TESTS_UNIT_SUPERVISOR_INPUT_INPUT_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_INPUT_INPUT_FIXTURE_H

#include "tests/unit/supervisor/run/worker/worker_fixture.h"

#include "base/clock.h"
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/session/request.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/run/exec/runs_private.h"
#include "supervisor/session/task_notify.h"
#include "supervisor/mcp/tasks/tasks.h"

#define QUESTION                                                               \
	"{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","         \
	"\"properties\":{}}}"
#define ACCEPT "{\"action\":\"accept\",\"content\":{}}"
#define ACCEPTED "(1 ok {\"content\":{},\"action\":\"accept\"})"

/* A client; the name appears in the notes. */
struct client {
	struct session session;
	const char *name;
	bool has_push_stream, backlogged,
	    deaf;		   /* deaf: no connection reads the routes */
	struct json_object *asked; /* the id of the last question */
};

extern struct context ctx;

const char *where(const void *stream);
bool has_push_stream(void *arg);
void client_begin(struct client *c, const char *name);
void client_end(struct client *c);

/* Let the client answer the last question. */
void says(struct client *c, const char *result);
void accepts(struct client *c);
struct request *call_of(struct client *c, const char *stream,
			const char *params);
struct request *waits(struct client *c, const char *stream);
void start(bool task);
void stop(void);

/* The noted answers to the worker. */
const char *heard(void);
void set_up_server(void);

#endif

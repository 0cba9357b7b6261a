/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_fixture.h - clients and a run whose template asks them: sessions and the
 * worker are the test. What is asked, answered and taken back is noted, by the
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

/* A client; its name is what is noted. */
struct client {
	struct session session;
	const char *name;
	bool has_push_stream, backlogged,
	    deaf;		   /* deaf: nobody reads its routes */
	struct json_object *asked; /* the id of what it was asked last */
};

extern struct context ctx;

const char *where(const void *stream);
bool has_push_stream(void *arg);
void client_begin(struct client *c, const char *name);
void client_end(struct client *c);

/* The client answers what it was asked last. */
void says(struct client *c, const char *result);
void accepts(struct client *c);
struct request *call_of(struct client *c, const char *stream,
			const char *params);
struct request *waits(struct client *c, const char *stream);
void start(bool task);
void stop(void);

/* All that the worker was answered is noted. */
const char *heard(void);
void set_up_server(void);

#endif

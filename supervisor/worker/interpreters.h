/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreters.h - what programs find on this machine: Python with its modules,
 * Node.js, bash and Lua, by their versions.
 */
#ifndef SUPERVISOR_WORKER_INTERPRETERS_H
#define SUPERVISOR_WORKER_INTERPRETERS_H

#include <json-c/json.h>

struct context;
struct interpreters;

struct interpreters *interpreters_new(struct context *ctx);
/* After spawner_stop(). Whoever still waits is told. NULL is fine. */
void interpreters_free(struct interpreters *i);

/* Programs or the machine may be others now: look again when asked. */
void interpreters_forget(struct interpreters *i);

/*
 * {python?, node?, bash?, lua}, each {version}, Python's with {modules,
 * moreModules?}; borrowed, and only until DONE returns. It is called once: at
 * once when that is known, else when a worker, caged as a run's, has looked.
 * Where no program can be run it is Lua alone.
 */
typedef void interpreters_done(void *arg, struct json_object *view);
void interpreters_ask(struct interpreters *i, interpreters_done *done,
		      void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm.h - workers that wait for their run: cloned and caged ahead of it, so
 * that a call does not wait for that. One worker, one run, always.
 *
 * None waits before the first run like it. One is taken only for a run whose
 * cage would be exactly the same, made by the same zygote; what dies while it
 * waits is replaced, later each time. Those that wait have no place among the
 * runs, and give way where there are few slots.
 */
#ifndef SUPERVISOR_WARM_WARM_H
#define SUPERVISOR_WARM_WARM_H

#include <json-c/json.h>

#include "supervisor/spawn/spawner.h"
#include "supervisor/warm/born.h"

#define WARM_START_CPU_MS 10000 /* that a program may use before its run */

struct catalogue;
struct context;
struct template;
struct warm;

struct warm *warm_new(struct context *ctx);
/* None waits any more, and none will. */
void warm_stop(struct warm *m);
/* After spawner_stop(), which has ended them. NULL is fine to all of these. */
void warm_free(struct warm *m);

/*
 * A run of T for JOB begins, of USER (whose those that wait for the next are then,
 * and which is only compared): a worker that waited for such a one, from now on
 * OWNER's by OPS as born_ask() has it, or NULL: ask for one. From now on others
 * are kept: of Lua one for all templates, of a program as its manifest says.
 */
struct born *warm_take(struct warm *m, const void *user, struct template *t,
		       const struct spawner_job *job,
		       const struct born_ops *ops, void *owner);

/* B, which waited, has begun its run; or it could not, and was of no use. */
void warm_began(struct warm *m, const struct born *b);
void warm_was_unfit(struct warm *m, const struct born *b, const char *why);
/* Why, by the exit STATUS of one that waited (static). */
const char *warm_why(int status);

/* There is no slot or no memory: those that wait go. */
void warm_give_way(struct warm *m);

/* Those of KIND go, and others come in their place: its cage was made anew. */
void warm_renew(struct warm *m, enum runtime kind);
/* The same of all, for ALL's templates from now on. */
void warm_reloaded(struct warm *m, const struct catalogue *all);

/*
 * [{runtime, templateId?, version?, waiting, wanted, hits, misses, replaced,
 * memoryBytes?}, …], the one that was used last first; the caller's.
 */
struct json_object *warm_view(const struct warm *m);
void warm_log(const struct warm *m); /* in sum, as a line */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm.h - keeps workers waiting for runs: cloned and caged ahead, so that a
 * call does not wait for cloning. One worker, one run, always.
 *
 * No worker waits before the first run of its kind. A run takes only a worker
 * whose cage would be exactly the same, made by the same zygote; a worker that
 * dies while waiting is replaced, later each time. Waiting workers take no
 * place among the runs, and give way where slots are few.
 */
#ifndef SUPERVISOR_WARM_WARM_H
#define SUPERVISOR_WARM_WARM_H

#include <json-c/json.h>

#include "supervisor/spawn/spawner.h"
#include "supervisor/run/warm/spawned.h"

#define WARM_START_CPU_MS 10000 /* CPU time of a program before its run */

struct catalogue;
struct context;
struct template;
struct warm;

struct warm *warm_new(struct context *ctx);
/* Dismiss all waiting workers, and keep none from now on. */
void warm_stop(struct warm *m);
/*
 * Free M after spawner_stop(), which has ended the workers. NULL is fine, here
 * and in all functions with M.
 */
void warm_free(struct warm *m);

/*
 * A run of T for JOB begins, for USER, to whom the next waiting workers are
 * counted (USER is only compared). Returns a worker that waited for such a run,
 * from now on OWNER's with OPS as in spawned_ask(); or NULL: ask for a worker.
 * From now on workers are kept for such runs: one of Lua for all templates, of
 * a program as many as its manifest says.
 */
struct spawned *warm_take(struct warm *m, const void *user, struct template *t,
			  const struct spawner_job *job,
			  const struct spawned_ops *ops, void *owner);

/*
 * A run of Lua has its result, and awaits its row: a good time to start the next
 * worker. Without a call the next worker is started a little later.
 */
void warm_result(struct warm *m);

/*
 * warm_began(): B, which waited, has begun its run. warm_was_unfit(): B could
 * not begin, for the reason WHY.
 */
void warm_began(struct warm *m, const struct spawned *b);
void warm_was_unfit(struct warm *m, const struct spawned *b, const char *why);
/* Return why a waiting worker ended, by its exit STATUS (static text). */
const char *warm_why(int status);

/* Dismiss all waiting workers, since slots or memory are short. */
void warm_give_way(struct warm *m);

/* Replace the waiting workers of KIND, whose cage was made anew. */
void warm_renew(struct warm *m, enum runtime_kind kind);
/* Replace all waiting workers, for the templates of ALL from now on. */
void warm_reloaded(struct warm *m, const struct catalogue *all);

/*
 * Return [{runtime, templateId?, version?, waiting, wanted, hits, misses,
 * replaced, memoryBytes?}], the kind used last first; the caller's.
 */
struct json_object *warm_view(const struct warm *m);
void warm_log(const struct warm *m); /* writes the sums as a line of the log */

#endif

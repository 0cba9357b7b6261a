/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm_private.h - shared by the parts of warm, included by no other file.
 *
 *   spawned.c          a worker, whoever owns it
 *   warm.c          waiting workers: kept, taken, replaced
 *   warm_view.c     the view of waiting workers
 *   warm_share.c    who gives way to whom
 *   warm_program.c  messages to and from a waiting program, and its bounds
 *
 * residents_private.h has the files of programs that stay between runs.
 */
#ifndef SUPERVISOR_WARM_WARM_PRIVATE_H
#define SUPERVISOR_WARM_WARM_PRIVATE_H

#include "supervisor/context.h"
#include "supervisor/packages/templates/template.h"
#include "supervisor/run/warm/warm.h"

TAILQ_HEAD(spawned_list, spawned);

/* Waiting workers whose cages are all the same. */
struct kept {
	struct warm *warm;
	uint32_t id;
	/* the program, which counts a user; NULL: Lua */
	struct template *template;
	/* the job of each worker; borrows from the template */
	struct spawner_job job;
	const void *user; /* the user whose run came last; only compared */
	uint64_t needs;	  /* bytes of a program, once one has waited */
	/* a look at the program's package, before starts */
	struct package_look *look;
	unsigned want;		     /* how many to keep; 0: failed too often */
	struct spawned_list waiting; /* waiting workers, the oldest first */
	unsigned n;
	uint64_t hits, misses, replaced;
	unsigned failures; /* failures in a row */
	int64_t pause_ms;  /* pause after the last failure; 0: none of late */
	int64_t not_before_ms; /* no start before then; monotonic, as used_ms */
	int64_t used_ms;
	TAILQ_ENTRY(kept) link;
};

TAILQ_HEAD(kepts, kept);

struct warm {
	struct context *ctx;
	struct kepts kept; /* all lists, the last used first */
	uint32_t last_id;
	struct spawned_list ending;
	struct event *fill;
	int64_t due_ms; /* when FILL is due, while pending */
	bool stopped;
};

/* ---- warm.c ---- */

/*
 * Dismiss B, a useless waiting worker; a new worker comes, after a longer
 * pause.
 */
void warm_replace(struct spawned *b);

/* End B; the exit frees B. */
void warm_dismiss(struct spawned *b);

/* ---- warm_share.c ---- */

/*
 * Is there room in prestart_memory for one more worker of K, once other workers
 * have given way? Returns how many bytes; or 0.
 */
uint64_t warm_share_room(const struct kept *k);
/*
 * Return which of KIND has to go when USER is to have one more: the least
 * recently used of the user with the most. NULL: there is none.
 */
struct kept *warm_share_last(const struct warm *m, enum runtime_kind kind,
			     const void *user);

/* ---- warm_program.c ---- */

/* Hold B, just cloned, to the bounds, and have the program started. */
void warm_program_begin(struct spawned *b);
/* Remove the cgroup of B, a waiting worker just reaped. */
void warm_program_end(struct spawned *b);

#endif

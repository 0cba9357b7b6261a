/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm_private.h - what the parts of warm share; nobody else includes it.
 *
 *   born.c          a worker, whoever has it
 *   warm.c          those that wait: kept, taken, replaced
 *   warm_view.c     what is shown of them
 *   warm_share.c    who gives way to whom
 *   warm_program.c  what a program that waits is told, held to, and says
 */
#ifndef SUPERVISOR_WARM_WARM_PRIVATE_H
#define SUPERVISOR_WARM_WARM_PRIVATE_H

#include "supervisor/context.h"
#include "supervisor/templates/template.h"
#include "supervisor/warm/warm.h"

TAILQ_HEAD(borns, born);

/* Those that wait in cages that are all the same. */
struct kept {
	struct warm *warm;
	uint32_t id;
	struct template *template; /* of a program: a user of it; else NULL */
	struct spawner_job job;	   /* it borrows from that */
	const void *user;	   /* whose run used it last; compared alone */
	uint64_t needs;		   /* of a program that has waited: as much */
	unsigned want;		   /* 0: it failed too often */
	struct borns waiting;	   /* the oldest first */
	unsigned n;
	uint64_t hits, misses, replaced;
	unsigned failures;     /* in a row */
	int64_t pause_ms;      /* after the last of these; 0: none of late */
	int64_t not_before_ms; /* monotonic, as used_ms */
	int64_t used_ms;
	TAILQ_ENTRY(kept) link;
};

TAILQ_HEAD(kepts, kept);

struct warm {
	struct context *ctx;
	struct kepts kept; /* the one that was used last first */
	uint32_t last_id;
	struct borns ending;
	struct event *fill;
	int64_t due_ms; /* FILL, while it is pending */
	bool stopped;
};

/* ---- warm.c ---- */

/* B, which waits, is of no use: another comes, later than the last did. */
void warm_replace(struct born *b);

/* It is reaped when it comes to that. */
void warm_dismiss(struct born *b);

/* ---- warm_share.c ---- */

/*
 * Is there enough of prestart_memory for one of K, once others have given way? How
 * much it may have; or 0.
 */
uint64_t warm_share_room(const struct kept *k);
/*
 * Of those of KIND, of which USER is to have one more, the one that goes: of who has
 * the most of them what was used longest ago. NULL: there is none.
 */
struct kept *warm_share_last(const struct warm *m, enum runtime kind,
			     const void *user);

/* ---- warm_program.c ---- */

/* B was cloned: hold it to its bounds, and have its program started. */
void warm_program_begin(struct born *b);
/* B, which waited, is reaped: what it left in its group goes, too. */
void warm_program_end(struct born *b);

#endif

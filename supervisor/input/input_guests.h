/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_guests.h - who waits at other machines for a run of ours: its clients came back
 * there, and are asked like who waits here. input_visit.c writes from there.
 *
 * A guest is known by a name that its machine gave it. A letter of its is an object:
 *
 *   guest         that name
 *   capabilities  what it can be asked
 *   round         that it comes back with, with…
 *   answers       …these; it is heard once. Without a round, or with one of a server
 *                 that had the run before, it waits already
 *   left          it does so no more…
 *   cancels       …nor is its run wanted, unless somebody else waits
 */
#ifndef SUPERVISOR_INPUT_INPUT_GUESTS_H
#define SUPERVISOR_INPUT_INPUT_GUESTS_H

#include "supervisor/context.h"
#include "supervisor/run/run.h"

#define INPUT_GUEST_MS 30000 /* without a letter it is gone, as if cancelled */

/* LETTER (lent) is a guest's, of BYTES as text; what is kept of it leaves it. */
void input_guests_hear(struct context *ctx, struct run *r,
		       struct json_object *letter, size_t bytes);

/*
 * What each is told, by its name: {"waits": true}; {"used": true}: its round was not
 * the one to come back with; {"round", "keys"}: it is to come back with that, and
 * answers to these. NULL: there is none. The caller's.
 */
struct json_object *input_guests_shown(const struct run *r);

#endif

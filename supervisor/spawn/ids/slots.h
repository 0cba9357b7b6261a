/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - the slots of workers, for spawner.c. A program sees its slot: the slot is
 * part of the program's user id and of its cgroup's name. So slots are taken at random,
 * and no run can count the workers of other requestors by its own slots.
 */
#ifndef SUPERVISOR_SPAWN_IDS_SLOTS_H
#define SUPERVISOR_SPAWN_IDS_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/zygote_proto.h"

/* Workers that begin before a slot is taken again, as long as other slots are free. */
#define SLOTS_REST 64u

struct slots {
	bool used[ZYGOTE_PROTO_SLOTS];
	uint32_t
	    taken_as[ZYGOTE_PROTO_SLOTS]; /* a count from 1; 0: never taken */
	uint32_t taken;
};

/* Take a free slot, for the caller to give back by USED. 0, or -EAGAIN. */
int slots_take(struct slots *s, uint32_t *slot);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* worker_groups.h - what all workers of a kind may use together. */
#ifndef SUPERVISOR_START_WORKER_GROUPS_H
#define SUPERVISOR_START_WORKER_GROUPS_H

struct config;

/* Hold the cgroups of Lua, of programs and of the browser to what C lets them use. */
void worker_groups_limit(const struct config *c);

#endif

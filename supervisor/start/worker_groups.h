/* SPDX-License-Identifier: Apache-2.0 */
/* worker_groups.h - limits what all workers of a kind may use together. */
#ifndef SUPERVISOR_START_WORKER_GROUPS_H
#define SUPERVISOR_START_WORKER_GROUPS_H

struct config;

/* Limit the cgroups of Lua, of programs and of the browser as C allows. */
void worker_groups_limit(const struct config *c);

#endif

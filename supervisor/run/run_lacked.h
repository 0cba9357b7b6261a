/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_lacked.h - permissions that a run was refused, since no grant has them: "paddock
 * explain" and "paddock template learn" draft the grant.
 */
#ifndef SUPERVISOR_RUN_RUN_LACKED_H
#define SUPERVISOR_RUN_RUN_LACKED_H

#include "supervisor/run/run.h"

/*
 * Note that R was refused WORD, of the kind KEY of [grant] ("tools"). A word is noted
 * once, and words beyond the room in a view are not noted.
 */
void run_lacked_add(struct run *r, const char *key, const char *word);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants_lacked.h - permissions that a run was refused, since no grant has them: "paddock
 * explain" and "paddock template learn" draft the grant.
 */
#ifndef SUPERVISOR_GRANTS_GRANTS_LACKED_H
#define SUPERVISOR_GRANTS_GRANTS_LACKED_H

#include <json-c/json.h>

/*
 * Note in *LACKED (NULL: empty) that a run was refused WORD, of the kind KEY of [grant] ("tools"). A word is noted
 * once, and words beyond the room in a view are not noted.
 */
void grants_lacked_add(struct json_object **lacked, const char *key,
		       const char *word);

#endif

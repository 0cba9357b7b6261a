/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants_draft.h - drafts of grants: sections of paddock.conf that would grant one
 * package the permissions and limits that a run needed. An operator reads and approves
 * drafts; a draft grants nothing.
 */
#ifndef SUPERVISOR_GRANTS_GRANTS_DRAFT_H
#define SUPERVISOR_GRANTS_GRANTS_DRAFT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "supervisor/config/config.h"
#include "supervisor/packages/templates/template.h"

#define GRANTS_DRAFT_WORDS 64 /* of a kind, in the wishes of a client */

/*
 * WANT is {grant?: {KEY: [WORD, ...]}, limits?: {NAME: NUMBER}}: KEY as in [grant], NAME
 * of base/limits.def. Does WANT (NULL: no wish) have the form, and could a configuration
 * have each word and number? If not, ERRMSG has the reason.
 */
bool grants_draft_check(struct json_object *want, char *errmsg, size_t size);

#define GRANTS_DRAFT_WHOLE 1u
#define GRANTS_DRAFT_BLIND 2u

/*
 * Return the draft for T's package: {templateId, version, digest, lines: [{key, word,
 * text, new}], section, manifest?}. The section grants the permissions that T asks for
 * and lacks, and the wishes WANT, which passed grants_draft_check(); HOW is 0 or
 * of the flags: WHOLE has granted permissions, too; BLIND takes the wishes beyond T's own
 * for new, since a remote client must not learn other grants by asking. TEXT has the words for people; a line that is not NEW is granted
 * today. MANIFEST has the words that T's manifest lacks, in the form of a manifest. An
 * empty section: nothing is needed. The caller frees the object.
 */
struct json_object *grants_draft(const struct template *t,
				 const struct config *c,
				 struct json_object *want, unsigned how);

#endif

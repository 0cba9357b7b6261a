/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.h - drafts of grants: what a run lacked, as the server writes it for paddock.conf.
 */
#ifndef CLI_GRANT_DRAFT_H
#define CLI_GRANT_DRAFT_H

#include <json-c/json.h>
#include <stdbool.h>

#include "cli/client/client.h"

/*
 * Add to WANT ({grant, limits}, as the method paddock/draft takes both) the permissions
 * that the run of VIEW was refused, and the limits that the run met, each raised to the
 * need of the run, or doubled. Returns whether WANT has more now.
 */
bool draft_add(struct json_object *want, struct json_object *view);

/*
 * Ask for the draft of WANT for the template ID, perhaps of VERSION; WHOLE: with granted
 * permissions, too. 0 and *DRAFT, the caller's, or NULL for a server without drafts; or
 * the exit status.
 */
int draft_ask(struct client *c, const char *id, const char *version,
	      struct json_object *want, bool whole, struct json_object **draft);

/* Has DRAFT (NULL: no) anything for paddock.conf? */
bool draft_has_section(struct json_object *draft);

/*
 * Find the draft for the run of VIEW, as draft_ask() does; *DRAFT is NULL when the run
 * lacked nothing that is known.
 */
int draft_of_run(struct client *c, struct json_object *view,
		 struct json_object **draft);
/* Print DRAFT: the missing words of the manifest, or the sections for paddock.conf. */
void draft_show(struct json_object *draft);

#endif

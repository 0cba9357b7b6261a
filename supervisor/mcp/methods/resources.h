/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.h - resources by URI: paddock's (resource_uri.h), and those of
 * templates. A requestor reads its own runs alone; the runs of others are
 * answered as unknown.
 */
#ifndef SUPERVISOR_METHODS_RESOURCES_H
#define SUPERVISOR_METHODS_RESOURCES_H

#include "supervisor/session/request.h"
#include "supervisor/packages/templates/catalogue_index.h"

#define RESOURCES_URI_MAX 8192		       /* bytes; no URI is longer */
#define RESOURCES_FILLED_MAX ((size_t)4 << 20) /* bytes of a filled text */

void resources_read(struct request *req);

/*
 * Return the resource of a template which S's client may read by URI, or NULL.
 * *VALUES gets the values of the URI's names (the caller's; NULL: no names).
 */
const struct catalogue_entry *resources_find(const struct session *s,
					     const char *uri,
					     struct json_object **values);

/* Answer REQ: there is no such resource. */
void resources_not_found(struct request *req, const char *uri);

/*
 * Return {uri, mimeType?, text | blob} of BYTES (*lent*), which the caller
 * owns.
 */
struct json_object *resources_contents(const char *uri, const char *mime_type,
				       const char *bytes, size_t len);

#endif

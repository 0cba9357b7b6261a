/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.h - what can be read by URI: paddock's own (resource_uri.h), and
 * what templates offer. A requestor reads its own runs alone; another's
 * answer like unknown ones.
 */
#ifndef SUPERVISOR_METHODS_RESOURCES_H
#define SUPERVISOR_METHODS_RESOURCES_H

#include "supervisor/session/request.h"
#include "supervisor/templates/catalogue_index.h"

#define RESOURCES_URI_MAX 8192 /* bytes; nothing has a longer URI */
#define RESOURCES_FILLED_MAX ((size_t)4 << 20) /* bytes of one text */

void resources_read(struct request *c);

/*
 * The resource of a template that S's client may read by URI, or NULL; what
 * its names stand for goes to *VALUES (the caller's; NULL: it has none).
 */
const struct catalogue_entry *resources_find(const struct session *s,
					     const char *uri,
					     struct json_object **values);

/* There is no such resource: C is answered. */
void resources_not_found(struct request *c, const char *uri);

/* {uri, mimeType?, text | blob} of bytes (lent); the caller owns it. */
struct json_object *resources_contents(const char *uri, const char *mime_type,
				       const char *bytes, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* learn_want.h - the permissions and limits that "template learn" has found so far. */
#ifndef CLI_GRANT_LEARN_WANT_H
#define CLI_GRANT_LEARN_WANT_H

#include <json-c/json.h>
#include <stdbool.h>

/* Return the list KEY of the grant in WANT, made if it is missing; lent. */
struct json_object *learn_want_words(struct json_object *want, const char *key);

/*
 * Add to WANT the lack of the failed run of VIEW, of the template with MANIFEST. Returns
 * whether WANT has more now.
 */
bool learn_want_add(struct json_object *want, struct json_object *manifest,
		    struct json_object *view);

#endif

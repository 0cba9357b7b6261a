/* SPDX-License-Identifier: Apache-2.0 */
/* learn_paths.h - files of the machine that a failed run may have lacked. */
#ifndef CLI_GRANT_LEARN_PATHS_H
#define CLI_GRANT_LEARN_PATHS_H

#include <json-c/json.h>
#include <stddef.h>

#define LEARN_PATHS_MAX 16

/*
 * Add to LIST, of at most LEARN_PATHS_MAX words, each path in TEXT that names a file or a
 * folder here which everyone may read, and no link on the way. HIDDEN gets existing paths
 * that not everyone may read: such a path is never tried.
 */
void learn_paths_add(struct json_object *list, struct json_object *hidden,
		     const char *text, size_t n);

/* As learn_paths_add() for all texts in V. */
void learn_paths_add_values(struct json_object *list,
			    struct json_object *hidden, struct json_object *v);

/* As learn_paths_add() for the files of the package DIR. */
void learn_paths_add_package(struct json_object *list,
			     struct json_object *hidden, const char *dir);

#endif

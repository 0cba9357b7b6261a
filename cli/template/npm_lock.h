/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npm_lock.h - package-lock.json as a lock: each package by its version, the
 * URL of its file, and hashes for the file.
 */
#ifndef CLI_NPM_LOCK_H
#define CLI_NPM_LOCK_H

#include <json-c/json.h>
#include <stddef.h>

/*
 * Check LOCK as a lock and ABOUT as a package.json, without a folder, a link, a
 * repository or a file without a hash. 0, and *LOCK_OUT and *ABOUT_OUT, the
 * caller's, contain only checked members: npm gets these copies, since npm
 * would act on other members, too. Or -EINVAL and a sentence in ERRMSG (SIZE
 * bytes), with ABOUT_NAME if ABOUT is wrong.
 */
int npm_lock_check(struct json_object *lock, struct json_object *about,
		   const char *about_name, struct json_object **lock_out,
		   struct json_object **about_out, char *errmsg, size_t size);

#endif

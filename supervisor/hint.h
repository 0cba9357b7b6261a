/* SPDX-License-Identifier: Apache-2.0 */
/* hint.h - what a client can do about a refusal or a run's error. */
#ifndef SUPERVISOR_HINT_H
#define SUPERVISOR_HINT_H

#include <json-c/json.h>

/*
 * A sentence on CODE that fits its cause, which DETAILS (or NULL) tells; the
 * caller's. It names tools and their arguments.
 */
char *hint_of(const char *code, struct json_object *details);

#endif

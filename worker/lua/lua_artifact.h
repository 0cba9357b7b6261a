/* SPDX-License-Identifier: Apache-2.0 */
/* lua_artifact.h - run.artifact(): files that are kept beside the result. */
#ifndef WORKER_LUA_LUA_ARTIFACT_H
#define WORKER_LUA_LUA_ARTIFACT_H

#include <lua.h>
#include <stdint.h>

int lua_artifact_artifact(lua_State *L); /* the function run.artifact */

void lua_artifact_limit(uint64_t bytes); /* of all artifacts of the run */

/*
 * The code of the last refusal. A template may have changed the error, and the supervisor
 * accepts only the code that the supervisor sent.
 */
const char *lua_artifact_refusal(void);

#endif

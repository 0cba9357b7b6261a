/* SPDX-License-Identifier: Apache-2.0 */
/* lua_files.h - the input files of a run, as strings in the inputs. */
#ifndef WORKER_LUA_LUA_FILES_H
#define WORKER_LUA_LUA_FILES_H

#include <lua.h>
#include <stdbool.h>

#include "ipc/file_part.h"

/*
 * Put the bytes of each of FILES (ipc/file_part.h) into the inputs, the value on top of
 * L's stack, at the JSON pointer which comes with the file. False: a pointer leads
 * nowhere, or FILES is truncated. Raises an error when memory is short.
 */
bool lua_files_put(lua_State *L, struct str files);

#endif

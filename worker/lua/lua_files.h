/* SPDX-License-Identifier: Apache-2.0 */
/* lua_files.h - the input files of a run, as strings in the inputs. */
#ifndef WORKER_LUA_LUA_FILES_H
#define WORKER_LUA_LUA_FILES_H

#include <lua.h>
#include <stdbool.h>

#include "ipc/file_part.h"

/*
 * In the value on top: the bytes of each of FILES (ipc/file_part.h) become the value at
 * the file's pointer. False: a pointer leads nowhere, or FILES is truncated. Raises an
 * error without memory.
 */
bool lua_files_put(lua_State *L, struct str files);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* lua_files.h - the files that a run is given, as strings in its inputs. */
#ifndef WORKER_LUA_LUA_FILES_H
#define WORKER_LUA_LUA_FILES_H

#include <lua.h>
#include <stdbool.h>

#include "ipc/file_part.h"

/*
 * In the value on top: the bytes of each of FILES (ipc/file_part.h) become the
 * value that its pointer leads to. False: one leads nowhere, or FILES is cut
 * short. Raises an error when there is no memory.
 */
bool lua_files_put(lua_State *L, struct str files);

#endif

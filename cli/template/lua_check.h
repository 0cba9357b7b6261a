/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_check.h - does a package's Lua compile, and return a function? The code
 * is untrusted, so a caged worker of a private server tries.
 */
#ifndef CLI_LUA_CHECK_H
#define CLI_LUA_CHECK_H

#include <json-c/json.h>

#include "cli/terminal/cli.h"

struct lua_check; /* opaque: the private server */

/* Start the private server. NULL: failed, the reason printed. */
struct lua_check *lua_check_open(const struct cli *cli);
void lua_check_close(struct lua_check *p); /* NULL is fine */

/*
 * Try the file ENTRY of the package DIR. 0, with *FAULT {severity, file, line?,
 * message}, the caller's, or NULL: the code is good. Else the exit status: the
 * code could not be tried, the reason printed.
 */
int lua_check_lua(struct lua_check *p, const char *dir, const char *entry,
		  struct json_object **fault);

#endif

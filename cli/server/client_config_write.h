/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_config_write.h - writes an entry into an MCP client's file that has
 * other entries.
 */
#ifndef CLI_CLIENT_CONFIG_WRITE_H
#define CLI_CLIENT_CONFIG_WRITE_H

#include <json-c/json.h>
#include <stdbool.h>

#define CLIENT_CONFIG_NAME "paddock" /* of the entry */

/*
 * Put ENTRY (lent) as "paddock" under KEY of the JSON file PATH, creating the
 * file if need be. An entry of that name is replaced, everything else stays.
 * The file is replaced whole and keeps its mode and owner. 0, or CLI_USAGE for
 * a file of another shape, CLI_TROUBLE when writing fails; the file is then as
 * before, and the reason printed. Unless QUIET a line says what was done.
 */
int client_config_write(const char *path, const char *key,
			struct json_object *entry, bool quiet);

#endif

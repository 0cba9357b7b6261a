/* SPDX-License-Identifier: Apache-2.0 */
/* grant_file.h - the file of an approved grant, which the server reads at a reload. */
#ifndef CLI_GRANT_GRANT_FILE_H
#define CLI_GRANT_GRANT_FILE_H

#include <json-c/json.h>

/*
 * Write the section of PROPOSAL's draft as a new file of the folder that PROPOSAL names,
 * whole or not at all. 0 and the file's path in *PATH, the caller's; or the exit status,
 * the reason printed.
 */
int grant_file_write(struct json_object *proposal, char **path);

#endif

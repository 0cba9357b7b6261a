/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - "paddock schema": check instances. */
#ifndef CLI_SCHEMA_H
#define CLI_SCHEMA_H

/* ARGV[0] is "schema". 0: all valid; 1: not; 2: usage or an unreadable file. */
int cli_schema(int argc, char **argv);

#endif

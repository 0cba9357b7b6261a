/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - "paddock schema": check instances, or run the official suite. */
#ifndef CLI_SCHEMA_H
#define CLI_SCHEMA_H

/* ARGV[0] is "schema". 0: all valid; 1: not; 2: usage or an unreadable file. */
int cli_schema(int argc, char **argv);

/*
 * Every DIR/(name).json in the format of the JSON Schema Test Suite, as TAP on
 * stdout. REMOTES, unless NULL, is served as http://localhost:1234/. FORMATS:
 * "format" asserts.
 */
int cli_schema_suite(const char *dir, const char *remotes, int formats);

#endif

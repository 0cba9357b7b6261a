/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_uids.h - which user ids servers that root started hold for runs. */
#ifndef CLI_DOCTOR_UIDS_H
#define CLI_DOCTOR_UIDS_H

#include <json-c/json.h>

#define DOCTOR_UIDS "uidsOfRuns" /* in the report */

/*
 * As root: put the ranges that are held into REPORT, as texts, and call BAD
 * for each that has become somebody's since, with why. Others cannot see them.
 */
void doctor_uids(struct json_object *report,
		 void (*bad)(void *arg, const char *range, const char *errmsg),
		 void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_uids.h - the user ids that servers started by root hold for runs. */
#ifndef CLI_DOCTOR_UIDS_H
#define CLI_DOCTOR_UIDS_H

#include <json-c/json.h>

#define DOCTOR_UIDS "uidsOfRuns" /* in the report */

/*
 * As root: put the ranges held into REPORT, as texts, and call BAD with the
 * reason for each range that was given to a user since. For other users do
 * nothing: they cannot read the locks.
 */
void doctor_uids(struct json_object *report,
		 void (*bad)(void *arg, const char *range, const char *errmsg),
		 void *arg);

#endif

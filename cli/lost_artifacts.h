/* SPDX-License-Identifier: Apache-2.0 */
/* lost_artifacts.h - what a run made to be kept, and that is not, for a person. */
#ifndef CLI_LOST_ARTIFACTS_H
#define CLI_LOST_ARTIFACTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

/* How many VIEW says are missing; 0: none. */
uint64_t lost_artifacts_count(struct json_object *view);

/*
 * Call SAY with a line for each reason: "not kept: a, b and 3 more: the
 * server's disk is full". The line is lent. Of one alone that is the run's error
 * there is no more to be said.
 */
void lost_artifacts_print(struct json_object *view,
			  void (*say)(void *arg, const char *line), void *arg);

#endif

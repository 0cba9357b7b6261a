/* SPDX-License-Identifier: Apache-2.0 */
/* start_check.h - would it start? For "paddockd --check", and before each start. */
#ifndef SUPERVISOR_START_START_CHECK_H
#define SUPERVISOR_START_START_CHECK_H

#include <stdbool.h>

struct config;

/* As root: who is going to serve, and so own the logs. 0 or the exit status. */
int start_check_user(const struct config *c);

/*
 * Before a start: 0, or the status to exit with, which has been told. STDIO: for
 * one client. What does not end it is told as well.
 */
int start_check_all(const struct config *c, bool stdio);

struct start_check {
	bool stdio;
	bool templates_alone; /* of what is looked at */
	bool grants; /* instead of the templates those are printed… */
	bool faults; /* …or all that is wrong with each */
};

/* --check, but for the cage: what a start would find, told; the exit status. */
int precheck(const struct config *c, const struct start_check *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_check.h - finds whether the server would start. For "paddockd --check",
 * and before each start.
 */
#ifndef SUPERVISOR_START_START_CHECK_H
#define SUPERVISOR_START_START_CHECK_H

#include <stdbool.h>

struct config;

/*
 * As root: choose the user who is going to serve, and so own the logs. 0 or the
 * exit status.
 */
int start_check_user(const struct config *c);

/*
 * Check before a start: 0, or the status to exit with, after a report. STDIO:
 * for one client. CHECK: nothing will be started, and all faults are reported, not
 * only the fault that ends the start.
 */
int start_check_all(const struct config *c, bool stdio, bool check);

struct start_check {
	bool stdio;
	bool templates_alone; /* check templates only */
	bool grants;	      /* print grants instead of templates */
	bool faults;	      /* print faults instead of templates */
};

/*
 * Do --check, without measuring the cage: report what a start would find;
 * returns the exit status.
 */
int precheck(const struct config *c, const struct start_check *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_checks.h - what the parts of health share; nobody else includes it.
 *
 *   health.c         the table, and what is asked of it
 *   health_start.c  its checks before the start
 */
#ifndef SUPERVISOR_HEALTH_HEALTH_CHECKS_H
#define SUPERVISOR_HEALTH_HEALTH_CHECKS_H

#include "supervisor/health/health.h"

#define HEALTH_ERRMSG_SIZE 1024

/* Each: 0, or the status (sysexits(3)) of a start that ends by it, with ERRMSG. */
int health_start_templates(const struct health_start *c, char *errmsg,
			   size_t size);
int health_start_state(const struct health_start *c, char *errmsg, size_t size);
int health_start_disk(const struct health_start *c, char *errmsg, size_t size);
int health_start_log(const struct health_start *c, char *errmsg, size_t size);
int health_start_audit(const struct health_start *c, char *errmsg, size_t size);
int health_start_socket(const struct health_start *c, char *errmsg,
			size_t size);
int health_start_listen(const struct health_start *c, char *errmsg,
			size_t size);
int health_start_browser(const struct health_start *c, char *errmsg,
			 size_t size);

#endif

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

#define HEALTH_WHY 1024

/* Each: 0, or the status (sysexits(3)) of a start that ends by it, with WHY. */
int health_templates(const struct health_case *c, char *why, size_t size);
int health_state_before(const struct health_case *c, char *why, size_t size);
int health_disk_before(const struct health_case *c, char *why, size_t size);
int health_log(const struct health_case *c, char *why, size_t size);
int health_audit(const struct health_case *c, char *why, size_t size);
int health_socket(const struct health_case *c, char *why, size_t size);
int health_listen(const struct health_case *c, char *why, size_t size);
int health_browser(const struct health_case *c, char *why, size_t size);

#endif

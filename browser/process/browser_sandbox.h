/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_sandbox.h - confines paddock-browser, before it reads anything made
 * by pages.
 */
#ifndef BROWSER_PROCESS_BROWSER_SANDBOX_H
#define BROWSER_PROCESS_BROWSER_SANDBOX_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/types.h>

struct browser_sandbox { /* measured by trying forbidden calls */
	bool seccomp;
	int landlock; /* Landlock's ABI; 0: no Landlock */
	bool limits;
	uid_t uid;
};

/*
 * Apply limits, Landlock and seccomp: no file, no process, no socket but TCP.
 * 0; or -errno, with *STEP (static), without a filter: do not go on. A missing
 * Landlock is recorded in *C, and is no error.
 */
int browser_sandbox_enter(struct browser_sandbox *c, const char **step);
/* Confine the process that resolves names likewise: see resolver_fork(). */
int browser_sandbox_enter_names(void);

/* Return {seccomp, landlock, limits, uid}; the caller owns it. */
struct json_object *browser_sandbox_view(const struct browser_sandbox *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_sandbox.h - how paddock-browser confines itself, before it reads
 * anything that pages made.
 */
#ifndef BROWSER_PROCESS_BROWSER_SANDBOX_H
#define BROWSER_PROCESS_BROWSER_SANDBOX_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/types.h>

struct browser_sandbox { /* as measured, by trying what is forbidden */
	bool seccomp;
	int landlock; /* its ABI; 0: there is none */
	bool limits;
	uid_t uid;
};

/*
 * Apply limits, Landlock and seccomp: no file, no process, no socket but TCP.
 * 0; or -errno, with *STEP (static), when there is no filter: do not go on. A
 * missing Landlock is in *C alone.
 */
int browser_sandbox_enter(struct browser_sandbox *c, const char **step);
/* The same for the process that resolves names: see resolver_fork(). */
int browser_sandbox_enter_names(void);

/* {seccomp, landlock, limits, uid}, the caller's. */
struct json_object *browser_sandbox_view(const struct browser_sandbox *c);

#endif

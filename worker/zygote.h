/* SPDX-License-Identifier: Apache-2.0 */
/* zygote.h - the process from which workers are cloned; see ipc/zygote_proto.h. */
#ifndef WORKER_ZYGOTE_H
#define WORKER_ZYGOTE_H

#include "ipc/runtime.h"
#include "ipc/zygote_proto.h"
#include "sandbox/sandbox.h"
#include "worker/clone.h"
#include "worker/selftest.h"

#define ZYGOTE_EXIT_UNAVAILABLE 69 /* the sandbox cannot be built */

/* The functions of a runtime for a zygote and for workers. */
struct zygote_runtime {
	int (*prepare)(void); /* in the zygote, before the sandbox; 0, -errno */
	/* In a worker with an empty root and with the filter in force; exits. */
	void (*serve)(void);
	/*
	 * For another cage than the cage of serve(); NULL: none. Take an argument of the
	 * zygote (false: unknown); build the sandbox and test the sandbox (0, or the exit
	 * status, after zygote_broken()); clone a worker (the pid, or -errno).
	 */
	bool (*take_argument)(const char *arg);
	int (*build)(struct sandbox *sb, unsigned int host_ids,
		     struct selftest *found);
	pid_t (*spawn)(const struct sandbox *sb, const struct sandbox_worker *w,
		       const struct zygote_proto_spawn *s);
};

#define RUNTIME(id, name) extern const struct zygote_runtime zygote_##name;
#include "ipc/runtime.def"

/*
 * Build and test the sandbox, report, and clone workers for RUNTIME at the supervisor's
 * requests until the supervisor is gone. Returns the exit status.
 */
int zygote_run(const struct zygote_runtime *runtime, unsigned int host_ids);

/* Send EVENT to the supervisor. */
void zygote_tell(const struct zygote_proto_event *event);
/*
 * Report to the supervisor that WHAT failed with RC (0: WHAT does not hold). Returns the
 * exit status.
 */
int zygote_broken(const char *what, int rc, const char *detail);

/*
 * As take_argument(), build() and spawn() above, for workers that see parts of the host;
 * LIFE is the worker's function. In zygote_program.c.
 */
bool zygote_program_argument(const char *arg);
int zygote_program_build(struct sandbox *sb, unsigned int host_ids,
			 struct selftest *found);
pid_t zygote_program_spawn(const struct sandbox *sb,
			   const struct sandbox_worker *w,
			   const struct zygote_proto_spawn *s,
			   clone_program_life *life);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * born.h - a worker as it is born: a process that the spawner has cloned, or
 * is to clone, and our end of its socket. It has a run at once, or waits for
 * one (warm.h); who has it is its owner, and may change.
 */
#ifndef SUPERVISOR_WARM_BORN_H
#define SUPERVISOR_WARM_BORN_H

#include <stdbool.h>

#include "supervisor/spawn/spawner.h"

struct born;
struct kept;

/* As those of struct spawner_child, with the same order and promises. */
struct born_ops {
	void (*on_born)(struct born *b, int err);
	void (*on_exit)(struct born *b, int status, const struct rusage *use);
};

struct born {
	struct spawner_child child;
	int fd; /* it does not block */
	const struct born_ops *ops;
	void *owner;
	bool held;   /* by a cgroup of its own */
	bool waited; /* before it got its run, if it has one */
	/* that its program had used by then, so that no run is charged for it */
	uint64_t start_cpu_ms;
	/* warm.c's, of one that waits or did */
	struct kept *kept; /* NULL: it is to end, or has a run */
	uint32_t kept_id;
	pid_t zygote; /* whose clone it is */
	/* a program's */
	struct event *readable;
	bool prepared;	/* it was told what to start… */
	bool settled;	/* …and has come to wait */
	uint64_t bytes; /* of prestart_memory, that it may have */
	int64_t began_ms;
	TAILQ_ENTRY(born) link;
};

/*
 * Ask C for a worker for JOB. It is OWNER's, who frees it after its last call
 * (on_born() with an error, or on_exit()); or NULL and *RC, as
 * spawner_spawn() has it. A born worker is not alive before on_born().
 */
struct born *born_ask(struct spawner *c, const struct spawner_job *job,
		      const struct born_ops *ops, void *owner, int *rc);

/* Is it cloned, and not reaped? */
static inline bool born_is_alive(const struct born *b)
{
	return b->child.pid > 0;
}

void born_signal(const struct born *b, int sig); /* if it is alive */
unsigned born_count(void);	/* those that are not freed: each has a slot */
void born_free(struct born *b); /* it is not alive, nor will be; NULL is fine */

#endif

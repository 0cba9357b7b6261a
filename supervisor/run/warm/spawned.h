/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawned.h - a worker process that the spawner has cloned, or is to clone, and
 * the supervisor's end of its socket. A worker has a run at once, or waits for
 * a run (warm.h); its owner may change.
 */
#ifndef SUPERVISOR_WARM_SPAWNED_H
#define SUPERVISOR_WARM_SPAWNED_H

#include <stdbool.h>

#include "supervisor/spawn/spawner.h"

struct spawned;
struct kept;

/* Callbacks as in struct spawner_child, with the same order and promises. */
struct spawned_ops {
	void (*on_spawned)(struct spawned *b, int err);
	void (*on_exit)(struct spawned *b, int status,
			const struct rusage *use);
};

struct spawned {
	struct spawner_child child;
	int fd; /* the supervisor's end of the socket, non-blocking */
	const struct spawned_ops *ops;
	void *owner;
	struct egress_child *egress; /* of a worker with network; else NULL */
	bool held;		     /* the worker has a cgroup of its own */
	bool waited; /* the worker waits for a run, or has waited */
	/* CPU time used before the run, which no requestor pays */
	uint64_t start_cpu_ms;
	/* CPU time that earlier runs of a resident were charged for; 0: none */
	int64_t charged_us;
	/* members for warm.c, of a worker that waits or has waited */
	struct kept *kept; /* the list it waits in; NULL: ends, or has a run */
	uint32_t kept_id;
	pid_t zygote; /* the zygote that cloned the worker */
	/* members for programs */
	struct event *readable;
	bool prepared;	/* the shim was told what to start */
	bool settled;	/* the program has come to wait */
	uint64_t bytes; /* most memory, out of prestart_memory */
	int64_t began_ms;
	TAILQ_ENTRY(spawned) link;
};

/*
 * Ask C for a worker for JOB. Returns the worker, which OWNER frees after the
 * last callback (on_spawned() with an error, or on_exit()); or NULL and *RC, as
 * spawner_spawn() returns. The worker is not alive before on_spawned().
 */
struct spawned *spawned_ask(struct spawner *c, const struct spawner_job *job,
			    const struct spawned_ops *ops, void *owner,
			    int *rc);

/* Is the process cloned, and not reaped? */
static inline bool spawned_is_alive(const struct spawned *b)
{
	return b->child.pid > 0;
}

/*
 * CPU time that the process has used, by the kernel: without children, so of a worker
 * without a shim alone. Or -errno.
 */
int64_t spawned_cpu_us(const struct spawned *b);

/* does nothing if the worker is not alive */
void spawned_signal(const struct spawned *b, int sig);
unsigned spawned_count(void); /* counts workers not freed: each has a slot */
void spawned_free(
    struct spawned *b); /* B is not alive, nor will be; NULL is fine */

#endif

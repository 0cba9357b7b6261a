/*
 * crew.h - the zygote and the processes that it clones for us.
 *
 * The zygote is exec'd, never plainly forked: nothing of this process is
 * readable in a worker. Workers are our own children (CLONE_PARENT), so that
 * their end and their rusage come here. A zygote that dies is replaced.
 */
#ifndef SUPERVISOR_CREW_H
#define SUPERVISOR_CREW_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <uthash.h>

#include "ipc/crew.h"

struct crew;

struct crew_ops {
	/* The first zygote, or a later one, measured its cage. REPORT is lent. */
	void (*on_report)(void *arg, const struct crew_note *report);
	/* No cage can be built here, or no zygote comes to life: WHY says it. */
	void (*on_broken)(void *arg, const char *why);
};

/* One worker, embedded in its owner; fill the two callbacks. */
struct crew_hand {
	/*
	 * hand->pid is set (0: it has ended already, on_exit follows), or ERR
	 * (errno) says why there is no worker: the last call for HAND.
	 */
	void (*on_born)(struct crew_hand *hand, int err);
	/* It is reaped: the last call for HAND. */
	void (*on_exit)(struct crew_hand *hand, int status,
			const struct rusage *use);
	pid_t pid;	/* 0 until born, and when that came too late */
	uint32_t seq;
	uint32_t slot;
	TAILQ_ENTRY(crew_hand) link; /* in zygote.pending until born */
	UT_hash_handle hh;	     /* in crew.by_pid while alive */
};

/* Start the zygote from the program at PATH (copied). NULL and errno. */
struct crew *crew_start(struct event_base *base, const char *path,
			const struct crew_ops *ops, void *arg);

/* SIGKILL every worker and zygote, reap them all, and free C. NULL is fine. */
void crew_stop(struct crew *c);

/*
 * Ask for a worker whose run socket is FD (lent). 0: on_born will be called,
 * later; -EAGAIN: no zygote is ready, or no slot is free.
 */
int crew_spawn(struct crew *c, struct crew_hand *hand, int fd, uint64_t cpu_ms,
	       uint64_t memory_bytes);

/* SIGCHLD came: reap, and call each on_exit. */
void crew_reap(struct crew *c);

/* HAND should long have been born: its zygote is stuck, and is replaced. */
void crew_overdue(struct crew *c, const struct crew_hand *hand);

/* A worker misbehaved: let a fresh zygote, with another memory layout, serve. */
void crew_renew(struct crew *c);

pid_t crew_zygote_pid(const struct crew *c); /* 0: none is ready */

#endif

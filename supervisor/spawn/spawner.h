/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawner.h - the zygote and the processes that it clones for us.
 *
 * The zygote is exec'd, never plainly forked: nothing of this process is
 * readable in a worker. Workers are our own children (CLONE_PARENT), so that
 * their end and their rusage come here. A zygote that dies is replaced.
 */
#ifndef SUPERVISOR_SPAWN_SPAWNER_H
#define SUPERVISOR_SPAWN_SPAWNER_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <uthash.h>

#include "base/os/nofollow.h"
#include "ipc/zygote_proto.h"

struct crew;

/* What a zygote's workers run. There is one of each kind, at most. */
enum crew_kind { CREW_LUA, CREW_PROGRAM, CREW_KINDS };

struct crew_ops {
	/* The first zygote, or a later one, measured its cage. REPORT is lent. */
	void (*on_report)(void *arg, enum crew_kind kind,
			  const struct crew_note *report);
	/* No cage can be built here, or no zygote comes to life: WHY says it. */
	void (*on_broken)(void *arg, enum crew_kind kind, const char *why);
	/* A child has ended: was it another's, who knows of it now? */
	bool (*on_other)(void *arg, pid_t pid, int status);
};

#define CREW_READS_MAX 64u /* paths that all programs together may read */

/* A template's folder, absolute, and which folder that was when it was read. */
struct crew_package {
	char *path;
	struct file_id id; /* programs see this one there, or none */
	char digest[65];   /* it had then */
	bool copied;	   /* they see a copy, which has that digest, or none */
};

/* What of the host programs may see, beside what all of them do. */
struct crew_tree {
	struct crew_package *packages;
	size_t n_packages;
	char **reads; /* absolute; at most CREW_READS_MAX */
	size_t n_reads;
	bool weak; /* programs run without a user namespace, if need be */
	uint64_t copy_bytes;   /* that a package may have to be copied */
	uint64_t copies_bytes; /* and all that are copied together */
};

/* What a worker is for. All is lent. */
struct crew_job {
	enum crew_kind kind;
	uint64_t cpu_ms;
	uint64_t memory_bytes;
	/* a program's */
	const char *package;	  /* one of the tree's… */
	struct file_id package_id; /* …which is this folder… */
	const char *digest;	   /* …and had this digest */
	const char *const *reads; /* of the tree's; others are left out */
	size_t n_reads;
	uint64_t processes;
	uint64_t open_files; /* of each */
	uint64_t files;	     /* in /work */
	bool locks; /* it may lock what it reads, as others do on this machine */
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

/* Start Lua's zygote from the program at PATH (copied). NULL and errno. */
struct crew *crew_start(struct event_base *base, const char *path,
			const struct crew_ops *ops, void *arg);

/*
 * SIGKILL every worker and zygote, and reap them all. C has no zygote and gets
 * none any more, but can be asked until crew_free(). NULL is fine to both.
 */
void crew_stop(struct crew *c);
void crew_free(struct crew *c);

/*
 * Programs see TREE (copied) from now on: a zygote for them is started, in
 * place of the one that there is. Without packages: none.
 */
void crew_set_tree(struct crew *c, const struct crew_tree *tree);

/* Why programs see none of a package, or of what it may read. */
struct crew_lack {
	const char *why; /* a clause about its path; lent until the crew is next
			    told anything */
	bool is_read;	 /* else it is the package */
	bool is_copy;	 /* the package, of which there is no copy */
	int err;	 /* errno; a copy's: ESTALE: it has not that digest */
	uint64_t used, allowed; /* a copy's, with EFBIG: bytes… */
	bool by_all;		/* …of all that are copied */
};

/*
 * Does a program lack JOB's package or reads, of those that are in the tree?
 * Then *LACK says why, and programs are prepared anew, for later runs. What is
 * not there at all is no reason.
 */
bool crew_lacks(struct crew *c, const struct crew_job *job,
		struct crew_lack *lack);

/*
 * Ask for a worker whose run socket is FD (lent). 0: on_born will be called,
 * later; -EAGAIN: no zygote is ready, or no slot is free; -ESTALE: the tree
 * has no such package; -ETOOMANYREFS: so many descriptors of this user's are
 * on their way between processes that the kernel takes no more from us.
 */
int crew_spawn(struct crew *c, struct crew_hand *hand, int fd,
	       const struct crew_job *job);

/* SIGCHLD came: reap, and call each on_exit. */
void crew_reap(struct crew *c);

/* HAND should long have been born: its zygote is stuck, and is replaced. */
void crew_overdue(struct crew *c, const struct crew_hand *hand);

/* A worker misbehaved: let a fresh zygote, with another memory layout, serve. */
void crew_renew(struct crew *c, enum crew_kind kind);

pid_t crew_zygote_pid(const struct crew *c, enum crew_kind kind); /* 0: none */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawner.h - the zygotes, and the workers that zygotes clone for the
 * supervisor.
 *
 * A zygote is started by exec, never by fork alone: so a worker cannot read the
 * supervisor's memory. Workers are children of the supervisor (CLONE_PARENT):
 * the supervisor gets their end and their rusage. A zygote that dies is
 * replaced.
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
#include "base/os/shown_file.h"
#include "ipc/runtime.h"
#include "ipc/zygote_proto.h"

struct spawner;

/* There is one zygote of each runtime, at most. */
struct spawner_ops {
	/* The first zygote, or a later one, measured its cage. REPORT is lent. */
	void (*on_report)(void *arg, enum runtime_kind kind,
			  const struct zygote_proto_event *report);
	/* No cage can be built here, or no zygote comes to life: ERRMSG says it. */
	void (*on_broken)(void *arg, enum runtime_kind kind,
			  const char *errmsg);
	/* A child has ended: was it another's, who knows of it now? */
	bool (*on_other)(void *arg, pid_t pid, int status);
};

#define SPAWNER_READS_MAX 64u /* paths that all programs together may read */

/* A template's folder, absolute, and which folder that was when it was read. */
struct spawner_package {
	char *path;
	struct file_id id; /* programs see this one there, or none */
	char digest[65];   /* it had then */
	bool copied;	   /* runs see a copy with that digest, or no package */
	bool copied_if;	   /* runs see the package where no copy can be made */
};

/*
 * Why no worker of KIND can be had, as the zygote said, though one could before: it
 * is tried again every few seconds. NULL: none is missing, or not for a minute yet.
 * Lent until the spawner is told more.
 */
const char *spawner_trouble(const struct spawner *c, enum runtime_kind kind);

/* What of the host programs may see, beside what all of them do. */
struct spawner_rootfs {
	struct spawner_package *packages;
	size_t n_packages;
	uint32_t kinds; /* a bit for each runtime that has a template */
	char **reads;	/* absolute; at most SPAWNER_READS_MAX */
	size_t n_reads;
	/* the folder of artifacts, of which runs get files; NULL: not yet */
	char *artifacts;
	struct file_id artifacts_id;
	bool weak; /* programs run without a user namespace, if need be */
	uint64_t copy_bytes;   /* that a package may have to be copied */
	uint64_t copies_bytes; /* and all that are copied together */
};

/* What a worker is for. All is lent. */
struct spawner_job {
	enum runtime_kind kind;
	uint64_t cpu_ms;
	uint64_t memory_bytes;
	/* a program's */
	const char *package;	   /* one of the tree's… */
	struct file_id package_id; /* …which is this folder… */
	const char *digest;	   /* …and had this digest */
	const char *const *reads;  /* of the tree's; others are left out */
	size_t n_reads;
	struct program_limits limits;
	/* it may lock what it reads, as others do on this machine */
	bool locks;
	/* its end is not to wait until what it saw of the host is taken down */
	bool quick_end;
	bool in; /* it has in/, with these of the tree's artifacts */
	const struct shown_file *files; /* at most SHOWN_FILES_MAX */
	size_t n_files;
};

/* One worker, embedded in its owner; fill the two callbacks. */
struct spawner_child {
	/*
	 * child->pid is set (0: it has ended already, on_exit follows), or ERR
	 * (errno) says why there is no worker: the last call for CHILD.
	 */
	void (*on_born)(struct spawner_child *child, int err);
	/* It is reaped: the last call for CHILD. */
	void (*on_exit)(struct spawner_child *child, int status,
			const struct rusage *use);
	pid_t pid; /* 0 until it is cloned, and when that came too late */
	uint32_t seq;
	uint32_t slot;
	int64_t asked_ms; /* of the clock that only goes on */
	pid_t holder;	  /* the zygote that holds its mounts, or 0 */
	TAILQ_ENTRY(spawner_child) link; /* in zygote.pending until cloned */
	UT_hash_handle hh;		 /* in spawner.by_pid while alive */
};

/*
 * Start the zygotes that are always there from the program at PATH (copied).
 * NULL and errno.
 */
struct spawner *spawner_start(struct event_base *base, const char *path,
			      const struct spawner_ops *ops, void *arg);

/*
 * SIGKILL every worker and zygote, and reap them all. C has no zygote and gets
 * none any more, but can be asked until spawner_free(). NULL is fine to both.
 */
void spawner_stop(struct spawner *c);
void spawner_free(struct spawner *c);

/*
 * Programs see TREE (copied) from now on: a zygote for programs is started, in
 * place of the old one. Without packages: none. A runtime with a template gets
 * a zygote, too, and a runtime without loses one that is not always there.
 */
void spawner_set_tree(struct spawner *c, const struct spawner_rootfs *rootfs);

/*
 * Runs of KIND can be given files of the folder PATH (copied, absolute, no link in
 * it), which is ID, from the next zygote on, which is started when there is none
 * that has it. 0: they can be now; -EAGAIN: soon; else -errno: that zygote could not
 * show it, and ERRMSG (lent, until the spawner is told more) says why.
 */
int spawner_show_artifacts(struct spawner *c, enum runtime_kind kind,
			   const char *path, const struct file_id *id,
			   const char **errmsg);

/* Why programs see none of a package, or of what it may read. */
struct spawner_lack {
	/*
	 * a clause about its path; lent until the spawner is next told anything
	 */
	const char *errmsg;
	bool is_read; /* else it is the package */
	bool is_copy; /* the package, of which there is no copy */
	int err;      /* errno; a copy's: ESTALE: it has not that digest */
	uint64_t used, allowed; /* a copy's, with EFBIG: bytes… */
	bool by_all;		/* …of all that are copied */
};

/*
 * Does JOB's worker, which sees the host, lack the package or reads of the tree?
 * Then *LACK says why, and programs are prepared anew, for later runs. What is
 * not there at all is no reason.
 */
bool spawner_lacks(struct spawner *c, const struct spawner_job *job,
		   struct spawner_lack *lack);

/*
 * Ask for a worker whose run socket is FD (lent). 0: on_born will be called,
 * later; -EAGAIN: no zygote is ready, or no slot is free; -ESTALE: the tree
 * has no such package; -ETOOMANYREFS: so many descriptors of this user's are
 * on their way between processes that the kernel takes no more from us.
 */
int spawner_spawn(struct spawner *c, struct spawner_child *child, int fd,
		  const struct spawner_job *job);

/* SIGCHLD came: reap, and call each on_exit. */
void spawner_reap(struct spawner *c);

/*
 * CHILD, which is not cloned, was to have ended by now: after how many ms more its zygote
 * is taken to be stuck, or 0: that is now, and it is replaced.
 */
int64_t spawner_overdue(struct spawner *c, const struct spawner_child *child);

/* A worker misbehaved: let a fresh zygote, with another memory layout, serve. */
void spawner_renew(struct spawner *c, enum runtime_kind kind);

pid_t spawner_zygote_pid(const struct spawner *c,
			 enum runtime_kind kind); /* 0: none */

#endif

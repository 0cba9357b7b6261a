/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawner.h - the zygotes, and the workers that zygotes clone for the supervisor. A
 * zygote is started by exec, never by fork alone: so a worker cannot read the
 * supervisor's memory. Workers are children of the supervisor (CLONE_PARENT): the
 * supervisor gets their exit status and rusage. A zygote that dies is replaced.
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

/* At most one zygote of each runtime exists. */
struct spawner_ops {
	/* A zygote of KIND measured the cage. REPORT is lent. */
	void (*on_report)(void *arg, enum runtime_kind kind,
			  const struct zygote_proto_event *report);
	/* No cage can be built here, or no zygote stays alive: ERRMSG has the reason. */
	void (*on_broken)(void *arg, enum runtime_kind kind,
			  const char *errmsg);
	/* An unknown child has ended: did another module know the child? */
	bool (*on_other)(void *arg, pid_t pid, int status);
};

#define SPAWNER_READS_MAX 64u /* paths that all programs together may read */

/* A template's folder, absolute, and the identity of the folder at reading time. */
struct spawner_package {
	char *path;
	struct file_id id; /* programs see only a folder with this id */
	char digest[65];   /* digest at reading time */
	bool copied;	   /* runs see a copy with DIGEST, or no package */
	/* runs see the package itself if no copy can be made */
	bool copied_if;
};

/*
 * Why no worker of KIND can be had, in the zygote's words, though workers worked before:
 * the start is tried again every few seconds. NULL: no failure, or shorter than a minute.
 * Lent until the next call of the spawner.
 */
const char *spawner_trouble(const struct spawner *c, enum runtime_kind kind);

/* Paths of the host that programs may see, beside the paths that all programs see. */
struct spawner_rootfs {
	struct spawner_package *packages;
	size_t n_packages;
	uint32_t kinds; /* a bit for each runtime that has a template */
	char **reads;	/* absolute; at most SPAWNER_READS_MAX */
	size_t n_reads;
	/* folder with runs' input files; NULL: not yet */
	char *artifacts;
	struct file_id artifacts_id;
	bool weak;	       /* programs may run without a user namespace */
	uint64_t copy_bytes;   /* most bytes of a package to copy */
	uint64_t copies_bytes; /* most bytes of all copies together */
};

/* Parameters of a worker. All members are lent. */
struct spawner_job {
	enum runtime_kind kind;
	uint64_t cpu_ms;
	uint64_t memory_bytes;
	/* of a program: */
	const char *package;	   /* one of the rootfs' packages */
	struct file_id package_id; /* the expected folder */
	const char *digest;	   /* the expected digest */
	const char *const *reads;  /* of the rootfs; other paths are left out */
	size_t n_reads;
	struct program_limits limits;
	/* the owner sends the cage channel at once, on the run's socket */
	bool network;
	/* locks on readable files are granted, which other processes of the host share */
	bool locks;
	/* exit without waiting for unmounts */
	bool quick_end;
	bool in; /* in/ exists, with FILES of the rootfs' artifacts */
	const struct shown_file *files; /* at most SHOWN_FILES_MAX */
	size_t n_files;
};

/* A worker, embedded in the owner's struct; the owner fills the two callbacks. */
struct spawner_child {
	/*
	 * child->pid is set (0: the worker has ended already, on_exit follows), or ERR
	 * (errno) is the reason of the failure: the last call for CHILD.
	 */
	void (*on_spawned)(struct spawner_child *child, int err);
	/* The worker is reaped: the last call for CHILD. */
	void (*on_exit)(struct spawner_child *child, int status,
			const struct rusage *use);
	pid_t pid; /* 0 until the clone, and after a late report of the clone */
	uint32_t seq;
	uint32_t slot;
	int64_t asked_ms; /* of CLOCK_MONOTONIC */
	pid_t holder;	  /* the zygote that holds the mounts, or 0 */
	TAILQ_ENTRY(spawner_child) link; /* in zygote.pending until cloned */
	UT_hash_handle hh;		 /* in spawner.by_pid while alive */
};

/* Start the permanent zygotes from the program at PATH (copied). NULL and errno. */
struct spawner *spawner_start(struct event_base *base, const char *path,
			      const struct spawner_ops *ops, void *arg);

/*
 * SIGKILL and reap every worker and zygote. C has no zygote and starts none any more, but
 * calls are allowed until spawner_free(). NULL is allowed for both.
 */
void spawner_stop(struct spawner *c);
void spawner_free(struct spawner *c);

/*
 * Set the rootfs (copied) for later programs: a new zygote for programs replaces the old
 * zygote. Without packages: no zygote for programs. A runtime with a template gets a
 * zygote, too, and a runtime without a template loses the zygote, unless permanent.
 */
void spawner_set_tree(struct spawner *c, const struct spawner_rootfs *rootfs);

/*
 * Let runs of KIND get files of the folder PATH (copied, absolute, without links), which
 * is ID, from the next zygote on, which is started unless the present zygote has the
 * folder. 0: runs can get files now; -EAGAIN: soon; else -errno: the zygote could not
 * show the folder, and ERRMSG (lent until the next call of the spawner) has the reason.
 */
int spawner_show_artifacts(struct spawner *c, enum runtime_kind kind,
			   const char *path, const struct file_id *id,
			   const char **errmsg);

/* Why programs see no part of a package, or of a read. */
struct spawner_lack {
	/* a clause about the path; lent until the next call of the spawner */
	const char *errmsg;
	bool is_read; /* a read; else the package */
	bool is_copy; /* the package, of which no copy exists */
	/* errno; of a copy ESTALE: the package has another digest */
	int err;
	uint64_t used, allowed; /* of a copy with EFBIG: bytes */
	bool by_all;		/* bytes of all copies together */
};

/*
 * Does JOB's worker, which sees the host, lack the package or reads of JOB that are in
 * the rootfs? Then *LACK has the reason, and a new zygote is started for later runs. A
 * path that does not exist at all is no reason.
 */
bool spawner_lacks(struct spawner *c, const struct spawner_job *job,
		   struct spawner_lack *lack);

/*
 * Ask for a worker whose run socket is FD (lent). 0: on_spawned will be called later;
 * -EAGAIN: no zygote is ready, or no slot is free; -ESTALE: the rootfs has no such
 * package; -ETOOMANYREFS: so many descriptors of the user are in flight between processes
 * that the kernel accepts no more.
 */
int spawner_spawn(struct spawner *c, struct spawner_child *child, int fd,
		  const struct spawner_job *job);

/* Reap all ended children after SIGCHLD, and call on_exit for each. */
void spawner_reap(struct spawner *c);

/*
 * CHILD, which is not cloned yet, is overdue. Returns the milliseconds until the zygote
 * counts as stuck, or 0: the stuck zygote is replaced now.
 */
int64_t spawner_overdue(struct spawner *c, const struct spawner_child *child);

/* A worker misbehaved: replace the zygote by a new zygote with another memory layout. */
void spawner_renew(struct spawner *c, enum runtime_kind kind);

pid_t spawner_zygote_pid(const struct spawner *c,
			 enum runtime_kind kind); /* 0: none */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawner_private.h - types and functions that the files of the spawner share;
 * no other file includes the header.
 *
 *   spawner.c         workers: requests, clones, reaping
 *   spawner_zygote.c  zygotes: start, self-test, reports, replacement
 *   spawner_rootfs.c  the view of the host in the root of programs
 */
#ifndef SUPERVISOR_SPAWN_SPAWNER_PRIVATE_H
#define SUPERVISOR_SPAWN_SPAWNER_PRIVATE_H

#include <stdbool.h>

#include "supervisor/spawn/spawner.h"

TAILQ_HEAD(hands, spawner_child);

/* A package or a read of the tree that a zygote could not show. */
struct mount_failure {
	bool is_read, is_artifacts;
	uint32_t at; /* in the tree */
	int err;
	uint64_t used; /* bytes of packages that are to be copied… */
	bool used_by_all;
	char errmsg[ZYGOTE_PROTO_TEXT_MAX];
	SLIST_ENTRY(mount_failure) link;
};

struct zygote {
	struct spawner *spawner;
	enum runtime_kind kind;
	pid_t pid;
	int control;
	bool ready;   /* its cage was measured */
	bool retired; /* it answers what is pending, then ends */
	bool gone;    /* it is reaped, and its last words are read */
	struct event *readable;
	struct event *overdue;	  /* until it is ready */
	struct file_id artifacts; /* that it was told to show, if any */
	struct hands pending;	  /* asked for, not yet cloned */
	SLIST_HEAD(, mount_failure) mount_failure;
	LIST_ENTRY(zygote) link; /* in spawner.zygotes */
};

/* A child that was reaped before the event of its clone was read. */
struct early_exit {
	pid_t pid;
	uint32_t seq; /* the last request by then */
	int status;
	struct rusage use;
	SLIST_ENTRY(early_exit) link;
};

/* The zygotes of one kind. */
struct zygote_pool {
	struct spawner *spawner;
	struct zygote *current; /* takes the requests; NULL: none is ready */
	struct event *restart;
	int64_t restart_ms;
	unsigned failed_starts;
	char why[ZYGOTE_PROTO_TEXT_MAX]; /* the cause of the last failure */
	bool said;			 /* by itself, before it ended */
	bool measured;			 /* some zygote has reported */
	int64_t renewed_ms; /* when it was, for what it could not show */
	bool wanted;
};

struct spawner {
	struct event_base *base;
	char *path;
	struct spawner_ops ops;
	void *arg;
	LIST_HEAD(zygotes, zygote) zygotes;
	struct zygote_pool pool[RUNTIMES];
	struct spawner_rootfs rootfs; /* of programs; owned */
	/* a zygote died while it may have been cloning */
	bool unknown_children;
	bool shares_uid; /* programs run as we do: by the last report */
	bool stopping;
	struct spawner_child *by_pid;
	size_t n_pending;
	SLIST_HEAD(early_exit_list, early_exit) early_exit;
	uint32_t seq;
	bool slot_used[ZYGOTE_PROTO_SLOTS];
	uint32_t next_slot;
};

/* Start one; it serves once it has reported. 0 or -errno. */
int zygote_start(struct spawner *c, enum runtime_kind kind);
/* Those of KIND take no more requests, and are not replaced. */
void zygote_retire(struct spawner *c, enum runtime_kind kind);
struct zygote *zygote_of_pid(struct spawner *c, pid_t pid); /* or NULL */
/* Z is reaped: read its last words, free it, replace it. */
void zygote_gone(struct zygote *z, int status);
/* The restart timer's callback; its argument is a struct zygote_pool. */
void zygote_restart(evutil_socket_t fd, short what, void *arg);

/* At most FILES, and where runs have our uid fewer than we may have. */
uint64_t spawner_files_below_ours(const struct spawner *c, uint64_t files);

/* JOB's own part of REQUEST, as the tree numbers it. 0, or -ESTALE. */
int spawner_rootfs_request(const struct spawner *c,
			   const struct spawner_job *job,
			   struct zygote_proto_request *request);
void spawner_rootfs_fini(struct spawner *c);
/* Z says what it could not show; forget that. */
void spawner_rootfs_failed(struct zygote *z,
			   const struct zygote_proto_event *event);
void spawner_rootfs_forget(struct zygote *z);

/* A zygote answered a request. */
void spawner_spawned(struct zygote *z, const struct zygote_proto_event *event);
/* What Z was asked for and never reported will not come: ERR says why. */
void spawner_fail_pending(struct zygote *z, int err);
/* While no clone is pending, a child that we do not know is nobody's. */
void spawner_settle(struct spawner *c);

#endif

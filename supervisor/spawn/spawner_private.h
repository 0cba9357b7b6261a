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

#include "supervisor/spawn/ids/slots.h"
#include "supervisor/spawn/spawner.h"

TAILQ_HEAD(hands, spawner_child);

/* A package or a read of the rootfs that a zygote could not show. */
struct mount_failure {
	bool is_read, is_artifacts;
	uint32_t at; /* index in the rootfs */
	int err;
	uint64_t used; /* bytes of the package to copy, or of all */
	bool used_by_all;
	char errmsg[ZYGOTE_PROTO_TEXT_MAX];
	SLIST_ENTRY(mount_failure) link;
};

struct zygote {
	struct spawner *spawner;
	enum runtime_kind kind;
	pid_t pid;
	int control;
	bool ready;   /* the cage was measured */
	bool retired; /* ends after answering the pending requests */
	bool gone;    /* reaped, and the last messages are read */
	struct event *readable;
	struct event *overdue;	  /* until the zygote is ready */
	struct file_id artifacts; /* of its arguments, if any */
	struct hands pending;	  /* requested, not yet cloned */
	SLIST_HEAD(, mount_failure) mount_failure;
	LIST_ENTRY(zygote) link; /* in spawner.zygotes */
};

/* A child that was reaped before the report of the clone was read. */
struct early_exit {
	pid_t pid;
	uint32_t seq; /* the last request at that time */
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
	bool said;			 /* WHY is from the zygote itself */
	bool measured;			 /* a zygote has reported before */
	int64_t renewed_ms;		 /* time, after failures to show */
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
	/* a zygote died, maybe in a clone */
	bool unknown_children;
	bool shares_uid; /* programs have the supervisor's uid */
	bool stopping;
	struct spawner_child *by_pid;
	size_t n_pending;
	SLIST_HEAD(early_exit_list, early_exit) early_exit;
	uint32_t seq;
	struct slots slots;
};

/* Start a zygote, which serves after the report. 0 or -errno. */
int zygote_start(struct spawner *c, enum runtime_kind kind);
/* Let the zygotes of KIND end: no more requests and no replacement. */
void zygote_retire(struct spawner *c, enum runtime_kind kind);
struct zygote *zygote_of_pid(struct spawner *c, pid_t pid); /* or NULL */
/* Z is reaped: read the last messages, free Z, start a replacement. */
void zygote_gone(struct zygote *z, int status);
/* The restart timer's callback; its argument is a struct zygote_pool. */
void zygote_restart(evutil_socket_t fd, short what, void *arg);

/* At most FILES, and less than the supervisor's limit where runs have the same uid. */
uint64_t spawner_files_below_ours(const struct spawner *c, uint64_t files);

/* Set REQUEST's members that depend on JOB, with indexes in the rootfs. 0, or -ESTALE. */
int spawner_rootfs_request(const struct spawner *c,
			   const struct spawner_job *job,
			   struct zygote_proto_request *request);
void spawner_rootfs_fini(struct spawner *c);
/* Note a path that Z could not show; forget all such paths of Z. */
void spawner_rootfs_failed(struct zygote *z,
			   const struct zygote_proto_event *event);
void spawner_rootfs_forget(struct zygote *z);

/* A zygote answered a request. */
void spawner_spawned(struct zygote *z, const struct zygote_proto_event *event);
/* Fail the pending requests of Z with ERR, since no report will come. */
void spawner_fail_pending(struct zygote *z, int err);
/* Kill unknown children once no clone is pending. */
void spawner_settle(struct spawner *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote_proto.h - the control socketpair between supervisor and zygote.
 *
 * Fixed-size records in this machine's layout, one in a packet: both ends are
 * built together and trust each other. The supervisor sends requests; SPAWN
 * carries the worker's end of the run's socketpair as its one descriptor
 * (SCM_RIGHTS). The zygote sends events.
 */
#ifndef IPC_ZYGOTE_PROTO_H
#define IPC_ZYGOTE_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/os/sandbox_layer.h"
#include "base/os/shown_file.h"

#define ZYGOTE_PROTO_CONTROL_FD 3 /* the zygote's end, from exec on */
/* the worker's end of its run, from its start on */
#define ZYGOTE_PROTO_RUN_FD 3
#define ZYGOTE_PROTO_TEXT_MAX 512

enum zygote_proto_request_type {
	ZYGOTE_PROTO_SPAWN = 1,
	/* no event answers it: what was held of worker SEQ in SLOT is let go */
	ZYGOTE_PROTO_RELEASE = 2,
};

struct zygote_proto_request {
	uint32_t type;
	uint32_t seq; /* echoed in the event */
	/* 0 to ZYGOTE_PROTO_SLOTS-1; no two live workers share one */
	uint32_t slot;
	uint32_t package; /* a program's: index of its package */
	uint64_t cpu_ms;  /* CPU time after which the worker is stopped */
	/* RLIMIT_AS allows this on top of the bare worker */
	uint64_t memory_bytes;
	/* a program's: a bit for each path that it may read */
	uint64_t reads;
	/* a program's: 1: locks on what it may read are granted */
	uint64_t locks;
	struct program_limits limits;
	/*
	 * a program's: 1: the zygote holds its mount namespace until RELEASE, so
	 * that it takes no time of its end to take that down
	 */
	uint64_t hold;
	uint32_t in; /* a program's: 1: it has in/… */
	/* …with so many of the state's artifacts in it */
	uint32_t n_files;
};

/* SPAWN as it is sent: no more of its files than there are. */
struct zygote_proto_spawn {
	struct zygote_proto_request request;
	struct shown_file files[SHOWN_FILES_MAX];
};

static inline size_t
zygote_proto_spawn_len(const struct zygote_proto_request *r)
{
	return sizeof(*r) + r->n_files * sizeof(struct shown_file);
}

/* uids a zygote may hand out, when it has them */
#define ZYGOTE_PROTO_SLOTS 256u

/* The exit status of a worker without a sandbox: this plus the layer's number. */
#define ZYGOTE_PROTO_EXIT_UNCAGED 100

/*
 * The exit status of a shim whose program was to wait for a run, and is of no use
 * for one: this plus why.
 */
#define ZYGOTE_PROTO_EXIT_UNFIT 80

enum zygote_proto_unfit {
	UNFIT_ENDED, /* it could not be started, or exited */
	UNFIT_SPOKE, /* on 1 or 3, or closed one of its descriptors */
	UNFIT_SLOW,  /* it does not come to wait */
	UNFIT_SPINS, /* more CPU time than its start may have, or goes on so */
	UNFIT_GREW,  /* more memory than it may have, or than it had */
	UNFIT_CROWD, /* too many processes or descriptors */
	UNFIT_CALLS, /* a system call that is forbidden */
	UNFITS
};

enum zygote_proto_event_type {
	ZYGOTE_PROTO_SPAWNED = 1, /* pid; or err: why not (errno) */
	ZYGOTE_PROTO_REPORT = 2,  /* once, after the self-test */
	/* the sandbox cannot be built: text says why; then exit */
	ZYGOTE_PROTO_BROKEN = 3,
	/*
	 * before the report: package or read SEQ is not shown to programs; err,
	 * and text: a clause about it
	 */
	ZYGOTE_PROTO_MOUNT_FAILED = 4,
};

struct zygote_proto_event {
	uint32_t type;
	uint32_t seq;
	/* MOUNT_FAILED: 0 for a package, 1 for a read, 2 for the artifacts */
	int32_t pid;
	int32_t err;
	uint32_t layers;      /* REPORT: SANDBOX_BIT() of each that held */
	int32_t landlock_abi; /* REPORT: 0 where the kernel has none */
	int32_t uid_base;     /* REPORT: the first slot's uid outside, or -1 */
	/* MOUNT_FAILED, EFBIG: bytes of packages to copy */
	uint64_t used;
	uint64_t used_by_all; /* …of all of them: 1, of that one: 0 */
	/*
	 * REPORT: why each missing layer is missing, "netns: EPERM (…remedy…);
	 * …"; BROKEN: the cause. NUL-ended, UTF-8
	 */
	char text[ZYGOTE_PROTO_TEXT_MAX];
};

/*
 * A zygote of programs is told of a package by "package=DEVICE:INODE:DIR", or
 * with "DIGEST:" before DIR, when it is to be copied. How long is that in
 * S, which begins after the inode? 0: S has none.
 */
#define ZYGOTE_PROTO_DIGEST_DIGITS 64u

static inline size_t zygote_proto_digest_len(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return n == ZYGOTE_PROTO_DIGEST_DIGITS && s[n] == ':' ? n + 1 : 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote_proto.h - the control socketpair between supervisor and zygote.
 *
 * Fixed-size records of this machine's own layout, one a packet: both ends
 * are built together and trust each other. The supervisor sends ORDERs; a
 * SPAWN order carries the worker's end of the run's socketpair as its one
 * SCM_RIGHTS descriptor. The zygote sends NOTES.
 */
#ifndef IPC_ZYGOTE_PROTO_H
#define IPC_ZYGOTE_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/os/sandbox_layer.h"

#define ZYGOTE_PROTO_CONTROL_FD 3 /* the zygote's end, from exec on */
#define ZYGOTE_PROTO_RUN_FD 3 /* the worker's end of its run, from birth on */
#define ZYGOTE_PROTO_TEXT_MAX 512

enum zygote_proto_request_type {
	ZYGOTE_PROTO_SPAWN = 1,
};

struct zygote_proto_request {
	uint32_t type;
	uint32_t seq; /* echoed in the answer */
	uint32_t
	    slot; /* 0 to ZYGOTE_PROTO_SLOTS-1; no two live workers share one */
	uint32_t package; /* a program's: which of the zygote's packages */
	uint64_t cpu_ms;  /* CPU time after which the worker is stopped */
	uint64_t
	    memory_bytes; /* RLIMIT_AS allows this on top of the bare worker */
	uint64_t reads;	  /* a program's: a bit for each folder it may read */
	uint64_t locks;	  /* a program's: 1: on what it may read, granted */
	struct program_limits limits;
};

#define ZYGOTE_PROTO_SLOTS                                                     \
	256u /* uids a zygote may hand out, when it has them */

/* The exit status of a worker without a sandbox: this plus the layer's number. */
#define ZYGOTE_PROTO_EXIT_UNCAGED 100

enum zygote_proto_event_type {
	ZYGOTE_PROTO_SPAWNED = 1, /* pid; or err: why not (errno) */
	ZYGOTE_PROTO_REPORT = 2,  /* once, after the self-test */
	ZYGOTE_PROTO_BROKEN =
	    3, /* the cage cannot be built: text says why; then exit */
	ZYGOTE_PROTO_MOUNT_FAILED =
	    4, /* before the report: package or read SEQ is not there
			     for programs; err, and text: a clause about it */
};

struct zygote_proto_event {
	uint32_t type;
	uint32_t seq;
	int32_t pid; /* UNSHOWN: 0 for a package, 1 for a read */
	int32_t err;
	uint32_t layers;      /* REPORT: SANDBOX_BIT() of each that held */
	int32_t landlock_abi; /* REPORT: 0 where the kernel has none */
	int32_t uid_base;     /* REPORT: the first slot's uid outside, or -1 */
	uint32_t cage_us;     /* SPAWNED: 0; kept for the bench */
	uint64_t used;	      /* UNSHOWN, EFBIG: bytes of packages to copy… */
	uint64_t used_by_all; /* …of all of them: 1, of that one: 0 */
	char text
	    [ZYGOTE_PROTO_TEXT_MAX]; /* REPORT: why each missing layer is missing,
				     "netns: EPERM (…remedy…); …"; BROKEN: the
				     cause. NUL-ended, UTF-8 */
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

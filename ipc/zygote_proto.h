/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote_proto.h - the control socketpair between supervisor and zygote.
 *
 * Records of fixed size in this machine's layout, one in a packet: both ends
 * are built together and trust each other. The supervisor sends requests; with
 * SPAWN goes a single descriptor (SCM_RIGHTS), the worker's end of the run's
 * socketpair. The zygote sends events.
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
/* the stream of a Lua worker with network */
#define ZYGOTE_PROTO_CAGE_FD 4
#define ZYGOTE_PROTO_TEXT_MAX 512

enum zygote_proto_request_type {
	ZYGOTE_PROTO_SPAWN = 1,
	/* free the resources held for worker SEQ in SLOT; no event answers */
	ZYGOTE_PROTO_RELEASE = 2,
};

struct zygote_proto_request {
	uint32_t type;
	uint32_t seq; /* a number echoed in the event */
	/* 0 to ZYGOTE_PROTO_SLOTS-1; no two live workers share a slot */
	uint32_t slot;
	uint32_t package; /* a program's: index of its package */
	uint64_t cpu_ms;  /* CPU time, then the worker is stopped */
	/* RLIMIT_AS: bytes above the bare worker */
	uint64_t memory_bytes;
	/* a program's: a bit for each readable path */
	uint64_t reads;
	/* a program's: 1: locks on readable files are granted */
	uint64_t locks;
	/*
	 * 1: with network; the first packet on the run's socket has the cage channel
	 * of ipc/egress_proto.h
	 */
	uint64_t network;
	struct program_limits limits;
	/*
	 * a program's: 1: the zygote holds the mount namespace until RELEASE,
	 * so the program's end does not wait for its teardown
	 */
	uint64_t hold;
	uint64_t grouped; /* a program's: 1: a cgroup counts memory */
	uint64_t divided; /* a program's: 1: cgroups divide CPU time */
	uint32_t in;	  /* 1: the program has files in in/ */
	/* the number of the state's artifacts in in/ */
	uint32_t n_files;
};

/* SPAWN as sent: the packet ends behind the last file. */
struct zygote_proto_spawn {
	struct zygote_proto_request request;
	struct shown_file files[SHOWN_FILES_MAX];
};

static inline size_t
zygote_proto_spawn_len(const struct zygote_proto_request *r)
{
	return sizeof(*r) + r->n_files * sizeof(struct shown_file);
}

/* uids that a zygote may give to workers, when it has them */
#define ZYGOTE_PROTO_SLOTS 256u

/* Exit status of a worker without a sandbox: this plus the layer's number. */
#define ZYGOTE_PROTO_EXIT_UNCAGED 100

/*
 * Exit status of a shim whose waiting program cannot be used for a run: this
 * plus enum zygote_proto_unfit.
 */
#define ZYGOTE_PROTO_EXIT_UNFIT 80

enum zygote_proto_unfit {
	UNFIT_ENDED, /* could not be started, or exited */
	UNFIT_SPOKE, /* wrote to 1 or 3, or closed one of its descriptors */
	UNFIT_SLOW,  /* did not begin to wait in time */
	UNFIT_SPINS, /* too much CPU time at the start or while waiting */
	UNFIT_GREW,  /* more memory than allowed, or than before */
	UNFIT_CROWD, /* too many processes or descriptors */
	UNFIT_CALLS, /* made a forbidden system call */
	UNFIT_WOKE,  /* a resident: continued itself while stopped */
	UNFITS
};

/* The value of SIGTERM to a resident's shim: why the run is to end. */
enum zygote_proto_why { WHY_CANCEL, WHY_TIMEOUT, WHY_CPU, WHY_MEMORY, WHYS };

enum zygote_proto_event_type {
	ZYGOTE_PROTO_SPAWNED = 1, /* pid; or err: errno of the failure */
	ZYGOTE_PROTO_REPORT = 2,  /* once, after the self-test */
	/* the sandbox cannot be built: text has the cause; then exit */
	ZYGOTE_PROTO_BROKEN = 3,
	/*
	 * before the report: programs are not shown package or read SEQ; err
	 * and text (a clause) have the cause
	 */
	ZYGOTE_PROTO_MOUNT_FAILED = 4,
};

struct zygote_proto_event {
	uint32_t type;
	uint32_t seq;
	/* MOUNT_FAILED: 0 for a package, 1 for a read, 2 for the artifacts */
	int32_t pid;
	int32_t err;
	uint32_t layers;      /* REPORT: SANDBOX_BIT() of each layer that
				 held */
	int32_t landlock_abi; /* REPORT: 0: not in the kernel */
	int32_t uid_base;     /* REPORT: the first slot's uid outside, or -1 */
	/* MOUNT_FAILED, EFBIG: bytes of packages to copy */
	uint64_t used;
	uint64_t used_by_all; /* 1: of all packages; 0: of package SEQ */
	/*
	 * REPORT: the cause for each missing layer, "netns: EPERM (remedy);
	 * utsns: EPERM"; BROKEN: the cause. NUL-ended, UTF-8
	 */
	char text[ZYGOTE_PROTO_TEXT_MAX];
};

/*
 * A zygote of programs gets a package as "package=DEVICE:INODE:DIR". "DIGEST:"
 * before DIR: the package is to be copied; "DIGEST?:": to be copied, or shown
 * itself when a copy fails. Return the length of that prefix at S, behind the
 * inode; 0: no prefix.
 */
#define ZYGOTE_PROTO_DIGEST_DIGITS 64u

static inline size_t zygote_proto_digest_len(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	if (n != ZYGOTE_PROTO_DIGEST_DIGITS)
		return 0;
	if (s[n] == '?')
		n++;
	return s[n] == ':' ? n + 1 : 0;
}

#endif

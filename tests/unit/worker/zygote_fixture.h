/* SPDX-License-Identifier: Apache-2.0 */
/* zygote_fixture.h - runs the real paddock-worker, with the test as supervisor. */
#ifndef TESTS_UNIT_WORKER_ZYGOTE_FIXTURE_H
#define TESTS_UNIT_WORKER_ZYGOTE_FIXTURE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "ipc/zygote_proto.h"
#include "tests/unit/tap.h"

#define PATIENCE_MS 20000 /* only a failing test waits so long */
#define NOBODY 65534
#define CPU_MS 10000
#define MEMORY_BYTES (16u << 20)
#define FDS_FREE 20 /* descriptors below are set up for the worker */

/* A system call which the machine refuses, or pretends to have done (errno 0). */
struct refusal {
	int nr;
	int err;
	/* refuse only calls with a flag of these in argument 0; 0: all calls */
	unsigned int flags;
};

#define REFUSALS_MAX 8

struct zygote {
	pid_t pid;
	int control;
};

struct worker {
	pid_t pid;
	int run;
};

const char *worker_path(void);
void die(const char *what);

/* UID 0: as whoever we are. */
void start(struct zygote *z, uid_t uid, const struct refusal *r);

/* Receive one packet; -1: none in time; 0: the peer is gone. */
ssize_t take(int fd, void *buf, size_t size);
struct zygote_proto_event take_note(const struct zygote *z);

/* The end of PID within PATIENCE_MS; -1: no end in time. */
int reap(pid_t pid, struct rusage *ru);

/* The control's end ends the zygote. */
int stop(struct zygote *z);
void order_worker(const struct zygote *z,
		  const struct zygote_proto_request *request, const int *fds,
		  size_t n);
struct zygote_proto_request order_for(unsigned int slot);
struct zygote_proto_event spawn(const struct zygote *z, unsigned int slot,
				struct worker *w);

/* Release W; returns the end of W. */
int finish(struct worker *w, struct rusage *ru);
/* Does W sleep? The first sleep of a worker is the wait for a RUN, in the cage. */
bool is_ready(const struct worker *w);

/* The value of KEY in PID's status, in alternating buffers. */
const char *status_of(pid_t pid, const char *key);

/* Last in main(). */
int done(void);

/* First in main(). False: there is nothing to test. */
bool begin(void);

#endif

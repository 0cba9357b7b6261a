/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawner_fixture.h - a spawner whose zygote misbehaves. The test program, exec'd as
 * "paddock-worker", is the zygote, which misbehaves by the cpu_ms of an order, or by the
 * name of the program.
 */
#ifndef TESTS_UNIT_SPAWNER_FIXTURE_H
#define TESTS_UNIT_SPAWNER_FIXTURE_H

#include "supervisor/spawn/spawner.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/spawn/spawner_private.h"
#include "tests/unit/tap.h"

/* Orders to the zygote, as the cpu_ms of a job. */
enum order {
	BEAR = 1,   /* clone a child which lives until killed */
	BEAR_DEAD,  /* clone a child which is reaped before the report */
	REFUSE,	    /* EAGAIN */
	DIE,	    /* instead of an answer, when the next order is there */
	DIE_CLONED, /* after the clone, before the answer */
	STALL,	    /* for ever */
	IGNORE,	    /* go on with the next order, without an answer */
	CLAIM,	    /* answer with memory_bytes as the pid */
	TELL_FILES, /* refuse, with open_files in the answer */
};

struct hand {
	struct spawner_child child;
	int spawned, err, exits, status;
	pid_t pid; /* the pid in on_spawned() */
};

extern struct spawner *spawner;
extern int reports, broken; /* zygotes since start() */
extern char folder[];	    /* of the programs */
extern const char *package_digest;

/* Start a spawner whose zygote's program has NAME, and stop the spawner. */
void start(const char *name);
void stop(const char *name);
int ask_with(struct hand *h, enum runtime_kind kind, enum order what,
	     uint64_t bytes);
int ask(struct hand *h, enum order what);
/* Turn the loop until *N is WANT; a hang is the suite's to end. */
void until(const int *n, int want);
/* The main() of a test: run TESTS, or be the zygote. */
int spawner_main(int argc, char **argv, void (*tests)(void));

#endif

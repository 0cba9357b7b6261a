/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_job_fixture.h - a worker's Lua runtime, with the test as the supervisor: a
 * template goes in, and the messages to the supervisor come out as one line.
 *
 * Blanks separate the words of the line: "+0x2:name" declares two steps from index 0
 * on, ">0#1" begins the first attempt of step 0, "=0" and "!0:CODE:message" and "~0"
 * end the step; "%1/2:text" is progress, "6:text" a log line, "@name:type:bytes" an
 * artifact; "elicit:json", "sample:json" and "call/tool:json" are questions, "drop:N"
 * drops question N; "VALUE:json", "REPLY:json" or "FAIL:CODE:message:details" is the
 * end.
 */
#ifndef TESTS_UNIT_WORKER_LUA_LUA_JOB_FIXTURE_H
#define TESTS_UNIT_WORKER_LUA_LUA_JOB_FIXTURE_H

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ipc/chan.h"
#include "ipc/zygote_proto.h"
#include "ipc/msg.h"
#include "sandbox/filter.h"
#include "tests/unit/tap.h"
#include "worker/lua/lua_job.h"
#include "worker/signals.h"

#define PATIENCE_MS 60000 /* only a hanging worker takes so long */
#define ASKED_MAX 100
#define SHOWN_MAX 600 /* shown bytes of a body */
#define MIB (1ull << 20)

struct heard;

struct trial {
	const char *name;
	const char *code;
	const char *want; /* of the line; '*' stands for anything */
	const char *inputs;
	int poke;    /* the signal to send when the template logs "poke" */
	bool asleep; /* ...once the worker sleeps */
	size_t memory;
	size_t output;
	bool refuse; /* artifacts */
	size_t more; /* sent bytes beyond the promised bytes */
	/* SEQ 0: an artifact; NULL: artifacts are answered, questions never */
	void (*on_ask)(struct heard *h, uint32_t seq);
	void (*on_drop)(struct heard *h, uint32_t seq);
	bool quiet;	      /* questions and steps are left out of the line */
	void (*before)(void); /* in the worker */
};

/* Limits of a worker whose trial has none; defined by the test. */
struct usual {
	size_t memory;
	unsigned grace_ms, cpu_ms;
};

extern const struct usual usual;

/* A worker and the messages of the worker. */
struct heard {
	struct buf line;
	struct buf body; /* of the message under way */
	/* the message; pointers in the struct are invalid */
	struct msg about;
	uint64_t missing;	   /* bytes of the body */
	bool shown;		   /* is the body? */
	uint32_t last;		   /* question */
	uint32_t asked[ASKED_MAX]; /* without an answer */
	size_t n_asked, total;
	struct trial t;
	pid_t pid;
	int fd;
};

/* A template of just BODY. */
#define T(body) "return function(run, inputs) " body " end"
#define TRAP(body) "local ok, e = pcall(function() " body " end) "

void answer_in(const struct heard *h, uint32_t seq, bool ok_, const char *text,
	       size_t len, size_t piece);
void answer(const struct heard *h, uint32_t seq, bool ok_, const char *text);

/* A lone S in the third field: the worker waits for something. */
bool sleeps(pid_t pid);
void poke(const struct heard *h, int signal, bool asleep);

#define STR(s) (int)(s).n, (s).p

void asked(struct heard *h, uint32_t seq);

/* Run the trial T; the caller frees the line. */
char *try_it(const struct trial *t);
bool matches(const char *line, const char *want);
void check(const struct trial *t);

struct table {
	const struct trial *trials;
	size_t n;
};

#define TABLE(t)                                                               \
	{                                                                      \
		(t), ARRAY_LEN(t)                                              \
	}

/* Check TABLES, up to the empty table at the end: without a cage, then caged. */
void check_tables(const struct table *tables);

#endif

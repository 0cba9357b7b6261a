/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - the process that reaches hosts for one run. The process is caged before the
 * first byte of the run, and ends with the run's report channel.
 */
#ifndef EGRESS_RUN_CHILD_H
#define EGRESS_RUN_CHILD_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/queue.h>

#include "egress/run/names.h"
#include "egress/policy/policy.h"
#include "egress/run/keys.h"
#include "egress/run/tls.h"

#define CHILD_CONNS_MAX 128 /* connections of the run at once; more wait */
#define CHILD_FILES_MAX (2 * CHILD_CONNS_MAX + 64)

struct conn;

/* The facts of the run, which all its connections share. */
struct child {
	struct event_base *base;
	struct policy policy;
	const struct order *order;
	struct names *names;
	const struct tls *tls;
	struct authority *authority; /* NULL: no TLS ends here */
	struct keys keys;
	int cage, report; /* channels */
	int listening;	  /* socket of the cage's namespace; -1: not yet */
	int keys_from;	  /* the keeper's socket of keys */
	struct event *on_cage, *on_report, *on_keys, *on_listening, *on_tick;
	LIST_HEAD(, conn) conns;
	unsigned n_conns;
	/* sums of the run */
	uint64_t bytes_up, bytes_down;
	uint32_t connections, requests, refused;
	uint64_t told; /* bytes in the last report of totals */
};

struct sock_fprog;

/* Channels of a child, in this order. */
enum { CHILD_CAGE, CHILD_REPORT, CHILD_KEYS, CHILD_CHANNELS };

/* Preparations of the keeper for a child, all lent. */
struct child_plan {
	const struct settings *settings;
	const struct order *order;
	const struct tls *tls;
	const struct sock_fprog *filter;
};

/* Serve the run of PLAN; called after fork. Takes the channels FDS. */
_Noreturn void child_run(const struct child_plan *plan,
			 int fds[CHILD_CHANNELS]);

/* A connection is gone: another may be accepted. */
void child_conn_gone(struct child *child);

#endif

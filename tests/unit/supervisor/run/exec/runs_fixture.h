/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_fixture.h - the runs of a server with a store, and without workers or clients;
 * the notices to watchers of a run are counted.
 */
#ifndef TESTS_UNIT_SUPERVISOR_EXEC_RUNS_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_EXEC_RUNS_FIXTURE_H

#include "base/os/log.h"
#include "supervisor/run/exec/runs_private.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

extern struct runs_fixture {
	struct context ctx;
	struct config config;
	struct isolation isolation;
	struct requestors all;
	struct template template;
	char *dir;
	struct relay *relay; /* the relay of the store's connections, or NULL */
	int notices[NOTICE_RELEASED + 1];
} it;

void on_notice(struct run_watch *w, struct run *r, const struct run_notice *n);
void begin(void);
/* A server that has the functions of a cluster, whatever the store is. */
void begin_in_cluster(void);
void begin_by_relay(void); /* of PostgreSQL alone */
void end(void);

/* Make a run which waits on this instance. */
struct run *waiting(void);
/* Wait until the store has answered all requests so far. */
void answered(void);
/* Dispatch the store without new requests until the end of R has a row. */
void row_written(const struct run *r);
/* Dispatch the store until the run ID is forgotten. */
void recorded(const char *id);

#endif

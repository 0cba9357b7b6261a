/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_fixture.h - the runs of a server that has a store, and neither workers nor
 * clients; what those are told who watch one is counted.
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
	struct relay *relay; /* the store's connections go by it; or NULL */
	int notices[NOTICE_RELEASED + 1];
} it;

void on_notice(struct run_watch *w, struct run *r, const struct run_notice *n);
void begin(void);
/* A server that has the functions of a cluster, whatever the store is. */
void begin_in_cluster(void);
void begin_by_relay(void); /* of PostgreSQL alone */
void end(void);

/* One that waits here. */
struct run *waiting(void);
/* All that was asked of the store so far has been answered. */
void answered(void);
/* The store dispatches, and is asked for nothing, until R's end has its row… */
void row_written(const struct run *r);
/* …or until that run is forgotten. */
void recorded(const char *id);

#endif

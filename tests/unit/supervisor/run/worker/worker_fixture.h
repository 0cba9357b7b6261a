/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_fixture.h - the test plays a worker; events of the worker's run are noted.
 */
#ifndef TESTS_UNIT_SUPERVISOR_WORKER_WORKER_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_WORKER_WORKER_FIXTURE_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "ipc/chan.h"
#include "proto/json/json.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/run/worker/worker_private.h"
#include "tests/unit/tap.h"

#define NOTES_MAX 4096

/* The test as worker; each event of the worker's run is noted as a line. */
extern struct worker_fixture {
	struct event_base *base;
	struct requestors all;
	struct template *template;
	struct config config;
	struct context ctx;
	struct worker_env env;
	struct worker *w;
	struct run *r;
	struct run_watch watch;
	char line[NOTES_MAX];
	int end; /* the worker's */
} it;

extern unsigned char frame[CHAN_FRAME_MAX];

void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *noted(void);
void on_ask(struct context *ctx, struct run *r,
	    const struct worker_question *ask);
void on_drop(struct context *ctx, struct run *r, uint32_t seq);
/* Let as many messages come at once as may, as at the start of a worker. */
void fill_bucket(void);
void begin(void);
void end(void);
int hear(const struct msg *m);
int ask(uint32_t seq, const char *params);
int call(uint32_t seq, const char *params);
int reply(uint32_t seq, const char *json);

/* Note the next frame for the worker. */
void read_one(void);

/* First in main(). */
void set_up(void);

/* Last in main(). */
int done(void);

#endif

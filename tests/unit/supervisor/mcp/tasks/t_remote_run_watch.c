/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_remote_run_watch.c - a run of another instance is read once for all watchers, so
 * many subscriptions cause few reads of the store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "supervisor/mcp/tasks/remote_run_watch.h"
#include "supervisor/run/run.h"
#include "supervisor/run/exec/runs.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define MANY 5000

static struct requestors requestors;
static struct context ctx;
static struct config *config;
static struct requestor *ada, *bob;

static void on_event(void *arg, enum remote_run_event ev, struct run *r)
{
	(void)arg, (void)ev, (void)r;
}

static struct remote_run_watch *watch(struct requestor *q, const char *id,
				      enum store_mail kind)
{
	struct remote_run_watcher w = {
	    .ctx = &ctx, .requestor = q, .kind = kind, .on_event = on_event};
	struct store_run row = {.status = STORE_RUNNING,
				.owner = STORE_OWNER_OTHER};

	snprintf(w.run_id, sizeof(w.run_id), "%s", id);
	return remote_run_watch_new(&w, &row);
}

static long long looks(void)
{
	return (long long)event_base_get_num_events(ctx.base,
						    EVENT_BASE_COUNT_ADDED);
}

int main(void)
{
	static struct remote_run_watch *all[MANY];
	struct remote_run_watch *other[3];
	long long before;
	char *dir = help_dir();

	ctx = (struct context){.base = event_base_new()};
	config = config_new(0);
	ctx.config = config;
	requestors_apply(&requestors, config);
	ada = requestors_of_uid(&requestors, 1);
	bob = requestors_of_uid(&requestors, 2);
	ctx.store = store_start(dir, "inst_t");
	before = looks();
	for (size_t i = 0; i < MANY; i++)
		all[i] = watch(ada, "run_a", STORE_MAIL_WATCH);
	is_int(looks() - before, 1, "a run is looked at once for all");
	other[0] = watch(ada, "run_a", STORE_MAIL_LOG);
	other[1] = watch(ada, "run_b", STORE_MAIL_WATCH);
	other[2] = watch(bob, "run_a", STORE_MAIL_WATCH);
	is_int(looks() - before, 4,
	       "apart from its log, another, and another's");
	for (size_t i = 0; i < MANY - 1; i++)
		remote_run_watch_free(all[i]);
	is_int(looks() - before, 4, "a run is read while one watcher is left");
	remote_run_watch_free(all[MANY - 1]);
	is_int(looks() - before, 3, "a run is not read without a watcher");
	all[0] = watch(ada, "run_a", STORE_MAIL_WATCH);
	is_int(looks() - before, 4, "a run is read again for a new watcher");
	remote_run_watch_free(all[0]);
	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		remote_run_watch_free(other[i]);
	is_int(looks() - before, 0, "no run is read without any watcher");
	ok(ctx.looks == NULL, "no look-up is known at the end");
	store_stop(ctx.store, 10000);
	requestors_fini(&requestors);
	config_free(config);
	event_base_free(ctx.base);
	help_remove(dir);
	return tap_done();
}

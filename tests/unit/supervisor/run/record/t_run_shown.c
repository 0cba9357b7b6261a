/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interval at which a run is shown to other instances whose clients watch the run.
 */
#include "supervisor/run/record/run_shown.h"

#include "proto/json/json_pack.h"
#include "supervisor/cluster/remote_waiters.h"
#include "supervisor/spawn/isolation.h"
#include "tests/unit/supervisor/mcp/input/input_fixture.h"
#include "tests/unit/supervisor/run/worker/worker_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

#define TELLS 2000
/* some shows of a small view, and one show of a large view */
#define LONG_MS 200
#define EARLY_MS 20 /* the same as in run_shown.c */
#define EARLY_BYTES (32u << 10)

static int shows;
static size_t question; /* bytes of the question */

static char *asked(const struct run *r)
{
	char *text = xcalloc(1, question + 1);

	(void)r;
	shows++;
	memset(text, ' ', question);
	return text;
}

static void has_guest(struct run *r)
{
	struct json_object *message =
	    json_pack("guest:s capabilities:o", "guest_a",
		      json_pack("elicitation:o", json_object_new_object()));

	remote_waiters_hear(&ctx, r, message, 64);
	json_object_put(message);
}

/*
 * Show a run with a message of MESSAGE bytes, or more, and a question of ASKS bytes; no
 * show reaches a store.
 */
static void often(size_t message, size_t asks, const char *what)
{
	int64_t each = EARLY_MS * (int64_t)(1 + (message + asks) / EARLY_BYTES);
	int64_t ms;
	struct isolation isolation = {0};
	struct context own;
	struct run_shows *all;
	char *dir = help_dir();

	start(true);
	own = ctx;
	own.isolation = &isolation;
	own.store = store_start(dir, "inst_shown");
	store_set_url(own.store, "postgresql:///none?host=/nonexistent");
	all = run_shows_new(&own, asked);
	has_guest(it.r);
	it.r->progress.message = xcalloc(1, message + 1);
	memset(it.r->progress.message, 'x', message);
	shows = 0;
	question = asks;
	run_show(all, it.r, RUN_SHOWN_VIEW, clock_wall_ms() + 600000);
	while (shows == 0)
		event_base_loop(it.base, EVLOOP_ONCE);
	ms = clock_mono_ms();
	for (int i = 0; i < TELLS || clock_mono_ms() - ms < LONG_MS; i++) {
		run_tell(it.r, &(struct run_notice){.kind = NOTICE_ASKED});
		event_base_loop(it.base, EVLOOP_NONBLOCK);
	}
	while (shows < 2) /* two shows are sufficient */
		event_base_loop(it.base, EVLOOP_ONCE);
	ms = clock_mono_ms() - ms;
	ok(shows <= ms / each + 2, "%s", what);
	stop();
	run_shows_free(all);
	store_stop(own.store, 0);
	help_remove(dir);
}

int main(void)
{
	set_up_server();
	often(1, 1,
	      "who is told often that clients said something shows it seldom");
	often(8 * EARLY_BYTES, 1,
	      "a client that says much is shown still less often");
	often(1, 8 * EARLY_BYTES,
	      "a client that is asked much is shown still less often");
	runs_free(ctx.runs);
	return done();
}

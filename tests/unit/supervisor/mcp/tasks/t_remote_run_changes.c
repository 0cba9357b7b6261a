/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_remote_run_changes.c - a watcher of a run of another instance gets one call for
 * each change of the row, and for the end. The test writes the rows.
 */
#include "supervisor/mcp/tasks/remote_run_watch.h"
#include "tests/unit/supervisor/run/exec/runs_fixture.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

static int changed, over, ours;
static struct store_run row;

static void on_event(void *arg, enum remote_run_event ev, struct run *r)
{
	(void)arg, (void)r;
	changed += ev == REMOTE_RUN_CHANGED;
	over += ev == REMOTE_RUN_OVER;
	ours += ev == REMOTE_RUN_OURS;
}

static struct remote_run_watch *watch(enum store_mail kind)
{
	struct remote_run_watcher w = {.ctx = &it.ctx,
				       .requestor =
					   requestors_of_uid(&it.all, 7),
				       .kind = kind,
				       .on_event = on_event};

	changed = over = ours = 0;
	snprintf(w.run_id, sizeof(w.run_id), "%s", row.id);
	return remote_run_watch_new(&w, &row);
}

/* The row is looked at, which the loop does each second. */
static void look(void)
{
	event_base_loop(it.ctx.base, EVLOOP_ONCE);
	answered();
}

static void write_row(void)
{
	help_put(it.ctx.store, &row, STORE_SYNC);
}

static void begin_row(void)
{
	begin();
	row = help_run("uid:7", STORE_QUEUED);
	write_row();
}

TEST(changes)
{
	struct remote_run_watch *w;

	begin_row();
	w = watch(STORE_MAIL_WATCH);
	look();
	is_int(changed, 0, "a row that is as it was tells nothing");
	row.status = STORE_RUNNING;
	write_row();
	look();
	is_int(changed, 1, "the start of the run is reported");
	look();
	is_int(changed, 1, "the start of the run is reported once");
	row.cancelling = true;
	write_row();
	look();
	is_int(changed, 2, "a cancelled remote run is a change");
	is_int(over + ours, 0, "neither is its end");
	row.status = STORE_CANCELED;
	write_row();
	look();
	is_int(over, 1, "the end of the run is reported when it comes");
	is_int(changed, 2, "the end of the run is no change as well");
	remote_run_watch_free(w);
	end();
}

TEST(gone)
{
	struct remote_run_watch *w;

	begin();
	row = help_run("uid:7", STORE_RUNNING); /* never written */
	w = watch(STORE_MAIL_WATCH);
	look();
	is_int(over, 1, "a run without a row is over");
	remote_run_watch_free(w);
	end();
}

TEST(log)
{
	struct remote_run_watch *w;

	begin_row();
	w = watch(STORE_MAIL_LOG);
	row.cancelling = true;
	write_row();
	look();
	is_int(changed, 0, "a watcher of the log gets no other change");
	remote_run_watch_free(w);
	end();
}

TEST(comes_here)
{
	struct remote_run_watch *w;
	struct run *r;

	begin_row();
	w = watch(STORE_MAIL_WATCH);
	r = run_new(requestors_of_uid(&it.all, 7), &it.template);
	memcpy(r->id, row.id, sizeof(r->id));
	HASH_ADD_STR(it.ctx.runs->by_id, id, r);
	look();
	is_int(ours, 1, "a run that has come here is ours to tell of");
	remote_run_watch_free(w);
	end();
}

TEST(leaves_while_it_looks)
{
	struct remote_run_watch *w;

	begin_row();
	w = watch(STORE_MAIL_WATCH);
	row.status = STORE_RUNNING;
	write_row();
	event_base_loop(it.ctx.base, EVLOOP_ONCE);
	remote_run_watch_free(w);
	answered();
	is_int(changed, 0,
	       "a watcher which leaves during the read gets no change");
	ok(it.ctx.looks == NULL, "no look-up is left without a watcher");
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tap_run();
	return tap_done();
}

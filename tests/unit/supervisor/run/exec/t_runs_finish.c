/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_runs_finish.c - the end of a run whose worker has given the result and is leaving:
 * the row is written meanwhile, and no client learns of the end before the worker has
 * left.
 */
#include "tests/unit/supervisor/run/exec/runs_fixture.h"

#include <sys/statvfs.h>

#include "proto/json/json.h"
#include "supervisor/run/outcome.h"
#include "supervisor/store/state/disk_space.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

static struct worker *const somebody = (struct worker *)&it;
static struct run_watch watch;
static char id[ID_SIZE];

static struct exit_facts used(int cpu_s)
{
	return (struct exit_facts){.have_result = true,
				   .use.ru_utime.tv_sec = cpu_s,
				   .use.ru_maxrss = 1000,
				   .group = CGROUP_USE_UNKNOWN};
}

/* A running run whose result is TEXT. */
static struct run *running(const char *text)
{
	struct run *r;

	begin();
	memset(it.notices, 0, sizeof(it.notices));
	r = waiting();
	sched_start(&it.ctx.runs->sched, &r->job.queued);
	run_apply(r, EV_START);
	r->job.worker = somebody;
	r->output.value = json_tokener_parse(text);
	memcpy(id, r->id, sizeof(id));
	watch = (struct run_watch){.on_notice = on_notice};
	run_watch_add(r, &watch);
	return r;
}

static bool gives(struct run *r)
{
	struct exit_facts e = used(7);

	return runs_worker_leaving(it.ctx.runs, r, &e);
}

static void goes(struct run *r, int cpu_s)
{
	struct exit_facts e = used(cpu_s);

	r->job.worker = NULL;
	runs_worker_gone(it.ctx.runs, r, &e);
}

static int told(void)
{
	return it.notices[NOTICE_RECORDED];
}

/* The CPU time in the row of a run that succeeded. */
static int64_t recorded_ms(void)
{
	struct json_object *view;
	struct answer a = {0};
	int64_t ms;

	help_get(it.ctx.store, &a, "uid:7", id);
	view = json_tokener_parse(a.view != NULL ? a.view : "{}");
	ms = a.status[0] == STORE_SUCCEEDED
		 ? json_member_int(json_member(view, "metrics"), "cpuMs")
		 : -1;
	json_object_put(view);
	help_clear(&a);
	return ms;
}

static void test_row_first(void)
{
	struct run *r = running("{}");

	ok(gives(r), "a run is over when its worker has given its result");
	is_str(run_state_name(r->state), "succeeded",
	       "a run whose worker gave a result has succeeded");
	is_int((int)it.ctx.runs->sched.running, 1,
	       "the place of a run is taken until the worker has gone");
	is_int(recorded_ms(), 7000,
	       "the row has the time that the worker reported");
	is_int(told(), 0, "nobody is told of the end while the worker lives");
	goes(r, 7);
	is_int(told(), 1, "the end is told when the worker has gone");
	ok(runs_by_id(it.ctx.runs, id) == NULL,
	   "a run whose worker has gone is forgotten");
	is_int((int)it.ctx.runs->sched.running, 0,
	       "the place of a run is free when the worker has gone");
	end();
}

static void test_gone_first(void)
{
	struct run *r = running("{}");

	gives(r);
	goes(r, 7);
	is_int(told(), 0, "a worker may be gone before the row is there");
	recorded(id);
	is_int(told(), 1, "the end is told when the row is there");
	end();
}

/* A worker which executes the template's code may send anything. */
static void test_lies(bool late)
{
	struct run *r = running("{}");

	gives(r);
	if (late)
		row_written(r);
	goes(r, 9);
	is_int(told(), 0, "of one that lied nobody is told");
	ok(runs_leaving(it.ctx.runs, id),
	   "a run whose row is to be corrected is still seen as leaving");
	recorded(id);
	is_int(told(), 1, "before its row is right");
	ok(!runs_leaving(it.ctx.runs, id),
	   "a run whose row is corrected is no longer leaving");
	is_int(recorded_ms(), 9000,
	       "what the kernel says of it is what the row has then");
	is_int((int)it.ctx.runs->unrecorded, 0,
	       "no row is on the way after the correction");
	end();
}

static void test_fails(void)
{
	struct run *r = running("{\"isError\":true}");
	struct exit_facts e = used(1);

	r->output.is_reply = e.reply_failed = true;
	ok(!runs_worker_leaving(it.ctx.runs, r, &e),
	   "a run that failed, and may be tried again, is not over by that");
	is_str(run_state_name(r->state), "running",
	       "a run that may be tried again stays running");
	r->job.worker = NULL;
	runs_worker_ended(it.ctx.runs, r, &e);
	is_str(run_state_name(r->state), "failed",
	       "a run that may be tried again fails when the worker has gone");
	recorded(id);
	end();
}

static bool full;

/* The disk of the test has 1000 MiB. */
int statvfs(const char *path, struct statvfs *fs)
{
	(void)path;
	*fs = (struct statvfs){.f_frsize = 1024,
			       .f_blocks = 1000 << 10,
			       .f_bavail = full ? 1 << 10 : 900 << 10,
			       .f_files = 100000,
			       .f_favail = 90000};
	return 0;
}

static void test_full(void)
{
	struct run *r = running("{}");
	struct buf *log = xcalloc(1, sizeof(*log)); /* of the run */
	char line[128];

	it.config.disk_reserve_bytes = 100 << 20;
	memset(line, 'x', sizeof(line));
	while (buf_len(log) < DISK_SPACE_LARGE_BYTES)
		buf_add(log, line, sizeof(line));
	r->log.text = log;
	full = true;
	usleep(300000); /* the room seen last is used for a quarter of that */
	gives(r);
	row_written(r);
	ok(strstr(buf_data(log), " notice this log was not kept: the disk of "
				 "the server is nearly full\n") != NULL,
	   "a large log gives way to a notice on a disk that is nearly full");
	ok(strchr(buf_data(log), 'x') == NULL, "a large log is dropped");
	goes(r, 7);
	full = false;
	it.config.disk_reserve_bytes = 0;
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	test_row_first();
	test_gone_first();
	test_lies(true);
	test_lies(false);
	test_fails();
	test_full();
	return tap_done();
}

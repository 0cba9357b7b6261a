/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_progress.c - notifications about a run: progress by the token of a client, lines of the
 * log by level, and the status of a task.
 */
#include "supervisor/session/progress.h"
#include "supervisor/session/task_notify.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define PROGRESS "notifications/progress"
#define MESSAGE "notifications/message"
#define STATUS "notifications/tasks/status"

static struct client ada;
static struct run *r;
static struct progress p;

static void begin(void)
{
	server_begin(NULL);
	server_package("sum", "1.0.0", NULL);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_tool(&ada, "run_task_template",
		    "{\"templateId\":\"sum\",\"inputs\":{},"
		    "\"options\":{\"mode\":\"async\"}}");
	r = server_run();
	server_run_start(r);
	ada.session.terms.log_level = MCP_LEVEL_INFO;
	p = (struct progress){.session = &ada.session,
			      .terms = &ada.session.terms,
			      .token = json_object_new_string("t")};
}

static void end(void)
{
	progress_fini(&p);
	json_object_put(p.token);
	server_run_end(r, "1");
	client_end(&ada);
	server_end();
}

static void set(uint64_t done, uint64_t total, const char *message)
{
	r->progress.told = true;
	r->progress.done = done;
	r->progress.total = total;
	free(r->progress.message);
	r->progress.message = message != NULL ? xstrdup(message) : NULL;
}

/* Return the value at POINTER in the last notification to ada. */
static const char *last(const char *pointer)
{
	size_t n = json_length(ada.told);

	return n == 0 ? NULL
		      : at(json_object_array_get_idx(ada.told, n - 1), pointer);
}

TEST(progress)
{
	begin();
	set(1, 4, "first");
	progress_news(&p, r);
	is_str(last("/method"), PROGRESS, "progress is told");
	is_str(last("/params/progressToken"), "t",
	       "progress is told by the token of the client");
	is_str(last("/params/progress"), "1", "progress says how much is done");
	is_str(last("/params/total"), "4", "progress says how much there is");
	is_str(last("/params/message"), "first", "progress has its message");
	is_str(last("/params/_meta"), NULL,
	       "progress of a plain call names no task");
	client_told(&ada, PROGRESS);
	p.told_ms = 0;
	progress_news(&p, r);
	is_int(client_told(&ada, PROGRESS), 0,
	       "progress that does not increase is not told");
	set(2, 4, NULL);
	ada.backlogged = true;
	progress_news(&p, r);
	is_int(client_told(&ada, PROGRESS), 0,
	       "progress is not told to who does not read");
	ada.backlogged = false;
	progress_news(&p, r);
	is_int(client_told(&ada, PROGRESS), 1,
	       "progress is told once its client reads");
	end();
}

TEST(progress_of_steps)
{
	begin();
	progress_news(&p, r);
	is_str(last("/params/progress"), "0",
	       "a run that tells no progress has that of its steps");
	end();
}

TEST(progress_by_revision)
{
	begin();
	ada.session.terms.revision = MCP_2024_11_05;
	p.task_id = r->id;
	set(1, 4, "first");
	progress_news(&p, r);
	is_str(last("/params/message"), NULL,
	       "a revision without messages of progress gets none");
	ok(strstr(last("/params/_meta"), r->id) != NULL,
	   "progress of a task names the task");
	end();
}

TEST(progress_without_a_token)
{
	begin();
	json_object_put(p.token);
	p.token = NULL;
	progress_news(&p, r);
	is_int(client_told(&ada, PROGRESS), 0,
	       "a client without a token is told no progress");
	end();
}

TEST(progress_that_is_held_back)
{
	begin();
	set(1, 9, NULL);
	progress_news(&p, r);
	p.told_ms = clock_mono_ms() + 60000; /* told just now, for a minute */
	set(2, 9, NULL);
	progress_news(&p, r);
	set(3, 9, NULL);
	progress_news(&p, r);
	is_int(client_told(&ada, PROGRESS), 1,
	       "progress within the rate is held back");
	progress_stop(&p, true);
	is_str(last("/params/progress"), "3",
	       "progress that was held back is told at the end, the latest");
	client_told(&ada, PROGRESS);
	progress_stop(&p, true);
	is_int(client_told(&ada, PROGRESS), 0,
	       "progress is told at the end once");
	p.told_ms = clock_mono_ms() + 60000;
	set(4, 9, NULL);
	progress_news(&p, r);
	progress_stop(&p, false);
	is_int(client_told(&ada, PROGRESS), 0,
	       "progress that is stopped without a last word is not told");
	end();
}

static struct run_notice line(unsigned level)
{
	return (struct run_notice){
	    .kind = NOTICE_LOG, .level = level, .text = "hello", .len = 5};
}

TEST(log)
{
	struct run_notice n;

	begin();
	n = line(MCP_LEVEL_INFO);
	progress_log(&p, r, &n);
	is_str(last("/method"), MESSAGE, "a line of the log is told");
	is_str(last("/params/data"), "hello", "a line of the log has its text");
	is_str(last("/params/level"), "info",
	       "a line of the log has its level");
	is_str(last("/params/logger"), "sum",
	       "a line of the log names its template");
	client_told(&ada, MESSAGE);
	n = line(MCP_LEVEL_INFO + 1);
	progress_log(&p, r, &n);
	is_int(client_told(&ada, MESSAGE), 0,
	       "a line below the level of the client is not told");
	n = line(0);
	ada.backlogged = true;
	progress_log(&p, r, &n);
	is_int(client_told(&ada, MESSAGE), 0,
	       "a line is not told to who does not read");
	ada.backlogged = false;
	ada.session.terms.log_level = -1;
	progress_log(&p, r, &n);
	is_int(client_told(&ada, MESSAGE), 0,
	       "a line is not told to a client that wants none");
	end();
}

/* ---- tasks ---- */

static void begin_task(void)
{
	begin();
	r->task.form = STORE_TASK_OUTPUT;
	r->task.expires_ms = clock_wall_ms() + 600000;
	task_notify_start(&ada.session, r, p.token);
}

static void change(enum run_event ev)
{
	run_apply(r, ev);
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
}

TEST(task_status)
{
	begin_task();
	ok(task_notify_session(r) == &ada.session,
	   "the session that made a task is known");
	is_int(client_told(&ada, STATUS), 0,
	       "a task that works is told as its answer told it");
	change(EV_ASK);
	is_str(last("/params/status"), "input_required",
	       "a task that comes to ask is told");
	is_str(last("/params/taskId"), r->id, "a status names its task");
	client_told(&ada, STATUS);
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
	is_int(client_told(&ada, STATUS), 0,
	       "a status that was told is not told again");
	run_apply(r, EV_ANSWER);
	server_run_end(r, "1");
	server_settle();
	is_str(last("/params/status"), "completed",
	       "the end of a task is told");
	client_tool(&ada, "run_task_template",
		    "{\"templateId\":\"sum\",\"inputs\":{},"
		    "\"options\":{\"mode\":\"async\"}}");
	r = server_run();
	ok(task_notify_session(r) == NULL,
	   "a run that is no task has no session");
	end();
}

TEST(task_without_a_stream)
{
	begin_task();
	ada.deaf = true;
	change(EV_ASK);
	set(1, 2, NULL);
	run_tell(r, &(struct run_notice){.kind = NOTICE_PROGRESS});
	run_tell(
	    r, &(struct run_notice){.kind = NOTICE_LOG, .text = "x", .len = 1});
	is_int((int64_t)json_length(ada.told), 0,
	       "a client without a stream is told nothing of its task");
	ada.deaf = false;
	set(2, 2, NULL);
	run_tell(r, &(struct run_notice){.kind = NOTICE_PROGRESS});
	is_int(client_told(&ada, PROGRESS), 1,
	       "progress of a task is told once there is a stream");
	run_tell(
	    r, &(struct run_notice){.kind = NOTICE_LOG, .text = "x", .len = 1});
	is_int(client_told(&ada, MESSAGE), 1,
	       "a line of a task's log is told once there is a stream");
	run_apply(r, EV_ANSWER);
	end();
}

TEST(task_whose_time_is_over)
{
	begin_task();
	r->task.expires_ms = 1;
	run_tell(r, &(struct run_notice){.kind = NOTICE_PROGRESS});
	ok(task_notify_session(r) == NULL,
	   "a task whose time is over is told no more");
	end();
}

TEST(task_whose_session_ends)
{
	begin_task();
	session_fini(&ada.session);
	ok(task_notify_session(r) == NULL,
	   "a task whose session has ended has none");
	ok(TAILQ_EMPTY(&r->watches),
	   "a session that has ended watches no task");
	json_object_put(ada.answers);
	json_object_put(ada.told);
	client_begin(&ada, 7, MCP_2025_11_25);
	end();
}

TEST(task_with_progress_before_its_answer)
{
	begin();
	set(1, 2, NULL);
	r->task.form = STORE_TASK_OUTPUT;
	r->task.expires_ms = clock_wall_ms() + 600000;
	task_notify_start(&ada.session, r, p.token);
	is_int(client_told(&ada, PROGRESS), 1,
	       "progress that came before the answer of a task is told");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}

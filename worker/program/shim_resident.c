/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_resident.c - a program that stays for several runs, one after the other, for
 * shim.c: passes each run to the program as a line, ends the run when the program says
 * so, and stops all processes until the next run. A limit, a cancel or a forbidden call
 * is told to the program as a cancel; a program that then goes past its grace time is
 * ended with the run. A program that works between runs is unfit, and the shim exits with
 * the reason as status.
 */
#include "worker/program/shim_private.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ipc/zygote_proto.h"
#include "worker/channel.h"
#include "worker/progress.h"
#include "worker/report.h"
#include "worker/signals.h"
#include "worker/steps.h"
#include "worker/text.h"

#define SETTLE_LOOK_MS                                                         \
	100		  /* between looks until the program has come to rest */
#define SETTLE_MS 2000	  /* then the program is stopped in any case */
#define REST_TRY_MS 1	  /* between tries to measure a stopped program */
#define REST_LOOK_MS 5000 /* between looks at a stopped program */
#define MOVED_LOOK_MS 500 /* until the look after a process has moved */
#define MOVES_MOST 4	  /* then the program is unfit */
#define LATE_READS                                                             \
	64 /* of a program's output and lines, when the run has ended */

/* The end of the run, as the program or the shim has told. */
struct run_end {
	bool told; /* the program told the end */
	bool failed;
	char code[MSG_ERROR_CODE_MAX + 1];
	char message[MSG_TEXT_MAX + 1];
	size_t message_len;
	char details[MSG_DETAILS_MAX + 1]; /* "": none */
	struct buf output;		   /* JSON text */
};

static struct {
	bool busy;		    /* a run is under way */
	bool asked;		    /* the program was told to end the run */
	int64_t grace_end_ms;	    /* ASKED: until then */
	struct run_end end;	    /* the program told the end */
	struct run_end cause;	    /* by the shim: the reason of the cancel */
	bool kept;		    /* the program's claim about its state */
	char why[MSG_TEXT_MAX + 1]; /* of a state that was not kept */
	uint64_t cell; /* counts the runs; 0: the program is no resident */
	char name[MSG_NAME_MAX + 1], lost[MSG_TEXT_MAX + 1];
} resident;

bool shim_stays(void)
{
	return resident.cell > 0;
}

bool shim_has_resident_run(void)
{
	return resident.busy;
}

void shim_take_stay(struct shim *s, const struct msg_stay *m)
{
	resident.cell = m->cell;
	memcpy(resident.name, m->name.p, m->name.n);
	resident.name[m->name.n] = '\0';
	memcpy(resident.lost, m->lost.p, m->lost.n);
	resident.lost[m->lost.n] = '\0';
	s->cpu_ms = m->cpu_ms;
}

/* ---- lines to the program ---- */

static void add_notebook(struct buf *line)
{
	char text[2 * MSG_TEXT_MAX];
	struct text t = {.p = text, .size = sizeof(text) - 1};

	text_add(&t, "\"notebook\":{\"name\":");
	text_add_quoted(&t, resident.name, strlen(resident.name));
	text_add(&t, ",\"cell\":");
	text_add_int(&t, resident.cell);
	if (resident.lost[0] != '\0') {
		text_add(&t, ",\"lost\":");
		text_add_quoted(&t, resident.lost, strlen(resident.lost));
	}
	text_add(&t, "}");
	(void)buf_add(line, text, t.n);
}

static void send_run_line(struct shim *s)
{
	struct buf line = {0};

	(void)buf_printf(&line,
			 "{\"run\":{\"id\":\"%s\",\"deadlineMs\":%llu,"
			 "\"files\":\"in\",\"inputs\":",
			 s->run_id, (unsigned long long)s->run.timeout_ms);
	(void)buf_add(&line, s->body + s->run.code_bytes,
		      (size_t)s->run.inputs_bytes);
	(void)buf_add(&line, ",", 1);
	add_notebook(&line);
	(void)buf_add(&line, "}}", 2);
	shim_answer(s, buf_data(&line), buf_len(&line));
	buf_fini(&line);
}

void shim_ask_to_end(struct shim *s, const char *why)
{
	char line[512];
	int n;

	if (resident.asked)
		return;
	resident.asked = true;
	resident.grace_end_ms =
	    clock_mono_ms() + (int64_t)s->run.cancel_grace_ms;
	n = snprintf(line, sizeof(line),
		     "{\"cancel\":{\"id\":\"%s\",\"why\":\"%s\","
		     "\"graceMs\":%llu}}",
		     s->run_id, why,
		     (unsigned long long)s->run.cancel_grace_ms);
	shim_answer(s, line, (size_t)n);
}

bool shim_interrupt(struct shim *s, const char *why, const char *code,
		    const char *details, const char *message)
{
	struct run_end *c = &resident.cause;

	if (!resident.busy)
		return false;
	if (!c->told) {
		c->told = c->failed = true;
		snprintf(c->code, sizeof(c->code), "%s", code);
		snprintf(c->details, sizeof(c->details), "%s",
			 details != NULL ? details : "");
		c->message_len = (size_t)snprintf(
		    c->message, sizeof(c->message), "%s", message);
	}
	shim_ask_to_end(s, why);
	return true;
}

static void forget_cancel(struct shim *s)
{
	signals_forget_cancel();
	s->interrupted = 0;
}

/* A cancel that crossed the end of the run before is of no concern to the next run. */
void shim_begin_run(struct shim *s)
{
	forget_cancel(s);
	resident.busy = true;
	resident.asked = false;
	buf_fini(&resident.end.output);
	resident.end = (struct run_end){0};
	resident.cause = (struct run_end){0};
	resident.kept = false;
	resident.why[0] = '\0';
	send_run_line(s);
}

/* ---- lines of the program ---- */

static bool is_of_run(const struct shim *s, struct json_view v)
{
	struct json_view id;

	return resident.busy && !resident.end.told &&
	       json_view_member(v, "id", &id) && json_view_equal(id, s->run_id);
}

const char *shim_on_state(struct shim *s, struct json_view v)
{
	struct json_view kept, why;

	(void)s;
	if (!resident.busy || !json_view_member(v, "kept", &kept) ||
	    (kept.n != strlen("true") && kept.n != strlen("false")))
		return "a state has kept, true or false, and belongs to a run "
		       "of a resident";
	resident.kept = kept.p[0] == 't';
	if (json_view_member(v, "why", &why) && json_view_is_string(why) &&
	    why.n <= MSG_TEXT_MAX)
		resident.why[json_view_unquote(why, resident.why)] = '\0';
	return NULL;
}

const char *shim_on_result(struct shim *s, struct json_view v)
{
	struct json_view output;

	if (!is_of_run(s, v) || !json_view_member(v, "output", &output))
		return "a result has the id of a resident's run that is under "
		       "way, and an output";
	if (output.n > s->run.output_bytes)
		return "a result's output is larger than the run's output may "
		       "be";
	(void)buf_add(&resident.end.output, output.p, output.n);
	resident.end.told = true;
	return NULL;
}

/* Copy the string member NAME of V, of at most SIZE - 1 bytes. False: none such. */
static bool copy_member(struct json_view v, const char *name, char *to,
			size_t size, size_t *n)
{
	struct json_view m;

	if (!json_view_member(v, name, &m) || !json_view_is_string(m) ||
	    m.n >= size)
		return false;
	*n = json_view_unquote(m, to);
	to[*n] = '\0';
	return true;
}

const char *shim_on_failed(struct shim *s, struct json_view v)
{
	struct run_end *e = &resident.end;
	struct json_view details;
	size_t n;

	if (!is_of_run(s, v) ||
	    !copy_member(v, "message", e->message, sizeof(e->message),
			 &e->message_len) ||
	    !copy_member(v, "code", e->code, sizeof(e->code), &n) ||
	    strcmp(e->code, "EXECUTION_ERROR") != 0)
		return "a failed has the id of a resident's run that is under "
		       "way, the code EXECUTION_ERROR and a message";
	if (json_view_member(v, "details", &details) &&
	    json_view_is_object(details) && details.n < sizeof(e->details)) {
		memcpy(e->details, details.p, details.n);
		e->details[details.n] = '\0';
	}
	e->told = e->failed = true;
	return NULL;
}

/* ---- the end of a run ---- */

static void report_end(const struct run_end *e)
{
	if (e->failed) {
		shim_tell_printed();
		report_fail(e->code, e->message, e->message_len,
			    (struct str){e->details, strlen(e->details)});
	} else
		report_result(MSG_RESULT_VALUE, NULL, buf_data(&e->output),
			      buf_len(&e->output));
}

static void report_kept(struct shim *s)
{
	static char why[MSG_TEXT_MAX];
	size_t n =
	    text_clean(why, sizeof(why), resident.why, strlen(resident.why));
	struct shim_use u = shim_measure(s, UINT64_MAX);
	struct msg m = {.type = MSG_KEPT,
			.kept = {.kept = resident.kept,
				 .cpu_ms = shim_cpu_since_start(s, u.cpu_ms),
				 .memory_bytes = u.resident,
				 .why = {why, n}}};

	channel_send(&m);
	s->start_cpu_ms = u.cpu_ms;
}

static void forget_run(struct shim *s)
{
	resident.busy = false;
	s->artifact_bytes = 0;
	s->refused = NOT_REFUSED;
	shim_forget_pipes();
	shim_forget_printed();
	shim_forget_steps();
	shim_forget_callers();
	shim_forget_questions();
	progress_forget();
	forget_cancel(s);
}

/*
 * The processes are stopped while the files are taken: a process that works in a folder
 * has the lock of the folder.
 */
static void take_files(struct shim *s)
{
	if (!shim_has_files(s))
		return;
	shim_stop_all(s);
	shim_collect(s);
	shim_empty_folders(s);
	shim_continue_all(s);
}

static void end_run(struct shim *s)
{
	static const char cancelled[] = "the run was cancelled";
	struct run_end cancel = {.failed = true,
				 .code = "RUN_CANCELED",
				 .message_len = strlen(cancelled)};

	memcpy(cancel.message, cancelled, sizeof(cancelled));
	shim_serve_callers(s, LATE_READS);
	for (int i = 0; i < LATE_READS && shim_recv(s, SHIM_ERR); i++)
		;
	for (int i = 0; i < LATE_READS && shim_recv(s, SHIM_OUT); i++)
		;
	take_files(s);
	if (resident.cause.told)
		report_end(&resident.cause);
	else if (signals_cancelled())
		report_end(&cancel);
	else
		report_end(&resident.end);
	report_kept(s);
	forget_run(s);
}

void shim_fail_by_cause(void)
{
	const struct run_end *c = &resident.cause;

	resident.busy = false;
	if (c->told)
		shim_fail(c->code, c->details[0] != '\0' ? c->details : NULL,
			  "%s", c->message);
}

/* The grace time is over: the run ends, and the program with the run. */
_Noreturn static void end_with_program(void)
{
	shim_end_all();
	shim_fail_by_cause();
	shim_fail("RUN_CANCELED", NULL, "the run was cancelled");
}

bool shim_run_is_over(struct shim *s)
{
	static const char *const whys[WHYS] = {[WHY_CANCEL] = "cancel",
					       [WHY_TIMEOUT] = "timeout",
					       [WHY_CPU] = "cpu",
					       [WHY_MEMORY] = "memory"};

	if (signals_cancelled())
		shim_ask_to_end(s, whys[s->interrupted]);
	if (resident.end.told) {
		end_run(s);
		return true;
	}
	if (resident.asked && clock_mono_ms() >= resident.grace_end_ms)
		end_with_program();
	return false;
}

/* ---- between runs ---- */

enum { AT_RUN, AT_LISTENER, AT_ERR, AT_OUT, AT_LINES, WATCHED };

static void reap_program(const struct shim *s)
{
	pid_t pid;

	while ((pid = wait4(-1, NULL, WNOHANG, NULL)) > 0)
		if (pid == s->pid)
			shim_unfit(UNFIT_ENDED);
}

/* Deal with what is to be read, for at most MS. True: the next run. */
static bool read_pipes(struct shim *s, int64_t ms)
{
	struct timespec ts = {.tv_sec = ms / 1000,
			      .tv_nsec = ms % 1000 * 1000000L};
	struct pollfd p[WATCHED] = {
	    [AT_RUN] = {.fd = ZYGOTE_PROTO_RUN_FD, .events = POLLIN},
	    [AT_LISTENER] = {.fd = s->pipes.listener, .events = POLLIN},
	    [AT_ERR] = {.fd = s->pipes.err, .events = POLLIN},
	    [AT_OUT] = {.fd = s->pipes.out, .events = POLLIN},
	    [AT_LINES] = {.fd = s->pipes.lines, .events = POLLIN}};
	sigset_t none;
	int n;

	sigemptyset(&none);
	n = ppoll(p, WATCHED, &ts, &none);
	reap_program(s);
	if (n <= 0)
		return false;
	if ((p[AT_LISTENER].revents & POLLIN) != 0)
		shim_recv_call(s);
	if (p[AT_LINES].revents != 0)
		shim_unfit(UNFIT_SPOKE);
	if (p[AT_ERR].revents != 0)
		shim_drop_output(s, SHIM_ERR);
	if (p[AT_OUT].revents != 0)
		shim_drop_output(s, SHIM_OUT);
	return p[AT_RUN].revents != 0;
}

/* Wait for MS, or for the next run. True: the next run. */
static bool await_run(struct shim *s, int64_t ms)
{
	int64_t end_ms = clock_mono_ms() + ms;
	bool next;

	do
		next = read_pipes(s, ms);
	while (!next && (ms = end_ms - clock_mono_ms()) > 0);
	return next;
}

/* Has the program come to rest, or had enough time for that? */
static bool is_settled(const struct shim *s, uint64_t *cpu_ms, int64_t began_ms)
{
	struct shim_use u = shim_measure(s, UINT64_MAX);
	bool same = u.cpu_ms == *cpu_ms;

	*cpu_ms = u.cpu_ms;
	return same || clock_mono_ms() - began_ms >= SETTLE_MS;
}

/*
 * Measure the stopped program, and tell its memory. False: a process has moved meanwhile.
 */
static bool tell_rest(const struct shim *s)
{
	struct shim_use u;

	if (!shim_has_come_to_rest(s))
		return false;
	u = shim_measure(s, 0);
	if (shim_has_left_rest(s))
		return false;
	if (u.too_many)
		shim_unfit(UNFIT_CROWD);
	channel_send(&(struct msg){
	    .type = MSG_WAITING,
	    .waiting = {.cpu_ms = u.cpu_ms, .memory_bytes = u.own_bytes}});
	return true;
}

/* Until all processes stand still, and the memory is told. True: the next run came first. */
static bool come_to_rest(struct shim *s)
{
	int64_t end_ms = clock_mono_ms() + SETTLE_MS;

	while (!tell_rest(s)) {
		if (await_run(s, REST_TRY_MS))
			return true;
		if (clock_mono_ms() >= end_ms)
			shim_unfit(UNFIT_WOKE);
	}
	return false;
}

/*
 * Until the next run. A program with a process that continues itself is unfit: the process
 * would work unseen. A process that is killed, or that the kernel shows as stopped before
 * its last switch, moves once.
 */
static void rest(struct shim *s)
{
	int64_t ms = REST_LOOK_MS;

	for (int moves = 0; moves < MOVES_MOST; moves++) {
		if (come_to_rest(s))
			return;
		do {
			if (await_run(s, ms))
				return;
			ms = REST_LOOK_MS;
		} while (!shim_has_left_rest(s));
		ms = MOVED_LOOK_MS;
	}
	shim_unfit(UNFIT_WOKE);
}

void shim_await_run(struct shim *s)
{
	int64_t began_ms = clock_mono_ms();
	uint64_t cpu_ms = UINT64_MAX;
	bool next;

	do
		next = await_run(s, SETTLE_LOOK_MS);
	while (!next && !is_settled(s, &cpu_ms, began_ms));
	if (next)
		return;
	shim_stop_all(s);
	rest(s);
	shim_continue_all(s);
}

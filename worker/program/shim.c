/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.c - the shim of a program's run, from READY to RESULT or FAIL: PID 1 of the run's
 * namespaces, started by the zygote through the table below. The shim relays between
 * pipes and the run's socket; any failure ends the run with a FAIL.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/errname.h"
#include "base/os/sys.h"
#include "ipc/zygote_proto.h"
#include "sandbox/filter.h"
#include "worker/channel.h"
#include "worker/progress.h"
#include "worker/network/network.h"
#include "worker/program/shim_private.h"
#include "worker/report.h"
#include "worker/signals.h"
#include "worker/steps.h"
#include "worker/text.h"
#include "worker/zygote.h"

#define WATCH_MS 100
#define TELL_MS 1000 /* between messages USED */

static struct shim shim;
static struct sandbox_program cage;
static bool serving; /* the program runs, so that limits are checked */

/* ---- the last message ---- */

void shim_fail(const char *code, const char *details, const char *fmt, ...)
{
	char message[2048];
	va_list ap;
	int n;

	channel_while_waiting(NULL); /* no second failure meanwhile */
	va_start(ap, fmt);
	n = vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(message))
		n = sizeof(message) - 1;
	shim_end_all(); /* first, since the message may wait for the pace */
	shim_tell_printed();
	report_fail(code, message, (size_t)n,
		    details != NULL ? (struct str){details, strlen(details)}
				    : (struct str){0});
	_exit(SHIM_EXIT_SENT);
}

void shim_limit(const char *limit, uint64_t used, uint64_t allowed,
		const char *unit, const char *who, const char *message)
{
	char details[512];
	struct text t = {.p = details, .size = sizeof(details) - 1};

	shim_tell_used(&shim);
	text_add_limit(&t, limit, used, allowed, unit, who);
	details[t.n] = '\0';
	if (!shim_interrupt(&shim, limit, "RESOURCE_LIMIT", details, message))
		shim_fail("RESOURCE_LIMIT", details, "%s", message);
}

void shim_log(unsigned level, const char *p, size_t n)
{
	progress_flush();
	report_log(level, p, n);
}

/*
 * ---- messages of the supervisor ----
 */

static void take_run(const struct msg_run *r)
{
	size_t want =
	    (size_t)(r->code_bytes + r->inputs_bytes + r->files_bytes);

	shim.run = *r;
	memcpy(shim.run_id, r->run_id.p, r->run_id.n);
	memcpy(shim.entry, r->entry.p, r->entry.n);
	free(shim.body);
	shim.body = xcalloc(1, want + 1);
	channel_recv_body(shim.body, r->head, want);
	if (shim.args.p == NULL)
		shim.args = (struct str){xstrndup(shim.body, r->code_bytes),
					 (size_t)r->code_bytes};
	if (!shim.prepared)
		channel_send(&(struct msg){.type = MSG_READY});
	channel_set_rate(r->messages_per_second);
	steps_set_grace_ms((int64_t)r->cancel_grace_ms);
}

/* A resident loses the process of the call alone. False: there is no resident's run. */
static bool interrupt_by_call(struct shim *s, const struct signals_call *c)
{
	struct signals_report r;

	if (!shim_has_resident_run())
		return false;
	(void)kill((pid_t)c->pid, SIGKILL);
	signals_describe(c, &r);
	return shim_interrupt(s, "sandbox", "SANDBOX_VIOLATION", r.details,
			      r.message);
}

void shim_recv_call(struct shim *s)
{
	struct signals_call c = {0};
	struct seccomp_notif n = {0};
	char comm[32];

	if (ioctl(s->pipes.listener, SECCOMP_IOCTL_NOTIF_RECV, &n) != 0) {
		if (errno != EINTR && errno != ENOENT)
			sys_drop(&s->pipes.listener);
		return;
	}
	if (shim_records_allow(s, &n))
		return;
	/* end the run, since a process made a forbidden call */
	if (s->run_id[0] == '\0' || (shim_stays() && !shim_has_resident_run()))
		shim_unfit(UNFIT_CALLS);
	shim_comm(s, (pid_t)n.pid, comm, sizeof(comm));
	c.nr = n.data.nr;
	c.arch = n.data.arch;
	for (int i = 0; i < SIGNALS_ARGS; i++)
		c.args[i] = n.data.args[i];
	c.process = comm;
	c.pid = n.pid;
	if (interrupt_by_call(s, &c))
		return;
	shim_end_all();
	shim_tell_printed();
	steps_close();
	signals_violation(&c);
}

/* ---- the loop ---- */

enum { AT_RUN, AT_LISTENER, AT_IN, AT_ANSWERS, AT_OUTPUT };
#define AT_CALLERS (AT_OUTPUT + SHIM_RECEIVED)
#define POLLED (AT_CALLERS + SHIM_CALLERS_POLLED)

/* Wait for events, a tenth of a second at most, and handle the events. */
static void serve_events(void)
{
	struct pollfd p[POLLED];
	struct timespec ts = {.tv_nsec = WATCH_MS * 1000000L};
	int64_t due = progress_due_us() - clock_mono_us();
	bool ahead = shim_births_are_ahead();
	sigset_t none;
	size_t n;

	if (due < 0)
		due = 0;
	if (due < WATCH_MS * INT64_C(1000))
		ts.tv_nsec = due * 1000;
	if (ahead && ts.tv_nsec > SHIM_BIRTH_MS * 1000000L)
		ts.tv_nsec = SHIM_BIRTH_MS * 1000000L;
	p[AT_RUN] =
	    (struct pollfd){.fd = ZYGOTE_PROTO_RUN_FD, .events = POLLIN};
	p[AT_LISTENER] = (struct pollfd){.fd = ahead ? -1 : shim.pipes.listener,
					 .events = POLLIN};
	p[AT_IN] = (struct pollfd){.fd = shim.pipes.in, .events = POLLOUT};
	p[AT_ANSWERS] = (struct pollfd){
	    .fd = buf_len(&shim.answers) > 0 ? shim.pipes.answers : -1,
	    .events = POLLOUT};
	for (int i = 0; i < SHIM_RECEIVED; i++)
		p[AT_OUTPUT + i] = (struct pollfd){
		    .fd = *shim_received_fd(&shim, (enum shim_received)i),
		    .events = POLLIN};
	/* last, so that what a caller said before the program speaks is seen, too */
	n = AT_CALLERS + shim_poll_callers(p + AT_CALLERS);
	sigemptyset(&none);
	if (ppoll(p, n, &ts, &none) < 0)
		return;
	if ((p[AT_LISTENER].revents & POLLIN) != 0)
		shim_recv_call(&shim);
	else if (p[AT_LISTENER].revents != 0)
		sys_drop(&shim.pipes.listener);
	if (p[AT_RUN].revents != 0)
		shim_recv_answer(&shim);
	if (p[AT_IN].revents != 0)
		shim_feed_inputs(&shim);
	if (p[AT_ANSWERS].revents != 0)
		shim_feed_answers(&shim);
	shim_serve_callers(&shim, 1);
	for (int i = 0; i < SHIM_RECEIVED; i++)
		if (p[AT_OUTPUT + i].revents != 0)
			(void)shim_recv(&shim, (enum shim_received)i);
}

void shim_watch_due(void)
{
	static int64_t watched_ms;
	static bool within;

	if (!serving || within || clock_mono_ms() - watched_ms < WATCH_MS)
		return;
	within = true;
	shim_watch(&shim);
	within = false;
	watched_ms = clock_mono_ms();
}

/* Receive the next message that is no late answer to a question of an ended run. */
static void recv_between_runs(struct msg *m)
{
	struct buf body = {0};

	for (channel_recv(m); m->type == MSG_ANSWER; channel_recv(m)) {
		size_t total = (size_t)m->answer.total;

		channel_recv_body(buf_room(&body, total + 1), m->answer.head,
				  total);
	}
	buf_fini(&body);
}

/* A resident's run has ended: wait for the next run, and begin the run. */
static void take_next_run(void)
{
	struct msg m;

	shim_await_run(&shim);
	recv_between_runs(&m);
	if (m.type != MSG_STAY)
		channel_broken();
	shim_take_stay(&shim, &m.stay);
	channel_recv(&m);
	if (m.type != MSG_RUN)
		channel_broken();
	take_run(&m.run);
	shim_take_files(&shim);
	shim_begin_run(&shim);
}

_Noreturn static void serve_program(void)
{
	int64_t told_ms = clock_mono_ms();
	bool over = false, terminated = false;
	int status, end = 0;
	pid_t pid;

	for (;;) {
		serve_events();
		while ((pid = wait4(-1, &status, WNOHANG, NULL)) > 0)
			if (pid == shim.pid) {
				over = true;
				end = status;
			}
		if (over)
			shim_finish(&shim, end);
		if (shim_stays()) {
			if (shim_run_is_over(&shim))
				take_next_run();
		} else if (signals_cancelled() && !terminated) {
			kill(-1, SIGTERM);
			terminated = true;
		}
		progress_tick();
		shim_watch_due();
		if (clock_mono_ms() - told_ms >= TELL_MS) {
			shim_tell_used(&shim);
			told_ms = clock_mono_ms();
		}
	}
}

static void on_child(int sig)
{
	(void)sig; /* SIGCHLD only interrupts ppoll(2) */
}

/* A sender outside of the PID namespace has the pid 0. */
static void on_term(int sig, siginfo_t *si, void *context)
{
	(void)sig, (void)context;
	if (si->si_pid != 0)
		return;
	if (si->si_code == SI_QUEUE && si->si_value.sival_int > WHY_CANCEL &&
	    si->si_value.sival_int < WHYS)
		shim.interrupted = si->si_value.sival_int;
	if (si->si_code == SI_USER || si->si_code == SI_QUEUE)
		signals_cancel();
}

/*
 * SIGQUIT from outside: tell what was printed, and exit without FAIL, once all processes
 * are charged. A pending SIGQUIT of the program blocks a signal from outside, so SIGQUIT of the program ends the
 * run, too.
 */
static void on_quit(int sig, siginfo_t *si, void *context)
{
	bool outside = si->si_code == SI_USER && si->si_pid == 0;

	(void)sig, (void)context;
	shim_end_all();
	if (shim.run_id[0] != '\0' &&
	    (!shim_stays() || shim_has_resident_run()))
		shim_tell_printed();
	if (outside)
		_exit(SHIM_EXIT_SENT);
	if (shim.run_id[0] == '\0')
		shim_unfit(UNFIT_ENDED);
	channel_fail_and_exit("EXECUTION_ERROR",
			      "the program sent SIGQUIT to process 1, which "
			      "ends its run",
			      (struct str){0});
}

/* The program can send these signals; only SIGQUIT of the program causes a message. */
static int shim_prepare(void)
{
	struct sigaction child = {.sa_handler = on_child};
	struct sigaction term = {.sa_sigaction = on_term,
				 .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction quit = {.sa_sigaction = on_quit,
				 .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction none = {.sa_handler = SIG_IGN};
	int rc = signals_install();

	shim_cpu_prepare();
	if (rc < 0)
		return rc;
	if (sigaction(SIGCHLD, &child, NULL) != 0 ||
	    sigaction(SIGTERM, &term, NULL) != 0 ||
	    sigaction(SIGQUIT, &quit, NULL) != 0 ||
	    sigaction(SIGXCPU, &none, NULL) != 0)
		return -errno;
	return 0;
}

/* Start the program, and load the shim's filter afterwards. */
static int start_program(const char **what)
{
	int rc;

	shim_open_door();
	*what = "the way to the network could not be made";
	rc = cage.network ? network_open() : 0;
	if (rc == 0)
		rc = shim_start(&shim, what);
	if (filter_load(&shim.sb->worker_filter) != 0)
		_exit(ZYGOTE_PROTO_EXIT_UNCAGED + SANDBOX_SECCOMP);
	return rc;
}

_Noreturn static void fail_start(int rc, const char *what)
{
	char details[512];

	snprintf(details, sizeof(details), "{\"cure\":\"%s\"}",
		 shim.cure != NULL ? shim.cure : "");
	if (rc == -ENOENT)
		shim_fail("EXECUTION_ERROR", shim.cure != NULL ? details : NULL,
			  "%s could not be started: %s", shim.entry, what);
	shim_fail("EXECUTION_ERROR", NULL, "%s could not be started: %s: %s",
		  shim.entry, what, errname_text(-rc));
}

/*
 * M is PREPARE, with the program and the arguments alone: start the program ahead of a
 * run, and wait for RUN, which is in M then.
 */
static void prepare_program(struct msg *m)
{
	const struct msg_prepare own = m->prepare; /* except for the strings */
	char *args = xcalloc(1, (size_t)own.total + 1);
	const char *what = "";

	memcpy(shim.entry, own.entry.p, own.entry.n);
	channel_recv_body(args, own.head, (size_t)own.total);
	shim.args = (struct str){args, (size_t)own.total};
	shim.prepared = true;
	cage.start_cpu_ms = own.cpu_ms;
	if (start_program(&what) != 0)
		shim_unfit(UNFIT_ENDED);
	shim_wait(&shim, &own);
	channel_recv(m);
}

/*
 * In a sandboxed worker: send READY, receive RUN, run the program, send RESULT or FAIL,
 * and _exit. PROC is the descriptor from sandbox_enter_program().
 */
static void shim_serve(const struct sandbox *sb,
		       const struct sandbox_program *p, int proc)
{
	char line[sizeof(shim.run_id) + 32];
	sigset_t set;
	struct msg m;

	/* blocked signals interrupt only ppoll(2) */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	umask(022); /* for files in in/ */
	cage = *p;
	shim = (struct shim){
	    .sb = sb, .p = &cage, .proc = proc, .cpu_ms = p->w.cpu_ms};
	if (p->network)
		network_take(ZYGOTE_PROTO_RUN_FD);
	channel_recv(&m);
	if (m.type == MSG_PREPARE)
		prepare_program(&m);
	if (m.type == MSG_STAY) {
		shim_take_stay(&shim, &m.stay);
		channel_recv(&m);
	}
	if (m.type != MSG_RUN)
		channel_broken();
	take_run(&m.run);
	shim_take_files(&shim);
	if (!shim.prepared) {
		const char *what = "";
		int rc = start_program(&what);

		if (rc != 0)
			fail_start(rc, what);
	}
	if (shim_stays())
		shim_begin_run(&shim);
	else if (shim.run.id_by_line) /* the environment was made before */
		shim_answer(&shim, line,
			    (size_t)snprintf(line, sizeof(line),
					     "{\"run\":{\"id\":\"%s\"}}",
					     shim.run_id));
	serving = true;
	channel_while_waiting(shim_watch_due);
	serve_program();
}

static pid_t shim_spawn(const struct sandbox *sb,
			const struct sandbox_worker *w,
			const struct zygote_proto_spawn *s)
{
	return zygote_program_spawn(sb, w, s, shim_serve);
}

const struct zygote_runtime zygote_program = {
    .prepare = shim_prepare,
    .take_argument = zygote_program_argument,
    .build = zygote_program_build,
    .spawn = shim_spawn,
};

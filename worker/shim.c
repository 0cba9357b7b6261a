#include "worker/shim.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ipc/crew.h"
#include "sandbox/filter.h"
#include "worker/link.h"
#include "worker/progress.h"
#include "worker/shim_int.h"
#include "worker/signals.h"
#include "worker/steps.h"
#include "worker/text.h"

#define WATCH_MS 100
#define READ_BYTES 65536
#define LINE_MAX_BYTES (4u << 20) /* on descriptor 3 */
#define STDERR_MAX (1u << 20)	  /* bytes of it that are logged */
#define STDERR_LINES_MAX 10000u
#define TAIL_MAX 2048		  /* of its end that a failure quotes */
#define ANSWERS_MAX (64u << 20)	  /* that the program has not read */
#define LOG_INFO 6
#define LOG_WARNING 4

enum { EXIT_SAID = 0, EXIT_NONSENSE = 1 };

static struct shim shim;
static struct buf output;
static struct buf lines;
static uint64_t line_number;
static size_t fed; /* bytes of the inputs that the program has */
static int status;
static bool over; /* the program has ended */

/* What it writes to its 2: the line that is not whole, and the last of all. */
static struct {
	char line[MSG_TEXT_MAX];
	size_t len;
	uint64_t total;
	uint64_t lines;
	bool cut; /* said that the rest is dropped */
	char tail[TAIL_MAX];
	size_t tail_len;
} err;

/* ---- last words ---- */

static void send_fail(const char *code, const char *details,
		      const char *message, size_t len)
{
	static char clean[MSG_TEXT_MAX];
	struct msg m = {.type = MSG_FAIL};

	m.fail.error_code = (struct str){code, strlen(code)};
	m.fail.message =
	    (struct str){clean, text_clean(clean, sizeof(clean), message, len)};
	if (details != NULL)
		m.fail.details = (struct str){details, strlen(details)};
	steps_close();
	progress_flush();
	link_send(&m);
}

void shim_fail(const char *code, const char *details, const char *fmt, ...)
{
	char message[2048];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(message))
		n = sizeof(message) - 1;
	send_fail(code, details, message, (size_t)n);
	_exit(EXIT_SAID);
}

void shim_limit(const char *limit, uint64_t used, uint64_t allowed,
		const char *unit, const char *who, const char *message)
{
	char details[512];

	snprintf(details, sizeof(details),
		 "{\"limit\":\"%s\",\"used\":%llu,\"allowed\":%llu,"
		 "\"unit\":\"%s\",\"whoCanRaise\":\"%s\"}",
		 limit, (unsigned long long)used, (unsigned long long)allowed,
		 unit, who);
	shim_fail("RESOURCE_LIMIT", details, "%s", message);
}

void shim_log(unsigned level, const char *p, size_t n)
{
	static char clean[MSG_TEXT_MAX];
	struct msg m = {.type = MSG_LOG};

	m.log.level = level;
	m.log.text =
	    (struct str){clean, text_clean(clean, sizeof(clean), p, n)};
	progress_flush();
	link_send(&m);
}

/* ---- what comes from the supervisor ---- */

static void take_run(void)
{
	struct msg m = {.type = MSG_READY};
	size_t have, want;

	link_send(&m);
	link_recv(&m);
	if (m.type != MSG_RUN)
		_exit(EXIT_NONSENSE);
	shim.run = m.run;
	memcpy(shim.run_id, m.run.run_id.p, m.run.run_id.n);
	memcpy(shim.entry, m.run.entry.p, m.run.entry.n);
	want = (size_t)(m.run.code_bytes + m.run.inputs_bytes);
	shim.body = xcalloc(1, want + 1);
	have = m.run.head.n;
	memcpy(shim.body, m.run.head.p, have);
	while (have < want) {
		link_recv(&m);
		if (m.type != MSG_CHUNK || m.chunk.data.n > want - have)
			_exit(EXIT_NONSENSE);
		memcpy(shim.body + have, m.chunk.data.p, m.chunk.data.n);
		have += m.chunk.data.n;
	}
}

/* ---- what goes to the program ---- */

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* As much as the pipe takes. It need not read what it was given. */
static void feed_inputs(void)
{
	const char *p = shim.body + shim.run.code_bytes + fed;
	size_t left = (size_t)shim.run.inputs_bytes - fed;
	ssize_t n = left > 0 ? write(shim.pipes.in, p, left) : 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		fed += (size_t)n;
	if (n < 0 || fed == shim.run.inputs_bytes)
		close_end(&shim.pipes.in);
}

static void feed_answers(void)
{
	ssize_t n = write(shim.pipes.answers, buf_data(&shim.answers),
			  buf_len(&shim.answers));

	if (n > 0)
		buf_drop(&shim.answers, (size_t)n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		close_end(&shim.pipes.answers);
}

void shim_answer(struct shim *s, const char *text, size_t n)
{
	if (s->pipes.answers < 0)
		return;
	s->answers.max = ANSWERS_MAX;
	if (buf_add(&s->answers, text, n) < 0 ||
	    buf_add(&s->answers, "\n", 1) < 0)
		shim_fail("EXECUTION_ERROR", NULL,
			  "the program does not read the answers that it asked "
			  "for, on its descriptor 4");
	feed_answers();
}

/* ---- what comes from the program ---- */

static void keep_tail(const char *p, size_t n)
{
	size_t keep;

	if (n >= TAIL_MAX) {
		memcpy(err.tail, p + n - TAIL_MAX, TAIL_MAX);
		err.tail_len = TAIL_MAX;
		return;
	}
	keep = TAIL_MAX - n < err.tail_len ? TAIL_MAX - n : err.tail_len;
	memmove(err.tail, err.tail + err.tail_len - keep, keep);
	memcpy(err.tail + keep, p, n);
	err.tail_len = keep + n;
}

static void log_line(void)
{
	if (err.len > 0)
		shim_log(LOG_INFO, err.line, err.len);
	err.lines++;
	err.len = 0;
}

static bool may_log(void)
{
	return err.total < STDERR_MAX && err.lines < STDERR_LINES_MAX;
}

static void hear_err(const char *p, size_t n)
{
	static const char dropped[] =
	    "the program wrote more than 1 MiB, or 10000 lines, to its standard "
	    "error; the rest is not logged";

	keep_tail(p, n);
	for (size_t i = 0; i < n && may_log(); i++, err.total++) {
		if (p[i] != '\n')
			err.line[err.len++] = p[i];
		if (p[i] == '\n' || err.len == sizeof(err.line))
			log_line();
	}
	if (!may_log() && !err.cut) {
		log_line();
		shim_log(LOG_WARNING, dropped, sizeof(dropped) - 1);
		err.cut = true;
	}
}

static void hear_out(const char *p, size_t n)
{
	output.max = (size_t)shim.run.output_bytes;
	if (buf_add(&output, p, n) < 0)
		shim_limit("output_bytes", buf_len(&output) + n,
			   shim.run.output_bytes, "bytes",
			   "template limits.maxOutputBytes, or the server's "
			   "[limits]",
			   "the program's output is larger than it may be");
}

static void hear_lines(const char *p, size_t n)
{
	const char *newline;

	lines.max = LINE_MAX_BYTES;
	if (buf_add(&lines, p, n) < 0)
		shim_fail("EXECUTION_ERROR", NULL,
			  "line %llu of descriptor 3 is over %u bytes",
			  (unsigned long long)line_number + 1, LINE_MAX_BYTES);
	while ((newline = memchr(buf_data(&lines), '\n', buf_len(&lines))) !=
	       NULL) {
		size_t len = (size_t)(newline - buf_data(&lines));

		shim_line(&shim, (struct str){buf_data(&lines), len},
			  ++line_number);
		buf_drop(&lines, len + 1);
	}
}

/* One piece of what waits at *FD. True: there may be more. */
static bool hear(int *fd, void (*take)(const char *p, size_t n))
{
	static char piece[READ_BYTES];
	ssize_t n = read(*fd, piece, sizeof(piece));

	if (n > 0)
		take(piece, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_end(fd);
	return n > 0;
}

/* Who called what? It never returns from that call, nor does anybody else. */
static void hear_violation(void)
{
	struct seccomp_notif notif;
	struct signals_call c = {0};
	char comm[32];

	memset(&notif, 0, sizeof(notif));
	if (ioctl(shim.pipes.listener, SECCOMP_IOCTL_NOTIF_RECV, &notif) != 0) {
		if (errno != EINTR && errno != ENOENT)
			close_end(&shim.pipes.listener);
		return;
	}
	shim_comm(&shim, (pid_t)notif.pid, comm, sizeof(comm));
	c.nr = notif.data.nr;
	c.arch = notif.data.arch;
	for (int i = 0; i < SIGNALS_ARGS; i++)
		c.args[i] = notif.data.args[i];
	c.process = comm;
	c.pid = notif.pid;
	steps_close();
	signals_violation(&c);
}

/* ---- the end ---- */

/* Everything that it started, but for what is waited for as dead. */
static void reap(void)
{
	int st;
	pid_t pid;

	while ((pid = wait4(-1, &st, WNOHANG, NULL)) > 0)
		if (pid == shim.pid) {
			over = true;
			status = st;
		}
}

static void end_all(void)
{
	kill(-1, SIGKILL);
	while (wait4(-1, NULL, 0, NULL) > 0 || errno == EINTR)
		; /* PID 1 has them all */
}

/* Nobody writes any more: what is left in the pipes is all. */
static void drain(void)
{
	while (shim.pipes.err >= 0 && hear(&shim.pipes.err, hear_err))
		;
	while (shim.pipes.lines >= 0 && hear(&shim.pipes.lines, hear_lines))
		;
	while (shim.pipes.out >= 0 && hear(&shim.pipes.out, hear_out))
		;
	log_line();
	if (buf_len(&lines) > 0)
		shim_line(&shim,
			  (struct str){buf_data(&lines), buf_len(&lines)},
			  ++line_number);
}

static void add_tail(struct text *t)
{
	text_add(t, ",\"stderr\":");
	text_add_quoted(t, err.tail, err.tail_len);
	text_add(t, "}");
}

static void exited(int code)
{
	static char room[MSG_DETAILS_MAX];
	struct text t = {.p = room, .size = sizeof(room) - 1};
	size_t n = err.tail_len;
	const char *last;

	text_add(&t, "{\"exitCode\":");
	text_add_int(&t, (uint64_t)code);
	add_tail(&t);
	room[t.n] = '\0';
	while (n > 0 && err.tail[n - 1] == '\n')
		n--;
	last = n > 0 ? memrchr(err.tail, '\n', n) : NULL;
	last = last != NULL ? last + 1 : err.tail;
	n -= (size_t)(last - err.tail);
	shim_fail("EXECUTION_ERROR", t.full ? NULL : room,
		  "the program exited with status %d%s%.*s", code,
		  n > 0 ? ": " : "", (int)n, last);
}

static void signalled(int sig)
{
	static char room[MSG_DETAILS_MAX];
	struct text t = {.p = room, .size = sizeof(room) - 1};
	const char *abbrev = sigabbrev_np(sig);

	if (sig == SIGXCPU)
		shim_limit("cpu", shim.p->w.cpu_ms, shim.p->w.cpu_ms, "ms",
			   "template limits.maxCpuMs, or the server's [limits]",
			   "the program used all of its CPU time");
	text_add(&t, "{\"signal\":\"SIG");
	text_add(&t, abbrev != NULL ? abbrev : "?");
	text_add(&t, "\",\"number\":");
	text_add_int(&t, (uint64_t)sig);
	add_tail(&t);
	room[t.n] = '\0';
	shim_fail("WORKER_CRASHED", t.full ? NULL : room,
		  "the program was ended by SIG%s",
		  abbrev != NULL ? abbrev : "?");
}

static bool is_blank(const struct buf *b)
{
	for (size_t i = 0; i < buf_len(b); i++)
		if (strchr(" \t\r\n", buf_data(b)[i]) == NULL)
			return false;
	return true;
}

static void send_result(void)
{
	const struct buf *reply = shim_reply();
	struct msg m = {.type = MSG_RESULT};

	m.result.kind = reply != NULL ? MSG_RESULT_REPLY : MSG_RESULT_VALUE;
	steps_close();
	progress_flush();
	if (reply != NULL)
		link_send_body(&m, buf_data(reply), buf_len(reply));
	else if (is_blank(&output))
		link_send_body(&m, "null", strlen("null"));
	else
		link_send_body(&m, buf_data(&output), buf_len(&output));
	_exit(EXIT_SAID);
}

_Noreturn static void finish(void)
{
	end_all();
	drain();
	shim_collect(&shim);
	if (signals_cancelled())
		shim_fail("RUN_CANCELED", NULL, "the run was cancelled");
	if (WIFSIGNALED(status))
		signalled(WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		exited(WEXITSTATUS(status));
	send_result();
	_exit(EXIT_SAID);
}

/* ---- the loop ---- */

static const struct {
	size_t fd; /* in struct shim_pipes */
	void (*take)(const char *p, size_t n);
} heard[] = {
    {offsetof(struct shim_pipes, out), hear_out},
    {offsetof(struct shim_pipes, err), hear_err},
    {offsetof(struct shim_pipes, lines), hear_lines},
};

enum { AT_RUN, AT_LISTENER, AT_IN, AT_ANSWERS, AT_HEARD };
#define POLLED (AT_HEARD + ARRAY_LEN(heard))

static int *heard_fd(size_t i)
{
	return (int *)((char *)&shim.pipes + heard[i].fd);
}

static void wait_for_news(struct pollfd p[POLLED])
{
	struct timespec ts = {.tv_nsec = WATCH_MS * 1000000L};
	int64_t due = progress_due_us() - clock_mono_us();
	sigset_t none;

	if (due < 0)
		due = 0;
	if (due < WATCH_MS * INT64_C(1000))
		ts.tv_nsec = due * 1000;
	p[AT_RUN] = (struct pollfd){.fd = CREW_RUN_FD, .events = POLLIN};
	p[AT_LISTENER] =
	    (struct pollfd){.fd = shim.pipes.listener, .events = POLLIN};
	p[AT_IN] = (struct pollfd){.fd = shim.pipes.in, .events = POLLOUT};
	p[AT_ANSWERS] = (struct pollfd){
	    .fd = buf_len(&shim.answers) > 0 ? shim.pipes.answers : -1,
	    .events = POLLOUT};
	for (size_t i = 0; i < ARRAY_LEN(heard); i++)
		p[AT_HEARD + i] =
		    (struct pollfd){.fd = *heard_fd(i), .events = POLLIN};
	sigemptyset(&none);
	if (ppoll(p, POLLED, &ts, &none) < 0)
		for (size_t i = 0; i < POLLED; i++)
			p[i].revents = 0;
}

static void deal_with(const struct pollfd p[POLLED])
{
	if ((p[AT_LISTENER].revents & POLLIN) != 0)
		hear_violation();
	else if (p[AT_LISTENER].revents != 0)
		close_end(&shim.pipes.listener);
	if (p[AT_RUN].revents != 0)
		shim_hear_answer(&shim);
	if (p[AT_IN].revents != 0)
		feed_inputs();
	if (p[AT_ANSWERS].revents != 0)
		feed_answers();
	for (size_t i = 0; i < ARRAY_LEN(heard); i++)
		if (p[AT_HEARD + i].revents != 0)
			(void)hear(heard_fd(i), heard[i].take);
}

_Noreturn static void attend(void)
{
	int64_t watched_ms = 0;
	bool told = false;

	for (;;) {
		struct pollfd p[POLLED];

		wait_for_news(p);
		deal_with(p);
		reap();
		if (over)
			finish();
		if (signals_cancelled() && !told) {
			kill(-1, SIGTERM);
			told = true;
		}
		progress_tick();
		if (clock_mono_ms() - watched_ms >= WATCH_MS) {
			shim_watch(&shim);
			watched_ms = clock_mono_ms();
		}
	}
}

static void on_child(int sig)
{
	(void)sig; /* it interrupts the wait: that is all */
}

int shim_prepare(void)
{
	struct sigaction sa = {.sa_handler = on_child};
	int rc = signals_install();

	if (rc < 0)
		return rc;
	return sigaction(SIGCHLD, &sa, NULL) == 0 ? 0 : -errno;
}

/* Only where it is waited for do they interrupt. */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

void shim_serve(const struct sandbox *sb, const struct sandbox_program *p,
		int proc)
{
	const char *what = "";
	int rc;

	block_signals();
	shim = (struct shim){.sb = sb, .p = p, .proc = proc};
	take_run();
	steps_set_grace_ms((int64_t)shim.run.cancel_grace_ms);
	rc = shim_start(&shim, &what);
	if (filter_load(&sb->worker_filter) != 0)
		_exit(CREW_EXIT_UNCAGED + SANDBOX_SECCOMP);
	if (rc != 0)
		shim_fail("EXECUTION_ERROR", NULL,
			  "%s could not be started: %s: %s", shim.entry, what,
			  strerrordesc_np(-rc));
	attend();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_pipes.c - the pipes to and from a program, for the shim's loop and the end of the
 * run: inputs and answers go in, output, messages and log lines come out. Output, lines
 * or unread answers above a limit end the run.
 */
#include "worker/program/shim_private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"

#define READ_BYTES 65536
#define LINE_MAX_BYTES (4u << 20) /* on descriptor 3 */
#define STDERR_MAX (1u << 20)	  /* logged bytes at most */
#define STDERR_LINES_MAX 10000u
#define ANSWERS_MAX (64u << 20) /* bytes that the program has not read */
#define CALLERS_READS 1024	/* of each process that has ended */
#define LOG_INFO 6
#define LOG_WARNING 4

static struct buf output;
static size_t fed; /* bytes of the inputs written so far */

/* Descriptor 3: the incomplete line. */
static struct {
	struct buf held;
	size_t looked; /* bytes of HELD without a newline */
	uint64_t number;
} lines;

/* Descriptor 2: the incomplete line, and the tail of the output. */
static struct {
	char line[MSG_TEXT_MAX];
	size_t len;
	uint64_t total;
	uint64_t lines;
	bool cut; /* the log says that the rest is dropped */
	char tail[SHIM_TAIL_MAX];
	size_t tail_len;
} err;

/* ---- data to the program ---- */

/* Write as much as the pipe takes. The program need not read the inputs. */
void shim_feed_inputs(struct shim *s)
{
	const char *p = s->body + s->run.code_bytes + fed;
	size_t left = (size_t)s->run.inputs_bytes - fed;
	ssize_t n = 0;

	if (shim_stays()) { /* a resident gets its inputs by lines */
		sys_drop(&s->pipes.in);
		return;
	}
	if (left > 0)
		n = write(s->pipes.in, p, left);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		fed += (size_t)n;
	if (n < 0 || fed == s->run.inputs_bytes)
		sys_drop(&s->pipes.in);
}

void shim_feed_answers(struct shim *s)
{
	ssize_t n = write(s->pipes.answers, buf_data(&s->answers),
			  buf_len(&s->answers));

	if (n > 0)
		buf_drop(&s->answers, (size_t)n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		sys_drop(&s->pipes.answers);
}

void shim_answer(struct shim *s, const char *text, size_t n)
{
	if (s->pipes.answers < 0)
		return;
	s->answers.max = ANSWERS_MAX + (size_t)s->run.inputs_bytes;
	if (buf_add(&s->answers, text, n) < 0 ||
	    buf_add(&s->answers, "\n", 1) < 0)
		shim_fail("EXECUTION_ERROR", NULL,
			  "the program does not read the answers that it asked "
			  "for, on its descriptor 4");
	shim_feed_answers(s);
}

/* ---- data from the program ---- */

static void keep_tail(const char *p, size_t n)
{
	size_t keep;

	if (n >= SHIM_TAIL_MAX) {
		memcpy(err.tail, p + n - SHIM_TAIL_MAX, SHIM_TAIL_MAX);
		err.tail_len = SHIM_TAIL_MAX;
		return;
	}
	keep =
	    SHIM_TAIL_MAX - n < err.tail_len ? SHIM_TAIL_MAX - n : err.tail_len;
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

static void take_err(struct shim *s, const char *p, size_t n)
{
	static const char dropped[] =
	    "the program wrote more than 1 MiB, or 10000 lines, to its standard "
	    "error; the rest is not logged";

	(void)s;
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

static void take_out(struct shim *s, const char *p, size_t n)
{
	if (shim_stays()) {
		take_err(s, p, n);
		return;
	}
	output.max = (size_t)s->run.output_bytes;
	if (buf_add(&output, p, n) < 0)
		shim_limit("output_bytes", buf_len(&output) + n,
			   s->run.output_bytes, "bytes",
			   "template limits.maxOutputBytes, or the server's "
			   "[limits]",
			   "the program's output is larger than it may be");
}

static void take_lines(struct shim *s, const char *p, size_t n)
{
	/* a resident's output comes in a line */
	lines.held.max =
	    LINE_MAX_BYTES + (shim_stays() ? (size_t)s->run.output_bytes : 0);
	if (buf_add(&lines.held, p, n) < 0)
		shim_fail("EXECUTION_ERROR", NULL,
			  "line %llu of descriptor 3 is over %zu bytes",
			  (unsigned long long)lines.number + 1, lines.held.max);
	for (;;) {
		const char *line = buf_data(&lines.held);
		size_t held = buf_len(&lines.held), len;
		const char *newline =
		    memchr(line + lines.looked, '\n', held - lines.looked);

		/* no byte is searched twice */
		lines.looked = newline != NULL ? 0 : held;
		if (newline == NULL)
			return;
		len = (size_t)(newline - line);
		shim_line(s, (struct str){line, len}, ++lines.number);
		buf_drop(&lines.held, len + 1);
	}
}

static const struct {
	size_t fd; /* offset in struct shim_pipes */
	void (*take)(struct shim *s, const char *p, size_t n);
} sources[SHIM_RECEIVED] = {
    [SHIM_OUT] = {offsetof(struct shim_pipes, out), take_out},
    [SHIM_ERR] = {offsetof(struct shim_pipes, err), take_err},
    [SHIM_LINES] = {offsetof(struct shim_pipes, lines), take_lines},
};

int *shim_received_fd(struct shim *s, enum shim_received which)
{
	return (int *)((char *)&s->pipes + sources[which].fd);
}

bool shim_recv(struct shim *s, enum shim_received which)
{
	static char piece[READ_BYTES];
	int *fd = shim_received_fd(s, which);
	ssize_t n = *fd >= 0 ? read(*fd, piece, sizeof(piece)) : 0;

	if (n > 0)
		sources[which].take(s, piece, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		sys_drop(fd);
	return n > 0;
}

void shim_drain(struct shim *s)
{
	static const enum shim_received order[] = {SHIM_ERR, SHIM_LINES,
						   SHIM_OUT};

	shim_serve_callers(s, CALLERS_READS);
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		while (shim_recv(s, order[i]))
			;
	log_line();
	if (buf_len(&lines.held) > 0)
		shim_line(
		    s,
		    (struct str){buf_data(&lines.held), buf_len(&lines.held)},
		    ++lines.number);
}

const struct buf *shim_output(void)
{
	return &output;
}

struct str shim_tail(void)
{
	return (struct str){err.tail, err.tail_len};
}

void shim_drop_output(struct shim *s, enum shim_received which)
{
	static char piece[READ_BYTES];
	int *fd = shim_received_fd(s, which);
	ssize_t n = read(*fd, piece, sizeof(piece));

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		sys_drop(fd);
}

void shim_forget_pipes(void)
{
	log_line();
	err.total = err.lines = err.tail_len = 0;
	err.cut = false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_callers.c - processes of the program that speak for themselves, each on a
 * connection of its own, for the shim's loop. A process writes a name to the FIFO of
 * SHIM_DOOR, and the shim opens the two FIFOs of the name: one with the lines of the
 * process, the other for answers. A wrong line is answered, and harms no other process; a
 * process that reads no answers loses its connection. Where more questions come than may
 * wait, processes take turns. Nobody waits for the answers to a process that has ended.
 */
#include "worker/program/shim_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"

#define NAME_MAX_BYTES 64
#define LINE_MAX_BYTES                                                         \
	(MSG_ASK_MAX + (64u << 10)) /* parameters, and the rest */
#define UNSENT_MAX                                                             \
	((size_t)64 << 20) /* bytes of answers that no process has read */
#define READ_BYTES 65536
#define LOG_WARNING 4

/* A connection; with the serial 0 there is none. */
static struct caller {
	uint64_t serial; /* never given twice */
	int lines;	 /* -1: no more lines will come */
	int answers;	 /* -1: nobody reads answers */
	struct buf held, unsent;
	size_t looked; /* bytes of HELD without a newline */
	bool skips;    /* the rest of a refused line is still to come */
} callers[SHIM_CALLERS_MAX];
static uint64_t last_serial;
static size_t unsent; /* of all callers */
static uint64_t speaking;
static size_t next; /* index of the caller whose turn is the next */

static int folder = -1, door = -1;
static struct buf names;

void shim_open_door(void)
{
	folder = open(SHIM_DOOR_FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* without room in memory for the FIFO no process can connect */
	if (folder < 0 || mkfifoat(folder, SHIM_DOOR, 0600) != 0)
		return;
	/* a writer of the shim's own: the end of other writers is no event */
	door = openat(folder, SHIM_DOOR, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

/* ---- connections ---- */

static void stop_answers(struct caller *c)
{
	unsent -= buf_len(&c->unsent);
	buf_fini(&c->unsent);
	c->unsent = (struct buf){0};
	sys_drop(&c->answers);
}

static void end_caller(struct caller *c)
{
	stop_answers(c);
	sys_drop(&c->lines);
	buf_fini(&c->held);
	*c = (struct caller){.lines = -1, .answers = -1};
}

/* The process reads no answers any more. */
static void lose_answers(struct caller *c)
{
	shim_drop_questions(c->serial);
	stop_answers(c);
}

static struct caller *find_caller(uint64_t serial)
{
	for (size_t i = 0; i < SHIM_CALLERS_MAX; i++)
		if (callers[i].serial == serial)
			return &callers[i];
	return NULL;
}

/* Open the FIFO that ends with END of the process NAME, or -errno. */
static int open_fifo(struct str name, const char *end, uint64_t flags)
{
	char path[sizeof(SHIM_DOOR) + NAME_MAX_BYTES + 16];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), SHIM_DOOR ".%.*s.%s", (int)name.n, name.p,
		 end);
	fd = shim_open_below(folder, path, flags | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode)))
		sys_drop(&fd);
	return fd;
}

static bool is_name(struct str name)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz0123456789_.-";

	if (name.n == 0 || name.n > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == '\0' || strchr(good, name.p[i]) == NULL)
			return false;
	return true;
}

static void accept_caller(struct caller *c, struct str name)
{
	static const char wrong[] =
	    "a process wrote a name to " SHIM_DOOR_FOLDER "/" SHIM_DOOR
	    " of which there are no two FIFOs";

	*c = (struct caller){.lines = -1, .answers = -1};
	if (is_name(name)) {
		/* the process may unlink both as soon as its lines are opened */
		c->answers = open_fifo(name, "answers", O_WRONLY);
		c->lines = open_fifo(name, "lines", O_RDONLY);
	}
	if (c->lines >= 0 && c->answers >= 0) {
		c->serial = ++last_serial;
		return;
	}
	end_caller(c);
	shim_log(LOG_WARNING, wrong, sizeof(wrong) - 1);
}

/* Accept named processes, as far as there is room. */
static void accept_named(void)
{
	struct caller *c;

	while ((c = find_caller(0)) != NULL) {
		const char *p = buf_data(&names);
		size_t n = buf_len(&names);
		const char *newline = n > 0 ? memchr(p, '\n', n) : NULL;

		if (newline == NULL) {
			if (n > NAME_MAX_BYTES) /* no name begins so */
				buf_drop(&names, n);
			return;
		}
		accept_caller(c, (struct str){p, (size_t)(newline - p)});
		buf_drop(&names, (size_t)(newline - p) + 1);
	}
}

static void recv_names(void)
{
	char piece[4096];
	ssize_t n = read(door, piece, sizeof(piece));

	if (n > 0)
		(void)buf_add(&names, piece, (size_t)n);
	accept_named();
}

/* ---- answers ---- */

/* Return the process with the most unread answers. */
static struct caller *slowest(void)
{
	struct caller *most = callers;

	for (struct caller *c = callers; c < callers + SHIM_CALLERS_MAX; c++)
		if (buf_len(&c->unsent) > buf_len(&most->unsent))
			most = c;
	return most;
}

uint64_t shim_speaking(void)
{
	return speaking;
}

/* While an artifact waits for its answer no question can be dropped: serve_caller() does. */
static void feed_answers(struct caller *c)
{
	ssize_t n;

	if (buf_len(&c->unsent) == 0)
		return;
	n = write(c->answers, buf_data(&c->unsent), buf_len(&c->unsent));
	if (n > 0) {
		buf_drop(&c->unsent, (size_t)n);
		unsent -= (size_t)n;
	} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
		stop_answers(c);
	}
}

void shim_answer_to(struct shim *s, uint64_t serial, const char *text, size_t n)
{
	struct caller *c;

	if (serial == 0) {
		shim_answer(s, text, n);
		return;
	}
	c = find_caller(serial);
	if (c == NULL || c->answers < 0)
		return;
	unsent += n + 1;
	(void)buf_add(&c->unsent, text, n);
	(void)buf_add(&c->unsent, "\n", 1);
	feed_answers(c);
	if (unsent > UNSENT_MAX)
		stop_answers(slowest());
}

static void refuse_line(struct shim *s, struct str id, const char *errmsg)
{
	char text[512 + MSG_TEXT_MAX];
	struct text t = {.p = text, .size = sizeof(text)};

	if (id.n == 0) {
		text_add(&t, "a process of the program wrote a wrong line: ");
		text_add(&t, errmsg);
		shim_log(LOG_WARNING, text, t.n);
		return;
	}
	text_add(&t, "{\"id\":");
	text_add_n(&t, id.p, id.n);
	text_add(&t, ",\"ok\":false,\"error\":{\"code\":\"INVALID_PARAMETER\","
		     "\"message\":");
	text_add_quoted(&t, errmsg, strlen(errmsg));
	text_add(&t, "}}");
	shim_answer_to(s, speaking, text, t.n);
}

/* ---- lines ---- */

/* Drop what has come of a refused line's rest. */
static void skip_rest(struct caller *c)
{
	const char *p = buf_data(&c->held);
	size_t n = buf_len(&c->held);
	const char *newline = n > 0 ? memchr(p, '\n', n) : NULL;

	c->skips = newline == NULL;
	c->looked = 0;
	buf_drop(&c->held, newline != NULL ? (size_t)(newline - p) + 1 : n);
}

/* Refuse the line of C that has no end yet. */
static void refuse_long_line(struct shim *s, struct caller *c)
{
	speaking = c->serial;
	refuse_line(
	    s,
	    shim_first_id((struct str){buf_data(&c->held), buf_len(&c->held)}),
	    "the line is far over 1 MiB: keep long data as an artifact, and "
	    "give the artifact's id");
	speaking = 0;
	skip_rest(c);
}

/* Take the whole lines of C, unless questions have to wait. */
static void take_lines(struct shim *s, struct caller *c)
{
	if (c->skips)
		skip_rest(c);
	while (!shim_asks_are_full()) {
		const char *line = buf_data(&c->held), *errmsg, *newline;
		size_t held = buf_len(&c->held), n;
		struct str id = {0};

		newline = held > c->looked
			      ? memchr(line + c->looked, '\n', held - c->looked)
			      : NULL;
		c->looked = newline != NULL ? 0 : held;
		if (newline == NULL)
			return;
		n = (size_t)(newline - line);
		speaking = c->serial;
		errmsg = shim_line_of_caller(s, (struct str){line, n}, &id);
		if (errmsg != NULL)
			refuse_line(s, id, errmsg);
		speaking = 0;
		buf_drop(&c->held, n + 1);
		if (c->answers < 0)
			shim_drop_questions(c->serial);
		if (shim_asks_are_full())
			next = (size_t)(c - callers + 1) % SHIM_CALLERS_MAX;
	}
}

/* Before a FIFO has a writer, read(2) would tell an end. */
static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* False: the process has closed its end of the answers, as each does at its end. */
static bool has_reader(const struct caller *c)
{
	struct pollfd p = {.fd = c->answers};

	return poll(&p, 1, 0) <= 0 || (p.revents & POLLERR) == 0;
}

static bool has_room(const struct caller *c)
{
	return c->lines >= 0 && buf_len(&c->held) <= LINE_MAX_BYTES &&
	       !shim_asks_are_full();
}

/* Read once. True: more may be available. */
static bool recv_lines(struct shim *s, struct caller *c)
{
	static char piece[READ_BYTES];
	bool reads = has_room(c) && is_readable(c->lines);
	ssize_t n = reads ? read(c->lines, piece, sizeof(piece)) : -1;

	if (n > 0)
		(void)buf_add(&c->held, piece, (size_t)n);
	else if (n == 0)
		sys_drop(&c->lines);
	take_lines(s, c);
	if (c->looked > LINE_MAX_BYTES)
		refuse_long_line(s, c);
	return n > 0;
}

/* ---- the loop, and the end of the run ---- */

size_t shim_poll_callers(struct pollfd p[SHIM_CALLERS_POLLED])
{
	size_t n = 0;

	if (door < 0)
		return 0;
	if (find_caller(0) != NULL)
		p[n++] = (struct pollfd){.fd = door, .events = POLLIN};
	for (struct caller *c = callers; c < callers + SHIM_CALLERS_MAX; c++) {
		if (c->serial == 0)
			continue;
		if (has_room(c))
			p[n++] =
			    (struct pollfd){.fd = c->lines, .events = POLLIN};
		if (c->answers >= 0)
			p[n++] = (struct pollfd){
			    .fd = c->answers,
			    .events = buf_len(&c->unsent) > 0 ? POLLOUT : 0};
	}
	return n;
}

static void serve_caller(struct shim *s, struct caller *c, int reads)
{
	feed_answers(c);
	if (c->answers < 0 || !has_reader(c))
		lose_answers(c);
	for (int i = 0; i < reads && recv_lines(s, c); i++)
		;
	/* a process may end before a first line, which is no end of the FIFO */
	if (c->answers < 0 && c->lines >= 0 && !is_readable(c->lines))
		sys_drop(&c->lines);
	if (c->lines < 0 && c->looked == buf_len(&c->held)) {
		lose_answers(c);
		end_caller(c);
	}
}

void shim_serve_callers(struct shim *s, int reads)
{
	size_t first = next;

	if (door < 0)
		return;
	for (size_t i = 0; i < SHIM_CALLERS_MAX; i++) {
		struct caller *c = &callers[(first + i) % SHIM_CALLERS_MAX];

		if (c->serial != 0)
			serve_caller(s, c, reads);
	}
	if (find_caller(0) != NULL)
		recv_names();
}

void shim_forget_callers(void)
{
	for (size_t i = 0; i < SHIM_CALLERS_MAX; i++)
		if (callers[i].serial != 0)
			end_caller(&callers[i]);
}

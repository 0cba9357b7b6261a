/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - lines of logfmt, for paddockd, paddock-browser and the relayed lines
 * of other processes. A line that cannot be written is counted, and the loss is
 * logged once writing works; log_failing() shows it to health. No failure
 * reaches a caller.
 */
#include "base/os/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/log_append.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/text/utf8.h"
#include "base/mem.h"
#include "base/os/throttle.h"

#define LINE_MAX_BYTES 2048
#define HELD_MAX_BYTES ((size_t)256 << 10)

static const char *const names_of[] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
};

static enum log_level threshold = LOG_LEVEL_INFO;
/* the log file, guarded by early.lock */
static struct log_append out = {.fd = STDERR_FILENO};
static int (*opener)(const char *path);
static struct { /* lines held until log_open() */
	pthread_mutex_t lock;
	bool on;
	struct buf lines;
} early = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int level_of(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(names_of); i++)
		if (strlen(names_of[i]) == n &&
		    memcmp(names_of[i], word, n) == 0)
			return (int)i;
	return -EINVAL;
}

int log_level_of(const char *name)
{
	return level_of(name, strlen(name));
}

void log_set_level(enum log_level level)
{
	threshold = level;
}

void log_open_by(int (*open_file)(const char *path))
{
	opener = open_file;
}

int log_held_fd(const char *path)
{
	int fd = -1, end = 0;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	/* NOLINTNEXTLINE(cert-err34-c): a number too large is no descriptor */
	return sscanf(path, "/dev/fd/%d%n", &fd, &end) == 1 && path[end] == '\0'
		   ? fd
		   : -1;
}

int log_file(const char *path)
{
	int fd = log_held_fd(path);

	if (fd >= 0) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return fd < 0 ? -errno : fd;
	}
	if (opener != NULL)
		return opener(path);
	/* a FIFO without a reader would be waited for */
	fd = open(path,
		  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY |
		      O_NONBLOCK,
		  0640);

	return fd < 0 ? -errno : fd;
}

void log_hold(bool on)
{
	pthread_mutex_lock(&early.lock);
	early.on = on;
	buf_fini(&early.lines);
	pthread_mutex_unlock(&early.lock);
}

int log_open(const char *path)
{
	int fd = STDERR_FILENO;

	if (path != NULL) {
		fd = log_file(path);
		if (fd < 0)
			return fd;
	}
	pthread_mutex_lock(&early.lock);
	if (out.fd != STDERR_FILENO)
		close(out.fd);
	out.fd = fd;
	out.torn = false; /* the new file may end in a whole line */
	/* the held lines: the lock lets no other line come between */
	if (early.on && buf_len(&early.lines) > 0)
		(void)log_append_line(&out, buf_data(&early.lines),
				      buf_len(&early.lines));
	early.on = false;
	buf_fini(&early.lines);
	pthread_mutex_unlock(&early.lock);
	return 0;
}

/* A log line, built whole, so a single write(2) carries it unbroken. */
struct line {
	char text[LINE_MAX_BYTES];
	size_t n;
	bool plain;	   /* the line is a sentence, not fields */
	bool quoted;	   /* the text is between two quotes of the format */
	bool full;	   /* cut here: nothing may follow */
	size_t who, n_who; /* the requestor's name in TEXT */
};

static void put_bytes(struct line *l, const char *s, size_t n)
{
	l->full = l->full || n >= sizeof(l->text) - l->n;
	if (!l->full) {
		memcpy(l->text + l->n, s, n);
		l->n += n;
	}
}

/* Add an untrusted value: it cannot end the line or its field. */
static void put_log_value(struct line *l, const char *s, size_t most)
{
	size_t left = strnlen(s, most), len;

	for (; left > 0; s += len, left -= len) {
		int32_t point = utf8_decode(s, left, &len);
		const char escaped[] = {'\\', *s};

		if (point < 0 || utf8_is_control(point) ||
		    (!l->quoted && !l->plain && (*s == ' ' || *s == '"')))
			put_bytes(l, "?", 1);
		else if (l->quoted && (*s == '"' || *s == '\\'))
			put_bytes(l, escaped, 2);
		else
			put_bytes(l, s, len);
	}
}

/* Add the argument of the conversion at F, behind '%'; return its end. */
static const char *put_arg(struct line *l, const char *f, va_list *ap)
{
	size_t most = SIZE_MAX;
	char digits[24];

	if (f[0] == '.' && f[1] == '*') {
		most = (size_t)va_arg(*ap, int);
		f += 2;
	} else if (f[0] == '.') {
		most = strtoul(f + 1, (char **)&f, 10);
	}
	if (*f == 's') {
		put_log_value(l, va_arg(*ap, const char *), most);
		return f + 1;
	}
	if (*f == 'd')
		snprintf(digits, sizeof(digits), "%d", va_arg(*ap, int));
	else if (*f == 'u')
		snprintf(digits, sizeof(digits), "%u", va_arg(*ap, unsigned));
	else if (strncmp(f, "zu", 2) == 0)
		snprintf(digits, sizeof(digits), "%zu", va_arg(*ap, size_t));
	else if (strncmp(f, "lld", 3) == 0)
		snprintf(digits, sizeof(digits), "%lld",
			 va_arg(*ap, long long));
	else if (strncmp(f, "llu", 3) == 0)
		snprintf(digits, sizeof(digits), "%llu",
			 va_arg(*ap, unsigned long long));
	else
		assert(!"a conversion that log.h names");
	put_bytes(l, digits, strlen(digits));
	return f + strcspn(f, "du") + 1;
}

/* Do the N bytes at FMT end in the key of an account's name? */
static bool names(const char *fmt, size_t n)
{
	static const char key[] = "requestor=";
	size_t len = sizeof(key) - 1;

	return n >= len && memcmp(fmt + n - len, key, len) == 0;
}

static void begin_line(struct line *l, enum log_level level, const char *part)
{
	char ts[CLOCK_ISO_SIZE];

	*l = (struct line){.n = 0};
	clock_iso(ts, clock_wall_ms());
	l->n = (size_t)snprintf(l->text, sizeof(l->text),
				"ts=%s level=%s part=%s ", ts, names_of[level],
				part);
}

/* ---- to the process that started us ---- */

static void say(const char *text)
{
	struct line l = {.plain = true};

	put_log_value(&l, program_invocation_short_name, SIZE_MAX);
	put_log_value(&l, ": ", SIZE_MAX);
	put_log_value(&l, text, SIZE_MAX);
	l.text[l.n++] = '\n';
	(void)log_append_bytes(STDERR_FILENO, l.text, l.n);
}

static void write_line(struct line *l)
{
	uint64_t lost;
	int was, err;

	l->text[l->n++] = '\n';
	pthread_mutex_lock(&early.lock);
	was = out.err;
	if (early.on) {
		if (buf_len(&early.lines) < HELD_MAX_BYTES)
			buf_add(&early.lines, l->text, l->n);
	} else if (log_append_line(&out, l->text, l->n) == 0 &&
		   (lost = log_append_lost(&out)) > 0) {
		begin_line(l, LOG_LEVEL_WARN, "log");
		l->n += (size_t)snprintf(l->text + l->n, sizeof(l->text) - l->n,
					 "lost=%llu err=\"%s\"\n",
					 (unsigned long long)lost,
					 log_append_why(was));
		(void)log_append_line(&out, l->text, l->n);
	}
	err = out.err;
	pthread_mutex_unlock(&early.lock);
	if (was == 0 && err != 0 && out.fd != STDERR_FILENO)
		log_plain(
		    "the log cannot be written, so its lines are lost: %s",
		    log_append_why(err));
}

int log_failing(void)
{
	int err;

	pthread_mutex_lock(&early.lock);
	err = out.err;
	pthread_mutex_unlock(&early.lock);
	return -err;
}

void log_plain(const char *fmt, ...)
{
	char text[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(text);
}

void log_tell(enum log_level level, const char *part, const char *fmt, ...)
{
	char text[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(text);
	if (out.fd == STDERR_FILENO && !early.on)
		return;
	if (level == LOG_LEVEL_ERROR)
		log_error(part, "why=\"%s\"", text);
	else
		log_warn(part, "why=\"%s\"", text);
}

/* ---- throttling ---- */

static pthread_mutex_t throttle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct throttle throttle; /* entries by format; throttle_lock guards
				    them */
static int64_t told_ms;

/* Log that lines like FMT were held back. */
static void tell_held(void *arg, const void *fmt, const char *who,
		      uint64_t held)
{
	struct line l;

	(void)arg;
	begin_line(&l, LOG_LEVEL_WARN, "log");
	if (*who != '\0') {
		put_bytes(&l, "requestor=", 10);
		put_log_value(&l, who, SIZE_MAX);
		put_bytes(&l, " ", 1);
	}
	l.n += (size_t)snprintf(l.text + l.n, sizeof(l.text) - l.n,
				"held_back=%llu like=\"",
				(unsigned long long)held);
	l.quoted = true;
	put_log_value(&l, fmt, sizeof(l.text) / 2);
	put_bytes(&l, "\"", 1);
	write_line(&l);
}

static void tell_due(int64_t now_ms, bool final)
{
	if (!final && now_ms - told_ms < THROTTLE_MS)
		return;
	told_ms = now_ms;
	throttle_tell(&throttle, now_ms, final, tell_held, NULL);
}

/* May L be written: one of MOST a minute of the format FMT for its account? */
static bool may_write(const struct line *l, const char *fmt, unsigned most)
{
	const char *who = l->text + l->who;
	int64_t now_ms = clock_mono_ms();
	char name[THROTTLE_WHO_MAX];
	uint64_t held;
	bool pass;

	pthread_mutex_lock(&throttle_lock);
	pass =
	    throttle_pass(&throttle, fmt, who, l->n_who, most, now_ms, &held);
	if (held > 0) {
		snprintf(name, sizeof(name), "%.*s", (int)l->n_who, who);
		tell_held(NULL, fmt, name, held);
	}
	tell_due(now_ms, false);
	pthread_mutex_unlock(&throttle_lock);
	return pass;
}

void log_held_back(bool final)
{
	int saved = errno;

	pthread_mutex_lock(&throttle_lock);
	tell_due(clock_mono_ms(), final);
	pthread_mutex_unlock(&throttle_lock);
	errno = saved;
}

static void log_line(enum log_level level, unsigned most, const char *part,
		     const char *fmt, va_list *ap)
{
	const char *at = fmt;
	struct line l;
	int saved = errno;

	if (level > threshold)
		return;
	begin_line(&l, level, part);
	while (*at != '\0') {
		size_t n = strcspn(at, "%\""), from;
		bool named = names(at, n);

		put_bytes(&l, at, n);
		at += n;
		from = l.n;
		if (*at == '%') {
			at = put_arg(&l, at + 1, ap);
			l.who = named ? from : l.who;
			l.n_who = named ? l.n - from : l.n_who;
		} else if (*at == '"') {
			l.quoted = !l.quoted;
			put_bytes(&l, at++, 1);
		}
	}
	if (level == LOG_LEVEL_DEBUG || may_write(&l, fmt, most))
		write_line(&l);
	errno = saved;
}

/* ---- lines of other processes ---- */

/* Return the word behind NAME at *P, which moves past the word; or NULL. */
static const char *line_field(const char **p, const char *end, const char *name,
			      size_t *n)
{
	size_t len = strlen(name);
	const char *at = *p, *stop;

	if ((size_t)(end - at) <= len || memcmp(at, name, len) != 0)
		return NULL;
	at += len;
	stop = memchr(at, ' ', (size_t)(end - at));
	if (stop == NULL || stop == at)
		return NULL;
	*n = (size_t)(stop - at);
	*p = stop + 1;
	return at;
}

void log_relay(const char *part, const char *line, size_t len)
{
	const char *p = line, *end = line + len, *level, *own;
	size_t n_ts, n_level, n_own = 0;
	struct line l = {.n = 0};
	int rank = -EINVAL;

	if (line_field(&p, end, "ts=", &n_ts) != NULL &&
	    (level = line_field(&p, end, "level=", &n_level)) != NULL)
		rank = level_of(level, n_level);
	own = rank < 0 ? NULL : line_field(&p, end, "part=", &n_own);
	if (own == NULL) {
		log_warn(part, "said=\"%.*s\"", (int)len, line);
		return;
	}
	if (rank > (int)threshold)
		return;
	begin_line(&l, (enum log_level)rank, part);
	l.n--; /* a slash replaces the space */
	put_bytes(&l, "/", 1);
	put_log_value(&l, own, n_own);
	put_bytes(&l, " ", 1);
	l.plain = true; /* the fields are quoted already */
	put_log_value(&l, p, (size_t)(end - p));
	write_line(&l);
}

#define LOG_FUNCTION(name, level, most)                                        \
	void name(const char *part, const char *fmt, ...)                      \
	{                                                                      \
		va_list ap;                                                    \
                                                                               \
		va_start(ap, fmt);                                             \
		log_line(level, most, part, fmt, &ap);                         \
		va_end(ap);                                                    \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR, LOG_MINUTE_MAX)
LOG_FUNCTION(log_warn, LOG_LEVEL_WARN, LOG_MINUTE_MAX)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO, LOG_MINUTE_MAX)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG, 0)
LOG_FUNCTION(log_rarely, LOG_LEVEL_WARN, 1)

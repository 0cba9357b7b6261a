#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define LINE_MAX_BYTES 2048

static const char *const names[] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
};

static enum log_level threshold = LOG_LEVEL_INFO;
static int log_fd = STDERR_FILENO;
static int (*opener)(const char *path);

int log_level_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return (int)i;
	return -EINVAL;
}

void log_set_level(enum log_level level)
{
	threshold = level;
}

void log_open_by(int (*open_file)(const char *path))
{
	opener = open_file;
}

/* The descriptor of ours that PATH names, which needs no rights; or -1. */
static int held_fd(const char *path)
{
	int fd = -1, end = 0;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	/* NOLINTNEXTLINE(cert-err34-c): a number too large is no descriptor */
	return sscanf(path, "/dev/fd/%d%n", &fd, &end) == 1 &&
		       path[end] == '\0'
		   ? fd
		   : -1;
}

int log_file(const char *path)
{
	int fd = held_fd(path);

	if (fd >= 0) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return fd < 0 ? -errno : fd;
	}
	if (opener != NULL)
		return opener(path);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
		  0640);

	return fd < 0 ? -errno : fd;
}

int log_open(const char *path)
{
	int fd = STDERR_FILENO;

	if (path != NULL) {
		fd = log_file(path);
		if (fd < 0)
			return fd;
	}
	if (log_fd != STDERR_FILENO)
		close(log_fd);
	log_fd = fd;
	return 0;
}

/* Build the whole line first, so that one write(2) carries it unbroken. */
static void log_line(enum log_level level, const char *part, const char *fmt,
		     va_list ap)
{
	char line[LINE_MAX_BYTES], ts[CLOCK_ISO_SIZE];
	int saved = errno;
	int n;

	if (level > threshold)
		return;
	clock_iso(ts, clock_wall_ms());
	n = snprintf(line, sizeof(line), "ts=%s level=%s part=%s ", ts,
		     names[level], part);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2; /* cut, never split */
	for (int i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7F)
			line[i] = '?';
	line[n++] = '\n';
	(void)!write(log_fd, line, (size_t)n);
	errno = saved;
}

#define LOG_FUNCTION(name, level)                                              \
	void name(const char *part, const char *fmt, ...)                      \
	{                                                                      \
		va_list ap;                                                    \
                                                                               \
		va_start(ap, fmt);                                             \
		log_line(level, part, fmt, ap);                                \
		va_end(ap);                                                    \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warn, LOG_LEVEL_WARN)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)

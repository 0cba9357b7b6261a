/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one event, one line, one write(2), in logfmt:
 *
 *   ts=2026-01-02T03:04:05.678Z level=warn part=run run=run_2a state=running
 *
 * Lines go to stderr (stdout is the protocol in stdio mode) or to a file.
 */
#ifndef BASE_OS_LOG_H
#define BASE_OS_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG
};

/* Return the level named NAME ("error" "warn" "info" "debug"), or -EINVAL. */
int log_level_of(const char *name);
void log_set_level(enum log_level level);

/*
 * Append to PATH from now on; NULL: stderr. Call it again to reopen a
 * rotated file. Copies PATH. 0, or -errno with the old file still in use.
 */
int log_open(const char *path);

/*
 * ON: hold lines in memory, 256 KiB at most, until log_open(). Before the start
 * has succeeded, the log file may be another server's. Not ON: drop the held
 * lines.
 */
void log_hold(bool on);

/*
 * Return the number of our descriptor named by PATH (/dev/stderr, /dev/fd/N),
 * or -1.
 */
int log_held_fd(const char *path);

/*
 * Open a file to append lines to: its descriptor, or -errno; -ENXIO: a FIFO
 * without a reader, or a socket.
 */
int log_file(const char *path);
/* Open log files by OPEN_FILE, which may have rights beyond this process's. */
void log_open_by(int (*open_file)(const char *path));

/*
 * PART is the module that logs. FMT gives key=value pairs by %s %.*s %.8s %d %u
 * %zu %lld %llu alone; the caller quotes a value that may have spaces
 * ("msg=\"%s\""). No peer can forge a second line or another field: control
 * characters (base/text/utf8.h), and bytes that are not UTF-8, become '?'; in
 * quotes '"' and '\' get a '\' before them, elsewhere '"' and a space become
 * '?'. A line is cut at 2 KiB. errno is kept.
 *
 * Of the lines of one FMT, LOG_MINUTE_MAX a minute are written for each
 * account: the value of "requestor=%s" in FMT, or the empty account. Lines at
 * the level debug are not limited. Lines held back are counted, and the count
 * is logged once a minute.
 */
#define LOG_MINUTE_MAX 600
void log_error(const char *part, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void log_warn(const char *part, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void log_info(const char *part, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void log_debug(const char *part, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Log a warning that anybody may cause: once a minute, with the count. */
void log_rarely(const char *part, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Return -errno while the log cannot be written and lines are lost, or 0. The
 * begin of a failure is reported on stderr; the first line written afterwards
 * is followed by the number of lost lines.
 */
int log_failing(void);

/*
 * Write a sentence to stderr, after the program's name, for the process that
 * started us: always a single line, without control characters.
 */
void log_plain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * Write a sentence as log_plain() does, on what keeps this program from its
 * work at the start. When the log is not stderr, log it as well, as an error or
 * a warning.
 */
void log_tell(enum log_level level, const char *part, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Log the counts of lines held back in past minutes (FINAL: in the present
 * minute, too). To be called once a minute, and at the end.
 */
void log_held_back(bool final);

/*
 * Log a line of LEN bytes from another process of ours in the same format. The
 * level and the fields are kept, except control characters; the time is ours,
 * and PART comes before the line's own part, so the process cannot write as
 * another. A line of another form is quoted, as a warning. The caller bounds
 * the number of lines.
 */
void log_relay(const char *part, const char *line, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one event, one line, one write(2), in logfmt:
 *
 *   ts=2026-01-02T03:04:05.678Z level=warn part=run run=run_… state=running
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

/* The level named NAME ("error" "warn" "info" "debug"), or -EINVAL. */
int log_level_of(const char *name);
void log_set_level(enum log_level level);

/*
 * Append to PATH from now on; NULL: stderr. Call it again to reopen a
 * rotated file. Copies PATH. 0, or -errno with the old file still in use.
 */
int log_open(const char *path);

/*
 * ON: lines wait in memory, at most 256 KiB of them, until log_open() says where
 * they go: a file may be another server's until it is known that the start is
 * ours. Not ON: they are dropped.
 */
void log_hold(bool on);

/* The descriptor of ours that PATH names (/dev/stderr, /dev/fd/N); or -1. */
int log_held_fd(const char *path);

/* Open a file to append lines to: its descriptor, or -errno. */
int log_file(const char *path);
/* From now on OPEN_FILE does that; it may do for others what they may not. */
void log_open_by(int (*open_file)(const char *path));

/*
 * PART is the module that speaks. FMT gives key=value pairs by %s %.*s %.8s
 * %d %u %zu %lld %llu alone; a value that may have spaces is quoted by the
 * caller ("msg=\"%s\""). No peer can forge a second line or another field:
 * characters that act (base/text/utf8.h), and what is not UTF-8, become '?', in
 * quotes '"' and '\' get a '\' before them, and elsewhere '"' and a space
 * become '?'. A line is cut at 2 KiB. errno is kept.
 *
 * Of the lines of one FMT LOG_MINUTE_MAX a minute are written for each account,
 * which is what "requestor=%s" in FMT says, or else nobody's; all of them at
 * the level debug. What is held back is counted, and told once a minute.
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
/* A warning that anybody may cause: once a minute, with how many there were. */
void log_rarely(const char *part, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Lines are lost while the file is full. The first one written after that is
 * followed by their number; that it began is reported on stderr. -errno while
 * it fails, or 0.
 */
int log_failing(void);

/*
 * A sentence to whoever started us: a line on stderr, after the program's name.
 * Whatever comes in it, it is one line, in which nothing acts.
 */
void log_plain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * The same for what keeps this program from its work at the start; it is logged
 * as well, when the log is not stderr, as an error or else a warning.
 */
void log_tell(enum log_level level, const char *part, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Time has passed: log what was held back in minutes that are over (FINAL: in
 * any). Call it once a minute, and at the end.
 */
void log_held_back(bool final);

/*
 * A line that another process of ours has written, by this format: its level
 * and fields (LEN bytes) as they stand, but for control characters; the time is
 * ours, and PART comes before its own, so that it speaks for nobody else. What
 * is no such line is quoted, as a warning. The caller bounds how many come.
 */
void log_relay(const char *part, const char *line, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* t_base.c - buffers, the clocks, memory, the log. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

static bool holds(const struct buf *b, const char *want)
{
	return buf_len(b) == strlen(want) &&
	       memcmp(buf_data(b), want, strlen(want)) == 0;
}

TEST(buf)
{
	struct buf b = {0};
	size_t len = 99;
	char *s;

	is_int(buf_len(&b), 0, "an all-zero buf is empty");
	is_int(buf_add(&b, "abc", 3), 0, "bytes are added");
	is_int(buf_add(&b, NULL, 0), 0, "adding no bytes succeeds");
	is_int(buf_add_str(&b, "def"), 0, "a string is added");
	is_int(buf_printf(&b, "%d%s", 7, "g"), 0,
	       "buf_printf() adds a formatted text");
	ok(holds(&b, "abcdef7g"), "the buf holds all added bytes in order");
	buf_drop(&b, 2);
	ok(holds(&b, "cdef7g"), "the first bytes are dropped");
	buf_drop(&b, 0);
	ok(holds(&b, "cdef7g"), "dropping no bytes changes nothing");
	s = buf_take(&b, &len);
	is_str(s, "cdef7g", "buf_take() returns the held bytes");
	is_int(len, 6, "buf_take() returns the length");
	ok(b.data == NULL && buf_len(&b) == 0,
	   "the buf is empty after buf_take()");
	free(s);
	s = buf_take(&b, NULL);
	is_str(s, "", "an empty buf gives an empty string");
	free(s);

	memcpy(buf_room(&b, 5), "hello", 5);
	is_int(buf_len(&b), 0, "reserved room does not count as held");
	buf_wrote(&b, 4);
	ok(holds(&b, "hell"), "written bytes count as held");
	buf_drop(&b, 4);
	is_int(buf_len(&b), 0, "the buf is empty after dropping all bytes");
	is_int(b.off, 0, "the start of an empty buf is free again");
	buf_fini(&b);
	buf_fini(&b);
	ok(b.data == NULL, "buf_fini() twice is fine");
}

/* A queue: bytes come in at one end and go out at the other end, in order. */
TEST(buf_queue)
{
	struct buf b = {0};
	unsigned char in = 0, out = 0;
	size_t wrong = 0, most = 0;

	for (size_t round = 0; round < 1000; round++) {
		for (size_t n = round * 7 % 61; n > 0; n--, in++)
			buf_add(&b, &in, 1);
		for (size_t n = round * 5 % 67; n > 0 && buf_len(&b) > 0; n--) {
			wrong += (unsigned char)*buf_data(&b) != out++;
			buf_drop(&b, 1);
		}
		most = buf_len(&b) > most ? buf_len(&b) : most;
	}
	is_int(wrong, 0, "bytes leave in the order they came");
	ok(b.cap <= 4 * most + 512,
	   "the capacity stays near the largest content");
	buf_fini(&b);
}

TEST(buf_read)
{
	static const char text[] = "so many bytes";
	struct buf b = {0};
	const size_t len = strlen(text);
	int ends[2];

	for (size_t max = len - 1; max <= len; max++) {
		if (pipe(ends) < 0 || write(ends[1], text, len) != (ssize_t)len)
			abort();
		close(ends[1]);
		is_int(buf_read(&b, ends[0], max), max < len ? -EFBIG : 0,
		       "a file of %zu bytes, where %zu may be", len, max);
		if (max < len)
			buf_fini(&b);
		close(ends[0]);
	}
	ok(holds(&b, text), "the buf still holds the earlier bytes");
	is_int(buf_read(&b, -1, 9), -EBADF, "no file at all");
	buf_fini(&b);
}

TEST(buf_max)
{
	struct buf b = {.max = 8};

	is_int(buf_add_str(&b, "12345678"), 0, "max bytes are held");
	is_int(buf_add_str(&b, "9"), -EMSGSIZE,
	       "one byte more than max is refused");
	is_int(buf_printf(&b, "%d", 9), -EMSGSIZE,
	       "buf_printf() beyond max is refused");
	is_int(buf_add(&b, "", SIZE_MAX), -EMSGSIZE,
	       "SIZE_MAX bytes are refused");
	ok(holds(&b, "12345678"), "a refusal changes nothing");
	buf_drop(&b, 3);
	is_int(buf_add_str(&b, "abcd"), -EMSGSIZE,
	       "a text longer than the dropped bytes is refused");
	is_int(buf_add_str(&b, "abc"), 0,
	       "a text as long as the dropped bytes is added");
	ok(holds(&b, "45678abc"), "the bytes stay in order after a drop");
	buf_fini(&b);
	is_int(buf_add_str(&b, "123456789"), -EMSGSIZE, "max outlives fini");
	free(buf_take(&b, NULL));
	is_int(buf_add_str(&b, "123456789"), -EMSGSIZE,
	       "max outlives buf_take()");
	buf_fini(&b);
}

static const struct {
	int64_t ms;
	const char *iso;
} times[] = {
    {0, "1970-01-01T00:00:00.000Z"},
    {1, "1970-01-01T00:00:00.001Z"},
    {999, "1970-01-01T00:00:00.999Z"},
    {1000, "1970-01-01T00:00:01.000Z"},
    {951782400000, "2000-02-29T00:00:00.000Z"},
    {1767323045678, "2026-01-02T03:04:05.678Z"},
    {4102444799999, "2099-12-31T23:59:59.999Z"},
    {253402300799999, "9999-12-31T23:59:59.999Z"},
};

TEST(clock)
{
	char iso[CLOCK_ISO_SIZE + 1];
	int64_t ms = clock_mono_ms(), us = clock_mono_us();

	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		iso[CLOCK_ISO_SIZE] = '!';
		clock_iso(iso, times[i].ms);
		is_str(iso, times[i].iso, "time %zu", i);
		is_int(iso[CLOCK_ISO_SIZE], '!', "time %zu: no byte more", i);
	}
	ok(setenv("TZ", "America/New_York", 1) == 0,
	   "the time zone is set to New York");
	clock_iso(iso, 0);
	is_str(iso, "1970-01-01T00:00:00.000Z",
	       "clock_iso() is UTC in any time zone");
	unsetenv("TZ");
	ok(us / 1000 >= ms,
	   "milliseconds and microseconds are of one monotonic clock");
	ok(clock_mono_ms() >= ms && clock_mono_us() >= us,
	   "the monotonic clock never falls");
	ok(clock_wall_ms() > 1600000000000, "the wall clock is of this age");
	ok(clock_boot_ms() >= ms,
	   "the boot clock is not behind the monotonic clock");
}

TEST(mem)
{
	char *s = xasprintf("%s-%d", "a", 7);
	char *cut = xstrndup(s, 1), *nul = xstrndup("a\0b", 3);
	char *p = xcalloc(0, 0);

	is_str(s, "a-7", "xasprintf() formats its arguments");
	is_str(cut, "a", "xstrndup() cuts at the length");
	ok(memcmp(nul, "a\0b", 4) == 0, "xstrndup() copies what follows a NUL");
	ok(p != NULL, "xcalloc() of nothing is no failure");
	p = xrealloc(p, 0);
	ok(p != NULL, "xrealloc() to no bytes is no failure");
	free(s), free(cut), free(nul), free(p);
}

/* Log TEXT as a value and compare the line without the time. */
static void is_logged(const char *path, const char *text, const char *want,
		      const char *name)
{
	char *got;

	ok(truncate(path, 0) == 0, "%s: an empty file", name);
	log_info("test", "msg=\"%s\"", text);
	got = buf_file(path, 1 << 20);
	ok(strncmp(got, "ts=2", 4) == 0 && strlen(got) > 28 && got[27] == ' ',
	   "%s: the time first", name);
	is_str(strlen(got) > 28 ? got + 28 : got, want, "%s", name);
	free(got);
}

static void test_log_lines(const char *path)
{
	is_logged(path, "plain", "level=info part=test msg=\"plain\"\n",
		  "plain");
	is_logged(path, "a\nts=forged level=error",
		  "level=info part=test msg=\"a?ts=forged level=error\"\n",
		  "a newline starts no second line");
	is_logged(path, "a\r\n\t\x1B[2J\x7F\x01",
		  "level=info part=test msg=\"a????[2J??\"\n",
		  "no control character passes");
	is_logged(path, "caf\xC3\xA9",
		  "level=info part=test msg=\"caf\xC3\xA9\"\n", "UTF-8 passes");
	is_logged(
	    path,
	    "a\xC2\x9B"
	    "31m\xE2\x80\xAE"
	    "b\xF3\xA0\x81\x81\xFF",
	    "level=info part=test msg=\"a?31m?b??\"\n",
	    "no control character of C1, no direction mark, no invisible one and no invalid UTF-8 passes");
	is_logged(path, "%s%n%d", "level=info part=test msg=\"%s%n%d\"\n",
		  "a value is no format");
	is_logged(path, "a\" status=\"forged",
		  "level=info part=test msg=\"a\\\" status=\\\"forged\"\n",
		  "a quote ends no value");
	is_logged(path, "C:\\", "level=info part=test msg=\"C:\\\\\"\n",
		  "a backslash escapes no quote");
}

static void test_log_formats(const char *path)
{
	char *got;

	ok(truncate(path, 0) == 0, "formats: an empty file");
	log_info("test", "word=%s n=%d,%u,%zu", "a b=\"c\\", -1, 2u, (size_t)3);
	log_info("test", "long=%lld,%llu cut=\"%.2s|%.*s|%.9s\"",
		 INT64_MIN + 0LL, UINT64_MAX + 0ULL, "abc", 1, "\"\"", "d");
	got = buf_file(path, 1 << 20);
	ok(strstr(got, "test word=a?b=?c\\ n=-1,2,3\n") != NULL,
	   "outside of quotes a value is one word");
	ok(strstr(got, "test long=-9223372036854775808,18446744073709551615 "
		       "cut=\"ab|\\\"|d\"\n") != NULL,
	   "long numbers, and values that are cut");
	free(got);
}

static void test_log_long(const char *path)
{
	char *text = xcalloc(10001, 1), *got;

	memset(text, 'x', 10000);
	ok(truncate(path, 0) == 0, "a long line: an empty file");
	log_warn("test", "msg=%s", text);
	log_warn("test", "next");
	got = buf_file(path, 1 << 20);
	ok(strcspn(got, "\n") < 2048, "a line is cut at 2 KiB");
	ok(strcspn(got, "\n") > 2000, "a long line is cut near 2 KiB");
	ok(strstr(got, "x\nts=2") != NULL, "a cut line still ends as a line");
	ok(strstr(got, "part=test next\n") != NULL,
	   "the line after a cut line is whole");
	free(got), free(text);
}

static void test_log_levels(const char *path)
{
	char *got;

	is_int(log_level_of("error"), LOG_LEVEL_ERROR,
	       "the name \"error\" is the level error");
	is_int(log_level_of("warn"), LOG_LEVEL_WARN,
	       "the name \"warn\" is the level warn");
	is_int(log_level_of("info"), LOG_LEVEL_INFO,
	       "the name \"info\" is the level info");
	is_int(log_level_of("debug"), LOG_LEVEL_DEBUG,
	       "the name \"debug\" is the level debug");
	is_int(log_level_of("Debug"), -EINVAL, "levels are in small letters");
	is_int(log_level_of(""), -EINVAL, "the empty level is none");

	ok(truncate(path, 0) == 0, "levels: an empty file");
	log_debug("test", "unasked");
	log_set_level(LOG_LEVEL_WARN);
	log_info("test", "too low");
	errno = ENOTTY;
	log_warn("test", "heard");
	is_int(errno, ENOTTY, "logging keeps errno");
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("test", "asked for");
	log_set_level(LOG_LEVEL_INFO);
	got = buf_file(path, 1 << 20);
	ok(strstr(got, "unasked") == NULL, "debug is off at first");
	ok(strstr(got, "too low") == NULL, "a lower level is not written");
	ok(strstr(got, "level=warn part=test heard") != NULL,
	   "a line of the set level is written");
	ok(strstr(got, "level=debug part=test asked") != NULL,
	   "debug, if asked");
	free(got);
}

static void test_log_reopen(const char *path, const char *dir)
{
	char *moved = xasprintf("%s/moved", dir);
	char *missing = xasprintf("%s/none/log", dir);
	char *got;
	struct stat st;

	ok(rename(path, moved) == 0, "the log is rotated");
	log_info("test", "before");
	is_int(log_open(path), 0, "the log is reopened after the rotation");
	log_info("test", "after");
	got = buf_file(moved, 1 << 20);
	ok(strstr(got, "before") != NULL,
	   "a line before the reopening goes to the old file");
	ok(strstr(got, "after") == NULL,
	   "no line after the reopening goes to the old file");
	free(got);
	got = buf_file(path, 1 << 20);
	ok(strstr(got, "after") != NULL,
	   "a line after the reopening goes to the new file");
	free(got);
	ok(stat(path, &st) == 0 && (st.st_mode & 07) == 0, "closed to others");

	is_int(log_open(missing), -ENOENT, "a path that cannot be opened");
	log_info("test", "still here");
	got = buf_file(path, 1 << 20);
	ok(strstr(got, "still here") != NULL, "leaves the old file in use");
	free(got);
	unlink(moved);
	free(moved), free(missing);
}

TEST(log)
{
	char dir[] = "/tmp/paddock-t_base-XXXXXX";
	char *path;

	if (!ok(mkdtemp(dir) != NULL, "a folder for the log"))
		return;
	path = xasprintf("%s/log", dir);
	is_int(log_open(path), 0, "the log is opened");
	test_log_lines(path);
	test_log_formats(path);
	test_log_long(path);
	test_log_levels(path);
	test_log_reopen(path, dir);
	is_int(log_open(NULL), 0, "the log goes back to stderr");
	unlink(path);
	ok(rmdir(dir) == 0, "nothing is left behind");
	free(path);
}

/* The last test, since from here on the wall clock is at the followed time. */
TEST(clock_follow)
{
	int64_t ms = clock_boot_ms();

	ok(clock_follow(5000000, ms, 10),
	   "the clock of a database is followed");
	ok(clock_wall_ms() >= 5000000 && clock_wall_ms() < 5060000,
	   "the time is the other clock's");
	ok(!clock_follow(5000010, ms, 10) && !clock_follow(4999990, ms, 10),
	   "a clock within slack of the one that is followed changes nothing");
	ok(clock_follow(5000011, ms, 10),
	   "a clock one millisecond beyond slack is followed");
	ok(clock_follow(9000000, ms, 10) && clock_wall_ms() >= 9000000,
	   "a clock that is far ahead is followed");
}

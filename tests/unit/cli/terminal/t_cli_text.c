/* SPDX-License-Identifier: Apache-2.0 */
/* t_cli_text.c - durations, file names, the bar, pretty JSON, cleaned text. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal/duration.h"
#include "cli/client/progress.h"
#include "cli/terminal/remedy.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/opt.h"
#include "cli/terminal/file_name.h"
#include "cli/terminal/json_io.h"
#include "cli/client/report.h"
#include "proto/json/json_diff.h"
#include "tests/unit/tap_json.h"

/* ---- limits ---- */

TEST(limits)
{
	static const struct {
		const char *details, *want;
	} cases[] = {
	    {"{\"limit\":\"memory\",\"used\":8912896,\"allowed\":8388608,"
	     "\"unit\":\"bytes\"}",
	     "it reached 8.5 MiB of memory and may have 8 MiB; how much "
	     "it needs in all is not known"},
	    {"{\"limit\":\"memory\",\"used\":1098907648,\"allowed\":1073741824,"
	     "\"unit\":\"bytes\"}",
	     "it reached 1098907648 bytes of memory and may have 1073741824 "
	     "bytes; how much it needs in all is not known"},
	    {"{\"limit\":\"artifacts\",\"used\":3,\"allowed\":2,\"unit\":"
	     "\"artifacts\"}",
	     "it needed 3 artifacts and may have 2"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *o = parse(cases[i].details);
		char *got = remedy_limit(o);

		is_str(got, cases[i].want, "the remedy names the needed value");
		free(got);
		json_object_put(o);
	}
}

/* ---- lost artifacts ---- */

static void add_line(void *arg, const char *line)
{
	buf_printf(arg, "%s\n", line);
}

TEST(lost_artifacts)
{
	static const struct {
		const char *view, *want;
	} cases[] = {
	    {"{\"missingArtifacts\":["
	     "{\"name\":\"a\",\"errorCode\":\"X\",\"message\":\"full\"},"
	     "{\"name\":\"b\",\"errorCode\":\"X\",\"message\":\"full\"},"
	     "{\"name\":\"c\",\"errorCode\":\"Y\",\"message\":\"gone\"}]}",
	     "not kept: a, b: full\nnot kept: c: gone\n"},
	    {"{\"missingArtifacts\":[{\"name\":\"a\",\"message\":\"full\"},"
	     "{\"name\":\"b\",\"message\":\"gone\"}]}",
	     "not kept: a: full\nnot kept: b: gone\n"},
	    {"{\"missingArtifacts\":["
	     "{\"name\":\"a\",\"errorCode\":\"X\",\"message\":\"2 of 1\","
	     "\"details\":{\"limit\":\"artifacts\"}},"
	     "{\"name\":\"b\",\"errorCode\":\"X\",\"message\":\"3 of 1\","
	     "\"details\":{\"limit\":\"artifacts\"}},"
	     "{\"name\":\"c\",\"errorCode\":\"X\",\"message\":\"9 of 8\","
	     "\"details\":{\"limit\":\"artifact_bytes\"}}]}",
	     "not kept: a, b: 2 of 1\nnot kept: c: 9 of 8\n"},
	    {"{\"error\":{\"message\":\"the disk is full\"},"
	     "\"missingArtifacts\":[{\"name\":\"a\",\"errorCode\":\"X\","
	     "\"message\":\"the disk is full\"}]}",
	     "not kept: a\n"},
	    {"{}", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *o = parse(cases[i].view);
		struct buf got = {0};

		lost_artifacts_print(o, add_line, &got);
		buf_add(&got, "", 1);
		is_str(buf_data(&got), cases[i].want,
		       "a line for each reason: %s", cases[i].view);
		buf_fini(&got);
		json_object_put(o);
	}
}

/* ---- durations ---- */

TEST(durations)
{
	static const struct {
		const char *text;
		int64_t want; /* or -errno */
	} cases[] = {
	    {"90", 90000},
	    {"1", 1000},
	    {"1.5", 1500},
	    {"250ms", 250},
	    {"30s", 30000},
	    {"1m30s", 90000},
	    {"2h", 7200000},
	    {"1.5h", 5400000},
	    {"1d2h3m4s5ms", 93784005},
	    {"0.001", 1},
	    {"366d", DURATION_MAX_MS},
	    {"", -EINVAL},
	    {"s", -EINVAL},
	    {"-1", -EINVAL},
	    {"+1", -EINVAL},
	    {"1 s", -EINVAL},
	    {"1x", -EINVAL},
	    {"1e3", -EINVAL},
	    {"0x10", -EINVAL},
	    {"1.", -EINVAL},
	    {".5", -EINVAL},
	    {"1s2m", -EINVAL},
	    {"1m1m", -EINVAL},
	    {"1m30", -EINVAL},
	    {"inf", -EINVAL},
	    {"0", -ERANGE},
	    {"0ms", -ERANGE},
	    {"367d", -ERANGE},
	    {"99999999999999999999", -ERANGE},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t ms = 0;
		int rc = duration_parse(&ms, cases[i].text);

		is_int(rc < 0 ? rc : ms, cases[i].want, "duration \"%s\"",
		       cases[i].text);
	}
}

/* ---- characters which act on a terminal ---- */

TEST(acts)
{
	static const int32_t acting[] = {
	    0x00,    0x07,    0x0A,    0x1B,	0x1F,	 0x7F,	  0x80,
	    0x85,    0x9B,    0x9F,    0xAD,	0x61C,	 0x115F,  0x1160,
	    0x200B,  0x200E,  0x200F,  0x2028,	0x2029,	 0x202A,  0x202E,
	    0x2060,  0x2066,  0x2069,  0x206F,	0x3164,	 0xFEFF,  0xFFA0,
	    0xFFF0,  0xFFF9,  0xFFFB,  0xFFFE,	0x1BCA0, 0x1D173, 0x1D17A,
	    0xE0000, 0xE0001, 0xE0020, 0xE007F, 0xE0100, 0xE01EF, 0xE0FFF};
	static const int32_t shown[] = {
	    ' ',    'a',    '~',    0xA0,   0xE9,    0x5D0,   0x627,
	    0x34F,  0x17B4, 0x180B, 0x200C, 0x200D,  0x2010,  0x2030,
	    0x3042, 0xFE0F, 0xFFFC, 0xFFFD, 0x1F600, 0x20000, 0xE1000};
	size_t wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(acting); i++)
		if (!utf8_is_control(acting[i]))
			printf("# U+%04X acts\n", (unsigned)acting[i]), wrong++;
	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		if (utf8_is_control(shown[i]))
			printf("# U+%04X does not\n", (unsigned)shown[i]),
			    wrong++;
	is_int(wrong, 0,
	       "controls, directions, tags and what is unseen act; "
	       "joiners and variants do not");
}

/* ---- messages of the command ---- */

TEST(tell)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	const char *evil = "a\x1B[1m\nb\xE2\x80\xAE";

	safe_fprintf(f, "%s|%8s|%-8s|%.3s|%*s|%-*s|%.*s|", evil, "ab", "ab",
		     "abcdef", 4, "x", 4, "x", 2, "xyz");
	safe_fprintf(f, "%d|%5d|%-5d|%05d|%u|%x|%zu|%lld|%llu|%ld|%c|%.2f|%%\n",
		     -1, 42, 42, 42, 7u, 255u, (size_t)9, -5LL, 6ULL, 8L, 'c',
		     1.5);
	safe_fprintf(f, "%-4s|%4s|\n", "\xE8\xA1\xA8", "\xC3\xA9");
	fclose(f);
	is_str(text,
	       "a?[1m b?|      ab|ab      |abc|   x|x   |xy|"
	       "-1|   42|42   |00042|7|ff|9|-5|6|8|c|1.50|%\n"
	       "\xE8\xA1\xA8  |   \xC3\xA9|\n",
	       "words are told as printf(3) would, but nothing in them acts");
	free(text);
}

/* ---- exit statuses ---- */

static int refused(struct json_object *refusal)
{
	return report_refusal(refusal, NULL);
}

static int status_of(const char *json, int (*of)(struct json_object *))
{
	struct json_object *o = NULL;
	int status;

	json_parse(&o, json, strlen(json), NULL);
	status = of(o);
	json_object_put(o);
	return status;
}

TEST(statuses)
{
	static const struct {
		const char *json;
		int want;
	} ends[] =
	    {
		{"{\"status\":\"succeeded\"}", 0},
		{"{\"status\":\"failed\",\"error\":{\"errorCode\":\"X\"}}", 1},
		{"{\"status\":\"partial_success\"}", 3},
		{"{\"status\":\"canceled\"}", 130},
		{"{\"status\":\"failed\",\"error\":{\"errorCode\":"
		 "\"RUN_TIMEOUT\"}}",
		 124},
		{"{\"status\":\"running\"}", 0},
	    },
	  refusals[] = {
	      {"{\"errorCode\":\"INVALID_PARAMETER\"}", 2},
	      {"{\"errorCode\":\"TEMPLATE_NOT_FOUND\"}", 4},
	      {"{\"errorCode\":\"RUN_NOT_FOUND\"}", 4},
	      {"{\"errorCode\":\"ARTIFACT_EXPIRED\"}", 4},
	      {"{\"errorCode\":\"QUEUE_FULL\"}", 125},
	      {"{\"errorCode\":\"STORE_UNAVAILABLE\"}", 125},
	      {"{}", 125},
	  };
	int quiet = dup(STDERR_FILENO), nothing = open("/dev/null", O_WRONLY);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		is_int(status_of(ends[i].json, report_status), ends[i].want,
		       "exit status of %s", ends[i].json);
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		int status;

		/* the refusal is also written to stderr */
		dup2(nothing, STDERR_FILENO);
		status = status_of(refusals[i].json, refused);
		dup2(quiet, STDERR_FILENO);
		is_int(status, refusals[i].want, "exit status of %s",
		       refusals[i].json);
	}
	close(quiet), close(nothing);
}

/* ---- names ---- */

TEST(names)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
	    {"profile.csv", "profile.csv"},
	    {"a/b/c.txt", "c.txt"},
	    {"../../etc/passwd", "passwd"},
	    {"/etc/passwd", "passwd"},
	    {"..\\..\\evil.exe", "evil.exe"},
	    {".bashrc", "bashrc"},
	    {"...hidden", "hidden"},
	    {"..", "artifact"},
	    {".", "artifact"},
	    {"", "artifact"},
	    {"dir/", "artifact"},
	    {"/", "artifact"},
	    {"-rf", "_rf"},
	    {"a\nb\033[31m", "a_b_[31m"},
	    {"a\x7F", "a_"},
	    {"\xC2\x9B"
	     "31m",
	     "_31m"},
	    {"bad\xFF"
	     "utf8",
	     "bad_utf8"},
	    {"\xE2\x80\xAEgpj.exe", "_gpj.exe"},
	    {"\xE8\xA1\xA8.csv", "\xE8\xA1\xA8.csv"},
	    {"with space.txt", "with space.txt"},
	    {". x", "x"},
	};
	char out[FILE_NAME_SIZE], numbered[FILE_NAME_NUMBERED_SIZE], big[1024];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		file_name_sanitize(out, cases[i].name);
		is_str(out, cases[i].want, "file name %zu", i);
	}
	memset(big, 'x', sizeof(big));
	strcpy(big + 900, ".csv");
	file_name_sanitize(out, big);
	is_int(strlen(out), FILE_NAME_SIZE - 1, "a long name is cut");
	is_str(out + strlen(out) - 4, ".csv", "a cut name keeps the extension");
	for (size_t i = 0; i + 3 < 900; i += 3)
		memcpy(big + i, "\xE8\xA1\xA8", 3);
	file_name_sanitize(out, big);
	ok(strlen(out) < FILE_NAME_SIZE && strlen(out) > FILE_NAME_SIZE - 5,
	   "a name is cut between characters");
	file_name_numbered(numbered, "a.csv", 2);
	is_str(numbered, "a-2.csv", "a number goes before the extension");
	file_name_numbered(numbered, "a", 12);
	is_str(numbered, "a-12",
	       "a number goes to the end of a name without extension");
	file_name_numbered(numbered, "a.tar.gz", 2);
	is_str(numbered, "a.tar-2.gz", "the last dot begins the extension");
}

/* ---- the bar ---- */

static char *render(const struct progress_bar *b)
{
	struct buf out = {0};
	size_t len;

	progress_bar_render(&out, b);
	return buf_take(&out, &len);
}

TEST(bar)
{
	struct progress_bar b = {.name = "csv_profile",
				 .message = "column b",
				 .done = 5,
				 .total = 10,
				 .elapsed_ms = 2100,
				 .columns = 80};
	char *s = render(&b);
	bool fits = true;

	is_str(s, "csv_profile [============            ] 5/10 column b 2.1 s",
	       "the bar at half is half full");
	free(s);
	b.colour = true;
	s = render(&b);
	is_str(s,
	       "csv_profile [\033[32m============\033[0m\033[2m            "
	       "\033[0m] 5/10 column b 2.1 s",
	       "the bar is green as far as it is full, and dim behind");
	free(s);
	b.colour = false;
	b.done = 20;
	s = render(&b);
	is_str(s, "csv_profile [========================] 20/10 column b 2.1 s",
	       "the bar beyond the total is full");
	free(s);
	b.total = 0;
	b.done = 0;
	b.message = NULL;
	s = render(&b);
	is_str(s, "csv_profile / 2.1 s",
	       "without a total the bar is a turning dash");
	free(s);
	b.message = "a\033[2Jb\nc\xFF";
	s = render(&b);
	is_str(s, "csv_profile / a?[2Jb c? 2.1 s", "a message cannot act");
	free(s);
	b = (struct progress_bar){.name = "a",
				  .done = 1,
				  .total = 2,
				  .columns = 60,
				  .utf8 = true,
				  .colour = true};
	s = render(&b);
	ok(strstr(s, "\033[32m\xE2\x94\x81") != NULL &&
	       strstr(s, "\033[0m") != NULL,
	   "lines and colour where the terminal has them");
	free(s);
	b.colour = false;
	b.message =
	    "a long message of \xE8\xA1\xA8\xE8\xA1\xA8 that cannot fit "
	    "into any line that is as narrow as these are, whatever";
	b.name = "a_template_with_a_name_that_is_long";
	for (unsigned columns = 1; columns < 120; columns++) {
		b.columns = columns;
		s = render(&b);
		if (sanitize_width(s, strlen(s)) >= columns && strlen(s) > 0)
			fits = ok(false, "%u columns: '%s'", columns, s);
		free(s);
	}
	ok(fits, "no line fills its terminal, however narrow");
}

TEST(times)
{
	static const struct {
		int64_t ms;
		const char *want;
	} cases[] = {{0, "0 ms"},
		     {999, "999 ms"},
		     {1000, "1.0 s"},
		     {59999, "59.9 s"},
		     {60000, "1 min 00 s"},
		     {3599999, "59 min 59 s"},
		     {3600000, "1 h 00 min"},
		     {172799999, "47 h 59 min"},
		     {172800000, "2 d 00 h"},
		     {31622400000, "366 d 00 h"}};
	char out[DURATION_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		duration_text(out, cases[i].ms);
		is_str(out, cases[i].want, "%lld ms", (long long)cases[i].ms);
	}
}

/* ---- text ---- */

TEST(clean)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *want;
	} cases[] = {
	    {"plain", SANITIZE_NO_LIMIT, "plain"},
	    {"a\nb\tc", SANITIZE_NO_LIMIT, "a b c"},
	    {"\033]0;title\007", SANITIZE_NO_LIMIT, "?]0;title?"},
	    {"\xC2\x9B", SANITIZE_NO_LIMIT, "?"},
	    {"\xFF\xFE", SANITIZE_NO_LIMIT, "??"},
	    {"\xE2\x80", SANITIZE_NO_LIMIT, "??"},
	    {"\xE2\x80\xAE", SANITIZE_NO_LIMIT, "?"},
	    {"abcdef", 6, "abcdef"},
	    {"abcdefg", 6, "abcde\xE2\x80\xA6"},
	    {"\xE8\xA1\xA8\xE8\xA1\xA8\xE8\xA1\xA8", 6,
	     "\xE8\xA1\xA8\xE8\xA1\xA8\xE8\xA1\xA8"},
	    {"\xE8\xA1\xA8\xE8\xA1\xA8\xE8\xA1\xA8", 5,
	     "\xE8\xA1\xA8\xE8\xA1\xA8\xE2\x80\xA6"},
	    {"ab", 1, "\xE2\x80\xA6"},
	    {"ab", 0, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = {0};
		size_t len;
		char *s;

		sanitize_add(&out, cases[i].text, strlen(cases[i].text),
			     cases[i].columns);
		s = buf_take(&out, &len);
		is_str(s, cases[i].want, "cleaned text %zu", i);
		free(s);
	}
}

/* ---- JSON ---- */

TEST(pretty)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
	    {"null", "null"},
	    {"[]", "[]"},
	    {"{}", "{}"},
	    {"1.50", "1.50"},
	    {"{\"a\":[1,2,{\"b\":null}]}", "{\"a\": [1, 2, {\"b\": null}]}"},
	    {"\"\\u0085\\u007f\"", "\"\\u0085\\u007f\""},
	    {"{\"a\":\"0123456789012345678901234567890123456789\",\"b\":"
	     "[\"0123456789012345678901234567890123456789\"]}",
	     "{\n  \"a\": \"0123456789012345678901234567890123456789\",\n"
	     "  \"b\": [\"0123456789012345678901234567890123456789\"]\n}"},
	    {"[[\"0123456789012345678901234567890123456789\","
	     "\"0123456789012345678901234567890123456789\"]]",
	     "[\n  [\n    \"0123456789012345678901234567890123456789\",\n"
	     "    \"0123456789012345678901234567890123456789\"\n  ]\n]"},
	    {"[\"\xc2\xad \xe2\x80\xae\"]", "[\"\\u00ad \\u202e\"]"},
	    /* the flag of Wales, and an ideograph with a variant */
	    {"[\"\xf3\xa0\x81\xb7\xf3\xa0\x84\x80\"]",
	     "[\"\\udb40\\udc77\\udb40\\udd00\"]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *o = parse(cases[i].text), *again = NULL;
		struct buf out = {0};
		size_t len;
		char *s;

		json_pretty_add(&out, o);
		s = buf_take(&out, &len);
		is_str(s, cases[i].want, "pretty %s", cases[i].text);
		ok(json_parse(&again, s, len, NULL) == 0 &&
		       json_object_equal(o, again),
		   "pretty-printed JSON parses to the same value");
		free(s);
		json_object_put(o);
		json_object_put(again);
	}
}

/* An array of N strings, each of LEN bytes; with a KEY, as the member of an object. */
static struct json_object *strings(size_t n, size_t len, const char *key)
{
	struct json_object *list = json_object_new_array(), *o;
	char *xs = xcalloc(len + 1, 1);

	memset(xs, 'x', len);
	for (size_t i = 0; i < n; i++)
		json_object_array_add(list, json_object_new_string(xs));
	free(xs);
	if (key == NULL)
		return list;
	o = json_object_new_object();
	json_object_object_add(o, key, list);
	return o;
}

/* How many lines pretty O, which is taken, has. */
static int lines_of(struct json_object *o)
{
	struct buf out = {0};
	size_t len;
	char *s;
	int n = 1;

	json_pretty_add(&out, o);
	s = buf_take(&out, &len);
	for (size_t i = 0; i < len; i++)
		n += s[i] == '\n';
	free(s);
	json_object_put(o);
	return n;
}

TEST(pretty_width)
{
	struct json_object *o;

	/* brackets and quotation marks: 4 columns; a comma and a blank: 2 */
	is_int(lines_of(strings(1, 74, NULL)), 1,
	       "JSON of all columns of a line is on one line");
	is_int(lines_of(strings(1, 75, NULL)), 3,
	       "JSON of a column more is on several");
	is_int(lines_of(strings(2, 34, NULL)), 1,
	       "strings of all columns are on one line");
	is_int(lines_of(strings(3, 34, NULL)), 5,
	       "a further string makes each have a line");
	is_int(lines_of(strings(1, 74, "")), 5,
	       "a list behind a key has the rest of the line");
	is_int(lines_of(strings(1, 64, "abcd")), 1,
	       "an object of all columns is on one line");
	is_int(lines_of(strings(1, 65, "abcd")), 5,
	       "an object of a column more is on several");
	for (size_t more = 0; more < 2; more++) {
		o = strings(1, 66 + more, "a");
		json_object_object_add(o, "b", json_object_new_int(1));
		is_int(lines_of(o), 4 + 2 * (int)more,
		       "a value behind a key has %s of the line",
		       more == 0 ? "all" : "a column more than the rest");
	}
	is_int(lines_of(strings(80, 1, NULL)), 82,
	       "a list of many short strings has a line each");
}

TEST(same)
{
	static const struct {
		const char *a, *b;
		bool same;
		const char *pointer;
	} cases[] = {
	    {"1", "1.0", true, ""},
	    {"1.5", "1.50", true, ""},
	    {"1", "2", false, ""},
	    {"1", "1.5", false, ""},
	    {"9007199254740993", "9007199254740992.0", false, ""},
	    {"18446744073709551615", "18446744073709551615", true, ""},
	    {"18446744073709551615", "-1", false, ""},
	    {"1", "\"1\"", false, ""},
	    {"null", "false", false, ""},
	    {"{\"a\":1,\"b\":2}", "{\"b\":2.0,\"a\":1}", true, ""},
	    {"{\"a\":1}", "{\"a\":1,\"b\":null}", false, "/b"},
	    {"{\"a\":1,\"b\":null}", "{\"a\":1}", false, "/b"},
	    {"{\"a\":[1,{\"b\":2}]}", "{\"a\":[1,{\"b\":3}]}", false, "/a/1/b"},
	    {"[1,2]", "[2,1]", false, "/0"},
	    {"[1]", "[1,2]", false, ""},
	    {"{}", "[]", false, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *a = parse(cases[i].a),
				   *b = parse(cases[i].b);
		char pointer[64];

		is_int(json_diff(a, b, pointer, sizeof(pointer)), cases[i].same,
		       "%s and %s are compared", cases[i].a, cases[i].b);
		if (!cases[i].same)
			is_str(pointer, cases[i].pointer,
			       "the pointer names the place of the difference");
		json_object_put(a);
		json_object_put(b);
	}
}

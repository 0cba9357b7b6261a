/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requirements.c - checks that requirements.txt is a lock, for "paddock
 * template build", before pip reads the file: by an option there pip would
 * build, and so execute, source. The first wrong line is reported.
 */
#include "base/text/requirements.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/errmsg.h"

/* Options that name a source of files; the hashes still bind the files. */
static const struct {
	const char *name;
	bool has_value;
} options[] = {
    {"--index-url", true},
    {"-i", true},
    {"--extra-index-url", true},
    {"--require-hashes", false},
};

static const struct {
	const char *name;
	size_t digits;
} hashes[] = {{"sha256:", 64}, {"sha384:", 96}, {"sha512:", 128}};

struct check {
	char *errmsg;
	size_t size;
};

#define wrong(c, ...) errmsg_set((c)->errmsg, (c)->size, __VA_ARGS__)

static bool is_space_or_tab(char c)
{
	return c == ' ' || c == '\t';
}

/* Cut the next word from *AT; NULL: there are no more. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " ");

	if (*word == '\0')
		return NULL;
	*at = word + strcspn(word, " ");
	if (**at != '\0')
		*(*at)++ = '\0';
	return word;
}

static int check_option(struct check *c, char *line)
{
	size_t n = strcspn(line, "= ");
	char *at = line, *word = line;

	(void)next_word(&at);

	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		bool joined = word[n] == '=';

		if (strlen(options[i].name) != n ||
		    strncmp(options[i].name, word, n) != 0)
			continue;
		if (options[i].has_value != (joined || next_word(&at) != NULL))
			break;
		if (next_word(&at) == NULL)
			return 0;
		break;
	}
	return wrong(
	    c,
	    "%.*s: a build takes packages by version and hash, and of "
	    "the options only --index-url URL and --extra-index-url URL",
	    (int)n, word);
}

static bool is_hash(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(hashes); i++) {
		size_t n = strlen(hashes[i].name);

		if (strncmp(text, hashes[i].name, n) == 0)
			return strlen(text + n) == hashes[i].digits &&
			       strspn(text + n, "0123456789abcdefABCDEF") ==
				   hashes[i].digits;
	}
	return false;
}

/*
 * Check the text behind a version and its marker: hashes alone, at least one.
 */
static int check_hashes(struct check *c, const char *name, size_t len, char *at)
{
	static const char flag[] = "--hash";
	size_t found = 0;
	char *word;

	while ((word = next_word(&at)) != NULL) {
		size_t n = strlen(flag);

		if (strncmp(word, flag, n) != 0 ||
		    (word[n] != '=' && word[n] != '\0'))
			return wrong(c,
				     "%.*s: \"%s\" is no --hash=sha256:... and "
				     "nothing else may follow the version",
				     (int)len, name, word);
		word = word[n] == '=' ? word + n + 1 : next_word(&at);
		if (word == NULL || !is_hash(word))
			return wrong(c,
				     "%.*s: a --hash is sha256: and 64 digits "
				     "in base 16, or sha384: and 96, or "
				     "sha512: and 128",
				     (int)len, name);
		found++;
	}
	return found > 0 ? 0
			 : wrong(c,
				 "%.*s has no --hash=sha256:...; pip-compile "
				 "--generate-hashes (of pip-tools) writes "
				 "them, for what it needs as well",
				 (int)len, name);
}

static size_t span_of(const char *p, const char *more)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) ||
	       (p[n] != '\0' && strchr(more, p[n]) != NULL))
		n++;
	return n;
}

/* Check "name[extra]==1.2 ; marker --hash=sha256:0123". */
static int check_package(struct check *c, char *line)
{
	size_t len = span_of(line, "._-"), n;
	char *at = line + len;

	if (len == 0 || !isalnum((unsigned char)line[0]))
		return wrong(c, "this is no name of a package");
	if (*at == '[') {
		at += 1 + span_of(at + 1, "._-, ");
		if (*at++ != ']')
			return wrong(c, "%.*s: its extras have no end",
				     (int)len, line);
	}
	at += strspn(at, " ");
	n = strncmp(at, "==", 2) == 0 ? 2 + (at[2] == '=') : 0;
	at += n;
	at += strspn(at, " ");
	if (n == 0 || span_of(at, "._+!-") == 0)
		return wrong(c,
			     "%.*s has no exact version, such as %.*s==1.2.3",
			     (int)len, line, (int)len, line);
	at += span_of(at, "._+!-");
	if (*at != '\0' && *at != ';' && *at != ' ')
		return wrong(c, "%.*s: its version is not exact", (int)len,
			     line);
	at += strspn(at, " ");
	if (*at == ';') {
		char *end = strstr(at, " -");

		at = end != NULL ? end : at + strlen(at);
	}
	return check_hashes(c, line, len, at);
}

/* Check LINE, joined and without its comment, and append it to OUT. */
static int take_requirement_line(struct check *c, char *line, struct buf *out)
{
	char *end = line + strlen(line);

	while (end > line && end[-1] == ' ')
		*--end = '\0';
	line += strspn(line, " ");
	if (*line == '\0')
		return 0;
	for (const char *p = line; *p != '\0'; p++)
		if (*p < ' ' || *p > '~' || *p == '\\')
			return wrong(c, "outside of comments there is a byte "
					"that no lock has");
	buf_add_str(out, line);
	buf_add_str(out, "\n");
	return *line == '-' ? check_option(c, line) : check_package(c, line);
}

/* Return the length before a comment: # at the start, or behind a blank. */
static size_t before_comment(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] == '#' && (i == 0 || is_space_or_tab(p[i - 1])))
			return i;
	return n;
}

/*
 * Cut the next line of *TEXT, up to END; return its length without the newline.
 */
static size_t cut_line(const char **text, const char *end, const char **line)
{
	const char *stop = memchr(*text, '\n', (size_t)(end - *text));
	size_t n = (size_t)((stop != NULL ? stop : end) - *text);

	*line = *text;
	*text = stop != NULL ? stop + 1 : end;
	return n > 0 && (*line)[n - 1] == '\r' ? n - 1 : n;
}

/*
 * Join lines that end with a backslash; in a comment a backslash does not join.
 */
static char *join_lines(const char **text, const char *end, size_t *lines)
{
	struct buf whole = {0};
	bool more = true;

	while (more && *text < end) {
		const char *line;
		size_t n = cut_line(text, end, &line);
		size_t good = before_comment(line, n);

		more = n > 0 && good == n && line[n - 1] == '\\';
		buf_add(&whole, line, more ? n - 1 : good);
		buf_add_str(&whole, " ");
		++*lines;
	}
	return buf_take(&whole, NULL);
}

int requirements_parse(const char *text, size_t len, struct buf *out,
		       size_t *line, char *errmsg, size_t size)
{
	struct check c = {errmsg, size};
	const char *end = text + len;
	size_t lines = 0;
	int rc = 0;

	if (len > 0 && memchr(text, '\0', len) != NULL) {
		*line = 1;
		return wrong(&c, "this is not text: it has a NUL");
	}
	while (rc == 0 && text < end) {
		char *whole;

		*line = lines + 1;
		whole = join_lines(&text, end, &lines);
		for (char *p = whole; *p != '\0'; p++)
			if (*p == '\t')
				*p = ' ';
		rc = take_requirement_line(&c, whole, out);
		free(whole);
	}
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * language.c - looks at code as far as needed to know where a cell ends, for
 * cells.c: brackets, quotes, comments and words of blocks. A wrong guess costs a
 * person an empty line or a Ctrl-C, and a file a mark between cells.
 */
#include "cli/repl/language.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

/* Text to pass over as a whole. */
struct language_span {
	const char *open, *close;
	bool escapes; /* by a backslash */
	bool lines;   /* may have several; else ends with its line */
	bool comment;
	bool at_word; /* begins only where a word may begin */
};

static const struct language_span python_spans[] = {
    {"\"\"\"", "\"\"\"", .escapes = true, .lines = true},
    {"'''", "'''", .escapes = true, .lines = true},
    {"\"", "\"", .escapes = true},
    {"'", "'", .escapes = true},
    {"#", "\n", .comment = true},
    {.open = NULL}};

static const struct language_span node_spans[] = {
    {"//", "\n", .comment = true},
    {"/*", "*/", .lines = true, .comment = true},
    {"`", "`", .escapes = true, .lines = true},
    {"\"", "\"", .escapes = true},
    {"'", "'", .escapes = true},
    {.open = NULL}};

static const struct language_span bash_spans[] = {
    {"'", "'", .lines = true},
    {"\"", "\"", .escapes = true, .lines = true},
    {"`", "`", .escapes = true, .lines = true},
    {"#", "\n", .comment = true, .at_word = true},
    {.open = NULL}};

static const struct language_span lua_spans[] = {
    {"--[[", "]]", .lines = true, .comment = true},
    {"--", "\n", .comment = true},
    {"[[", "]]", .lines = true},
    {"\"", "\"", .escapes = true},
    {"'", "'", .escapes = true},
    {.open = NULL}};

static const struct language languages[] = {
    {.name = "python",
     .template = "run_python",
     .prompt = ">>> ",
     .more = "... ",
     .spans = python_spans,
     .blocks = true},
    {.name = "node",
     .template = "run_node",
     .prompt = "js> ",
     .more = "... ",
     .spans = node_spans,
     .regexes = true},
    {.name = "bash",
     .template = "run_bash",
     .prompt = "bash> ",
     .more = "> ",
     .spans = bash_spans,
     .opening = " if case do ",
     .closing = " fi esac done ",
     .leading = " then do else elif if while until ! time ",
     .documents = true},
    {.name = "lua",
     .template = "run_lua",
     .prompt = "lua> ",
     .more = ">> ",
     .spans = lua_spans,
     .opening = " function do if repeat ",
     .closing = " end until "},
};

const char *language_name(size_t i)
{
	return i < ARRAY_LEN(languages) ? languages[i].name : NULL;
}

const struct language *language_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(languages); i++)
		if (strcmp(languages[i].name, name) == 0)
			return &languages[i];
	return NULL;
}

/* ---- a look at code ---- */

struct scan {
	const struct language *l;
	const char *at, *begin, *end;
	int depth;	 /* of brackets */
	int words;	 /* words that opened, less those that closed */
	bool open;	 /* a span or a line has no end */
	bool command;	 /* a command's first word may come */
	char last;	 /* the line's last character outside comments */
	const char *doc; /* the word that ends a document, or NULL */
	size_t doc_n;
};

static bool begins(const struct scan *s, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(s->end - s->at) >= n && memcmp(s->at, with, n) == 0;
}

static bool is_one_of(char c, const char *list)
{
	return c != '\0' && strchr(list, c) != NULL;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* May a word begin here? */
static bool is_at_word(const struct scan *s)
{
	return s->at == s->begin || is_one_of(s->at[-1], " \t\n;&|(");
}

static const struct language_span *span_here(const struct scan *s)
{
	const struct language_span *in;

	for (in = s->l->spans; in->open != NULL; in++)
		if (begins(s, in->open) && (!in->at_word || is_at_word(s)))
			return in;
	return NULL;
}

static void pass_span(struct scan *s, const struct language_span *in)
{
	if (!in->comment)
		s->last = *in->open;
	for (s->at += strlen(in->open); s->at < s->end; s->at++) {
		if (in->escapes && *s->at == '\\') {
			if (++s->at == s->end)
				s->open = true;
		} else if (*s->at == '\n' && !in->lines) {
			return;
		} else if (begins(s, in->close)) {
			s->at += strlen(in->close);
			return;
		}
		if (s->at == s->end)
			return;
	}
	s->open = s->open || in->lines;
}

/* Pass over a regular expression, which ends with its line at the latest. */
static void pass_regex(struct scan *s)
{
	bool in_class = false;

	s->last = '/';
	for (s->at++; s->at < s->end && *s->at != '\n'; s->at++) {
		if (*s->at == '\\' && s->at + 1 < s->end)
			s->at++;
		else if (*s->at == '[')
			in_class = true;
		else if (*s->at == ']')
			in_class = false;
		else if (*s->at == '/' && !in_class) {
			s->at++;
			return;
		}
	}
}

static bool is_regex(const struct scan *s)
{
	return s->l->regexes && *s->at == '/' &&
	       (s->last == '\0' || is_one_of(s->last, "(,=:[!&|?{};+-*%<>~^"));
}

/* Is the word of N bytes at P in LIST, " one two "? */
static bool is_in(const char *list, const char *p, size_t n)
{
	const char *at = list;

	while (at != NULL && (at = strchr(at, ' ')) != NULL && *++at != '\0')
		if (strncmp(at, p, n) == 0 && at[n] == ' ')
			return true;
	return false;
}

static void take_word(struct scan *s)
{
	const char *p = s->at;
	size_t n;

	while (s->at < s->end && is_word_char(*s->at))
		s->at++;
	n = (size_t)(s->at - p);
	s->last = s->at[-1];
	if (s->l->opening == NULL || (s->l->leading != NULL && !s->command))
		return;
	if (is_in(s->l->opening, p, n))
		s->words++;
	else if (is_in(s->l->closing, p, n) && s->words > 0)
		s->words--;
	s->command = is_in(s->l->leading, p, n);
}

/* Note the word after <<, unless << shifts a number. */
static void note_document(struct scan *s)
{
	const char *p = s->at + 2;

	if (!begins(s, "<<") || begins(s, "<<<") || s->depth > 1 ||
	    !is_at_word(s))
		return;
	while (p < s->end && is_one_of(*p, "- \t\"'\\"))
		p++;
	s->doc = p;
	while (p < s->end && is_word_char(*p))
		p++;
	s->doc_n = (size_t)(p - s->doc);
	if (s->doc_n == 0 || isdigit((unsigned char)*s->doc))
		s->doc = NULL;
}

/* Pass over the lines of a document, after the line that began it. */
static void pass_document(struct scan *s)
{
	while (s->at < s->end) {
		const char *line = s->at;
		const char *nl = memchr(line, '\n', (size_t)(s->end - line));
		const char *end = nl != NULL ? nl : s->end;

		s->at = nl != NULL ? nl + 1 : s->end;
		while (line < end && *line == '\t')
			line++;
		if ((size_t)(end - line) == s->doc_n &&
		    memcmp(line, s->doc, s->doc_n) == 0) {
			s->doc = NULL;
			return;
		}
	}
}

static void take_newline(struct scan *s)
{
	s->at++;
	s->last = '\0';
	s->command = true;
	if (s->doc != NULL)
		pass_document(s);
}

static void take_char(struct scan *s)
{
	char c = *s->at;

	if (c == '\\') {
		s->open = s->open || s->end - s->at == 1;
		s->at += s->end - s->at > 1 ? 2 : 1;
		return;
	}
	if (s->l->documents)
		note_document(s);
	if (is_one_of(c, "([{"))
		s->depth++;
	else if (is_one_of(c, ")]}") && s->depth > 0)
		s->depth--;
	if (c != ' ' && c != '\t') {
		s->last = c;
		s->command = is_one_of(c, ";&|(){");
	}
	s->at++;
}

static struct scan scan_code(const struct language *l, const char *code,
			     size_t n)
{
	struct scan s = {.l = l,
			 .at = code,
			 .begin = code,
			 .end = code + n,
			 .command = true};

	while (s.at < s.end) {
		const struct language_span *in = span_here(&s);

		if (in != NULL)
			pass_span(&s, in);
		else if (is_regex(&s))
			pass_regex(&s);
		else if (is_word_char(*s.at))
			take_word(&s);
		else if (*s.at == '\n')
			take_newline(&s);
		else
			take_char(&s);
	}
	return s;
}

static bool is_open(const struct scan *s)
{
	return s->open || s->depth > 0 || s->words > 0 || s->doc != NULL;
}

/* ---- where a cell ends ---- */

/* CODE without the newline at its end. */
static size_t trim(const char *code, size_t n)
{
	return n > 0 && code[n - 1] == '\n' ? n - 1 : n;
}

bool language_is_open(const struct language *l, const char *code, size_t n)
{
	struct scan s = scan_code(l, code, trim(code, n));

	return is_open(&s);
}

bool language_goes_on(const struct language *l, const char *code, size_t n)
{
	struct scan s = scan_code(l, code, n = trim(code, n));
	const char *nl = memrchr(code, '\n', n);
	const char *line = nl != NULL ? nl + 1 : code;
	size_t blanks = 0, len = (size_t)(code + n - line);

	if (is_open(&s))
		return true;
	while (blanks < len && isspace((unsigned char)line[blanks]))
		blanks++;
	if (!l->blocks || blanks == len)
		return false;
	return blanks > 0 || *line == '@' || s.last == ':';
}

bool language_continues(const struct language *l, const char *line, size_t n)
{
	static const char words[] = " else elif except finally ";
	size_t word = 0;

	if (!l->blocks || n == 0)
		return false;
	while (word < n && is_word_char(line[word]))
		word++;
	return isspace((unsigned char)*line) || is_in(words, line, word);
}

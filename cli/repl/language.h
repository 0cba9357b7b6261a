/* SPDX-License-Identifier: Apache-2.0 */
/*
 * language.h - the languages of "paddock repl": the template of each, its
 * prompts, and where a cell may end.
 */
#ifndef CLI_LANGUAGE_H
#define CLI_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

struct language_span;

struct language {
	const char *name, *template;
	const char *prompt, *more; /* of a cell's first line, of the others */
	const struct language_span *spans; /* quotes and comments */
	/* words that open and close a block, each between blanks; or NULL */
	const char *opening, *closing;
	/* words before a command; NULL: words count everywhere */
	const char *leading;
	bool blocks;	/* made by indenting */
	bool regexes;	/* between slashes */
	bool documents; /* after << */
};

/* Return the name of language I, from 0 on; NULL after the last. */
const char *language_name(size_t i);
/* Return the language NAME; NULL: there is none. */
const struct language *language_find(const char *name);

/* Is a quote, a bracket, a block of words or a line open at the end of CODE? */
bool language_is_open(const struct language *l, const char *code, size_t n);
/*
 * Does a person who has typed CODE, whole lines, type more? An empty line ends
 * what only indenting keeps open.
 */
bool language_goes_on(const struct language *l, const char *code, size_t n);
/* Does LINE, after an empty line, belong to the block above? */
bool language_continues(const struct language *l, const char *line, size_t n);

#endif

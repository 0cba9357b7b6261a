/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - lays out a table so that each row fits a line of the terminal: long
 * texts are cut, and where cutting is not enough columns are left out. The
 * lists of the commands are printed as tables. Nothing here fails.
 */
#include "cli/terminal/table.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/terminal/terminal.h"

#define GAP 2	    /* blanks between columns */
#define CUT_LEAST 8 /* columns: a narrower text is unreadable */

struct table {
	const struct table_column *columns;
	size_t n;
	char **texts; /* row by row; "" for a text that was NULL */
	size_t n_texts, room;
	size_t
	    wide[TABLE_COLUMNS_MAX]; /* columns; 0: left out by fit_table() */
};

struct table *table_new(const struct table_column *columns, size_t n)
{
	struct table *t = xcalloc(1, sizeof(*t));

	assert(n > 0 && n <= TABLE_COLUMNS_MAX);
	t->columns = columns;
	t->n = n;
	for (size_t i = 0; columns[0].head != NULL && i < n; i++)
		t->wide[i] = strlen(columns[i].head);
	return t;
}

void table_add(struct table *t, const char *const *texts)
{
	if (t->n_texts + t->n > t->room) {
		t->room = t->room == 0 ? 64 * t->n : 2 * t->room;
		t->texts = xrealloc(t->texts, t->room * sizeof(t->texts[0]));
	}
	for (size_t i = 0; i < t->n; i++) {
		const char *s = texts[i] != NULL ? texts[i] : "";
		size_t wide = sanitize_width(s, strlen(s));

		t->texts[t->n_texts++] = xstrdup(s);
		t->wide[i] = wide > t->wide[i] ? wide : t->wide[i];
	}
}

/* Return a row's width; LEAST: with each TABLE_CUT column cut to the least. */
static size_t row_width(const struct table *t, bool least)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t wide = t->wide[i];

		if (least && t->columns[i].kind == TABLE_CUT &&
		    wide > CUT_LEAST)
			wide = CUT_LEAST;
		sum += wide > 0 ? (sum > 0 ? GAP : 0) + wide : 0;
	}
	return sum;
}

/*
 * Return the column to leave out next, the shown one with the highest "out";
 * NULL: no further column may go.
 */
static size_t *next_out(struct table *t)
{
	size_t *next = NULL;
	unsigned most = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->wide[i] > 0 && t->columns[i].out > most) {
			most = t->columns[i].out;
			next = &t->wide[i];
		}
	return next;
}

static size_t *widest(struct table *t)
{
	size_t *w = NULL;

	for (size_t i = 0; i < t->n; i++)
		if (t->columns[i].kind == TABLE_CUT &&
		    t->wide[i] > (w != NULL ? *w : CUT_LEAST))
			w = &t->wide[i];
	return w;
}

static void fit_table(struct table *t, size_t columns)
{
	size_t *w;

	while (row_width(t, true) > columns && (w = next_out(t)) != NULL)
		*w = 0;
	while (row_width(t, false) > columns && (w = widest(t)) != NULL)
		--*w;
}

/* Print one row. The last column shown gets no blanks after its text. */
static void print_row(const struct table *t, const char *const *texts)
{
	size_t last = t->n - 1;
	bool first = true;

	while (last > 0 && t->wide[last] == 0)
		last--;
	for (size_t i = 0; i <= last; i++) {
		size_t wide = t->wide[i];

		if (wide == 0)
			continue;
		safe_printf("%*s", first ? 0 : GAP, "");
		if (t->columns[i].kind == TABLE_NUMBER)
			safe_printf("%*s", (int)wide, texts[i]);
		else
			safe_print_cut(texts[i], i < last ? wide : 0, wide);
		first = false;
	}
	putchar('\n');
}

void table_print(struct table *t)
{
	const char *heads[TABLE_COLUMNS_MAX] = {NULL};

	if (isatty(STDOUT_FILENO))
		fit_table(t, text_wrap_columns(STDOUT_FILENO));
	for (size_t i = 0; i < t->n; i++)
		heads[i] = t->columns[i].head;
	if (heads[0] != NULL && t->n_texts > 0)
		print_row(t, heads);
	for (size_t i = 0; i < t->n_texts; i += t->n)
		print_row(t, (const char *const *)&t->texts[i]);
	fflush(stdout);
	for (size_t i = 0; i < t->n_texts; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t);
}

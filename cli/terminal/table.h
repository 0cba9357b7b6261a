/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - rows for people, in columns that fit the terminal. When stdout is
 * no terminal each column is as wide as its longest text, and nothing is cut or
 * left out.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stddef.h>

enum table_kind {
	TABLE_WHOLE,  /* never cut: people copy ids */
	TABLE_NUMBER, /* never cut; right-aligned */
	TABLE_CUT     /* cut if need be, the widest first */
};

struct table_column {
	const char *head; /* static; NULL in the first column: no heads */
	enum table_kind kind;
	/*
	 * When cutting is not enough on a terminal, columns are left out, the
	 * highest number first; a column with 0 never is.
	 */
	unsigned out;
};

struct table;

/* Make a table of N columns. Borrows COLUMNS, at most TABLE_COLUMNS_MAX. */
#define TABLE_COLUMNS_MAX 8
struct table *table_new(const struct table_column *columns, size_t n);
/*
 * Add a row. Copies a text for each column; a text may be untrusted, or NULL
 * for an empty cell.
 */
void table_add(struct table *t, const char *const *texts);
/* Print T on stdout, with heads if there is a row, and free T. */
void table_print(struct table *t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - rows for people, in columns that fit the terminal. Off a terminal
 * each column is as wide as what is longest in it, and nothing is cut or left out.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stddef.h>

enum table_kind {
	TABLE_WHOLE,  /* never cut: an id is copied */
	TABLE_NUMBER, /* nor this; it stands at the right */
	TABLE_CUT     /* gives way, the widest first, and ends in "…" */
};

struct table_column {
	const char
	    *head; /* static; NULL in the first: the table has no heads */
	enum table_kind kind;
	/*
	 * Where cutting does not do, columns are left out on a terminal: that
	 * with the highest number first, those with 0 never.
	 */
	unsigned out;
};

struct table;

/* N columns, of which COLUMNS (at most TABLE_COLUMNS_MAX) is borrowed. */
#define TABLE_COLUMNS_MAX 8
struct table *table_new(const struct table_column *columns, size_t n);
/* A row: a text for each column, which is copied. It may be untrusted; NULL is none. */
void table_add(struct table *t, const char *const *texts);
/* On stdout, with its heads if there is a row, and freed. */
void table_print(struct table *t);

#endif

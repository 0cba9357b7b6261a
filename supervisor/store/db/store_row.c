/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_row.c - between a row's struct and a statement, by a table of columns
 * that each kind of row has; for the other files of store/db on the store's
 * thread. Nothing here fails: what a table refuses shows when the statement is
 * stepped.
 */
#include "supervisor/store/store_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void store_bind(sqlite3_stmt *st, int at, struct store_value v)
{
	if (v.is_text)
		sqlite3_bind_text(st, at, v.text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_int64(st, at, v.number);
}

const char *store_text(sqlite3_stmt *st, int at)
{
	const char *text = (const char *)sqlite3_column_text(st, at);

	return text != NULL ? text : "";
}

static struct store_value value_of(const struct store_column *c,
				   const void *row)
{
	const void *at = (const char *)row + c->at;

	switch (c->kind) {
	case STORE_ID:
		return STORE_STR(at);
	case STORE_TEXT:
		return STORE_STR(*(const char *const *)at);
	case STORE_TIME:
		return STORE_NUM(*(const int64_t *)at);
	case STORE_INT:
		return STORE_NUM(*(const int *)at);
	case STORE_FLAG:
		return STORE_NUM(*(const bool *)at);
	default:
		return STORE_STR(NULL);
	}
}

void store_bind_row(sqlite3_stmt *st, const void *row,
		    const struct store_column *columns, size_t n)
{
	for (size_t i = 0; st != NULL && i < n; i++)
		store_bind(st, (int)i + 1, value_of(&columns[i], row));
}

/* A text goes to *TEXTS, which moves on. */
static void read_value(sqlite3_stmt *st, int col, const struct store_column *c,
		       void *row, char **texts)
{
	void *at = (char *)row + c->at;
	int64_t number = sqlite3_column_int64(st, col);
	size_t len = (size_t)sqlite3_column_bytes(st, col);

	if (c->kind == STORE_ID) {
		snprintf(at, ID_SIZE, "%s", store_text(st, col));
	} else if (c->kind == STORE_TEXT) {
		memcpy(*texts, store_text(st, col), len);
		*(const char **)at = *texts;
		*texts += len + 1;
	} else if (c->kind == STORE_TIME) {
		*(int64_t *)at = number;
	} else if (c->kind == STORE_INT) {
		*(int *)at = (int)number;
	} else if (c->kind == STORE_FLAG) {
		*(bool *)at = number != 0;
	}
}

char *store_read_row(sqlite3_stmt *st, void *row,
		     const struct store_column *columns, size_t n)
{
	size_t there = (size_t)sqlite3_column_count(st), size = 1;
	char *block, *to;

	n = n < there ? n : there;
	for (size_t i = 0; i < n; i++)
		if (columns[i].kind == STORE_TEXT)
			size += (size_t)sqlite3_column_bytes(st, (int)i) + 1;
	to = block = xcalloc(1, size);
	for (size_t i = 0; i < n; i++)
		if (sqlite3_column_type(st, (int)i) != SQLITE_NULL)
			read_value(st, (int)i, &columns[i], row, &to);
	return block;
}

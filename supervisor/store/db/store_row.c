/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_row.c - converts between the struct of a row and a statement's
 * parameters and columns, by a table of columns for each kind of row; for the
 * files of store/db on the store's thread. No function fails: a value that the
 * table refuses makes the statement's step fail.
 */
#include "supervisor/store/store_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void store_bind(struct store_cursor *st, int at, struct store_value v)
{
	st->engine->bind(st, at, v);
}

const char *store_text(const struct store_cursor *st, int at)
{
	const char *text = st->engine->text(st, at);

	return text != NULL ? text : "";
}

int64_t store_number(const struct store_cursor *st, int at)
{
	return st->engine->number(st, at);
}

static struct store_value column_value(const struct store_column *c,
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

void store_bind_row(struct store_cursor *st, int first, const void *row,
		    const struct store_column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		store_bind(st, first + (int)i, column_value(&columns[i], row));
}

/* A text goes to *TEXTS, which moves on. */
static void read_value(const struct store_cursor *st, int col,
		       const struct store_column *c, void *row, char **texts)
{
	void *at = (char *)row + c->at;
	size_t len;

	if (c->kind == STORE_ID) {
		snprintf(at, ID_SIZE, "%s", store_text(st, col));
	} else if (c->kind == STORE_TEXT) {
		len = st->engine->length(st, col);
		memcpy(*texts, store_text(st, col), len);
		*(const char **)at = *texts;
		*texts += len + 1;
	} else if (c->kind == STORE_TIME) {
		*(int64_t *)at = store_number(st, col);
	} else if (c->kind == STORE_INT) {
		*(int *)at = (int)store_number(st, col);
	} else if (c->kind == STORE_FLAG) {
		*(bool *)at = store_number(st, col) != 0;
	}
}

char *store_read_row(const struct store_cursor *st, void *row,
		     const struct store_column *columns, size_t n)
{
	size_t there = (size_t)st->engine->columns(st), size = 1;
	char *block, *to;

	n = n < there ? n : there;
	for (size_t i = 0; i < n; i++)
		if (columns[i].kind == STORE_TEXT)
			size += st->engine->length(st, (int)i) + 1;
	to = block = xcalloc(1, size);
	for (size_t i = 0; i < n; i++)
		if (!st->engine->is_null(st, (int)i))
			read_value(st, (int)i, &columns[i], row, &to);
	return block;
}

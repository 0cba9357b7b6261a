/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostics.c - holds the list to which the checks of a package add. Only
 * errors count when a package is loaded; "paddockd --print-faults" prints the
 * whole list. Nothing here fails: beyond its bound the list drops diagnostics,
 * and says so.
 */
#include "supervisor/packages/package/diagnostics.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "base/text/errmsg.h"
#include "proto/json/json_pack.h"

#define TEXT_BYTES 1024

static const char *const severities[] = {
    [DIAGNOSTIC_ERROR] = "error", [DIAGNOSTIC_WARNING] = "warning"};

void diagnostics_fini(struct diagnostics *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->all[i].file);
		free(f->all[i].pointer);
		free(f->all[i].text);
	}
	free(f->all);
	*f = (struct diagnostics){0};
}

static bool same_diagnostic_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_known(const struct diagnostics *f, const struct diagnostic *g)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->all[i].level == g->level &&
		    same_diagnostic_text(f->all[i].file, g->file) &&
		    same_diagnostic_text(f->all[i].pointer, g->pointer) &&
		    strcmp(f->all[i].text, g->text) == 0)
			return true;
	return false;
}

/*
 * Return room for a diagnostic, or NULL. In a full list an error replaces a
 * warning.
 */
static struct diagnostic *diagnostic_room(struct diagnostics *f,
					  enum diagnostic_level level)
{
	if (f->n < DIAGNOSTICS_MAX) {
		f->all = xrealloc(f->all, (f->n + 1) * sizeof(*f->all));
		return &f->all[f->n++];
	}
	f->more = true;
	for (size_t i = f->n; level == DIAGNOSTIC_ERROR && i-- > 0;) {
		struct diagnostic g = f->all[i];

		if (g.level == DIAGNOSTIC_ERROR)
			continue;
		free(g.file);
		free(g.pointer);
		free(g.text);
		memmove(&f->all[i], &f->all[i + 1], (f->n - i - 1) * sizeof(g));
		return &f->all[f->n - 1];
	}
	return NULL;
}

int diagnostics_add(struct diagnostics *f, enum diagnostic_level level,
		    const char *file, const char *pointer, const char *fmt, ...)
{
	char text[TEXT_BYTES], *raw;
	struct diagnostic g = {.level = level, .text = text}, *to;
	va_list ap;

	va_start(ap, fmt);
	raw = xvasprintf(fmt, ap);
	va_end(ap);
	errmsg_set(text, sizeof(text), "%s", raw);
	free(raw);
	g.file = (char *)file;
	g.pointer = (char *)pointer;
	f->last = NULL;
	to = is_known(f, &g) ? NULL : diagnostic_room(f, level);
	if (to == NULL)
		return -EINVAL;
	f->last = to;
	*to = (struct diagnostic){.level = level, .text = xstrdup(text)};
	to->file = file != NULL ? xstrdup(file) : NULL;
	to->pointer = pointer != NULL ? xstrdup(pointer) : NULL;
	if (to->pointer != NULL)
		utf8_mend(to->pointer);
	return -EINVAL;
}

int diagnostics_of_name(struct diagnostics *f)
{
	if (f->last != NULL)
		f->last->name = true;
	return -EINVAL;
}

int diagnostics_at(struct diagnostics *f, size_t line, size_t column)
{
	if (f->last != NULL) {
		f->last->line = line;
		f->last->column = column;
	}
	return -EINVAL;
}

int diagnostics_not_json(struct diagnostics *f, const char *file,
			 const char *text, size_t len,
			 const struct json_error *err)
{
	size_t line, column;

	utf8_position(text, err->at < len ? err->at : len, &line, &column);
	diagnostics_add(f, DIAGNOSTIC_ERROR, file, NULL, "this is not JSON: %s",
			json_error_reason(err));
	return diagnostics_at(f, line, column);
}

void diagnostics_place(struct diagnostics *f, const char *file,
		       const char *text, size_t len)
{
	for (size_t i = 0; i < f->n; i++) {
		struct diagnostic *g = &f->all[i];

		if (g->line == 0 && g->pointer != NULL &&
		    same_diagnostic_text(g->file, file))
			utf8_position(
			    text, json_locate(text, len, g->pointer, g->name),
			    &g->line, &g->column);
	}
}

/* Order: the package, its manifest, its files. */
static int rank(const struct diagnostic *g)
{
	if (g->file == NULL)
		return 0;
	return strcmp(g->file, "template.json") == 0 ? 1 : 2;
}

static int by_place(const void *a, const void *b)
{
	const struct diagnostic *x = a, *y = b;
	int rc = (int)x->level - (int)y->level;

	if (rc == 0)
		rc = rank(x) - rank(y);
	if (rc == 0 && x->file != NULL)
		rc = strcmp(x->file, y->file);
	if (rc == 0)
		rc = (x->line > y->line) - (x->line < y->line);
	if (rc == 0)
		rc = (x->column > y->column) - (x->column < y->column);
	return rc != 0 ? rc : strcmp(x->text, y->text);
}

void diagnostics_sort(struct diagnostics *f)
{
	f->last = NULL;
	if (f->n > 1)
		qsort(f->all, f->n, sizeof(*f->all), by_place);
}

size_t diagnostics_errors(const struct diagnostics *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += f->all[i].level == DIAGNOSTIC_ERROR;
	return n;
}

void diagnostics_first(const struct diagnostics *f, char *errmsg, size_t size)
{
	size_t errors = diagnostics_errors(f), i = 0;
	const struct diagnostic *g;
	const char *pointer;
	char at[64] = "";

	errmsg_set(errmsg, size, "%s", "");
	while (i < f->n && f->all[i].level != DIAGNOSTIC_ERROR)
		i++;
	if (i == f->n)
		return;
	g = &f->all[i];
	pointer = g->pointer != NULL ? g->pointer : "";
	if (g->line > 0)
		snprintf(at, sizeof(at), ":%zu", g->line);
	if (g->line > 0 && g->column > 0)
		snprintf(at, sizeof(at), ":%zu:%zu", g->line, g->column);
	errmsg_set(
	    errmsg, size, "%s%s%s%s%s%s%s", g->file != NULL ? g->file : "",
	    g->file != NULL ? at : "", g->file != NULL ? ": " : "", g->text,
	    *pointer != '\0' ? " (" : "", pointer, *pointer != '\0' ? ")" : "");
	if (errors > 1) {
		size_t n = strlen(errmsg);

		errmsg_set(errmsg + n, size - n,
			   "; and %zu%s more, which paddock "
			   "template check shows",
			   errors - 1, f->more ? " or" : "");
	}
}

struct json_object *diagnostics_json(const struct diagnostics *f)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < f->n; i++) {
		const struct diagnostic *g = &f->all[i];
		struct json_object *o = json_object_new_object();

		json_set_mended(o, "severity", severities[g->level]);
		json_set_mended(o, "file", g->file);
		json_add(o, "line?i column?i", g->line, g->column);
		json_set_mended(o, "pointer", g->pointer);
		json_set_mended(o, "message", g->text);
		json_object_array_add(list, o);
	}
	return list;
}

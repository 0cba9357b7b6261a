/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_io.c - JSON of files that the user names, new files, and JSON on a
 * terminal: indented, short values on one line, characters that act on a
 * terminal escaped. For a file that cannot be read or is not JSON a line on
 * stderr says why. Printing fails only if stdout does, which main.c checks at
 * the end.
 */
#include "cli/terminal/json_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json.h"

#define FILE_BYTES_MAX ((size_t)256 << 20)

int file_read(struct buf *b, const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : buf_read(b, fd, FILE_BYTES_MAX);

	if (fd >= 0 && !standard)
		close(fd);
	return rc;
}

int json_file_read(struct json_object **out, const char *path)
{
	struct json_error err;
	struct buf b = {0};
	int rc = file_read(&b, path);

	*out = NULL;
	if (rc != 0) {
		safe_fprintf(stderr, "paddock: %s: %s\n",
			     strcmp(path, "-") == 0 ? "stdin" : path,
			     strerror(-rc));
	} else {
		rc = json_parse(out, buf_data(&b), buf_len(&b), &err);
		if (rc != 0) {
			json_error_place(&err,
					 buf_len(&b) > 0 ? buf_data(&b) : "");
			safe_fprintf(stderr, "paddock: %s is not JSON: %s\n",
				     strcmp(path, "-") == 0 ? "stdin" : path,
				     err.text);
		}
	}
	buf_fini(&b);
	return rc;
}

int json_file_create(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "wxe");
	int rc = f == NULL || fputs(text, f) < 0 ? -errno : 0;

	if (f != NULL && fclose(f) != 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		message_print("%s: %s", path, strerror(-rc));
	free(path);
	return rc;
}

#define LINE_COLUMNS ((size_t)78)
#define INDENT 2

/* ---- values on one line ---- */

/* Characters allowed in JSON strings on which a terminal may act are escaped. */
void json_pretty_add_compact(struct buf *out, struct json_object *v)
{
	char escape[UTF8_ESCAPE_SIZE];
	size_t n, len;
	const char *text = json_text(v, &n);

	for (size_t i = 0; i < n; i += len) {
		int32_t point = utf8_decode(text + i, n - i, &len);

		if (point >= 0x7F && utf8_is_control(point))
			buf_add(out, escape, utf8_escape(escape, point));
		else
			buf_add(out, text + i, len);
	}
}

static void add_string(struct buf *out, const char *s)
{
	struct json_object *v = json_object_new_string(s);

	json_pretty_add_compact(out, v);
	json_object_put(v);
}

/* Append V on one line, with blanks after commas and colons. */
static void add_line(struct buf *out, struct json_object *v)
{
	const char *comma = "";

	if (json_object_is_type(v, json_type_array)) {
		buf_add_str(out, "[");
		for (size_t i = 0; i < json_object_array_length(v); i++) {
			buf_add_str(out, i > 0 ? ", " : "");
			add_line(out, json_object_array_get_idx(v, i));
		}
		buf_add_str(out, "]");
	} else if (json_object_is_type(v, json_type_object)) {
		buf_add_str(out, "{");
		json_object_object_foreach(v, key, value) {
			buf_add_str(out, comma);
			add_string(out, key);
			buf_add_str(out, ": ");
			add_line(out, value);
			comma = ", ";
		}
		buf_add_str(out, "}");
	} else {
		json_pretty_add_compact(out, v);
	}
}

/* ---- values on many lines ---- */

/* Return about how many bytes V has on one line; more than MAX: too long. */
static size_t measure_json(struct json_object *v, size_t max)
{
	size_t sum = 2;

	if (json_object_is_type(v, json_type_array)) {
		for (size_t i = 0;
		     sum <= max && i < json_object_array_length(v); i++)
			sum += 2 + measure_json(json_object_array_get_idx(v, i),
						max - sum);
	} else if (json_object_is_type(v, json_type_object)) {
		json_object_object_foreach(v, key, value) {
			if (sum > max)
				break;
			sum += 4 + strlen(key) + measure_json(value, max - sum);
		}
	} else if (json_object_is_type(v, json_type_string)) {
		sum += (size_t)json_object_get_string_len(v);
	} else {
		sum = 1;
	}
	return sum;
}

/* Does V fit on the line from column AT on? */
static bool fits(struct json_object *v, size_t at)
{
	struct buf line = {0};
	bool yes;

	if (at >= LINE_COLUMNS ||
	    measure_json(v, 4 * LINE_COLUMNS) > 4 * LINE_COLUMNS)
		return false;
	add_line(&line, v);
	yes = at + sanitize_width(buf_data(&line), buf_len(&line)) <=
	      LINE_COLUMNS;
	buf_fini(&line);
	return yes;
}

static void new_line(struct buf *out, unsigned depth)
{
	buf_printf(out, "\n%*s", (int)(depth * INDENT), "");
}

/* Append V from column AT on; the caller continues the last line. */
static void add_at(struct buf *out, struct json_object *v, unsigned depth,
		   size_t at)
{
	bool array = json_object_is_type(v, json_type_array);
	const char *comma = "";

	if ((!array && !json_object_is_type(v, json_type_object)) ||
	    fits(v, at)) {
		add_line(out, v);
		return;
	}
	buf_add_str(out, array ? "[" : "{");
	for (size_t i = 0; i < json_length(v); i++) {
		buf_add_str(out, i > 0 ? "," : "");
		new_line(out, depth + 1);
		add_at(out, json_object_array_get_idx(v, i), depth + 1,
		       (size_t)(depth + 1) * INDENT + 1);
	}
	if (!array) {
		json_object_object_foreach(v, key, value) {
			size_t start = buf_len(out);

			buf_add_str(out, comma);
			new_line(out, depth + 1);
			add_string(out, key);
			buf_add_str(out, ": ");
			add_at(out, value, depth + 1, buf_len(out) - start);
			comma = ",";
		}
	}
	new_line(out, depth);
	buf_add_str(out, array ? "]" : "}");
}

void json_pretty_add(struct buf *out, struct json_object *v)
{
	add_at(out, v, 0, 0);
}

void json_pretty_print(struct json_object *v, int compact)
{
	struct buf out = {0};

	if (compact)
		json_pretty_add_compact(&out, v);
	else
		json_pretty_add(&out, v);
	buf_add_str(&out, "\n");
	fwrite(buf_data(&out), 1, buf_len(&out), stdout);
	buf_fini(&out);
}

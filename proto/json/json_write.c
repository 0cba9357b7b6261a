/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_write.c - JSON text from a list of members, for the rows and views that
 * each run writes: run_json.c. The text is the same that json_text() makes of
 * the tree of json_pack(). A list that does not fit SPEC fails an assertion, as
 * in json_pack.c.
 */
#include "proto/json/json_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

#define NUMBER_MAX 20 /* digits of a uint64_t, or a sign and 19 */

/* ---- values ---- */

static void put_escaped(struct buf *out, unsigned char c)
{
	/* the letter after the backslash; 0: \u */
	static const char escapes[0x60] = {
	    ['\b'] = 'b', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
	    ['\f'] = 'f', ['"'] = '"',	['\\'] = '\\'};
	char text[6] = "\\";

	text[1] = c < sizeof(escapes) ? escapes[c] : '\0';
	if (text[1] != '\0') {
		buf_add(out, text, 2);
		return;
	}
	memcpy(text, "\\u00", 4);
	text[4] = "0123456789abcdef"[c >> 4];
	text[5] = "0123456789abcdef"[c & 15];
	buf_add(out, text, sizeof(text));
}

static void put_text(struct buf *out, const char *s, size_t len)
{
	char *good = utf8_mended(s, &len);
	size_t from = 0;

	if (good != NULL)
		s = good;
	buf_add(out, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		buf_add(out, s + from, i - from);
		put_escaped(out, c);
		from = i + 1;
	}
	buf_add(out, s + from, len - from);
	buf_add(out, "\"", 1);
	free(good);
}

static void write_number(struct buf *out, const struct json_pack_arg *arg)
{
	bool below = arg->is == JSON_PACK_INT && arg->i < 0;
	uint64_t left = below ? 0 - (uint64_t)arg->i : arg->u;
	char text[NUMBER_MAX], *at = text + sizeof(text);

	do
		*--at = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	if (below)
		*--at = '-';
	buf_add(out, at, (size_t)(text + sizeof(text) - at));
}

/* ---- members ---- */

/* Add the name of the next member, with a comma before it where needed. */
static void put_name(struct buf *out, const char *name, size_t len)
{
	assert(buf_len(out) > 0);
	if (buf_data(out)[buf_len(out) - 1] != '{')
		buf_add(out, ",", 1);
	buf_add(out, "\"", 1);
	buf_add(out, name, len);
	buf_add(out, "\":", 2);
}

void json_open(struct buf *out, const char *name)
{
	if (name != NULL)
		put_name(out, name, strlen(name));
	buf_add(out, "{", 1);
}

void json_close(struct buf *out)
{
	buf_add(out, "}", 1);
}

void json_write_raw(struct buf *out, const char *name, const char *text,
		    size_t len)
{
	put_name(out, name, strlen(name));
	buf_add(out, text, len);
}

static bool is_none(char kind, const struct json_pack_arg *arg)
{
	switch (kind) {
	case 'i':
		return arg->is == JSON_PACK_UINT ? arg->u == 0 : arg->i <= 0;
	case 'b':
		return arg->i == 0;
	case 's':
	case 'S':
		return arg->s == NULL;
	default:
		return arg->o == NULL;
	}
}

static void write_value(struct buf *out, char kind,
			const struct json_pack_arg *arg)
{
	const char *text;
	size_t len;

	if (kind == 'i') {
		write_number(out, arg);
	} else if (kind == 'b') {
		buf_add_str(out, arg->i != 0 ? "true" : "false");
	} else if (is_none(kind, arg)) {
		buf_add(out, "null", 4);
	} else if (kind == 's') {
		put_text(out, arg->s, strlen(arg->s));
	} else if (kind == 'S') {
		put_text(out, arg->s, (size_t)arg[1].i);
	} else {
		text = json_text(arg->o, &len);
		buf_add(out, text, len);
	}
}

static bool fits(char kind, const struct json_pack_arg *arg)
{
	switch (kind) {
	case 'i':
	case 'b':
		return arg->is == JSON_PACK_INT || arg->is == JSON_PACK_UINT;
	case 's':
		return arg->is == JSON_PACK_TEXT;
	case 'S':
		return arg->is == JSON_PACK_TEXT &&
		       (arg[1].is == JSON_PACK_INT ||
			arg[1].is == JSON_PACK_UINT);
	default:
		return (kind == 'o' || kind == 'O') &&
		       arg->is == JSON_PACK_TREE;
	}
}

void json_write_args(struct buf *out, const char *spec,
		     const struct json_pack_arg *args)
{
	while (*spec != '\0') {
		size_t n = strcspn(spec, ":?");
		char kind = spec[n + 1];

		assert(spec[n] != '\0' && fits(kind, args));
		if (spec[n] == ':' || !is_none(kind, args)) {
			put_name(out, spec, n);
			write_value(out, kind, args);
		}
		if (kind == 'o')
			json_object_put(args->o);
		args += kind == 'S' ? 2 : 1;
		spec += n + (spec[n + 2] == ' ' ? 3 : 2);
	}
	assert(args->is == JSON_PACK_END);
}

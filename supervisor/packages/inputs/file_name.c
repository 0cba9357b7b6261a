/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_name.c - makes names from clients and templates safe for files in a
 * folder of paddock's; run_files.c and uploads call it. A name of which nothing
 * is left gives NULL, and the caller has another name.
 */
#include "supervisor/packages/inputs/file_name.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"

#define EXTENSION_MAX 16 /* most bytes of an extension to keep */

char *file_name_safe(const char *name)
{
	const char *slash = strrchr(name, '/');
	struct buf out = {0};
	size_t left, n, len;

	name = slash != NULL ? slash + 1 : name;
	name += strspn(name, ". ");
	for (left = strlen(name); left > 0; left -= len, name += len) {
		int32_t point = utf8_decode(name, left, &len);

		if (buf_len(&out) + len > FILE_NAME_MAX)
			break;
		if (point < 0 || utf8_is_control(point))
			buf_add(&out, "_", 1);
		else
			buf_add(&out, name, len);
	}
	n = buf_len(&out);
	if (n == 0) {
		buf_fini(&out);
		return NULL;
	}
	buf_add(&out, "", 1);
	return buf_take(&out, NULL);
}

/* Return where the extension of NAME begins: the last dot, or the end. */
static size_t stem_len(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot == NULL || dot == name || strlen(dot) > EXTENSION_MAX
		   ? strlen(name)
		   : (size_t)(dot - name);
}

char *file_name_numbered(const char *name, unsigned n)
{
	size_t stem = stem_len(name), rest = strlen(name) - stem;
	char number[16];
	size_t len = (size_t)snprintf(number, sizeof(number), "-%u", n);

	if (stem + len + rest > FILE_NAME_MAX)
		stem = utf8_cut(name, stem, FILE_NAME_MAX - len - rest);
	if (stem + len == stem_len(name) &&
	    memcmp(name + stem, number, len) == 0)
		stem = utf8_cut(name, stem, stem - 1);
	return xasprintf("%.*s%s%s", (int)stem, name, number,
			 name + stem_len(name));
}

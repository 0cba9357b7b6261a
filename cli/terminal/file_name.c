/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_name.c - makes a harmless file name of an artifact's untrusted name, for
 * artifact_write.c. A pure function that always gives a name: "artifact" when
 * nothing is left.
 */
#include "cli/terminal/file_name.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text/utf8.h"

#define EXTENSION_MAX 16 /* bytes with the dot; longer: no extension */

/* Return where the extension begins in NAME, or LEN when there is none. */
static size_t stem(const char *name, size_t len)
{
	for (size_t i = len; i > 1 && len - i < EXTENSION_MAX; i--)
		if (name[i - 1] == '.' && i < len)
			return i - 1;
	return len;
}

void file_name_sanitize(char out[FILE_NAME_SIZE], const char *name)
{
	struct buf b = {0};
	const char *part = name;
	size_t n, len, dot, keep;

	for (; *name != '\0'; name++)
		if (*name == '/' || *name == '\\')
			part = name + 1;
	part += strspn(part, ". ");
	n = strlen(part);
	for (size_t i = 0; i < n; i += len) {
		int32_t point = utf8_decode(part + i, n - i, &len);

		if (point < 0 || utf8_is_control(point) ||
		    (i == 0 && point == '-'))
			buf_add_str(&b, "_");
		else
			buf_add(&b, part + i, len);
	}
	if (buf_len(&b) == 0)
		buf_add_str(&b, "artifact");
	len = buf_len(&b);
	dot = stem(buf_data(&b), len);
	keep = dot;
	if (len >= FILE_NAME_SIZE)
		keep = utf8_cut(buf_data(&b), dot,
				FILE_NAME_SIZE - 1 - (len - dot));
	memcpy(out, buf_data(&b), keep);
	memcpy(out + keep, buf_data(&b) + dot, len - dot);
	out[keep + len - dot] = '\0';
	buf_fini(&b);
}

void file_name_numbered(char out[FILE_NAME_NUMBERED_SIZE], const char *name,
			unsigned n)
{
	size_t dot = stem(name, strlen(name));

	snprintf(out, FILE_NAME_NUMBERED_SIZE, "%.*s-%u%s", (int)dot, name, n,
		 name + dot);
}

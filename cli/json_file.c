/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_file.c - reads JSON files that the user names and writes new files, for
 * the subcommands. A file that cannot be had, or is no JSON, is said on stderr
 * with its line; the callers only need the status.
 */
#include "cli/json_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal.h"
#include "proto/json/json.h"

#define READ_BYTES 65536u
#define FILE_BYTES_MAX (256u << 20)

static int read_all(struct buf *b, FILE *f)
{
	size_t n;

	errno = 0;
	do {
		n = fread(buf_room(b, READ_BYTES), 1, READ_BYTES, f);
		buf_wrote(b, n);
		if (buf_len(b) > FILE_BYTES_MAX)
			return -EFBIG;
	} while (n > 0);
	return !ferror(f) ? 0 : errno != 0 ? -errno : -EIO;
}

static int read_path(struct buf *b, const char *path)
{
	FILE *f;
	int rc;

	if (strcmp(path, "-") == 0)
		return read_all(b, stdin);
	f = fopen(path, "re");
	if (f == NULL)
		return -errno;
	rc = read_all(b, f);
	(void)fclose(f); /* only read */
	return rc;
}

int json_file_read(struct json_object **out, const char *path)
{
	struct json_error err;
	struct buf b = {0};
	int rc = read_path(&b, path);

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_put.c - "paddock artifact put", and the uploads of "paddock run" and
 * "paddock artifact ls"; main.c's table, run.c and artifact.c call it. A file
 * that cannot be read or is refused ends the command with an exit status, and
 * the reason on stderr.
 */
#include "cli/artifact/artifact_put.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/client/client_bytes.h"
#include "cli/ask/input.h"
#include "cli/terminal/json_io.h"
#include "cli/client/report.h"
#include "cli/terminal/table.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define SPOOL_BYTES 65536

static struct {
	const char *name, *mime;
} flags;

static const struct opt opts[] = {
    {"name", 0, OPT_TEXT, &flags.name, "NAME",
     "what it is called, instead of the file's own name"},
    {"mime", 0, OPT_TEXT, &flags.mime, "TYPE",
     "its media type, instead of what its name tells"},
};

/* ---- opening the file ---- */

/* A disk that gets full takes a part of a block first. 0, or -errno. */
static int write_block(int fd, const char *block, size_t n)
{
	ssize_t done;

	for (; n > 0; block += done, n -= (size_t)done)
		if ((done = write(fd, block, n)) < 0)
			return -errno;
	return 0;
}

/*
 * Copy FROM into an unlinked temporary file, since the size has to be sent
 * first. Returns its descriptor, or -errno.
 */
static int spool(int from)
{
	const char *dir = getenv("TMPDIR");
	char *path = xasprintf("%s/paddock-XXXXXX", dir != NULL ? dir : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);
	char block[SPOOL_BYTES];
	ssize_t n = 0;
	int rc = fd < 0 ? -errno : 0;

	if (fd >= 0)
		unlink(path);
	free(path);
	while (rc == 0 && (n = read(from, block, sizeof(block))) > 0)
		rc = write_block(fd, block, (size_t)n);
	if (rc == 0 && n < 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

static int close_failed(int fd)
{
	int rc = -errno;

	close(fd);
	return rc;
}

/*
 * Open PATH ("-": stdin), a copy if it is no regular file. Returns a descriptor
 * and *SIZE, or -errno.
 */
static int open_upload(const char *path, int64_t *size)
{
	bool in = strcmp(path, "-") == 0;
	int fd = in ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
		    : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int whole;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		return close_failed(fd);
	if (S_ISDIR(st.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	if (in || !S_ISREG(st.st_mode)) {
		whole = spool(fd);
		close(fd);
		if (whole < 0)
			return whole;
		fd = whole;
		if (fstat(fd, &st) != 0)
			return close_failed(fd);
	}
	*size = st.st_size;
	return fd;
}

/*
 * Upload the file PATH. 0 and the artifact in *OUT, the caller's; or the exit
 * status, the reason printed.
 */
static int upload_file(struct client *c, const char *path, const char *name,
		       const char *mime, struct json_object **out)
{
	const char *slash = strrchr(path, '/');
	const char *shown = strcmp(path, "-") == 0 ? "stdin" : path;
	struct tool_result a = {0};
	int64_t size = 0;
	int rc, fd = open_upload(path, &size);

	if (fd < 0)
		return message_fail(CLI_USAGE, "%s: %s", shown, strerror(-fd));
	if (name == NULL)
		name = slash != NULL ? slash + 1 : shown;
	rc = client_put_bytes(c, fd, size, name, mime, &a);
	close(fd);
	if (rc == 0 && a.good)
		*out = json_object_get(a.value);
	else if (rc == 0)
		rc = report_refusal(a.value, NULL);
	tool_result_fini(&a);
	return rc;
}

/* ---- paddock artifact put ---- */

static int put_artifact(const struct cli *cli, struct client *c, int n,
			const char *const *arg)
{
	struct json_object *a = NULL;
	int rc = upload_file(c, arg[0], flags.name, flags.mime, &a);

	(void)n;
	if (rc == 0 && client_is_private(c) && !cli->quiet)
		message_print(
		    "the file is in the state folder of the private server; "
		    "commands with the same flags find the file there");
	if (rc == 0 && cli->json)
		json_pretty_print(a, true);
	else if (rc == 0)
		safe_printf(
		    "%s %" PRId64 " %s\n", json_member_str(a, "artifactId"),
		    json_member_int(a, "bytes"), json_member_str(a, "sha256"));
	json_object_put(a);
	return rc;
}

/* ---- files in a run's inputs ---- */

/* Upload the files below V. If V itself is a file, *INSTEAD is its artifact. */
static int put_below(const struct cli *cli, struct client *c,
		     struct json_object *v, struct json_object **instead)
{
	const char *path = input_upload(v);
	struct json_object *a = NULL;
	int rc;

	if (path == NULL)
		return artifact_put_all(cli, c, v);
	rc = upload_file(c, path, NULL, NULL, &a);
	if (rc == 0 && !cli->quiet)
		message_more("uploaded %s as %s", path,
			     json_member_str(a, "artifactId"));
	if (rc == 0)
		*instead =
		    json_pack("$artifact:s", json_member_str(a, "artifactId"));
	json_object_put(a);
	return rc;
}

int artifact_put_all(const struct cli *cli, struct client *c,
		     struct json_object *in)
{
	int rc = 0;

	for (size_t i = 0; i < json_length(in) && rc == 0; i++) {
		struct json_object *instead = NULL;

		rc = put_below(cli, c, json_object_array_get_idx(in, i),
			       &instead);
		if (instead != NULL)
			json_object_array_put_idx(in, i, instead);
	}
	if (!json_object_is_type(in, json_type_object))
		return rc;
	json_object_object_foreach(in, key, v) {
		struct json_object *instead = NULL;

		if (rc == 0)
			rc = put_below(cli, c, v, &instead);
		if (instead != NULL) /* replaces a value: safe in the loop */
			json_object_object_add(in, key, instead);
	}
	return rc;
}

/* ---- listing uploads ---- */

void artifact_put_print(struct json_object *list, const char *bytes)
{
	static const struct table_column columns[] = {{NULL, TABLE_WHOLE, 0},
						      {NULL, TABLE_NUMBER, 2},
						      {NULL, TABLE_CUT, 1},
						      {NULL, TABLE_CUT, 0}};
	struct table *t = table_new(columns, ARRAY_LEN(columns));

	json_each(a, list) {
		const char *type = json_member_str(a, "mimeType");
		char n[24];

		snprintf(n, sizeof(n), "%" PRId64, json_member_int(a, bytes));
		table_add(
		    t, (const char *const[]){json_member_str(a, "artifactId"),
					     n, type != NULL ? type : "-",
					     json_member_str(a, "name")});
	}
	table_print(t);
}

int artifact_put_list(const struct cli *cli, struct client *c)
{
	struct json_object *all = json_object_new_array();
	const char *before = NULL;
	bool more = true;
	int rc = 0;

	while (rc == 0 && more) {
		struct tool_result a = {0};
		size_t n;

		rc = client_method(c, "paddock/artifacts",
				   json_pack("before?s", before), &a);
		if (rc == 0 && !a.good)
			rc = report_refusal(a.value, NULL);
		json_each(one, json_member(a.value, "artifacts"))
			json_object_array_add(all, json_object_get(one));
		more = rc == 0 && json_member_bool(a.value, "more");
		tool_result_fini(&a);
		n = json_length(all);
		before =
		    n > 0
			? json_member_str(json_object_array_get_idx(all, n - 1),
					  "artifactId")
			: NULL;
	}
	if (rc == 0 && cli->json)
		json_pretty_print(all, true);
	else if (rc == 0)
		artifact_put_print(all, "bytes");
	if (rc == 0 && json_length(all) == 0 && !cli->quiet)
		message_print("you have uploaded nothing that is still kept; "
			      "\"paddock artifact ls RUN%s\" shows a run's",
			      server_flags());
	json_object_put(all);
	return rc;
}

const struct command cmd_artifact_put = {
    .name = "artifact put",
    .args = "FILE",
    .summary = "upload a file (- is stdin), for runs to be given",
    .text = "Prints the artifact's id, its bytes and its SHA-256. A run is "
	    "given it by\n"
	    "\"-i KEY:={\\\"$artifact\\\": \\\"ID\\\"}\", where its template "
	    "takes files.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 1,
    .max = 1,
    .call = put_artifact,
};

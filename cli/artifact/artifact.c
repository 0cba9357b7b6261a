/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact.c - "paddock artifact ls", "get" and "cat": finds the artifact of a
 * run, then has artifact_fetch.c get the bytes. main.c's table calls it. A
 * missing artifact is CLI_ABSENT with the nearest name; only --output
 * overwrites an existing file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "cli/client/tool_call.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/cli.h"
#include "cli/artifact/artifact_fetch.h"
#include "cli/artifact/artifact_put.h"
#include "cli/terminal/json_io.h"
#include "cli/artifact/artifact_write.h"
#include "proto/json/json_pack.h"

static struct {
	const char *out;
} flags;

static const struct opt get_opts[] = {
    {"output", 'o', OPT_TEXT, &flags.out, "FILE",
     "write to FILE (- is stdout) instead of the artifact's own name"},
};

/* ---- ls ---- */

static int ls(const struct cli *cli, struct client *c, int n,
	      const char *const *arg)
{
	struct json_object *view, *list, *none;
	int rc;

	if (n == 0)
		return artifact_put_list(cli, c);
	none = json_object_new_array();
	rc = tool_call_run(cli, c, arg[0], &view);
	list = json_member(view, "artifacts");
	if (!json_object_is_type(list, json_type_array))
		list = none;
	if (rc == 0 && cli->json)
		json_pretty_print(list, true);
	else if (rc == 0)
		artifact_put_print(list, "size");
	if (rc == 0 && json_length(list) == 0 && !cli->quiet)
		message_print("%s has no artifacts", arg[0]);
	json_object_put(view);
	json_object_put(none);
	return rc;
}

/* ---- choosing an artifact ---- */

static bool is_run(const char *id)
{
	return strncmp(id, "run_", 4) == 0;
}

/*
 * Find in the VIEW of RUN the artifact called NAME; without NAME the only
 * artifact. *OUT is the caller's. 0 or an exit status.
 */
static int pick_artifact(struct json_object *view, const char *run,
			 const char *name, struct json_object **out)
{
	struct json_object *list = json_member(view, "artifacts");
	struct suggest suggest;
	size_t n;

	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) == 0)
		return message_fail(CLI_ABSENT, "%s has no artifacts", run);
	n = json_object_array_length(list);
	if (name == NULL && n > 1)
		return message_fail(
		    CLI_USAGE,
		    "%s has %zu artifacts; name one, as \"paddock artifact ls RUN\" "
		    "lists them",
		    run, n);
	json_each(a, list) {
		if (name == NULL || json_member_is(a, "name", name)) {
			*out = json_object_get(a);
			return 0;
		}
	}
	suggest_init(&suggest, name);
	json_each(one, list) {
		const char *known = json_member_str(one, "name");

		if (known != NULL)
			suggest_try(&suggest, known);
	}
	if (suggest.best != NULL)
		return message_fail(
		    CLI_ABSENT,
		    "%s has no artifact \"%s\"; did you mean \"%s\"?", run,
		    name, suggest.best);
	return message_fail(CLI_ABSENT, "%s has no artifact \"%s\"", run, name);
}

static int find_artifact(const struct cli *cli, struct client *c,
			 const char *run, const char *name,
			 struct json_object **out)
{
	struct json_object *view;
	int rc = tool_call_run(cli, c, run, &view);

	if (rc == 0)
		rc = pick_artifact(view, run, name, out);
	json_object_put(view);
	return rc;
}

/* ---- get, cat ---- */

static int get(const struct cli *cli, struct client *c, int n,
	       const char *const *arg)
{
	static const struct cli quiet = {0};
	struct json_object *a = NULL, *view;
	int rc;

	if (is_run(arg[0]))
		rc = find_artifact(cli, c, arg[0], n > 1 ? arg[1] : NULL, &a);
	else
		rc =
		    tool_call(&quiet, c, "get_artifact",
			      json_pack("artifactId:s limit:i", arg[0], 1), &a);
	if (rc == 0 && flags.out != NULL) {
		rc = artifact_write_file(c, json_member_str(a, "artifactId"),
					 flags.out);
	} else if (rc == 0) {
		/* into the current folder, under its own name or a numbered one */
		view = json_pack("artifacts:o", json_object_new_array());
		json_object_array_add(json_member(view, "artifacts"),
				      json_object_get(a));
		rc = artifact_write_all(c, view, ".", cli->quiet, n > 1);
		json_object_put(view);
	}
	json_object_put(a);
	return rc;
}

static int collect_bytes(void *arg, const void *p, size_t n)
{
	return buf_add(arg, p, n);
}

/*
 * Is POINT a line break or a tab of a text? A return is, before a newline;
 * alone it would go back over the line.
 */
static bool is_layout(const char *p, size_t n, int32_t point)
{
	return point == '\n' || point == '\t' ||
	       (point == '\r' && n > 1 && p[1] == '\n');
}

/* Print B on a terminal, with '?' for characters that act there. */
static void show_text(const struct buf *b)
{
	const char *data = buf_data(b);
	size_t len;

	for (size_t i = 0; i < buf_len(b); i += len) {
		int32_t point = utf8_decode(data + i, buf_len(b) - i, &len);

		if (point < 0 || (utf8_is_control(point) &&
				  !is_layout(data + i, buf_len(b) - i, point)))
			putchar('?');
		else
			fwrite(data + i, 1, len, stdout);
	}
}

static int cat(const struct cli *cli, struct client *c, int n,
	       const char *const *arg)
{
	struct json_object *a = NULL;
	struct buf b = {0};
	const char *id = arg[0];
	int rc = 0;

	if (is_run(id)) {
		rc = find_artifact(cli, c, id, n > 1 ? arg[1] : NULL, &a);
		id = json_member_str(a, "artifactId");
	}
	if (rc == 0 && !isatty(STDOUT_FILENO)) {
		rc = artifact_write_file(c, id, "-");
	} else if (rc == 0) {
		rc = artifact_fetch(c, id, "memory", collect_bytes, &b);
		if (rc == 0)
			show_text(&b);
	}
	buf_fini(&b);
	json_object_put(a);
	return rc;
}

const struct command cmd_artifact_ls = {
    .name = "artifact ls",
    .args = "[RUN]",
    .summary = "the artifacts of a run, or what you have uploaded",
    .min = 0,
    .max = 1,
    .call = ls,
};

const struct command cmd_artifact_get = {
    .name = "artifact get",
    .args = "ARTIFACT | RUN [NAME]",
    .summary = "write an artifact to a file",
    .opts = get_opts,
    .n_opts = ARRAY_LEN(get_opts),
    .min = 1,
    .max = 2,
    .call = get,
};

const struct command cmd_artifact_cat = {
    .name = "artifact cat",
    .args = "ARTIFACT | RUN [NAME]",
    .summary = "write an artifact to stdout",
    .min = 1,
    .max = 2,
    .call = cat,
};

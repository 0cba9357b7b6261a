/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - shows a cell's outputs, value, error and figures, for cell.c. Lines
 * of the run's log that begin with the name of an output are shown as they
 * come; of the answer only the rest is shown, or everything where the log had
 * gaps.
 */
#include "cli/repl/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/quantity.h"
#include "cli/artifact/artifact_write.h"
#include "cli/client/report.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/quote.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define TOLD_MAX ((size_t)2 << 20) /* more is shown, and not remembered */
#define TAB_COLUMNS ((size_t)8)

/* ---- text ---- */

/* Print a line on a terminal, with blanks for tabs. */
static void print_line(FILE *to, const char *p, size_t n)
{
	struct buf line = {0};

	for (;;) {
		const char *tab = memchr(p, '\t', n);
		size_t part = tab != NULL ? (size_t)(tab - p) : n;
		size_t at;

		sanitize_add(&line, p, part, SANITIZE_NO_LIMIT);
		if (tab == NULL)
			break;
		at = buf_len(&line) == 0
			 ? 0
			 : sanitize_width(buf_data(&line), buf_len(&line));
		do
			buf_add_str(&line, " ");
		while (++at % TAB_COLUMNS != 0);
		p += part + 1;
		n -= part + 1;
	}
	safe_fprintf(to, "%.*s\n", (int)buf_len(&line),
		     buf_len(&line) > 0 ? buf_data(&line) : "");
	buf_fini(&line);
}

/* Print whole lines: as they are, or cleaned where TO is a terminal. */
static void print_text(FILE *to, const char *p, size_t n)
{
	if (!isatty(fileno(to))) {
		fwrite(p, 1, n, to);
		if (n > 0 && p[n - 1] != '\n')
			fputc('\n', to);
	}
	while (isatty(fileno(to)) && n > 0) {
		const char *nl = memchr(p, '\n', n);
		size_t line = nl != NULL ? (size_t)(nl - p) : n;

		print_line(to, p, line);
		p += line + (nl != NULL);
		n -= line + (nl != NULL);
	}
	fflush(to);
}

/* ---- while it runs ---- */

static void show_part(struct show_output *o, FILE *to, const char *text)
{
	size_t n = strlen(text);

	print_text(to, n > 0 ? text : "\n", n > 0 ? n : 1);
	if (buf_len(&o->told) + n >= TOLD_MAX) {
		o->lost = true;
		return;
	}
	buf_add(&o->told, text, n);
	buf_add_str(&o->told, "\n");
}

void show_log(void *arg, const char *level, const char *text)
{
	static const char out[] = "stdout: ", err[] = "stderr: ";
	struct show *s = arg;

	(void)level;
	if (s->cli->json)
		return;
	if (strncmp(text, out, strlen(out)) == 0)
		show_part(&s->out, stdout, text + strlen(out));
	else if (strncmp(text, err, strlen(err)) == 0)
		show_part(&s->err, stderr, text + strlen(err));
	else if (!s->cli->quiet)
		quote(text);
}

/* ---- at the end ---- */

/*
 * Return how many of the N bytes at P are in TOLD, which has newlines of its own
 * where the log parted a line; N + 1: TOLD is of another text.
 */
static size_t count_told(const struct buf *told, const char *p, size_t n)
{
	const char *t = buf_data(told);
	size_t at = 0;

	for (size_t i = 0; i < buf_len(told); i++) {
		if (at < n && t[i] == p[at])
			at++;
		else if (t[i] != '\n')
			return n + 1;
	}
	return at;
}

/* Show the text at KEY of RESULT, except for the beginning that O has told. */
static void show_rest(struct show_output *o, FILE *to,
		      struct json_object *result, const char *key)
{
	struct json_object *v = json_member(result, key);
	const char *p;
	size_t n, told;

	if (!json_object_is_type(v, json_type_string))
		return;
	p = json_object_get_string(v);
	n = (size_t)json_object_get_string_len(v);
	told = o->lost ? n + 1 : count_told(&o->told, p, n);
	if (told > n) {
		message_more("(not all of %s was shown as it came; its answer "
			     "has:)",
			     key);
		told = 0;
	}
	print_text(to, p + told, n - told);
}

static void show_value(struct json_object *value)
{
	if (json_object_is_type(value, json_type_string))
		print_text(stdout, json_object_get_string(value),
			   (size_t)json_object_get_string_len(value));
	else if (value != NULL)
		json_pretty_print(value, false);
	fflush(stdout);
}

/* Does STDERR, a string or NULL, tell the error NAME: VALUE already? */
static bool is_told(struct json_object *said, const char *name,
		    const char *value)
{
	char *line = xasprintf("%s: %s", name, value);
	bool told = json_object_is_type(said, json_type_string) &&
		    strstr(json_object_get_string(said),
			   *value != '\0' ? line : name) != NULL;

	free(line);
	return told;
}

static void show_error(struct json_object *result)
{
	struct json_object *error = json_member(result, "error");
	struct json_object *trace = json_member(error, "traceback");
	const char *name = json_member_str(error, "name");
	const char *value = json_member_str(error, "value");

	if (error == NULL || name == NULL)
		return;
	value = value != NULL ? value : "";
	if (is_told(json_member(result, "stderr"), name, value))
		return;
	json_each(line, trace) {
		const char *text = json_object_get_string(line);

		print_text(stderr, text, strlen(text));
	}
	if (json_length(trace) == 0)
		message_more("%s%s%s", name, *value != '\0' ? ": " : "", value);
}

static int64_t exit_code(struct json_object *result)
{
	return json_member_int(result, "exitCode");
}

/* Tell how the cell left the notebook, unless the state is just kept. */
static void show_notebook(struct json_object *notebook)
{
	const char *why = json_member_str(notebook, "why");
	const char *name = json_member_str(notebook, "name");

	if (json_member_is(notebook, "state", "restored"))
		message_print("the cell is undone, and the notebook is as it "
			      "was before it%s%s",
			      why != NULL ? ": " : "", why != NULL ? why : "");
	else if (json_member_is(notebook, "state", "lost"))
		message_print("the notebook %s is lost, and the next cell "
			      "begins without its variables%s%s",
			      name, why != NULL ? ": " : "",
			      why != NULL ? why : "");
	else if (json_member_is(notebook, "state", "new") && why != NULL)
		message_print("the notebook %s began anew, without its earlier "
			      "variables: %s",
			      name, why);
	else if (why != NULL)
		message_print("%s", why);
}

/* ---- artifacts ---- */

static bool is_figure(struct json_object *artifact)
{
	const char *type = json_member_str(artifact, "mimeType");

	return type != NULL && strncmp(type, "image/", 6) == 0;
}

static void name_artifact(struct json_object *artifact)
{
	char size[QUANTITY_SIZE];

	quantity(size, json_member_int(artifact, "size"), "bytes");
	message_more("  artifact %s, %s: paddock artifact get %s%s",
		     json_member_str(artifact, "name"), size,
		     json_member_str(artifact, "artifactId"), server_flags());
}

/* Write the figures of VIEW, and name other artifacts. 0 or a status. */
static int show_artifacts(const struct show *s, struct json_object *view)
{
	const char *run = json_member_str(view, "runId");
	struct json_object *figures = json_object_new_array();
	struct json_object *own =
	    json_pack("runId:s artifacts:o", run, figures);
	int rc;

	json_each(one, json_member(view, "artifacts")) {
		if (is_figure(one))
			json_object_array_add(figures, json_object_get(one));
		else if (!s->cli->quiet)
			name_artifact(one);
	}
	rc =
	    artifact_write_all(s->client, own, s->folder, s->cli->quiet, false);
	json_object_put(own);
	return rc;
}

/* ---- the whole ---- */

/* Show what the code of VIEW left, RESULT. */
static void show_result(struct show *s, struct json_object *view,
			struct json_object *result)
{
	struct json_object *notebook = json_member(view, "notebook");

	show_rest(&s->out, stdout, result, "stdout");
	show_rest(&s->err, stderr, result, "stderr");
	show_value(json_member(result, "value"));
	show_error(result);
	if (exit_code(result) != 0 && json_member(result, "error") == NULL &&
	    !s->cli->quiet)
		message_more("exit code %" PRId64, exit_code(result));
	report_end(s->cli, view);
	show_notebook(notebook != NULL ? notebook
				       : json_member(result, "notebook"));
}

bool show_end(struct show *s, struct json_object *view)
{
	struct json_object *result = json_member(view, "result");
	bool well = report_status(view) == CLI_OK &&
		    json_member(result, "error") == NULL &&
		    exit_code(result) == 0;

	if (result == NULL)
		result = json_member(json_member(view, "error"), "details");
	if (s->cli->json)
		json_pretty_print(view, true);
	else
		show_result(s, view, result);
	fflush(stdout);
	return show_artifacts(s, view) == 0 && well;
}

void show_fini(struct show *s)
{
	buf_fini(&s->out.told);
	buf_fini(&s->err.told);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - paddock-call and its fellows, for scripts inside a run: the command is the
 * name by which the program was called. JSON goes to stdout, refusals to stderr; the exit
 * status is that of paddock run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "base/text/base64.h"
#include "base/text/json_view.h"
#include "cli/ask/input.h"
#include "cli/call/run_line.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/duration.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"

#define WORK "/work"

static char errmsg[1024];
static struct opt_list given_inputs;
static const char *object, *version, *timeout, *limit, *mime_type;
static bool whole;

/* ---- answers ---- */

/* Exit statuses of errors; a code that is not listed is CLI_FAILED. */
static const struct {
	const char *code;
	enum cli_exit exit;
} faults[] = {
    {"INVALID_PARAMETER", CLI_USAGE},
    {"TEMPLATE_NOT_FOUND", CLI_ABSENT},
    {"TEMPLATE_VERSION_UNSUPPORTED", CLI_ABSENT},
    {"RUN_TIMEOUT", CLI_TIMEOUT},
    {"CALL_CANCELED", CLI_CANCELED},
    {"RUN_CANCELED", CLI_CANCELED},
    {"ARTIFACT_NOT_FOUND", CLI_ABSENT},
    {"ARTIFACT_EXPIRED", CLI_ABSENT},
    {"PERMISSION_NOT_ALLOWED", CLI_TROUBLE},
    {"QUEUE_FULL", CLI_TROUBLE},
    {"QUOTA_EXCEEDED", CLI_TROUBLE},
    {"RATE_LIMITED", CLI_TROUBLE},
};

static int report_error(struct json_object *error)
{
	const char *code = json_member_str(error, "code");
	const char *message = json_member_str(error, "message");
	struct json_object *details = json_member(error, "details");

	message_print("%s", message != NULL ? message : "the call failed");
	if (code != NULL)
		message_more("  code: %s", code);
	if (json_object_is_type(details, json_type_object))
		message_more("  details: %s", json_text(details, NULL));
	for (size_t i = 0; code != NULL && i < ARRAY_LEN(faults); i++)
		if (strcmp(faults[i].code, code) == 0)
			return faults[i].exit;
	return CLI_FAILED;
}

/* Put the members of BODY, which is taken, after the id: a refusal needs the id first. */
static struct json_object *put_id(struct json_object *body)
{
	struct json_object *o = json_pack("id:i", 1);

	json_object_object_foreach(body, key, v)
		json_object_object_add(o, key, json_object_get(v));
	json_object_put(body);
	return o;
}

struct text {
	const char *p; /* NULL: missing */
	size_t n;
};

static struct text member_of(struct text from, const char *key)
{
	struct json_span at;

	if (from.p == NULL || from.n == 0 || *from.p != '{' ||
	    json_find(&at, from.p, from.n, key) < 0)
		return (struct text){0};
	return (struct text){from.p + at.off, at.len};
}

static bool is_text(struct text value, const char *text)
{
	return value.n == strlen(text) && memcmp(value.p, text, value.n) == 0;
}

static struct json_object *tree_of(struct text value)
{
	struct json_object *tree = NULL;

	if (value.p != NULL)
		json_parse(&tree, value.p, value.n, NULL);
	return tree;
}

/* Print VALUE unchanged: a tree would lose digits and levels. */
static int print_text(struct text value)
{
	if (value.p == NULL)
		value = (struct text){"null", strlen("null")};
	fwrite(value.p, 1, value.n, stdout);
	return putchar('\n') == EOF || fflush(stdout) != 0
		   ? message_fail(CLI_TROUBLE, "stdout: %s", strerror(errno))
		   : CLI_OK;
}

static int take_answer(struct text answer, const char *member,
		       struct json_object **value)
{
	struct text v = member_of(answer, "value");
	struct json_object *error;
	int rc;

	if (!is_text(member_of(answer, "ok"), "true")) {
		error = tree_of(member_of(answer, "error"));
		rc = report_error(error);
		json_object_put(error);
		return rc;
	}
	if (value != NULL) {
		*value = tree_of(v);
		return CLI_OK;
	}
	rc = print_text(member != NULL ? member_of(v, member) : v);
	if (rc == CLI_OK &&
	    is_text(member_of(v, "status"), "\"partial_success\""))
		rc = CLI_PARTIAL;
	return rc;
}

/*
 * Say {KIND: BODY}, which takes BODY, and print the member MEMBER of the answer's value;
 * NULL: the value. *VALUE, unless NULL, is the value itself, the caller's.
 */
static int ask_run(const char *kind, struct json_object *body,
		   const char *member, struct json_object **value)
{
	struct json_object *line = json_object_new_object();
	struct buf answer = {0};
	int rc;

	json_object_object_add(line, kind, put_id(body));
	if (run_line(line, &answer, errmsg, sizeof(errmsg)) < 0)
		rc = message_fail(CLI_TROUBLE, "%s", errmsg);
	else
		rc = take_answer(
		    (struct text){buf_data(&answer), buf_len(&answer)}, member,
		    value);
	json_object_put(line);
	buf_fini(&answer);
	return rc;
}

static int tell_run(const char *kind, struct json_object *body)
{
	struct json_object *line = json_object_new_object();
	int rc = CLI_OK;

	json_object_object_add(line, kind, body);
	if (run_line(line, NULL, errmsg, sizeof(errmsg)) < 0)
		rc = message_fail(CLI_TROUBLE, "%s", errmsg);
	json_object_put(line);
	return rc;
}

/* ---- commands ---- */

static struct json_object *parse(const char *text, const char *what)
{
	struct json_object *v = NULL;
	struct json_error err;

	if (json_parse(&v, text, strlen(text), &err) < 0) {
		json_error_place(&err, text);
		message_print("%s is no JSON object: %s", what, err.text);
	} else if (!json_object_is_type(v, json_type_object)) {
		message_print("%s is no JSON object", what);
		json_object_put(v);
		v = NULL;
	}
	return v;
}

/* A file's text is a text; another value is JSON where it is JSON. */
static int put_input(struct json_object *inputs, const char *word)
{
	const char *equal = strchr(word, '=');
	struct json_object *texts =
	    equal != NULL && equal > word && equal[-1] != ':' && equal[1] == '@'
		? json_unpack(
		      "{\"additionalProperties\":{\"type\":\"string\"}}", 47)
		: NULL;
	int rc = input_put(inputs, texts, word, errmsg, sizeof(errmsg));

	json_object_put(texts);
	return rc;
}

static int call(int n, const char *const *arg)
{
	struct json_object *inputs, *options = NULL;
	int64_t timeout_ms = 0;

	(void)n;
	if (timeout != NULL && duration_parse(&timeout_ms, timeout) < 0)
		return message_fail(CLI_USAGE,
				    "--timeout is \"%.64s\"; it has to be a "
				    "duration up to 366d: 90s, 5m, 1m30s, "
				    "1500ms; a bare number is seconds",
				    timeout);
	inputs = object != NULL ? parse(object, "--inputs")
				: json_object_new_object();
	if (inputs == NULL)
		return CLI_USAGE;
	for (size_t i = 0; i < given_inputs.n; i++)
		if (put_input(inputs, given_inputs.item[i]) < 0) {
			json_object_put(inputs);
			return message_fail(CLI_USAGE, "%s", errmsg);
		}
	if (timeout_ms > 0)
		options = json_pack("timeoutMs:i", timeout_ms);
	return ask_run("call",
		       json_pack("template:s version?s inputs:o options?o",
				 arg[0], version, inputs, options),
		       whole ? NULL : "output", NULL);
}

/* Read TEXT, a whole number of 0 or more that is WHAT. 0 or an exit status. */
static int read_number(const char *text, const char *what, uint64_t *out)
{
	struct json_view v = {text, strlen(text)};

	if (json_view_uint(v, out))
		return CLI_OK;
	return message_fail(CLI_USAGE,
			    "%s is \"%.64s\"; it must be a whole number of 0 "
			    "or more",
			    what, text);
}

static int search(int n, const char *const *arg)
{
	struct buf words = {0};
	uint64_t most = 8;
	char *query;
	int rc = limit != NULL ? read_number(limit, "--limit", &most) : CLI_OK;

	if (rc != CLI_OK)
		return rc;
	for (int i = 0; i < n; i++)
		(void)buf_printf(&words, "%s%s", i > 0 ? " " : "", arg[i]);
	query = buf_take(&words, NULL);
	rc = ask_run("call", json_pack("search:s limit:i", query, most),
		     "templates", NULL);
	free(query);
	return rc;
}

/* Copy the file at FROM, or stdin, to the new file PATH. 0 or -errno. */
static int copy(const char *from, const char *path)
{
	int in = strcmp(from, "-") == 0 ? dup(0) : open(from, O_RDONLY);
	int out = in < 0 ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	int rc = out < 0 ? -errno : 0;
	char piece[65536];
	ssize_t got = 0;

	while (rc == 0 && (got = read(in, piece, sizeof(piece))) > 0)
		for (ssize_t at = 0, wrote; at < got && rc == 0; at += wrote)
			if ((wrote = write(out, piece + at,
					   (size_t)(got - at))) < 0)
				rc = -errno, wrote = 0;
	if (got < 0)
		rc = -errno;
	sys_close(in);
	sys_close(out);
	return rc;
}

static int keep(int n, const char *const *arg)
{
	const char *from = n > 1 ? arg[1] : "-";
	struct json_object *id = NULL;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), WORK "/.keep.%ld", (long)getpid());
	rc = copy(from, path);
	if (rc < 0)
		rc = message_fail(rc == -ENOENT ? CLI_ABSENT : CLI_TROUBLE,
				  "%s could not be kept: %s", from,
				  strerror(-rc));
	else
		rc = ask_run("artifact",
			     json_pack("path:s name:s mimeType?s",
				       path + strlen(WORK "/"), arg[0],
				       mime_type),
			     NULL, &id);
	unlink(path);
	if (rc == CLI_OK)
		safe_printf("%s\n", json_object_get_string(id));
	json_object_put(id);
	return rc;
}

/* Write the bytes in PART's data; *AT counts the bytes. 0 or an exit status. */
static int write_part(struct json_object *part, size_t *at)
{
	const char *coded = json_member_str(part, "data");
	size_t n = coded != NULL ? strlen(coded) : 0, len = 0;
	char *data = xcalloc(1, n + 1);
	int rc = CLI_OK;

	if (coded == NULL || base64_decode(data, &len, coded, n) != 0)
		rc = message_fail(CLI_TROUBLE, "the artifact cannot be read");
	else if (fwrite(data, 1, len, stdout) != len)
		rc = message_fail(CLI_TROUBLE, "stdout: %s", strerror(errno));
	*at += len;
	free(data);
	return rc;
}

static int read_artifact(int n, const char *const *arg)
{
	bool complete = false;
	size_t at = 0;
	int rc = CLI_OK;

	(void)n;
	while (rc == CLI_OK && !complete) {
		struct json_object *part = NULL, *args;

		args = json_pack("artifactId:s offset:i", arg[0], at);
		rc = ask_run("call",
			     json_pack("tool:s args:o", "get_artifact", args),
			     NULL, &part);
		complete = json_member_bool(part, "complete");
		if (rc == CLI_OK)
			rc = write_part(part, &at);
		json_object_put(part);
	}
	return rc;
}

static int ask(int n, const char *const *arg)
{
	struct json_object *form, *answer = NULL;
	int rc;

	form = parse(n > 1 ? arg[1]
			   : "{\"type\":\"object\",\"properties\":{\"answer\":{"
			     "\"type\":\"string\"}},\"required\":[\"answer\"]}",
		     "the schema");
	if (form == NULL)
		return CLI_USAGE;
	rc = ask_run("elicit",
		     json_pack("message:s requestedSchema:o", arg[0], form),
		     NULL, &answer);
	if (rc == CLI_OK && json_member_is(answer, "action", "accept"))
		json_pretty_print(json_member(answer, "content"), true);
	else if (rc == CLI_OK)
		rc = message_fail(CLI_FAILED, "the user declined to answer");
	json_object_put(answer);
	return rc;
}

static int progress(int n, const char *const *arg)
{
	uint64_t done, total;
	int rc = read_number(arg[0], "DONE", &done);

	if (rc == CLI_OK)
		rc = read_number(arg[1], "TOTAL", &total);
	if (rc == CLI_OK && done > total)
		rc = message_fail(CLI_USAGE, "DONE is above TOTAL");
	return rc != CLI_OK
		   ? rc
		   : tell_run("progress",
			      json_pack("done:i total:i message?s", done, total,
					n > 2 ? arg[2] : NULL));
}

static bool is_level(const char *word)
{
	static const char *const levels[] = {"emergency", "alert",   "critical",
					     "error",	  "warning", "notice",
					     "info",	  "debug"};

	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (strcmp(levels[i], word) == 0)
			return true;
	return false;
}

static int write_log(int n, const char *const *arg)
{
	(void)n;
	if (!is_level(arg[0]))
		return message_fail(
		    CLI_USAGE,
		    "there is no level \"%.64s\"; the levels are emergency, "
		    "alert, critical, error, warning, notice, info and debug",
		    arg[0]);
	return tell_run("log", json_pack("level:s message:s", arg[0], arg[1]));
}

static const struct opt call_opts[] = {
    {"input", 'i', OPT_LIST, &given_inputs, "KEY=VALUE", "an input"},
    {"inputs", 0, OPT_TEXT, &object, "JSON", "an object of inputs"},
    {"version", 0, OPT_TEXT, &version, "VERSION", "not the newest one"},
    {"timeout", 't', OPT_TEXT, &timeout, "DURATION", "the run's time"},
    {"whole", 0, OPT_FLAG, &whole, NULL, "all of the run, with its artifacts"},
};
static const struct opt search_opts[] = {
    {"limit", 0, OPT_TEXT, &limit, "N", "templates at most, 8 unless given"},
};
static const struct opt keep_opts[] = {
    {"type", 0, OPT_TEXT, &mime_type, "TYPE", "such as text/csv"},
};

static const struct command commands[] = {
    {"paddock-call",
     "TEMPLATE [-i KEY=VALUE]... [--inputs JSON] [--version VERSION] "
     "[-t DURATION] [--whole]",
     "run a template, and print its output", NULL, call_opts,
     ARRAY_LEN(call_opts), 1, 1, false, NULL, NULL},
    {"paddock-search", "[--limit N] WORD...",
     "print the templates that fit best", NULL, search_opts,
     ARRAY_LEN(search_opts), 1, -1, false, NULL, NULL},
    {"paddock-keep", "[--type TYPE] NAME [FILE]",
     "keep a file, or stdin, as an artifact", NULL, keep_opts,
     ARRAY_LEN(keep_opts), 1, 2, false, NULL, NULL},
    {"paddock-artifact", "ID", "write an artifact's bytes to stdout", NULL,
     NULL, 0, 1, 1, false, NULL, NULL},
    {"paddock-ask", "MESSAGE [SCHEMA]", "ask the user", NULL, NULL, 0, 1, 2,
     false, NULL, NULL},
    {"paddock-progress", "DONE TOTAL [MESSAGE]", "tell how far the run is",
     NULL, NULL, 0, 2, 3, false, NULL, NULL},
    {"paddock-log", "LEVEL TEXT", "write a line of the run's log", NULL, NULL,
     0, 2, 2, false, NULL, NULL},
};
static int (*const functions[])(int n, const char *const *arg) = {
    call, search, keep, read_artifact, ask, progress, write_log};

static void help(const struct command *c, FILE *to)
{
	safe_fprintf(to, "usage: %s %s\n%s; see paddock-call(1)\n", c->name,
		     c->args, c->summary);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash != NULL ? slash + 1 : argv[0];
	struct opt_list rest = {0};
	struct opt_set set;
	size_t i = 0;

	while (i < ARRAY_LEN(commands) && strcmp(commands[i].name, name) != 0)
		i++;
	if (i == ARRAY_LEN(commands))
		i = 0;
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		help(&commands[i], stdout);
		return CLI_OK;
	}
	set = (struct opt_set){commands[i].opts, commands[i].n_opts};
	if (opt_parse(&set, 1, &rest, argc - 1, (const char *const *)argv + 1,
		      errmsg, sizeof(errmsg)) < 0)
		return message_fail(CLI_USAGE, "%s", errmsg);
	if (rest.n < (size_t)commands[i].min ||
	    (commands[i].max >= 0 && rest.n > (size_t)commands[i].max)) {
		help(&commands[i], stderr);
		return CLI_USAGE;
	}
	return functions[i]((int)rest.n, rest.item);
}

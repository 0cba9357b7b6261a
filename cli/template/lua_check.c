/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_check.c - tries a package's Lua in a template of our own with the code as
 * its input, so that untrusted code runs only in a caged, bounded worker, and
 * its messages are shown as a template's words. template_check.c calls it for
 * each package with Lua; CLI_TROUBLE when no run can be made at all.
 */
#include "cli/template/lua_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/os/dir_walk.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "cli/client/client.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/state_dir.h"
#include "proto/json/json_pack.h"

#define CODE_BYTES_MAX (1 << 20) /* the server's own bound on Lua code */
#define WHY_SHOWN "400"		 /* bytes of a template's message */
#define CHUNK "e:" /* the chunk's name, with which Lua's messages begin */

struct lua_check {
	struct client *client;
	struct opt_list templates;
	char *state_dir, *template_dir;
};

static const char manifest[] =
    "{\"templateId\":\"probe\",\"version\":\"1.0.0\",\"name\":\"Probe\","
    "\"description\":\"Loads Lua, and does not call it.\","
    "\"runtime\":{\"type\":\"lua\"},"
    "\"limits\":{\"maxCpuMs\":2000,\"maxTimeoutMs\":30000,"
    "\"maxMessagesPerSecond\":1000,\"maxLoggedBytes\":1024},"
    "\"inputsSchema\":{\"type\":\"object\",\"required\":[\"code\"],"
    "\"properties\":{\"code\":{\"type\":\"string\"}}}}";

/* The loaded code may replace these functions: keep locals. */
static const char loader[] =
    "local load, pcall, type, tostring = load, pcall, type, tostring\n"
    "return function(run, inputs)\n"
    "\tlocal chunk, why = load(inputs.code, \"=e\", \"t\")\n"
    "\tif not chunk then return {stage = \"compile\", why = why} end\n"
    "\tlocal ok, got = pcall(chunk)\n"
    "\tif not ok then return {stage = \"load\", why = tostring(got)} end\n"
    "\tif type(got) == \"function\" then return {stage = \"good\"} end\n"
    "\treturn {stage = \"value\", why = type(got)}\n"
    "end\n";

struct lua_check *lua_check_open(const struct cli *cli)
{
	struct lua_check *p = xcalloc(1, sizeof(*p));
	struct cli private = {.verbose = cli->verbose, .config = cli->config};

	p->state_dir = state_dir_make();
	if (p->state_dir != NULL)
		p->template_dir = state_dir_make();
	if (p->template_dir != NULL &&
	    json_file_create(p->template_dir, "template.json", manifest) == 0 &&
	    json_file_create(p->template_dir, "main.lua", loader) == 0) {
		opt_list_add(&p->templates, p->template_dir);
		private.templates = p->templates;
		private.state_dir = p->state_dir;
		p->client = client_open(&private);
	}
	if (p->client != NULL)
		return p;
	lua_check_close(p);
	return NULL;
}

void lua_check_close(struct lua_check *p)
{
	if (p == NULL)
		return;
	client_close(p->client);
	opt_list_free(&p->templates);
	if (p->template_dir != NULL)
		state_dir_remove(p->template_dir);
	if (p->state_dir != NULL)
		state_dir_remove(p->state_dir);
	free(p);
}

/* ---- the package's code ---- */

/*
 * Return the text of ENTRY, read through no link, as the server reads it: the
 * caller's, or NULL with errno.
 */
static char *open_code(const char *dir, const char *entry)
{
	int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), file, rc;
	struct stat st = {0};
	struct buf b = {0};
	size_t len;
	char *text;

	if (at < 0)
		return NULL;
	file = dir_walk_open_file(at, entry, &st);
	close(at);
	rc = file < 0 ? file : buf_read(&b, file, CODE_BYTES_MAX);
	if (file >= 0)
		close(file);
	text = buf_take(&b, &len);
	if (rc == 0 && strlen(text) == len && utf8_ok(text, len))
		return text;
	free(text);
	errno = rc < 0 ? -rc : EAGAIN; /* the file has changed since */
	return NULL;
}

/* ---- results ---- */

/* Return the fault of Lua's message ERRMSG: "e:3: what", or no place. */
static struct json_object *lua_fault(const char *entry, const char *said,
				     const char *errmsg)
{
	struct json_object *o;
	char *text, *end = NULL;
	long line = 0;

	if (strncmp(errmsg, CHUNK, strlen(CHUNK)) == 0)
		line = strtol(errmsg + strlen(CHUNK), &end, 10);
	if (line > 0 && strncmp(end, ": ", 2) == 0)
		errmsg = end + 2;
	else
		line = 0;
	text = xasprintf("%s%." WHY_SHOWN "s", said, errmsg);
	utf8_mend(text);
	o = json_pack("severity:s file:s line?i message:s", "error", entry,
		      line, text);
	free(text);
	return o;
}

/* Return the fault in the probe's result R; NULL: the code is good. */
static struct json_object *of_result(const char *entry, struct json_object *r)
{
	const char *stage = json_member_str(r, "stage");
	const char *errmsg = json_member_str(r, "why");
	char *what;
	struct json_object *o;

	if (errmsg == NULL)
		errmsg = "it does not say why";
	if (stage != NULL && strcmp(stage, "good") == 0)
		return NULL;
	if (stage != NULL && strcmp(stage, "compile") == 0)
		return lua_fault(entry, "Lua cannot compile this: ", errmsg);
	if (stage == NULL || strcmp(stage, "value") != 0)
		return lua_fault(entry,
				 "it fails while it is loaded: ", errmsg);
	what = xasprintf("the file must return a function(run, inputs), but "
			 "it returns %s%s",
			 strcmp(errmsg, "nil") == 0 ? "nothing" : "a ",
			 strcmp(errmsg, "nil") == 0 ? "" : errmsg);
	o = lua_fault(entry, "", what);
	free(what);
	return o;
}

/* Return the fault of a run of the probe that failed with the error E. */
static struct json_object *of_error(const char *entry, struct json_object *e)
{
	const char *code = json_member_str(e, "errorCode");
	const char *limit = json_member_str(json_member(e, "details"), "limit");
	const char *message = json_member_str(e, "message");

	if (code != NULL && strcmp(code, "RESOURCE_LIMIT") == 0 &&
	    limit != NULL && strncmp(limit, "cpu", 3) == 0)
		return lua_fault(entry, "",
				 "loading it does not end: it was "
				 "stopped after 2 seconds of CPU time");
	if (code != NULL && strcmp(code, "RUN_TIMEOUT") == 0)
		return lua_fault(entry, "",
				 "loading it does not end: it was "
				 "stopped after 30 seconds");
	return lua_fault(entry, "it fails while it is loaded: ",
			 message != NULL ? message
					 : "the worker did not say why");
}

int lua_check_lua(struct lua_check *p, const char *dir, const char *entry,
		  struct json_object **f)
{
	char *text = open_code(dir, entry);
	const char *status, *errmsg;
	struct json_object *args;
	struct tool_result a;
	int rc;

	*f = NULL;
	if (text == NULL)
		return message_fail(CLI_TROUBLE, "%s/%s: %s", dir, entry,
				    strerror(errno));
	args =
	    json_pack("templateId:s inputs:o options:o", "probe",
		      json_pack("code:s", text), json_pack("mode:s", "sync"));
	free(text);
	rc = client_tool(p->client, "run_task_template", args, &a);
	if (rc != 0)
		return rc;
	status = json_member_str(a.value, "status");
	errmsg = json_member_str(a.value, "error");
	if (status == NULL)
		rc = message_fail(
		    CLI_TROUBLE, "%s could not be compiled here: %s", entry,
		    errmsg != NULL ? errmsg : "the server does not say why");
	else if (strcmp(status, "succeeded") == 0)
		*f = of_result(entry, json_member(a.value, "result"));
	else
		*f = of_error(entry, json_member(a.value, "error"));
	tool_result_fini(&a);
	return rc;
}

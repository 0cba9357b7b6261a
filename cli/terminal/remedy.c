/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy.c - hints for errors: the server's hints name tools and their
 * arguments; the hints here name commands, flags and keys, and explain
 * complaints of programs in their cage. report.c and explain.c print them.
 * Words from the server are untrusted: the caller cleans the hint before
 * printing.
 */
#include "cli/terminal/remedy.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text/quantity.h"
#include "cli/terminal/server_flags.h"
#include "proto/json/json.h"
#include "proto/mcp/tool_error.h"

/* ---- limits ---- */

char *remedy_limit(struct json_object *details)
{
	struct json_object *used = json_member(details, "used");
	struct json_object *allowed = json_member(details, "allowed");
	const char *unit = json_member_str(details, "unit");
	const struct limit_info *info =
	    limit_find(json_member_str(details, "limit"));
	const char *of = info != NULL ? info->noun : NULL;
	char had[QUANTITY_SIZE], most[QUANTITY_SIZE];

	if (!json_object_is_type(allowed, json_type_int) || unit == NULL)
		return NULL;
	quantity(most, json_object_get_int64(allowed), unit);
	if (json_object_is_type(used, json_type_int) &&
	    json_object_get_int64(used) == json_object_get_int64(allowed))
		return xasprintf("it had %s%s%s, and no more was allowed", most,
				 of != NULL ? " of " : "",
				 of != NULL ? of : "");
	if (!json_object_is_type(used, json_type_int) ||
	    json_object_get_int64(used) < json_object_get_int64(allowed))
		return xasprintf("it may have %s%s%s", most,
				 of != NULL ? " of " : "",
				 of != NULL ? of : "");
	quantity(had, json_object_get_int64(used), unit);
	if (strcmp(had, most) == 0) { /* the two figures round to the same */
		snprintf(had, sizeof(had), "%s %.32s",
			 json_object_get_string(used), unit);
		snprintf(most, sizeof(most), "%s %.32s",
			 json_object_get_string(allowed), unit);
	}
	if (info == &limit_info[LIMIT_MEMORY])
		return xasprintf("it reached %s of memory and may have %s; how "
				 "much it needs in all is not known",
				 had, most);
	if (of == NULL) /* the unit names the limit, so say it once */
		most[strcspn(most, " ")] = '\0';
	return xasprintf("it needed %s%s%s and may have %s", had,
			 of != NULL ? " of " : "", of != NULL ? of : "", most);
}

/*
 * Replace "the caller" of tools, with an argument, by the user of this command,
 * with a flag.
 */
static const struct {
	const char *theirs, *ours;
} words[] = {{"the caller: options.timeoutMs", "you can raise it: --timeout"}};

char *remedy_who(struct json_object *details)
{
	const char *who = json_member_str(details, "whoCanRaise");
	const char *colon = who != NULL ? strstr(who, ": ") : NULL;

	if (who == NULL)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i].theirs);

		if (strncmp(who, words[i].theirs, n) == 0)
			return xasprintf("%s%s", words[i].ours, who + n);
	}
	if (colon == NULL)
		return xasprintf("who can raise it: %s", who);
	return xasprintf("%.*s can raise it: %s", (int)(colon - who), who,
			 colon + 2);
}

/* ---- hints ---- */

#define IDEM_POINTER "/options/idempotencyKey"

/* Return flags for all MISSING inputs: "add -i password=env:PASSWORD". */
static char *give_again(struct json_object *missing)
{
	struct buf b = {0};

	buf_add_str(&b, "add");
	json_each(one, missing) {
		const char *key = json_object_get_string(one);
		bool plain = key != NULL && server_flags_is_plain(key) &&
			     strpbrk(key, ":@,/+") == NULL;

		buf_printf(&b, " -i %s=env:", plain ? key : "KEY");
		for (const char *c = plain ? key : "NAME"; *c != '\0'; c++)
			buf_printf(&b, "%c",
				   isalnum((unsigned char)*c)
				       ? toupper((unsigned char)*c)
				       : '_');
	}
	buf_add_str(&b,
		    ", which takes it from the environment; on a terminal it "
		    "is asked for");
	buf_add(&b, "", 1);
	return buf_take(&b, NULL);
}

static char *inputs(struct json_object *details, const char *about)
{
	struct json_object *missing = json_member(details, "missing");
	const char *pointer = json_member_str(details, "pointer");

	if (pointer != NULL && strcmp(pointer, IDEM_POINTER) == 0)
		return xstrdup(
		    "give the inputs that it was used with, or another "
		    "--idempotency-key");
	if (strcmp(pointer != NULL ? pointer : "", "/runId") == 0)
		return xstrdup("\"paddock wait RUN\" waits for its end");
	if (json_length(missing) > 0)
		return give_again(missing);
	return xasprintf("\"paddock template show %s%s\" tells what inputs it "
			 "takes",
			 about != NULL ? about : "TEMPLATE", server_flags());
}

/*
 * Hint for EXECUTION_ERROR: the template ended the run by a code of its own, or
 * a program exited, or a fault occurred.
 */
static char *execution(struct json_object *details, const char *about)
{
	if (json_member_str(details, "cure") != NULL)
		return xstrdup(json_member_str(details, "cure"));
	if (json_member(details, "templateCode") != NULL)
		return xstrdup("the template ended the run itself; its message "
			       "says why");
	if (json_member(details, "exitCode") != NULL)
		return xasprintf(
		    "\"paddock logs %s\" shows all that the program "
		    "wrote to stderr",
		    about != NULL ? about : "RUN");
	return xstrdup("if the message is about what you gave, such as an "
		       "input or code, correct it; else the template's author "
		       "has to mend it");
}

static char *quota(struct json_object *details, const char *about)
{
	char *wait = tool_error_quota_hint(details), *hint;

	(void)about;
	if (!tool_error_can_be_raised(details))
		return wait;
	hint = xasprintf("%s, or have it raised", wait);
	free(wait);
	return hint;
}

/* LOOK is a command to name; HINT says what LOOK shows. */
static const struct {
	const char *code, *look, *hint;
	char *(*of)(struct json_object *details, const char *about);
} hints[] = {
    {"TEMPLATE_NOT_FOUND", "template ls", "shows those that there are", NULL},
    {"TEMPLATE_VERSION_UNSUPPORTED", "template ls",
     "shows all; leave the version out for the newest", NULL},
    {"RUN_NOT_FOUND", "ps -a", "shows your runs", NULL},
    {"ARTIFACT_NOT_FOUND", "artifact ls",
     "shows what you have uploaded, and with a run what that has made", NULL},
    {"INVALID_PARAMETER", NULL, NULL, inputs},
    {"RUN_TIMEOUT", NULL, "ask for less at once, or allow more time", NULL},
    {"RESOURCE_LIMIT", NULL, "ask for less at once, or have the limit raised",
     NULL},
    {"QUOTA_EXCEEDED", NULL, NULL, quota},
    {"QUEUE_FULL", NULL, "try again when some of the runs that wait have ended",
     NULL},
    {"STORE_UNAVAILABLE", "status",
     "says what has to be mended; then try again", NULL},
    {"STEP_EXECUTION_FAILED", NULL,
     "if a step's message names an input, correct that; if a grant, the "
     "operator can give it; else the template's author has to mend it",
     NULL},
    {"EXECUTION_ERROR", NULL, NULL, execution},
    {"OUTPUT_INVALID", NULL,
     "the template's author has to mend what it returns", NULL},
    {"WORKER_CRASHED", NULL,
     "run it again; if it dies again, the template's author has to mend it",
     NULL},
    {"NOTEBOOK_ELSEWHERE", "notebook ls",
     "shows the notebooks; take another name, or end this one", NULL},
    {"RUN_INTERRUPTED", NULL, "the server was stopped meanwhile; run it again",
     NULL},
};

char *remedy_hint(const char *code, struct json_object *details,
		  const char *about)
{
	size_t i = 0;

	while (i < ARRAY_LEN(hints) &&
	       (code == NULL || strcmp(hints[i].code, code) != 0))
		i++;
	if (i == ARRAY_LEN(hints))
		return NULL;
	if (hints[i].of != NULL)
		return hints[i].of(details, about);
	if (hints[i].look != NULL)
		return xasprintf("\"paddock %s%s\" %s", hints[i].look,
				 server_flags(), hints[i].hint);
	return xstrdup(hints[i].hint);
}

#define RAISE(key, max)                                                        \
	"Its author can ask for more in limits." key                           \
	", up to the server's " max ".",                                       \
	    max

static const struct cage_hints
    processes =
	{"It said so as one does that has all the processes and threads "
	 "that it may.",
	 RAISE("maxProcesses", "max_processes")},
    open_files = {"One of its processes had all the files open that it may.",
		  RAISE("maxOpenFiles", "max_open_files")},
    room = {"What it writes to had no room left: /work has a half, /tmp and "
	    "/dev/shm a quarter each of what its memory may be, and files are "
	    "counted.",
	    "Its author can ask for more in limits.maxMemoryBytes and "
	    "limits.maxFiles, up to the server's max_memory_bytes and "
	    "max_files.",
	    "max_memory_bytes"},
    memory =
	{"It met the limit memory: it was refused memory, or a file longer "
	 "than all of its memory.",
	 RAISE("maxMemoryBytes", "max_memory_bytes")},
    network =
	{"It has no network but the hosts that it is granted, which it "
	 "reaches by a proxy alone (HTTP_PROXY, HTTPS_PROXY).",
	 "Its manifest can ask for hosts in permissions.network, and the "
	 "operator grant them by network in a [grant]; its client of HTTP "
	 "has to use the proxy.",
	 NULL},
    reads = {"It sees no more of the host than programs, libraries and its own "
	     "package, and may write to /work, /tmp and /dev/shm alone.",
	     "What else it has to read its manifest can name in "
	     "permissions.readPaths, and the operator grant.",
	     NULL},
    head = {"The #! line of its program ends with CR LF, as files of Windows "
	    "do, or has more than one word after /usr/bin/env.",
	    "Its author has to save the file with LF alone; \"paddock template "
	    "check\" tells which it is.",
	    NULL},
    denied = {"The sandbox says so to calls that programs can do without.",
	      "Nothing in the manifest or the configuration can allow them.",
	      NULL};

static const struct {
	const char *words;
	const struct cage_hints *mean;
} all[] = {
    {"Resource temporarily unavailable", &processes},
    {"can't start new thread", &processes},
    {"Too many open files", &open_files},
    {"No space left on device", &room},
    {"Cannot allocate memory", &memory},
    {"MemoryError", &memory},
    {"heap out of memory", &memory},
    {"Out of memory", &memory},
    {"File too large", &memory},
    {"Address family not supported", &network},
    {"name resolution", &network},
    {"EAI_AGAIN", &network},
    {"EAFNOSUPPORT", &network},
    {"in shebang lines", &head}, /* of env(1) */
    {"\\r': No such file", &head},
    {"Read-only file system", &reads},
    {"No such file or directory", &reads},
    {"Operation not permitted", &denied},
    {"Function not implemented", &denied},
};

const struct cage_hints *cage_hints(const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (strstr(text, all[i].words) != NULL)
			return all[i].mean;
	return NULL;
}

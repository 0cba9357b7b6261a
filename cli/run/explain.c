/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - "paddock explain": why a run ended as it did, and advice, by the
 * error code, details and log. main.c's table calls it. For a missing run
 * report.c prints a refusal; for an unknown code the server's words are
 * printed.
 */
#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/quantity.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/client/tool_call.h"
#include "cli/grant/draft.h"
#include "cli/run/explain_children.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/remedy.h"
#include "cli/client/report.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/server_flags.h"
#include "proto/json/json_pack.h"

#define LINES_MAX 20 /* of a message */
#define HOSTS_MAX 8  /* refused hosts in a story */

struct story {
	struct client *client;
	const char *words; /* name the run in further commands */
	struct json_object *view, *error, *details;
	struct json_object *errmsg, *help; /* arrays of sentences */
};

static void add_sentence(struct json_object *list, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Append a sentence to LIST, cleaned: it quotes untrusted words. */
static void add_sentence(struct json_object *list, const char *fmt, ...)
{
	struct buf clean = {0};
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	sanitize_add(&clean, text, strlen(text), SANITIZE_NO_LIMIT);
	json_object_array_add(
	    list,
	    json_object_new_string_len(buf_data(&clean), (int)buf_len(&clean)));
	buf_fini(&clean);
	free(text);
}

/*
 * Append TEXT with a capital letter and a full stop; TEXT is worded for
 * report.c, without either.
 */
static void tell_sentence(struct json_object *list, const char *text)
{
	size_t n = strlen(text);

	if (n > 0)
		add_sentence(list, "%c%s%s", toupper((unsigned char)text[0]),
			     text + 1, text[n - 1] == '.' ? "" : ".");
}

static const char *detail(const struct story *s, const char *key)
{
	return json_member_str(s->details, key);
}

/* ---- explanations by error code ---- */

static void about_step(struct story *s)
{
	const char *code = detail(s, "stepErrorCode");

	add_sentence(s->errmsg, "Its step %s failed%s%s.",
		     detail(s, "failedStep") ? detail(s, "failedStep")
					     : "(unnamed)",
		     code != NULL ? " with " : "", code != NULL ? code : "");
}

/* Append the help of W, and the operator's key that raises W's limit. */
static void tell_cage_help(struct story *s, const struct cage_hints *w)
{
	add_sentence(s->help, "%s", w->help);
	if (w->key != NULL)
		add_sentence(
		    s->help,
		    "Or the operator can raise it: %s in [template \"%s\"] of "
		    "paddock.conf.",
		    w->key, json_member_str(s->view, "templateId"));
}

static void about_execution(struct story *s)
{
	const char *code = detail(s, "templateCode");
	const char *said = detail(s, "stderr");
	struct json_object *status = json_member(s->details, "exitCode");
	const struct cage_hints *w = said != NULL ? cage_hints(said) : NULL;
	char *help = remedy_hint("EXECUTION_ERROR", s->details, s->words);

	if (w != NULL)
		add_sentence(s->errmsg, "Its program gave up. %s", w->errmsg);
	else if (code != NULL)
		add_sentence(s->errmsg,
			     "The template itself gave up, with its code %s.",
			     code);
	else if (status != NULL)
		add_sentence(
		    s->errmsg,
		    "Its program ended with status %s, which says that "
		    "it failed.",
		    json_object_get_string(status));
	else
		add_sentence(s->errmsg,
			     "The template's code raised an error that it did "
			     "not handle.");
	if (w != NULL)
		tell_cage_help(s, w);
	else
		tell_sentence(s->help, help);
	free(help);
}

static void about_output(struct story *s)
{
	if (s->details != NULL && detail(s, "keyword") != NULL)
		add_sentence(s->errmsg,
			     "What it returned is not what its outputsSchema "
			     "promises.");
	else
		add_sentence(s->errmsg, "What it returned is no result.");
	if (json_member(s->view, "result") != NULL)
		add_sentence(s->help,
			     "What it returned is shown by: paddock result %s",
			     s->words);
	add_sentence(s->help, "The template's author has to mend it.");
}

/* Meanings of signals, apart from a fault in the code. */
static const struct {
	const char *name, *errmsg, *help;
} signals[] = {
    {"SIGXFSZ", "It wrote a file that was longer than all of its memory.",
     "Its author can ask for more in limits.maxMemoryBytes, up to the server's "
     "max_memory_bytes."},
    {"SIGBUS",
     "It touched memory of a file that could not be had: a full "
     "/dev/shm does that.",
     "Its author can ask for more in limits.maxMemoryBytes, up to the server's "
     "max_memory_bytes: a quarter of it is /dev/shm's."},
    {"SIGKILL",
     "Somebody with the right to end it did, or the machine itself "
     "was out of memory.",
     "Nothing in the manifest or the configuration does that; the system's "
     "log may say more."},
};

static void about_crash(struct story *s)
{
	struct json_object *sig = json_member(s->details, "signal");
	const char *name = json_object_is_type(sig, json_type_int)
			       ? sigabbrev_np(json_object_get_int(sig))
			       : json_object_get_string(sig);

	add_sentence(s->errmsg,
		     "Its worker process died%s%s. The server and other runs "
		     "were not touched.",
		     name != NULL ? " of signal " : "",
		     name != NULL ? name : "");
	for (size_t i = 0; name != NULL && i < ARRAY_LEN(signals); i++)
		if (strcmp(signals[i].name, name) == 0) {
			add_sentence(s->errmsg, "%s", signals[i].errmsg);
			add_sentence(s->help, "%s", signals[i].help);
		}
	add_sentence(
	    s->help,
	    "Run it again (paddock retry %s); if it dies again with the same "
	    "inputs, the template's author has to mend it.",
	    s->words);
}

/* Forbidden system calls: their purpose, and what to use instead. */
static const struct {
	const char *calls; /* a blank before and after each */
	const char *is, *instead;
} forbidden[] = {
    {" ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd "
     "kcmp ",
     "looks into other processes", NULL},
    {" mount umount2 pivot_root fsopen fsmount fsconfig fspick move_mount "
     "open_tree mount_setattr chroot ",
     "changes what is mounted",
     "What a program has to read its manifest can name in "
     "permissions.readPaths, and the operator grant."},
    {" setns unshare clone clone3 ", "makes or enters namespaces", NULL},
    {" bpf perf_event_open userfaultfd io_uring_setup io_uring_enter "
     "io_uring_register ",
     "is a part of the kernel that has let many out of their cages", NULL},
    {" keyctl add_key request_key ", "reaches the kernel's keys", NULL},
    {" socket connect bind listen accept accept4 ", "is for the network",
     "A tool of the server's can fetch for it (run.call), if its manifest "
     "lists that in tools."},
    {" open openat openat2 creat unlink rename mkdir ", "is for files",
     "A Lua template has none; it can return artifacts. A program has /work, "
     "and what its permissions.readPaths name."},
    {" fork vfork execve execveat kill tgkill tkill ", "is for processes",
     "A Lua template has one; a program can start others."},
};

/* Tell a forbidden call's arguments and, for a program, its process. */
static void about_call(struct story *s)
{
	struct json_object *args = json_member(s->details, "args");
	struct json_object *who = json_member(s->details, "process");
	struct buf text = {0};

	json_each(one, args)
		buf_printf(&text, "%s%s", buf_len(&text) > 0 ? ", " : "",
			   json_object_get_string(one));
	if (buf_len(&text) > 0)
		add_sentence(s->errmsg, "Its arguments were %.*s.",
			     (int)buf_len(&text), buf_data(&text));
	if (who != NULL)
		add_sentence(s->errmsg, "That was %s, process %s of its own.",
			     json_member_str(who, "comm"),
			     json_object_get_string(json_member(who, "pid")));
	buf_fini(&text);
}

static void about_sandbox(struct story *s)
{
	const char *call = detail(s, "syscall");
	char *name = xasprintf(" %s ", call != NULL ? call : "unknown");

	add_sentence(s->errmsg,
		     "It tried what the sandbox forbids%s%s, and was killed "
		     "before that had any effect.",
		     call != NULL ? ": the system call " : "",
		     call != NULL ? call : "");
	about_call(s);
	add_sentence(s->help,
		     "Nothing in the manifest or the configuration can allow "
		     "that.");
	for (size_t i = 0; i < ARRAY_LEN(forbidden); i++) {
		if (strstr(forbidden[i].calls, name) == NULL)
			continue;
		add_sentence(s->errmsg, "It %s.", forbidden[i].is);
		if (forbidden[i].instead != NULL)
			add_sentence(s->help, "%s", forbidden[i].instead);
	}
	free(name);
	add_sentence(
	    s->help,
	    "Unless its author can do without, the template cannot run "
	    "here. If you do not know the template, do not trust it.");
}

/* Return further advice on INFO, a limit of ours; or NULL. */
static const char *limit_help(const struct limit_info *info)
{
	switch ((enum limit)(info - limit_info)) {
	case LIMIT_TIMEOUT:
		return "\"paddock template show\" tells how much it may have at most.";
	case LIMIT_OUTPUT:
		return "What is long is better returned as an artifact.";
	case LIMIT_ARTIFACTS:
		return "Several files can be one archive.";
	case LIMIT_MESSAGES:
		return "The server's own runtimes slow down before they meet it: "
		       "a worker that did not may have been taken over. If you "
		       "do not know the template, do not trust it.";
	default:
		return NULL;
	}
}

static void about_limit(struct story *s)
{
	struct json_object *used = json_member(s->details, "used");
	const char *limit = detail(s, "limit"), *room = detail(s, "room");
	const char *unit = detail(s, "unit");
	const struct limit_info *info = limit_find(limit);
	char *needed = remedy_limit(s->details), *who = remedy_who(s->details);
	char part[QUANTITY_SIZE];

	add_sentence(s->errmsg, "It met the limit %s.",
		     limit != NULL ? limit : "on resources");
	if (needed != NULL)
		tell_sentence(s->errmsg, needed);
	if (room != NULL && used != NULL && unit != NULL)
		add_sentence(s->errmsg,
			     "The part of %s is %s, and it was full.", room,
			     quantity(part, json_object_get_int64(used), unit));
	add_sentence(s->help, "Ask for less at once.");
	if (info != NULL)
		add_sentence(s->errmsg, "That is a limit of %s.", info->what);
	if (info != NULL && limit_help(info) != NULL)
		add_sentence(s->help, "%s", limit_help(info));
	if (who != NULL)
		add_sentence(s->help, "Or %s.", who);
	else
		add_sentence(s->help, "Nobody can raise it: it is fixed.");
	free(needed);
	free(who);
}

static void about_timeout(struct story *s)
{
	add_sentence(s->errmsg, "It was still running when its time was over.");
	about_limit(s);
}

static void about_protocol(struct story *s)
{
	const char *offence = detail(s, "offence");

	add_sentence(s->errmsg,
		     "Its worker sent the server what no worker may%s%s, and "
		     "was killed.",
		     offence != NULL ? ": " : "",
		     offence != NULL ? offence : "");
	if (detail(s, "limit") != NULL)
		about_limit(s);
}

static void about_interrupted(struct story *s)
{
	add_sentence(s->errmsg,
		     "The server that ran it was stopped before it had ended.");
	add_sentence(s->help, "Run it again: paddock retry %s", s->words);
}

static void about_canceled(struct story *s)
{
	add_sentence(s->errmsg, "Somebody asked for that.");
	if (json_length(json_member(s->view, "artifacts")) > 0)
		add_sentence(
		    s->help,
		    "What it had produced can still be read: paddock artifact "
		    "ls %s",
		    s->words);
}

static const struct {
	const char *code;
	void (*about)(struct story *s);
} codes[] = {
    {"RUN_TIMEOUT", about_timeout},
    {"STEP_EXECUTION_FAILED", about_step},
    {"EXECUTION_ERROR", about_execution},
    {"OUTPUT_INVALID", about_output},
    {"WORKER_CRASHED", about_crash},
    {"SANDBOX_VIOLATION", about_sandbox},
    {"RESOURCE_LIMIT", about_limit},
    {"PROTOCOL_VIOLATION", about_protocol},
    {"RUN_CANCELED", about_canceled},
    {"RUN_INTERRUPTED", about_interrupted},
};

/* ---- explanations of any run ---- */

static void about_steps(struct story *s)
{
	struct json_object *steps = json_member(s->view, "steps");

	json_each(step, steps) {
		struct json_object *e = json_member(step, "error");
		const char *message = json_member_str(e, "message");

		if (json_member_is(step, "status", "failed"))
			add_sentence(s->errmsg, "Step %s: %s",
				     json_member_str(step, "name"),
				     message != NULL ? message : "failed");
	}
}

/* Append the message, with a line for each line of a Lua traceback. */
static void tell_message(struct json_object *list, const char *code,
			 const char *message)
{
	size_t n = strcspn(message, "\n");

	add_sentence(list, "%s: %.*s", code, (int)n, message);
	for (int i = 0; message[n] == '\n' && i < LINES_MAX; i++) {
		message += n + 1;
		message += strspn(message, "\t ");
		n = strcspn(message, "\n");
		add_sentence(list, "  %.*s", (int)n, message);
	}
}

static void about_error(struct story *s)
{
	const char *code = json_member_str(s->error, "errorCode");
	const char *message = json_member_str(s->error, "message");
	const char *hint = json_member_str(s->error, "recoverHint");

	for (size_t i = 0; code != NULL && i < ARRAY_LEN(codes); i++)
		if (strcmp(codes[i].code, code) == 0)
			codes[i].about(s);
	if (message != NULL)
		tell_message(s->errmsg, code != NULL ? code : "The message",
			     message);
	if (json_object_array_length(s->help) == 0 && hint != NULL)
		tell_sentence(s->help, hint);
}

/* Tell the limits that the run reached without being ended. */
static void about_met(struct story *s)
{
	const char *ended = detail(s, "limit");

	json_each(d, json_member(s->view, "limitsMet")) {
		const char *limit = json_member_str(d, "limit");
		char *needed = remedy_limit(d), *who = remedy_who(d);

		if (limit != NULL && needed != NULL &&
		    (ended == NULL || strcmp(limit, ended) != 0)) {
			add_sentence(s->errmsg,
				     "It got no more than the limit %s allows: "
				     "%s.",
				     limit, needed);
			if (who != NULL)
				add_sentence(s->help,
					     "As for the limit %s, %s.", limit,
					     who);
		}
		free(needed);
		free(who);
	}
}

static void tell_child(void *arg, const char *sentence)
{
	struct story *s = arg;

	add_sentence(s->errmsg, "%s", sentence);
}

/* Name the called runs that failed: perhaps the reason of the failure. */
static void about_family(struct story *s, const char *status)
{
	const char *caller = json_member_str(s->view, "parentRunId");

	if (explain_children(s->client, s->view, tell_child, s))
		add_sentence(s->help, "More about a called run: paddock "
				      "explain RUN, with the id above.");
	if (caller == NULL || strcmp(status, "canceled") != 0)
		return;
	add_sentence(s->errmsg,
		     "It was called by %s, and ends with that run at the "
		     "latest.",
		     caller);
	add_sentence(s->help, "How that run ended: paddock explain %s", caller);
}

/* Tell refusals of the network, and the line to grant a host. */
static void about_network(struct story *s)
{
	const char *template = json_member_str(s->view, "templateId");
	struct json_object *hosts =
	    json_member(json_member(s->view, "network"), "hosts");
	int n = 0;

	json_each(host, hosts) {
		const char *name = json_member_str(host, "host");

		json_each(one, json_member(host, "refusals")) {
			const char *code = json_member_str(one, "code");

			if (n++ >= HOSTS_MAX)
				break;
			add_sentence(s->errmsg,
				     "The host %s was refused, %s: %s", name,
				     code, json_member_str(one, "message"));
			if (strcmp(code, "NETWORK_NOT_GRANTED") == 0)
				add_sentence(
				    s->help,
				    "The operator can grant the host, by network "
				    "= %s in [grant \"%s\"] of paddock.conf; a "
				    "manifest with a list of hosts needs %s in "
				    "permissions.network, too.",
				    name, template, name);
		}
	}
	if (n > HOSTS_MAX)
		add_sentence(s->errmsg, "%d more hosts were refused.",
			     n - HOSTS_MAX);
}

static void tell_missing(void *arg, const char *line)
{
	struct story *s = arg;

	add_sentence(s->errmsg, "Of what it made, %s", line);
}

#define CODE_TIMED_OUT 124 /* the exit code of code that met its timeoutMs */

/*
 * Tell why given code failed, whose run succeeded, by the exit code and the end
 * of stderr in the result.
 */
static void about_given_code(struct story *s)
{
	const char *said =
	    json_member_str(json_member(s->view, "result"), "stderr");
	const struct cage_hints *w = said != NULL ? cage_hints(said) : NULL;
	int code = report_exit_code(s->view);

	if (code == 0)
		return;
	add_sentence(
	    s->errmsg,
	    "The run succeeded, but the code that was given ended with status "
	    "%d.",
	    code);
	if (w != NULL) {
		add_sentence(s->errmsg, "%s", w->errmsg);
		tell_cage_help(s, w);
	}
	if (said == NULL || *said == '\0')
		add_sentence(
		    s->help,
		    "The code wrote nothing to stderr; its stdout may say more: paddock result %s",
		    s->words);
	else if (code == CODE_TIMED_OUT && strstr(said, "its timeoutMs"))
		add_sentence(
		    s->help,
		    "Give the code more time, by a larger input timeoutMs, or let it do less.");
	else
		add_sentence(
		    s->help,
		    "The end of its stderr says more: paddock result %s",
		    s->words);
}

static void about_end(struct story *s, const char *status)
{
	const char *from = json_member_str(s->view, "retriedFrom");

	if (from != NULL)
		add_sentence(s->errmsg, "It is another try of %s.", from);
	json_each(one, json_member(s->view, "attempts"))
		add_sentence(
		    s->errmsg,
		    "Attempt %lld ended with %s, so it was tried again: %s.",
		    (long long)json_member_int(one, "attempt"),
		    json_member_str(one, "errorCode"),
		    json_member_str(one, "message"));
	about_met(s);
	about_family(s, status);
	about_network(s);
	lost_artifacts_print(s->view, tell_missing, s);
	if (s->error != NULL) {
		about_error(s);
		about_steps(s);
	} else if (strcmp(status, "partial_success") == 0) {
		if (lost_artifacts_count(s->view) == 0)
			add_sentence(
			    s->errmsg,
			    "Some of its steps failed, but enough succeeded for "
			    "a result.");
		about_steps(s);
	} else if (strcmp(status, "queued") == 0) {
		add_sentence(
		    s->errmsg,
		    "It waits until one of the runs before it has ended.");
	} else if (strcmp(status, "succeeded") == 0) {
		about_given_code(s);
	}
}

static void print_story(const struct story *s, const char *status)
{
	safe_printf("%s of %s: %s\n", json_member_str(s->view, "runId"),
		    json_member_str(s->view, "templateId"), status);
	json_each(one, s->errmsg)
		safe_printf("  %s\n", json_object_get_string(one));
	if (json_object_array_length(s->help) > 0)
		puts("What would help:");
	json_each(one, s->help)
		safe_printf("  %s\n", json_object_get_string(one));
}

static int explain_run(const struct cli *cli, struct client *c, int n,
		       const char *const *arg)
{
	struct story s = {.client = c};
	struct json_object *o, *draft;
	const char *status;
	char *words;
	int rc = tool_call_run(cli, c, arg[0], &s.view);

	(void)n;
	if (rc == 0)
		rc = draft_of_run(c, s.view, &draft);
	if (rc != 0) {
		json_object_put(s.view);
		return rc;
	}
	s.error = json_member(s.view, "error");
	s.details = json_member(s.error, "details");
	s.errmsg = json_object_new_array();
	s.help = json_object_new_array();
	words = server_flags_for_run(cli, arg[0]);
	s.words = words;
	status = json_member_str(s.view, "status");
	if (status == NULL)
		status = "unknown";
	about_end(&s, status);
	if (cli->json) {
		o = json_pack("runId:s status:s why:O help:O error?O "
			      "draft?O",
			      json_member_str(s.view, "runId"), status,
			      s.errmsg, s.help, s.error,
			      draft_has_section(draft) ? draft : NULL);
		json_pretty_print(o, true);
		json_object_put(o);
	} else {
		print_story(&s, status);
		draft_show(draft);
	}
	json_object_put(draft);
	free(words);
	json_object_put(s.errmsg);
	json_object_put(s.help);
	json_object_put(s.view);
	return CLI_OK;
}

const struct command cmd_explain = {
    .name = "explain",
    .args = "RUN",
    .summary = "why a run failed, and what would help",
    .min = 1,
    .max = 1,
    .call = explain_run,
};

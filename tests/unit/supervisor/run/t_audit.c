/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_audit.c - the audit log: the acting requestor, the act and the outcome, each entry
 * a line of JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/run/audit.h"
#include "tests/unit/tap.h"

#define LONGEST 128 /* kept bytes of a client's text */

static char dir[] = "/tmp/paddock-t-audit-XXXXXX";
static char path[64];

static struct requestor alice = {.name = (char *)"uid:1000"};
static struct template shout = {.id = (char *)"shout",
				.version_text = (char *)"1.2.0"};

/* The contents of the file, which is then emptied; the caller frees the text. */
static char *taken(void)
{
	char *text = buf_file(path, 8191);

	(void)!truncate(path, 0);
	return text;
}

/* The single written line as JSON; NULL: not exactly one line. */
static struct json_object *entry(void)
{
	struct json_object *o = NULL;
	char *text = taken();
	size_t n = strlen(text);

	if (n > 0 && strchr(text, '\n') == text + n - 1)
		json_parse(&o, text, n - 1, NULL);
	free(text);
	return o;
}

/* Does the written entry have exactly MEMBERS, beside the time? */
static void is_entry(const char *members, const char *name)
{
	struct json_object *o = entry();
	const char *ts = json_member_str(o, "ts");

	ok(ts != NULL && strlen(ts) == 24 && ts[23] == 'Z', "%s: when", name);
	json_object_object_del(o, "ts");
	is_str(o == NULL ? NULL : json_text(o, NULL), members, "%s", name);
	json_object_put(o);
}

static struct run *new_run(void)
{
	struct run *r = xcalloc(1, sizeof(*r));

	r->requestor = &alice;
	r->template = &shout;
	strcpy(r->id, "run_1");
	r->created_mono_ms = 1000;
	r->finished_mono_ms = 1234;
	r->use.cpu_ms = 56;
	return r;
}

static void check_runs(void)
{
	struct isolation iso = {.view = json_object_new_object()};
	struct isolation unknown = {0};
	struct run *r = new_run();

	json_object_object_add(iso.view, "level",
			       json_object_new_string("userns"));
	audit_run("run_created", r);
	is_entry("{\"event\":\"run_created\",\"requestor\":\"uid:1000\","
		 "\"runId\":\"run_1\",\"template\":\"shout\","
		 "\"version\":\"1.2.0\",\"digest\":\"\"}",
		 "a run is created");
	r->state = RUN_SUCCEEDED;
	audit_end(r, &iso);
	is_entry("{\"event\":\"run_ended\",\"requestor\":\"uid:1000\","
		 "\"runId\":\"run_1\",\"template\":\"shout\","
		 "\"version\":\"1.2.0\",\"outcome\":\"succeeded\","
		 "\"elapsedMs\":234,\"cpuMs\":56,"
		 "\"isolation\":{\"level\":\"userns\"}}",
		 "a run succeeds");
	r->state = RUN_FAILED;
	r->error.code = (char *)"WORKER_CRASHED";
	audit_end(r, &unknown);
	is_entry("{\"event\":\"run_ended\",\"requestor\":\"uid:1000\","
		 "\"runId\":\"run_1\",\"template\":\"shout\","
		 "\"version\":\"1.2.0\",\"outcome\":\"failed\","
		 "\"errorCode\":\"WORKER_CRASHED\",\"elapsedMs\":234,"
		 "\"cpuMs\":56}",
		 "a run fails, before isolation was measured");
	json_object_put(iso.view);
	free(r);
}

static void check_refused(void)
{
	char longest[LONGEST + 1], longer[LONGEST + 2], want[512];

	memset(longest, 'x', LONGEST);
	longest[LONGEST] = '\0';
	memset(longer, 'x', LONGEST + 1);
	longer[LONGEST + 1] = '\0';
	audit_refused(&alice, "get_task_run", "run_2", "RUN_NOT_FOUND");
	is_entry("{\"event\":\"refused\",\"requestor\":\"uid:1000\","
		 "\"tool\":\"get_task_run\",\"id\":\"run_2\","
		 "\"errorCode\":\"RUN_NOT_FOUND\"}",
		 "who was refused what");
	audit_refused(&alice, NULL, NULL, "QUEUE_FULL");
	is_entry("{\"event\":\"refused\",\"requestor\":\"uid:1000\","
		 "\"errorCode\":\"QUEUE_FULL\"}",
		 "what is not known is left out");
	audit_refused(&alice, longer, longest, "X");
	snprintf(want, sizeof(want),
		 "{\"event\":\"refused\",\"requestor\":\"uid:1000\","
		 "\"id\":\"%s\",\"errorCode\":\"X\"}",
		 longest);
	is_entry(want, "a name that is too long is left out");
	audit_refused(&alice, "a\n{\"event\":\"run_created\"}", "\"\x7f\x1b[2J",
		      "X");
	is_entry("{\"event\":\"refused\",\"requestor\":\"uid:1000\","
		 "\"tool\":\"a\\n{\\\"event\\\":\\\"run_created\\\"}\","
		 "\"id\":\"\\\"\x7f\\u001b[2J\",\"errorCode\":\"X\"}",
		 "nobody can forge a second line");
}

static void check_files(void)
{
	char rotated[80], nowhere[80], *text;
	struct stat st;
	mode_t old = umask(0);

	snprintf(rotated, sizeof(rotated), "%s.1", path);
	snprintf(nowhere, sizeof(nowhere), "%s/none/audit", dir);
	audit_refused(&alice, NULL, NULL, "EARLY");
	is_int(access(path, F_OK), -1,
	       "before it is opened nothing is written");
	is_int(audit_open(path), 0, "a file is made");
	umask(old);
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640,
	   "the audit file is not readable by everybody");
	audit_refused(&alice, NULL, NULL, "ONE");
	is_int(rename(path, rotated), 0, "the audit file can be renamed");
	audit_refused(&alice, NULL, NULL, "TWO");
	is_int(access(path, F_OK), -1,
	       "the old audit file is used before the reopening");
	is_int(audit_open(nowhere), -ENOENT,
	       "a file that cannot be is an error");
	audit_refused(&alice, NULL, NULL, "THREE");
	is_int(access(path, F_OK), -1,
	       "the old audit file stays in use when reopening fails");
	is_int(audit_open(path), 0, "the audit file is made anew");
	audit_refused(&alice, NULL, NULL, "FOUR");
	text = taken();
	ok(strstr(text, "FOUR") != NULL && strstr(text, "THREE") == NULL,
	   "a reopened audit file takes what comes from then on");
	free(text);
	is_int(rename(rotated, path), 0, "the old one");
	text = taken();
	ok(strstr(text, "ONE") && strstr(text, "TWO") && strstr(text, "THREE"),
	   "the renamed audit file has the entries before");
	free(text);
	is_int(audit_open(path), 0, "an existing file");
	audit_refused(&alice, NULL, NULL, "FIVE");
	is_int(audit_open(path), 0, "opened twice");
	audit_refused(&alice, NULL, NULL, "SIX");
	text = taken();
	ok(strstr(text, "FIVE") && strstr(text, "SIX"),
	   "an existing audit file is appended to");
	free(text);
}

/*
 * Clients choose names: no name may control a terminal, or look like a second line.
 */
static void check_escaped(void)
{
	static const char name[] = "a\xC2\x85"
				   "b\xE2\x80\xA8"
				   "c\xE2\x80\xAE"
				   "d\xF3\xA0\x80\xA0"
				   "\xC3\xBC\x1B";
	char *text;

	audit_refused(&alice, name, NULL, "X");
	text = taken();
	ok(strstr(text, "\"tool\":\"a\\u0085b\\u2028c\\u202ed\\udb40\\udc20"
			"\xC3\xBC\\u001b\"") != NULL,
	   "what ends a line, turns its direction or is not seen is escaped");
	free(text);
	audit_uploaded(&alice, "art_x", 7, "abc");
	is_entry("{\"event\":\"artifact_put\",\"requestor\":\"uid:1000\","
		 "\"artifactId\":\"art_x\",\"bytes\":7,\"sha256\":\"abc\"}",
		 "an upload");
}

int main(void)
{
	char *text;

	if (!ok(mkdtemp(dir) != NULL, "a folder of our own"))
		return tap_done();
	snprintf(path, sizeof(path), "%s/audit", dir);
	check_files();
	check_runs();
	check_refused();
	check_escaped();
	is_int(audit_open(NULL), 0, "the audit can be ended");
	audit_refused(&alice, NULL, NULL, "LATE");
	text = taken();
	is_str(text, "", "nothing is written after the end");
	free(text);
	unlink(path);
	rmdir(dir);
	return tap_done();
}

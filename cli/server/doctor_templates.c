/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_templates.c - a short run of each shipped template, in this machine's
 * cage, for "paddock doctor". A failure is reported in its own words, as is a
 * package that the server could not load; the runs are deleted from the record.
 */
#include "cli/server/doctor_templates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "cli/client/tool_call.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "cli/terminal/signals.h"

#define RUN_MS 30000	 /* of each */
#define GIVE_UP_MS 10000 /* for the end of a cancelled run */

/*
 * A page of no host (RFC 6761, 6.4). A refusal to go there, or a failure to
 * reach it, shows that the browser works.
 */
#define NOWHERE "http://doctor.invalid/"
#define REFUSED "URL_NOT_ALLOWED"
#define UNREACHED "was not reached"

/* The shipped templates, with inputs for a short run, and their runtime. */
static const struct {
	const char *id, *inputs;
	bool nowhere; /* success includes a page that is not reached */
	bool program;
} shipped[] = {
    {"batch_extract_pages", "{\"urls\":[\"" NOWHERE "\"]}", true, false},
    {"check_records",
     "{\"records\":[],\"rules\":[{\"field\":\"a\",\"required\":true}]}", false,
     false},
    {"csv_profile", "{\"csv\":\"a\\n1\\n\"}", false, false},
    {"json_query", "{\"document\":[1],\"path\":\"$[0]\"}", false, false},
    {"log_digest", "{\"log\":\"\"}", false, false},
    {"login_keep_session",
     "{\"startUrl\":\"" NOWHERE
     "\",\"locateMode\":\"selector\",\"selectors\":{\"username\":\"#a\","
     "\"password\":\"#b\",\"submit\":\"#c\"},\"credentials\":{\"username\":"
     "\"a\",\"password\":\"b\"}}",
     true, false},
    {"multi_tab_compare", "{\"urls\":[\"" NOWHERE "\",\"" NOWHERE "a\"]}", true,
     false},
    {"number_summary", "{\"values\":[1,2]}", false, true},
    {"pattern_matches", "{\"text\":\"aa\",\"pattern\":\"a\"}", false, true},
    {"primes", "{\"limit\":100}", false, true},
    {"run_bash", "{\"code\":\"true\"}", false, true},
    {"run_lua", "{\"code\":\"return 1\"}", false, false},
    {"run_node", "{\"code\":\"console.log(1)\"}", false, true},
    {"run_python", "{\"code\":\"print(1)\"}", false, true},
    {"text_diff", "{\"a\":\"a\\n\",\"b\":\"b\\n\"}", false, false},
    {"text_digests", "{\"texts\":[\"a\"]}", false, true},
    {"word_count", "{\"text\":\"a b\"}", false, true},
};

/* ---- results ---- */

/*
 * Return the last line of stderr of a run of code that exited with a failure;
 * NULL: success.
 */
static char *why_code(struct json_object *result)
{
	const char *text = json_member_str(result, "stderr"), *line;
	size_t end = text != NULL ? strlen(text) : 0;

	if (json_member_int(result, "exitCode") == 0)
		return NULL;
	while (end > 0 && text[end - 1] == '\n')
		end--;
	if (end == 0)
		return xstrdup("its code failed, and nothing says why");
	line = memrchr(text, '\n', end);
	line = line != NULL ? line + 1 : text;
	return xstrndup(line, (size_t)(text + end - line));
}

/*
 * Return why the run of VIEW failed, the caller's; NULL: success. NOWHERE: a
 * page that is not reached counts as success.
 */
static char *trial_failure(struct json_object *view, bool nowhere)
{
	struct json_object *error = json_member(view, "error");
	const char *why, *text = json_text(view, NULL);

	if (json_member_str(view, "status") == NULL) /* refused, without run */
		why = json_member_str(view, "error");
	else if (json_member_is(view, "status", "failed"))
		why = json_member_str(error, "message");
	else
		return why_code(json_member(view, "result"));
	if (nowhere &&
	    (strstr(text, REFUSED) != NULL || strstr(text, UNREACHED) != NULL))
		return NULL;
	if (why == NULL)
		why = "the server does not say why";
	return xstrndup(why, strcspn(why, "\n")); /* without traceback */
}

/* ---- every template ---- */

struct trial {
	struct client *client;
	int64_t until_ms;
	struct json_object *tried, *runs;
};

static struct json_object *trial_arguments(const char *mode, size_t i,
					   int64_t ms, const char *key)
{
	struct json_object *inputs = NULL;

	json_parse(&inputs, shipped[i].inputs, strlen(shipped[i].inputs), NULL);
	return json_pack(
	    "templateId:s inputs:o options:o", shipped[i].id, inputs,
	    json_pack("mode:s timeoutMs:i idempotencyKey:s", mode, ms, key));
}

/*
 * Note the run in A for deletion. Returns its id, lent; NULL: no run was made.
 */
static const char *note_run(struct trial *t, const struct tool_result *a)
{
	const char *run = json_member_str(a->value, "runId");

	if (run != NULL)
		json_object_array_add(t->runs, json_object_new_string(run));
	return run;
}

/*
 * Cancel the run of CALL and wait for its end: only an ended run can be
 * deleted. ARGS (taken) are those of CALL, in mode async and with the same key:
 * the same call finds the run's id.
 */
static void cancel_trial(struct trial *t, int64_t call,
			 struct json_object *args)
{
	struct tool_result a, end;
	const char *run;

	signals_seen();
	if (client_wait(t->client,
			client_send_tool(t->client, "run_task_template", args),
			GIVE_UP_MS, &a) < 0)
		return;
	run = note_run(t, &a);
	if (run != NULL && client_tool(t->client, "cancel_task_run",
				       json_pack("runId:s", run), &end) == 0) {
		tool_result_fini(&end);
		if (client_wait(t->client, call, GIVE_UP_MS, &end) == 0)
			tool_result_fini(&end);
	}
	tool_result_fini(&a);
}

/*
 * Run shipped[I] in the time left. Returns as client_wait(); after -ETIMEDOUT
 * or -EINTR the run is cancelled.
 */
static int call_trial(struct trial *t, size_t i, struct tool_result *a)
{
	char key[ID_SIZE];
	int rc;

	id_new(key, "run");
	do {
		int64_t left = t->until_ms - clock_mono_ms();
		int64_t ms = left < RUN_MS ? left : RUN_MS, id;

		if (left <= 0)
			return -ETIMEDOUT;
		id = client_send_tool(t->client, "run_task_template",
				      trial_arguments("sync", i, ms, key));
		rc = client_wait(t->client, id, (int)left, a);
		if (rc == -ETIMEDOUT || rc == -EINTR)
			cancel_trial(t, id,
				     trial_arguments("async", i, ms, key));
		if (rc == 0)
			rc = client_ask_again(t->client, t->until_ms, a);
	} while (rc > 0);
	return rc;
}

static int try_one(struct trial *t, size_t i)
{
	struct tool_result a;
	char *why;
	int rc = call_trial(t, i, &a);

	if (rc == -ETIMEDOUT) {
		json_object_array_add(t->tried,
				      json_pack("templateId:s", shipped[i].id));
		return 0;
	}
	if (rc < 0)
		return client_trouble();
	note_run(t, &a);
	why = trial_failure(a.value, shipped[i].nowhere);
	json_object_array_add(t->tried,
			      json_pack("templateId:s works:b why?s",
					shipped[i].id, why == NULL, why));
	free(why);
	tool_result_fini(&a);
	return 0;
}

/*
 * Note the template ID, whose package the server could not load, with the
 * server's own reason.
 */
static void note_skipped(struct trial *t, const char *id,
			 struct json_object *skipped)
{
	json_each(one, skipped) {
		const char *path = json_member_str(one, "path");
		const char *name = path != NULL ? strrchr(path, '/') : NULL;

		if (name == NULL || strcmp(name + 1, id) != 0 ||
		    json_member_bool(one, "kept"))
			continue;
		json_object_array_add(
		    t->tried,
		    json_pack("templateId:s works:b why:s path:s", id, false,
			      json_member_str(one, "why"), path));
		return;
	}
}

static bool list_has_template(struct json_object *list, const char *id)
{
	json_each(one, list)
		if (json_member_is(one, "templateId", id))
			return true;
	return false;
}

bool doctor_templates_no_program(struct json_object *tried)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(shipped); i++)
		json_each(one, tried) {
			if (!shipped[i].program ||
			    !json_member_is(one, "templateId", shipped[i].id))
				continue;
			if (json_member_str(one, "why") == NULL)
				return false;
			n++;
		}
	return n > 0;
}

int doctor_templates(const struct cli *cli, struct client *c,
		     struct json_object *skipped, struct json_object *o)
{
	struct trial t = {.client = c,
			  .until_ms = clock_mono_ms() + DOCTOR_TEMPLATES_MS,
			  .tried = json_object_new_array(),
			  .runs = json_object_new_array()};
	struct json_object *v;
	struct tool_result a;
	int rc = tool_call_templates(cli, c, &v);

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(shipped); i++)
		if (list_has_template(json_member(v, "templates"),
				      shipped[i].id))
			rc = try_one(&t, i);
		else
			note_skipped(&t, shipped[i].id, skipped);
	if (json_length(t.runs) > 0 &&
	    client_method(c, "paddock/deleteRuns",
			  json_pack("runIds:O", t.runs), &a) == 0)
		tool_result_fini(&a);
	json_add(o, DOCTOR_TEMPLATES ":o", t.tried);
	json_object_put(t.runs);
	json_object_put(v);
	return rc;
}

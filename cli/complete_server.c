/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete_server.c - candidates that a server knows: runs, artifacts,
 * notebooks, templates and their inputs; complete.c calls it. Without an answer in time
 * nothing is offered or printed.
 */
#include "cli/complete_server.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/client/run_id.h"
#include "cli/template/template_findings.h"
#include "proto/json/json_pack.h"

#define SERVER_MS 500 /* for a daemon to answer */
#define RUNS_MAX 50   /* the newest */

/*
 * Return the answer of C (NULL: none) within MS, the caller's; NULL: no good
 * answer. Takes ARGS and closes C.
 */
static struct json_object *call_server(struct client *c, const char *tool,
				       struct json_object *args, int ms)
{
	struct tool_result a = {0};
	struct json_object *v = NULL;

	if (c == NULL) {
		json_object_put(args);
		return NULL;
	}
	if (client_wait(c, client_send_tool(c, tool, args), ms, &a) == 0 &&
	    a.good)
		v = json_object_get(a.value);
	tool_result_fini(&a);
	client_close(c);
	return v;
}

/*
 * Connect to the daemon that the words mean; NULL: flags for a private server
 * are given, or no daemon answers soon.
 */
static struct client *daemon_of(const struct complete_words *w)
{
	return w->seen.templates.n == 0 && w->seen.config == NULL &&
		       w->seen.state_dir == NULL
		   ? client_open_daemon(&w->seen, SERVER_MS)
		   : NULL;
}

/*
 * Connect to the daemon, or else start a private server, which has the record
 * of runs, too. No private server is started when a flag or the environment
 * names a socket, nor for a missing state folder, which the server would
 * create.
 */
static struct client *server_of(const struct complete_words *w)
{
	const char *named = getenv("PADDOCK_SOCKET");
	struct client *c = daemon_of(w);

	if (c != NULL || w->seen.socket != NULL ||
	    (named != NULL && *named != '\0') ||
	    (w->seen.state_dir != NULL && access(w->seen.state_dir, F_OK) != 0))
		return c;
	return client_open_private(&w->seen);
}

/* Return the view of a run that the user names by GIVEN; NULL: no such run. */
static struct json_object *run_view(const struct complete_words *w,
				    const char *given)
{
	struct client *c = server_of(w);
	struct json_object *view = NULL;
	char *id = NULL;

	if (c != NULL && run_id_find(&w->seen, c, given, &id) == 0)
		view = call_server(c, "get_task_run", json_pack("runId:s", id),
				   COMPLETE_PATIENCE_S * 1000);
	else
		client_close(c);
	free(id);
	return view;
}

/* Offer ID; also without its prefix ("run_") if the user typed none. */
static void offer_id(const struct complete_words *w, const char *id,
		     const char *about)
{
	const char *behind = strchr(id, '_');

	complete_offer_about(w, id, strlen(id), about);
	if (behind != NULL && w->last[0] != '\0' &&
	    strncmp(id, w->last, strlen(w->last)) != 0)
		complete_offer_about(w, behind + 1, strlen(behind + 1), about);
}

static void offer_runs_in(const struct complete_words *w, const char *status)
{
	struct json_object *v, *list;
	bool last = false;

	v = call_server(server_of(w), "list_task_runs",
			json_pack("status?s limit:i", status, RUNS_MAX),
			COMPLETE_PATIENCE_S * 1000);
	list = json_member(v, "runs");
	json_each(r, list) {
		const char *id = json_member_str(r, "runId");
		char *about =
		    xasprintf("%s, %s", json_member_str(r, "templateId"),
			      json_member_str(r, "status"));

		if (id != NULL)
			offer_id(w, id, about);
		if (id != NULL && status == NULL && !last) /* the newest run */
			complete_offer_about(w, "last", strlen("last"), about);
		last = true;
		free(about);
	}
	json_object_put(v);
}

void complete_artifact_ids(const struct complete_words *w, bool all)
{
	struct client *c = server_of(w);
	struct tool_result a = {0};

	if (c == NULL)
		return;
	if (client_method(c, "paddock/artifacts",
			  json_pack("idPrefix?s", all ? "art_" : NULL),
			  &a) == 0)
		json_each(one, json_member(a.value, "artifacts")) {
			const char *id = json_member_str(one, "artifactId");

			if (id != NULL)
				offer_id(w, id, json_member_str(one, "name"));
		}
	tool_result_fini(&a);
	client_close(c);
}

void complete_notebooks(const struct complete_words *w)
{
	struct client *c = daemon_of(w);
	struct tool_result a = {0};

	if (c == NULL)
		return;
	if (client_method(c, "paddock/residents", NULL, &a) == 0)
		json_each(one, json_member(a.value, "residents")) {
			const char *name = json_member_str(one, "name");

			if (name != NULL)
				complete_offer_about(
				    w, name, strlen(name),
				    json_member_str(one, "templateId"));
		}
	tool_result_fini(&a);
	client_close(c);
}

void complete_runs(const struct command *cmd, const struct complete_words *w)
{
	if (strcmp(cmd->name, "cancel") != 0) {
		offer_runs_in(w, NULL);
		return;
	}
	offer_runs_in(w, "running");
	offer_runs_in(w, "queued");
}

void complete_artifacts(const struct complete_words *w, const char *run)
{
	struct json_object *v = run_view(w, run);

	json_each(one, json_member(v, "artifacts")) {
		const char *name = json_member_str(one, "name");

		/* "-oFILE" would be a flag, and "@files" has a meaning of its own */
		if (name != NULL && name[0] != '-' && name[0] != '@')
			complete_offer(w, name);
	}
	json_object_put(v);
}

/* Offer the templates of the daemon, or else the packages in the folders. */
void complete_templates(const struct complete_words *w)
{
	struct json_object *v =
	    call_server(daemon_of(w), "list_task_templates",
			json_object_new_object(), SERVER_MS);
	bool asked = v != NULL;
	struct json_object *list;

	if (!asked)
		v = template_findings_all(&w->seen, NULL);
	list = json_member(v, "templates");
	json_each(t, list) {
		const char *name = asked ? json_member_str(t, "templateId")
					 : json_object_get_string(t);

		if (name != NULL)
			complete_offer_about(w, name, strcspn(name, " "), NULL);
	}
	json_object_put(v);
}

void complete_inputs(const struct complete_words *w, const char *template)
{
	size_t n = strcspn(template, "@");
	char *id = xstrndup(template, n);
	const char *tool = "list_task_templates";
	struct json_object *v = call_server(
	    daemon_of(w), tool, json_pack("templateId:s", id), SERVER_MS);

	if (v == NULL)
		v = call_server(client_open(&w->seen), tool,
				json_pack("templateId:s", id),
				COMPLETE_PATIENCE_S * 1000);
	json_each(t, json_member(v, "templates")) {
		struct json_object *all =
		    json_member(json_member(t, "inputsSchema"), "properties");

		if (!json_object_is_type(all, json_type_object))
			continue;
		json_object_object_foreach(all, key, schema) {
			char *word = xasprintf("%s=", key);

			complete_offer_about(
			    w, word, strlen(word),
			    json_member_str(schema, "description"));
			free(word);
		}
	}
	json_object_put(v);
	free(id);
}

void complete_inputs_of_run(const struct complete_words *w, const char *run)
{
	struct json_object *v = run_view(w, run);

	if (json_member_str(v, "templateId") != NULL)
		complete_inputs(w, json_member_str(v, "templateId"));
	json_object_put(v);
}

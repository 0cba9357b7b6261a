#include "supervisor/resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "proto/json.h"
#include "supervisor/runs.h"

#define RPC_RESOURCE_NOT_FOUND (-32002) /* MCP, server/resources, errors */

#define URI_ISOLATION "paddock://isolation"
#define URI_RUNS "paddock://runs/"

/* ---- lists ---- */

struct entry {
	const char *uri, *name, *description, *mime_type;
};

static const struct entry listed[] = {
    {URI_ISOLATION, "isolation", "How well runs are isolated here, as measured",
     "application/json"},
};

static const struct entry templates[] = {
    {URI_RUNS "{runId}/log", "run_log", "What a run has logged, a line each",
     "text/plain"},
    {URI_RUNS "{runId}/artifacts/{artifactId}", "artifact",
     "The bytes of an artifact", NULL},
};

static void add(struct json_object *o, const char *key, const char *text)
{
	if (text != NULL)
		json_object_object_add(o, key, json_object_new_string(text));
}

/* {KEY: [{URI_KEY, name, …}]} of N ENTRIES; all fit one page. */
static void answer_entries(struct call *c, const char *key, const char *uri_key,
			   const struct entry *entries, size_t n)
{
	struct json_object *result = json_object_new_object();
	struct json_object *list = json_object_new_array_ext((int)n);

	for (size_t i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();

		add(o, uri_key, entries[i].uri);
		add(o, "name", entries[i].name);
		add(o, "description", entries[i].description);
		add(o, "mimeType", entries[i].mime_type);
		json_object_array_add(list, o);
	}
	json_object_object_add(result, key, list);
	call_result(c, result);
}

void resources_list(struct call *c)
{
	answer_entries(c, "resources", "uri", listed, ARRAY_LEN(listed));
}

void resources_templates(struct call *c)
{
	answer_entries(c, "resourceTemplates", "uriTemplate", templates,
		       ARRAY_LEN(templates));
}

/* ---- reading ---- */

static void not_found(struct call *c, const char *uri)
{
	struct json_object *data = json_object_new_object();

	add(data, "uri", uri);
	call_error(c, RPC_RESOURCE_NOT_FOUND, data, "Resource not found");
}

static const char *uri_of(const struct call *c)
{
	return json_member_str(c->msg.params, "uri");
}

/* TEXT is UTF-8 and goes as text; anything else as a blob. */
static void answer_bytes(struct call *c, const char *mime_type,
			 const char *bytes, size_t len)
{
	struct json_object *result = json_object_new_object();
	struct json_object *contents = json_object_new_array_ext(1);
	struct json_object *o = json_object_new_object();

	add(o, "uri", uri_of(c));
	add(o, "mimeType", mime_type);
	if (utf8_ok(bytes, len)) {
		json_object_object_add(
		    o, "text", json_object_new_string_len(bytes, (int)len));
	} else {
		char *blob = xcalloc(1, BASE64_LEN(len) + 1);

		base64_encode(blob, bytes, len);
		add(o, "blob", blob);
		free(blob);
	}
	json_object_array_add(contents, o);
	json_object_object_add(result, "contents", contents);
	call_result(c, result);
}

static void read_isolation(struct call *c)
{
	size_t len;
	const char *text =
	    json_text(c->session->server->isolation.view, &len);

	answer_bytes(c, "application/json", text, len);
}

static void on_log_row(void *arg, const struct store_result *res)
{
	struct call *c = arg;
	const char *log;

	if (!call_release(c))
		return;
	if (res->rc != 0) {
		not_found(c, uri_of(c));
		return;
	}
	log = res->runs[0].log != NULL ? res->runs[0].log : "";
	answer_bytes(c, "text/plain", log, strlen(log));
}

static void read_log(struct call *c, const char *run_id)
{
	struct server *srv = c->session->server;
	struct run *r = runs_find(server_runs(srv), c->session->requestor,
				  run_id);

	if (r != NULL && r->log != NULL) {
		answer_bytes(c, "text/plain", buf_data(r->log),
			     buf_len(r->log));
	} else if (r != NULL) {
		answer_bytes(c, "text/plain", "", 0);
	} else {
		call_hold_read(c);
		store_get_run(srv->store, c->session->requestor->name, run_id,
			      on_log_row, c);
	}
}

/* One that is larger than may go inline is read by get_artifact, in pieces. */
static void on_artifact(void *arg, const struct store_result *res)
{
	struct call *c = arg;

	if (!call_release(c))
		return;
	if (res->rc != 0 ||
	    strncmp(uri_of(c) + strlen(URI_RUNS), res->artifact->run_id,
		    strlen(res->artifact->run_id)) != 0)
		not_found(c, uri_of(c));
	else if ((int64_t)res->len < res->artifact->size)
		call_error(c, RPC_INVALID_PARAMS, NULL,
			   "the artifact has %lld bytes, but at most %lld are "
			   "given inline; get_artifact reads it in pieces",
			   (long long)res->artifact->size,
			   (long long)c->session->server->config
			       ->max_artifact_inline_bytes);
	else
		answer_bytes(c, res->artifact->mime_type, res->data, res->len);
}

static void read_artifact(struct call *c, const char *id)
{
	struct server *srv = c->session->server;

	server_runs(srv);
	call_hold_read(c);
	store_read_artifact(srv->store, c->session->requestor->name, id, 0,
			    srv->config->max_artifact_inline_bytes, on_artifact,
			    c);
}

void resources_read(struct call *c)
{
	char run_id[ID_SIZE], art_id[ID_SIZE];
	const char *uri = uri_of(c);
	int end = 0;

	if (uri == NULL) {
		call_error(c, RPC_INVALID_PARAMS, NULL,
			   "resources/read needs params.uri, a string");
		return;
	}
	if (strcmp(uri, URI_ISOLATION) == 0) {
		read_isolation(c);
		return;
	}
	if (sscanf(uri, URI_RUNS "%31[a-z0-9_]/log%n", run_id, &end) == 1 &&
	    end > 0 && uri[end] == '\0' && id_ok(run_id, "run")) {
		read_log(c, run_id);
		return;
	}
	end = 0;
	if (sscanf(uri, URI_RUNS "%31[a-z0-9_]/artifacts/%31[a-z0-9_]%n", run_id,
		   art_id, &end) == 2 &&
	    end > 0 && uri[end] == '\0' && id_ok(run_id, "run") &&
	    id_ok(art_id, "art")) {
		read_artifact(c, art_id);
		return;
	}
	not_found(c, uri);
}

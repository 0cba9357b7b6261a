/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompts.c - prompts/list and prompts/get: the prompts of manifests, with the
 * client's arguments filled in. methods.c calls it by its table; long prompts
 * are made on a thread. Wrong arguments, unknown prompts and prompts over
 * PROMPT_MAX are errors of the request.
 */
#include "supervisor/mcp/methods/prompts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "base/text/errmsg.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/pagination.h"
#include "supervisor/session/response.h"
#include "supervisor/packages/package/placeholder.h"
#include "supervisor/mcp/methods/asks.h"
#include "supervisor/mcp/methods/resources.h"
#include "supervisor/mcp/tools/tools.h"
#include "supervisor/packages/templates/catalogue.h"

const struct catalogue_entry *prompts_find(const struct request *req,
					   const char *name)
{
	const struct session *s = req->session;

	return tools_offer(s, &s->ctx->catalogue->offers->prompts, name);
}

/* ---- prompts/list ---- */

/* Return {name, title?, description?} of DEF. */
static struct json_object *prompt_view(struct json_object *def,
				       enum mcp_revision rev)
{
	return json_pack(
	    "name?s title?s description?s", json_member_str(def, "name"),
	    mcp_has(rev, MCP_TITLES) ? json_member_str(def, "title") : NULL,
	    json_member_str(def, "description"));
}

static struct json_object *definition(const struct catalogue_entry *offer,
				      enum mcp_revision rev)
{
	struct json_object *args = json_member(offer->def, "arguments");
	struct json_object *o = prompt_view(offer->def, rev);
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < json_length(args); i++) {
		struct json_object *def = json_object_array_get_idx(args, i);
		struct json_object *required = json_member(def, "required");
		struct json_object *arg = prompt_view(def, rev);

		json_add(arg, "required?O", required);
		json_object_array_add(list, arg);
	}
	json_add(o, "arguments:o", list);
	return o;
}

void prompts_list(struct request *req)
{
	const struct session *s = req->session;
	const struct catalogue_index_list *all =
	    &s->ctx->catalogue->offers->prompts;
	struct pagination p;

	if (!pagination_begin(&p, req, PAGINATION_ENTRIES))
		return;
	for (size_t i = 0; i < all->n; i++) {
		const struct catalogue_entry *o = &all->all[i];

		if (tools_offer(s, all, o->key) == o &&
		    pagination_wants(&p, o->template->id, o->index))
			json_object_array_add(
			    p.list, definition(o, req->terms->revision));
	}
	pagination_end(&p, "prompts");
}

/* ---- prompts/get ---- */

#define URI_MAX 65537 /* bytes of a URI, with NUL */

struct filling {
	const struct catalogue_entry *offer;
	/* the arguments of the client, or NULL; in give_prompt() all values */
	struct json_object *args;
	size_t left; /* bytes left of PROMPT_MAX */
	char errmsg[256];
};

static int too_much(struct filling *m)
{
	return errmsg_set(m->errmsg, sizeof(m->errmsg),
			  "with these arguments the prompt has more than %zu "
			  "bytes",
			  PROMPT_MAX);
}

/* Fill member KEY of FROM in and add it to OUT; no such member: no change. */
static int fill_message(struct filling *m, struct json_object *out,
			struct json_object *from, const char *key)
{
	const char *text = json_member_str(from, key);
	/* a bound of 0 would be no bound */
	struct buf b = {.max = m->left + 1};
	int rc = 0;

	if (text == NULL)
		return 0;
	if (placeholder_fill(&b, PLACEHOLDER_PROMPT, text, m->args) < 0 ||
	    buf_len(&b) > m->left) {
		buf_fini(&b);
		return too_much(m);
	}
	m->left -= buf_len(&b);
	buf_add(&b, "", 1);
	if (strcmp(key, "uri") == 0 && buf_len(&b) > URI_MAX)
		rc = errmsg_set(m->errmsg, sizeof(m->errmsg),
				"with these arguments the prompt has a uri of "
				"%zu bytes; at most %d are taken",
				buf_len(&b) - 1, URI_MAX - 1);
	else if (strcmp(key, "uri") == 0 &&
		 (strlen(buf_data(&b)) + 1 < buf_len(&b) ||
		  !mcp_uri_ok(buf_data(&b))))
		rc = errmsg_set(m->errmsg, sizeof(m->errmsg),
				"with these arguments the prompt has the uri "
				"\"%.100s\", which is not an absolute one",
				buf_data(&b));
	else
		json_object_object_add(out, key,
				       json_object_new_string_len(
					   buf_data(&b), (int)buf_len(&b) - 1));
	buf_fini(&b);
	return rc;
}

/* Return the file named by FROM, or NULL. */
static const struct template_file *file_of(const struct filling *m,
					   struct json_object *from)
{
	const char *path = json_member_str(from, "file");

	return path != NULL ? template_file(m->offer->template, path) : NULL;
}

static int take_room(struct filling *m, size_t bytes)
{
	if (bytes > m->left)
		return too_much(m);
	m->left -= bytes;
	return 0;
}

/* Add the data of an image or audio to OUT. */
static int fill_data(struct filling *m, struct json_object *out,
		     struct json_object *from)
{
	const struct template_file *f = file_of(m, from);
	const char *data = json_member_str(from, "data");
	char *text;

	if (f == NULL && data == NULL)
		return 0;
	if (take_room(m, f != NULL ? BASE64_LEN(f->len) : strlen(data)) < 0)
		return -EINVAL;
	if (f == NULL) {
		json_add(out, "data?s", data);
		return 0;
	}
	text = xcalloc(1, BASE64_LEN(f->len) + 1);
	base64_encode(text, f->data, f->len);
	json_add(out, "data?s", text);
	free(text);
	return 0;
}

static int fill_resource(struct filling *m, struct json_object *out,
			 struct json_object *from)
{
	const struct template_file *f = file_of(m, from);
	struct json_object *o = json_object_new_object(), *whole;
	int rc = fill_message(m, o, from, "uri");

	if (rc == 0)
		rc = fill_message(m, o, from, "text");
	if (rc == 0 && f != NULL)
		rc = take_room(m, BASE64_LEN(f->len));
	if (f != NULL) {
		whole = resources_contents(json_member_str(o, "uri"),
					   json_member_str(from, "mimeType"),
					   f->data, f->len);
		json_object_put(o);
		o = whole;
	} else {
		json_add(o, "mimeType?s", json_member_str(from, "mimeType"));
	}
	json_add(out, "resource:o", o);
	return rc;
}

static int fill_content(struct filling *m, struct json_object *out,
			struct json_object *from)
{
	static const char *const filled[] = {"text", "uri", "name", "title",
					     "description"};
	struct json_object *inner = json_member(from, "resource");
	int rc = 0;

	json_add(out, "type?s", json_member_str(from, "type"));
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(filled); i++)
		rc = fill_message(m, out, from, filled[i]);
	if (rc == 0)
		rc = fill_data(m, out, from);
	json_add(out, "mimeType?s", json_member_str(from, "mimeType"));
	if (rc == 0 && inner != NULL)
		rc = fill_resource(m, out, inner);
	return rc;
}

static struct json_object *messages(struct filling *m, enum mcp_revision rev)
{
	struct json_object *given = json_member(m->offer->def, "messages");
	struct json_object *list = json_object_new_array();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < json_length(given); i++) {
		struct json_object *from = json_object_array_get_idx(given, i);
		struct json_object *content = json_object_new_object();
		struct json_object *message = json_object_new_object();

		rc = fill_content(m, content, json_member(from, "content"));
		json_add(message, "role?s content:o",
			 json_member_str(from, "role"),
			 mcp_block_for(content, rev));
		json_object_put(content);
		json_object_array_add(list, message);
	}
	if (rc == 0)
		return list;
	json_object_put(list);
	return NULL;
}

/* Check that all arguments are strings, and required arguments are present. */
static int check_arguments(struct filling *m)
{
	struct json_object *known = json_member(m->offer->def, "arguments");

	for (size_t i = 0; i < json_length(known); i++) {
		struct json_object *def = json_object_array_get_idx(known, i);
		const char *name = json_member_str(def, "name");
		struct json_object *value = json_member(m->args, name);

		if (value == NULL && json_member_bool(def, "required"))
			return errmsg_set(
			    m->errmsg, sizeof(m->errmsg),
			    "the prompt %.100s needs the argument "
			    "%s, a string",
			    m->offer->key, name);
		if (value != NULL &&
		    !json_object_is_type(value, json_type_string))
			return errmsg_set(
			    m->errmsg, sizeof(m->errmsg),
			    "params.arguments.%s must be a string", name);
	}
	return 0;
}

static void no_such_prompt(struct request *req, const char *name)
{
	const struct catalogue_index_list *all =
	    &req->session->ctx->catalogue->offers->prompts;
	struct suggest suggest;

	suggest_init(&suggest, name);
	for (size_t i = 0; i < all->n; i++)
		if (tools_offers(req->session, all->all[i].template))
			suggest_try(&suggest, all->all[i].key);
	if (suggest.best != NULL)
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "Unknown prompt \"%.100s\"; did you mean \"%s\"?",
			      name, suggest.best);
	else
		request_error(
		    req, RPC_INVALID_PARAMS, NULL,
		    "Unknown prompt \"%.100s\"; prompts/list names them", name);
}

static void give_prompt(struct request *req, const struct catalogue_entry *o,
			struct json_object *answers)
{
	struct filling m = {.left = PROMPT_MAX, .offer = o};
	struct json_object *list;

	m.args = json_object_new_object();
	asks_add(m.args, json_member(req->msg.params, "arguments"));
	asks_add(m.args, answers);
	list = messages(&m, req->terms->revision);
	json_object_put(m.args);
	if (list == NULL)
		request_error(req, RPC_INVALID_PARAMS, NULL, "%s", m.errmsg);
	else
		response_tree(req,
			      json_pack("description?s messages:o",
					json_member_str(o->def, "description"),
					list),
			      PROMPT_MAX - m.left);
}

void prompts_get(struct request *req)
{
	const char *name = json_member_str(req->msg.params, "name");
	struct filling m = {0};

	m.args = json_member(req->msg.params, "arguments");
	if (name == NULL || (m.args != NULL &&
			     !json_object_is_type(m.args, json_type_object))) {
		request_error(
		    req, RPC_INVALID_PARAMS, NULL,
		    "prompts/get needs params.name, a string, and "
		    "params.arguments, an object of strings when it is "
		    "there");
		return;
	}
	m.offer = prompts_find(req, name);
	if (m.offer == NULL) {
		no_such_prompt(req, name);
		return;
	}
	if (check_arguments(&m) < 0)
		request_error(req, RPC_INVALID_PARAMS, NULL, "%s", m.errmsg);
	else
		asks_before(req, m.offer, give_prompt);
}

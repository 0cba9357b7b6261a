/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_era.c - the ladder which tells messages of the two eras apart, and the
 * check of a stateless request's header fields against its message. http_mcp.c
 * calls it. A mismatch is an error with a sentence.
 */
#include "supervisor/clients/stateless_http/http_era.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "proto/json/json.h"
#include "proto/mcp/mcp_envelope.h"
#include "proto/mcp/mcp_header.h"

/* ---- the revision in the head ---- */

/* Is NAME a date, as the names of all revisions are? */
static bool is_date(const char *name)
{
	static const char shape[] = "dddd-dd-dd";

	for (size_t i = 0; i < sizeof(shape); i++)
		if (shape[i] == 'd' ? name[i] < '0' || name[i] > '9'
				    : name[i] != shape[i])
			return false;
	return true;
}

/* Future revisions are taken to have no sessions either. */
bool http_era_names_stateless(const struct http_request *r)
{
	const char *name = r->field[HTTP_REVISION];

	return name != NULL && is_date(name) &&
	       strcmp(name, mcp_revision_name(MCP_2026_07_28)) >= 0;
}

bool http_era_names_no_session(const struct http_request *r)
{
	const char *name = r->field[HTTP_REVISION];
	int rev = name == NULL ? MCP_LATEST_SESSION : mcp_revision_of(name);

	return rev < 0 || !mcp_has((enum mcp_revision)rev, MCP_SESSIONS);
}

void http_era_names(char out[HTTP_ERA_NAMES_SIZE], enum mcp_revision last)
{
	size_t n = 0;

	for (int i = 0; i <= (int)last; i++)
		n += (size_t)snprintf(out + n, HTTP_ERA_NAMES_SIZE - n, "%s%s",
				      i > 0 ? ", " : "",
				      mcp_revision_name((enum mcp_revision)i));
}

/* ---- faults ---- */

/* Set the code and text of F. */
#define neither(f, c, ...)                                                     \
	((f)->code = (c),                                                      \
	 errmsg_set((f)->text, sizeof((f)->text), __VA_ARGS__),                \
	 HTTP_ERA_NEITHER)

/* ---- the fields of a stateless request ---- */

static const struct mcp_header version_field = {
    "MCP-Protocol-Version", "params._meta[\"" MCP_META_VERSION "\"]", true};
static const struct mcp_header method_field = {"Mcp-Method", "method", true};

/* The member of params which Mcp-Name repeats, by method. */
static const struct named {
	const char *method, *member;
	struct mcp_header field;
} named[] = {
    {"tools/call", "name", {"Mcp-Name", "params.name", false}},
    {"prompts/get", "name", {"Mcp-Name", "params.name", false}},
    {"resources/read", "uri", {"Mcp-Name", "params.uri", false}},
    {"tasks/get", "taskId", {"Mcp-Name", "params.taskId", false}},
    {"tasks/update", "taskId", {"Mcp-Name", "params.taskId", false}},
    {"tasks/cancel", "taskId", {"Mcp-Name", "params.taskId", false}},
};

/* Check VALUE, the header field H or NULL if absent, against BODY. */
static enum http_era check_header_value(const struct mcp_header *h,
					const char *value,
					struct json_object *body,
					struct http_fault *f)
{
	if (mcp_header_check(h, value, body, f->text, sizeof(f->text)))
		return HTTP_ERA_STATELESS;
	f->code = RPC_HEADER_MISMATCH;
	return HTTP_ERA_NEITHER;
}

static enum http_era check_name(const struct http_request *r,
				const struct rpc_msg *m, struct http_fault *f)
{
	struct json_object *body = NULL;
	const struct named *n = NULL;

	for (size_t i = 0; n == NULL && i < ARRAY_LEN(named); i++)
		if (strcmp(named[i].method, m->method) == 0)
			n = &named[i];
	if (n != NULL)
		body = json_member(m->params, n->member);
	if (!json_object_is_type(body, json_type_string))
		return HTTP_ERA_STATELESS; /* the method reports the fault */
	return check_header_value(&n->field, r->field[HTTP_MCP_NAME], body, f);
}

/*
 * Check the version and the method against the message: those of the two fields
 * which came (CAME), or those which are missing.
 */
static enum http_era check_said(const struct http_request *r,
				const struct rpc_msg *m, bool came,
				struct http_fault *f)
{
	const struct {
		const struct mcp_header *h;
		const char *value;
		struct json_object *body;
	} said[] = {
	    {&version_field, r->field[HTTP_REVISION],
	     json_member(json_member(m->params, "_meta"), MCP_META_VERSION)},
	    {&method_field, r->field[HTTP_MCP_METHOD],
	     json_member(m->root, "method")},
	};
	enum http_era era = HTTP_ERA_STATELESS;

	for (size_t i = 0; era == HTTP_ERA_STATELESS && i < ARRAY_LEN(said);
	     i++)
		if (said[i].body != NULL && (said[i].value != NULL) == came)
			era = check_header_value(said[i].h, said[i].value,
						 said[i].body, f);
	return era;
}

/*
 * Check the head of a request. An unserved version is reported before fields
 * missing in the head.
 */
static enum http_era check_era_head(const struct http_request *r,
				    const struct rpc_msg *m,
				    const struct mcp_envelope *e,
				    struct http_fault *f)
{
	enum http_era era = HTTP_ERA_STATELESS;

	if (e->code == RPC_INVALID_PARAMS)
		return era;
	era = check_said(r, m, true, f);
	if (era == HTTP_ERA_NEITHER || e->code != 0)
		return era;
	era = check_said(r, m, false, f);
	return era == HTTP_ERA_NEITHER ? era : check_name(r, m, f);
}

/* ---- the ladder ---- */

static enum http_era of_request(const struct http_request *r,
				const struct rpc_msg *m, struct http_fault *f)
{
	bool by_head = http_era_names_stateless(r);
	char all[HTTP_ERA_NAMES_SIZE];
	struct mcp_envelope e;

	mcp_envelope_read(&e, m->params);
	if (strcmp(m->method, "initialize") == 0 && !(e.claims && e.code == 0))
		return by_head
			   ? neither(
				 f, RPC_HEADER_MISMATCH,
				 "MCP-Protocol-Version is \"%.80s\", which has no "
				 "initialize: the client has to "
				 "send it without, or to say the "
				 "same in params._meta",
				 r->field[HTTP_REVISION])
			   : HTTP_ERA_SESSIONS;
	if (e.claims)
		return check_era_head(r, m, &e, f);
	if (!by_head)
		return HTTP_ERA_SESSIONS;
	http_era_names(all, MCP_LATEST);
	return neither(
	    f, RPC_INVALID_PARAMS,
	    "MCP-Protocol-Version is \"%.40s\", and %s; this server speaks %s",
	    r->field[HTTP_REVISION], e.text, all);
}

/*
 * Find the era of a notification, which has no answer and asks for nothing:
 * only faults are reported.
 */
static enum http_era of_notification(const struct http_request *r,
				     const struct rpc_msg *m,
				     struct http_fault *f)
{
	bool by_head = http_era_names_stateless(r);
	struct mcp_envelope e;
	const char *version;

	mcp_envelope_read(&e, m->params);
	if (!e.claims && !by_head)
		return HTTP_ERA_SESSIONS;
	version = e.claims ? e.version : r->field[HTTP_REVISION];
	if (version == NULL)
		return neither(f, RPC_INVALID_PARAMS, "%s", e.text);
	if (check_said(r, m, true, f) == HTTP_ERA_NEITHER)
		return HTTP_ERA_NEITHER;
	if (mcp_revision_of(version) >= MCP_2026_07_28)
		return HTTP_ERA_STATELESS;
	f->data = mcp_unsupported_version_data(version);
	return neither(f, RPC_UNSUPPORTED_VERSION,
		       "\"%.80s\" is no revision in which a message stands by "
		       "itself; the client has to send %s",
		       version, mcp_revision_name(MCP_LATEST));
}

static enum http_era of_batch(const struct rpc_msg *m, struct http_fault *f)
{
	struct mcp_envelope e = {0};

	for (size_t i = 0; m->parts != NULL && i < m->n_parts && !e.claims; i++)
		mcp_envelope_read(&e, m->parts[i].params);
	return !e.claims
		   ? HTTP_ERA_SESSIONS
		   : neither(
			 f, RPC_INVALID_REQUEST,
			 "an array came with a message that has " MCP_META_VERSION
			 ", and such a message "
			 "stands by itself: the client has to send "
			 "one at a time");
}

enum http_era http_era_of(const struct http_request *r, const struct rpc_msg *m,
			  struct http_fault *fault)
{
	*fault = (struct http_fault){0};
	switch (m->kind) {
	case RPC_REQUEST:
		return of_request(r, m, fault);
	case RPC_NOTIFICATION:
		return of_notification(r, m, fault);
	case RPC_BATCH:
		return of_batch(m, fault);
	case RPC_RESPONSE:
	case RPC_BROKEN:
		break;
	}
	return HTTP_ERA_SESSIONS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_required.c - seals the state for a client to come back with, and opens
 * the state again; tools/ and methods/ call it. A state that cannot be opened
 * is refused with the reason and recorded by the audit: no client has such a
 * state by accident.
 */
#include "supervisor/mcp/input/input_required.h"

#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json_pack.h"
#include "supervisor/config/config.h"
#include "supervisor/store/state/seal_key.h"

/* Lazy: a start without a key file has no side effect. */
const unsigned char *input_seal_key(const struct context *ctx)
{
	static unsigned char key[SEAL_KEY_BYTES];
	static unsigned char shared[SEAL_KEY_BYTES];
	static bool loaded;
	char errmsg[512];

	_Static_assert(SEAL_KEY_BYTES == STORE_SEAL_BYTES, "one key");
	if (store_seal_key(ctx->store, shared))
		return shared;
	loop_guard_allow("a file of 32 bytes, once in a server's life");
	if (!loaded && seal_key_load(key, ctx->config->state_dir, errmsg,
				     sizeof(errmsg)) < 0)
		log_warn("server", "seal_key=none err=\"%s\"", errmsg);
	loop_guard_forbid();
	loaded = true;
	return key;
}

void input_required(struct request *req, struct json_object *requests,
		    struct request_state *st)
{
	char text[REQUEST_STATE_SIZE];

	st->requestor = req->requestor->name;
	st->expires_ms = clock_wall_ms() + req->ctx->config->input_wait_ms;
	request_state_seal(text, input_seal_key(req->ctx), st);
	request_result(req,
		       json_pack("resultType:s inputRequests:o requestState:s",
				 "input_required", requests, text));
}

bool input_required_is_retry(const struct request *req)
{
	return mcp_has(req->terms->revision, MCP_STATELESS) &&
	       json_object_object_get_ex(req->msg.params, "requestState", NULL);
}

static void refuse_state(struct request *req, const char *reason,
			 const char *text)
{
	request_audit_refused(req, "REQUEST_STATE_REFUSED");
	request_error(
	    req, RPC_INVALID_PARAMS,
	    json_pack("errorCode:s reason:s", "REQUEST_STATE_REFUSED", reason),
	    "%s", text);
}

bool input_required_open(struct request *req, struct request_state *st)
{
	static const char *const reasons[REQUEST_STATE_VERDICTS] = {
	    [REQUEST_STATE_MALFORMED] = "malformed",
	    [REQUEST_STATE_FORGED] = "forged",
	    [REQUEST_STATE_OTHER_REQUESTOR] = "other_requestor",
	    [REQUEST_STATE_OTHER_CALL] = "other_call",
	    [REQUEST_STATE_EXPIRED] = "expired"};
	struct json_object *given =
	    json_member(req->msg.params, "requestState");
	const char *text = json_member_str(req->msg.params, "requestState");
	enum request_state_verdict v;

	st->requestor = req->requestor->name;
	v = request_state_open(
	    st, input_seal_key(req->ctx), text != NULL ? text : "",
	    (size_t)json_object_get_string_len(given), clock_wall_ms());
	if (v == REQUEST_STATE_OK)
		return true;
	refuse_state(req, reasons[v], request_state_text(v));
	return false;
}

void input_required_used(struct request *req)
{
	refuse_state(
	    req, "used",
	    "this requestState was used before, and each can be once: go on "
	    "with the newest that was given, or call anew");
}

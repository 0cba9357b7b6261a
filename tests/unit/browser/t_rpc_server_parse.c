/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the supervisor to paddock-browser: CALLs, with the requestor. */
#include "browser/browser.h"
#include "browser/net/host_grants.h"
#include "browser/rpc_server_parse.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "ipc/chan.h"
#include "tests/unit/tap.h"

static struct rpc_server_parse parse;
static struct json_object *body;
static const char *errmsg;
static unsigned char frame[CHAN_FRAME_MAX];

static int take(const struct msg *m)
{
	json_object_put(body);
	return rpc_server_parse(&parse, frame, msg_put(frame, m), &body,
				&errmsg);
}

static int take_call(uint32_t seq, const char *tool, size_t total,
		     const char *head)
{
	return take(&(struct msg){
	    .type = MSG_CALL,
	    .call = {seq, {tool, strlen(tool)}, total, {head, strlen(head)}}});
}

static int take_chunk(const char *text)
{
	return take(
	    &(struct msg){.type = MSG_CHUNK, .chunk = {{text, strlen(text)}}});
}

static void again(void)
{
	json_object_put(body);
	body = NULL;
	buf_fini(&parse.body);
	parse = (struct rpc_server_parse){0};
}

TEST(calls)
{
	is_int(take_call(1, "navigate", 9, "{\"url\":7}"), 1,
	       "a CALL in one frame is complete");
	ok(parse.seq == 1 && strcmp(parse.tool, "navigate") == 0 &&
	       json_member_int(body, "url") == 7,
	   "a CALL has number, tool and body");
	is_int(take_call(3, "wait", 7, "{\"a\""), 0,
	       "a CALL in pieces is incomplete at first");
	is_int(take_chunk(":"), 0,
	       "a CALL is incomplete before the last piece");
	is_int(take_chunk("1}"), 1, "a CALL is complete with the last piece");
	ok(parse.seq == 3 && json_member_int(body, "a") == 1,
	   "under its number");
	again();
}

TEST(nonsense)
{
	take_call(5, "wait", 2, "{}");
	is_int(take_call(5, "wait", 2, "{}"), -EPROTO,
	       "a number comes once alone");
	is_str(errmsg, "a CALL whose seq does not rise",
	       "the error names the seq");
	is_int(take_call(4, "wait", 2, "{}"), -EPROTO,
	       "a lower number is refused");
	is_int(take_chunk("{}"), -EPROTO, "a piece needs something to be of");
	take_call(6, "wait", 2, "{");
	is_int(take_call(7, "wait", 2, "{}"), -EPROTO,
	       "a CALL within another CALL is refused");
	is_int(take_chunk("} "), -EPROTO,
	       "a CALL with more bytes than announced is refused");
	again();
	is_int(take_call(1, "wait", 2, "[]"), -EPROTO,
	       "a body which is no object is refused");
	is_int(take_call(2, "wait", 2, "{x"), -EPROTO,
	       "a body which is no JSON is refused");
	is_int(take_call(3, "wait", 0, ""), -EPROTO,
	       "an empty body is refused");
	is_int(take(&(struct msg){.type = MSG_ANSWER,
				  .answer = {1, true, 2, {"{}", 2}}}),
	       -EPROTO, "answers are ours to give");
	is_int(rpc_server_parse(&parse, "\xc1", 1, &body, &errmsg), -EPROTO,
	       "no message is none");
	is_int(take_call(4, "wait", 2, "{}"), 1, "nothing of it is kept");
	again();
}

static struct call call_of(const char *action, const char *text)
{
	struct call c = {.action = browser_proto_action(action)};
	struct json_object *o = json_unpack(text, strlen(text));

	args_take(&c, o);
	json_object_put(o);
	return c;
}

static void call_fini(struct call *c)
{
	free(c->requestor);
	free(c->of_run);
	free(c->in_session);
	free(c->fault.message);
	json_object_put(c->fault.details);
	json_object_put(c->args);
	host_grants_unref(c->hosts);
}

#define WHO "\"requestor\":\"a\",\"trust\":\"remote\",\"timeoutMs\":1000"

TEST(who)
{
	struct call c =
	    call_of("list_sessions", "{\"requestor\":\"a\",\"trust\":\"local\","
				     "\"timeoutMs\":900000,\"run\":\"r\"}");

	ok(c.fault.code == NULL && strcmp(c.requestor, "a") == 0 &&
	       c.trust == URL_LOCAL && strcmp(c.of_run, "r") == 0 &&
	       c.in_session == NULL,
	   "a call says in whose name");
	call_fini(&c);
	c = call_of(
	    "list_sessions",
	    "{\"requestor\":\"a\",\"trust\":\"LOCAL\",\"timeoutMs\":1}");
	ok(c.fault.code == NULL && c.trust == URL_REMOTE,
	   "a trust other than \"local\" is remote");
	call_fini(&c);
}

TEST(bad)
{
	static const struct {
		const char *action, *body;
	} bad[] = {
	    {"wait", "{}"},
	    {"wait", "{\"requestor\":\"a\",\"trust\":\"local\"}"},
	    {"wait", "{\"requestor\":\"a\",\"timeoutMs\":1}"},
	    {"wait", "{\"trust\":\"local\",\"timeoutMs\":1}"},
	    {"wait", "{\"requestor\":1,\"trust\":\"local\",\"timeoutMs\":1}"},
	    {"wait", "{\"requestor\":\"a\",\"trust\":\"local\","
		     "\"timeoutMs\":0}"},
	    {"wait", "{\"requestor\":\"a\",\"trust\":\"local\","
		     "\"timeoutMs\":900001}"},
	    {"list_sessions", "{" WHO ",\"args\":[]}"},
	    {"list_sessions", "{" WHO ",\"args\":{\"x\":1}}"},
	    {"navigate", "{" WHO ",\"args\":{}}"},
	    {"navigate", "{" WHO ",\"args\":{\"tabId\":null}}"},
	    {"create_tab", "{" WHO ",\"args\":{\"url\":7}}"},
	    {"create_tab", "{" WHO ",\"args\":{\"url\":\"a\\u0000b\"}}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct call c = call_of(bad[i].action, bad[i].body);

		is_str(c.fault.code, "INVALID_PARAMETER", "%s %s",
		       bad[i].action, bad[i].body);
		call_fini(&c);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_era.c - the era of a message, and the required header fields. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/clients/http/http_field.h"
#include "supervisor/clients/stateless_http/http_era.h"
#include "tests/unit/tap.h"

#define PV "\"io.modelcontextprotocol/protocolVersion\""
#define CC "\"io.modelcontextprotocol/clientCapabilities\":{}"
#define NOW "\"_meta\":{" PV ":\"2026-07-28\"," CC "}"
#define OTHER(v) "\"_meta\":{" PV ":" v "," CC "}"
#define REQ(method, params)                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method                   \
	"\",\"params\":{" params "}}"
#define NOTE(params)                                                              \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{" params \
	"}}"
#define LIST REQ("tools/list", NOW)
#define CALL REQ("tools/call", "\"name\":\"a b\"," NOW)

#define SESSIONS 1 /* expected results besides an error code */
#define STATELESS 2

/* REVISION, METHOD and NAME are fields; NULL: absent. */
static const struct {
	const char *text, *revision, *method, *name;
	int want; /* or the code of the fault */
	const char *says, *of;
} cases[] = {
    /* b */
    {"[" REQ("ping", "") "," LIST "]", NULL, NULL, NULL, -32600, "an array",
     "MCP26 5: b: an array with a message that stands by itself"},
    {"[" REQ("ping", "") "]", "2025-03-26", NULL, NULL, SESSIONS, NULL,
     "b: any other array"},
    {"[" REQ("ping", "") "]", "2026-07-28", NULL, NULL, SESSIONS, NULL,
     "b: whatever its head names"},
    /* c */
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "2026-07-28", NULL, NULL,
     SESSIONS, NULL, "c: a response"},
    {"{", "2026-07-28", NULL, NULL, SESSIONS, NULL, "what is no message"},
    /* d */
    {REQ("initialize", "\"protocolVersion\":\"2025-11-25\""), NULL, NULL, NULL,
     SESSIONS, NULL, "d: initialize"},
    {REQ("initialize", "\"protocolVersion\":\"2025-11-25\""), "2025-11-25",
     NULL, NULL, SESSIONS, NULL, "d: with a revision that has it"},
    {REQ("initialize", ""), "2026-07-28", NULL, NULL, -32020, "no initialize",
     "MCP26 5: d: with one that has not"},
    {REQ("initialize", OTHER("7")), NULL, NULL, NULL, SESSIONS, NULL,
     "d: a claim that is no good makes no difference"},
    {REQ("initialize", OTHER("\"2025-11-25\"")), NULL, NULL, NULL, SESSIONS,
     NULL, "d: nor does one of a session"},
    {REQ("initialize", NOW), "2026-07-28", "initialize", NULL, STATELESS, NULL,
     "d: a good one does: there is no such method"},
    /* case e, in the order of checks */
    {LIST, "2026-07-28", "tools/list", NULL, STATELESS, NULL,
     "MCP26 12: all fields say what the message says"},
    {LIST, "2026-07-28", "tools/list", "x", STATELESS, NULL,
     "where there is no name, none is looked at"},
    {REQ("tools/list", "\"_meta\":{" PV ":7," CC "}"), "2025-11-25", "x", NULL,
     STATELESS, NULL, "e: a bad envelope is said first, by who serves it"},
    {REQ("tools/list", "\"_meta\":{" PV ":\"2026-07-28\"}"), NULL, NULL, NULL,
     STATELESS, NULL, "e: one that lacks something, likewise"},
    {LIST, "2025-11-25", "x", NULL, -32020,
     "header MCP-Protocol-Version says something else",
     "MCP26 12: e: then another version in the head"},
    {REQ("tools/list", OTHER("\"2099-01-01\"")), "2026-07-28", NULL, NULL,
     -32020, "MCP-Protocol-Version", "MCP26 12: e: also before it is unknown"},
    {LIST, NULL, "tools/call", NULL, -32020,
     "header Mcp-Method says something else",
     "MCP26 12: e: then another method"},
    {LIST, "2026-07-28", "Tools/list", NULL, -32020, "Mcp-Method",
     "MCP26 12: values are compared with their case"},
    {REQ("tools/list", OTHER("\"2099-01-01\"")), NULL, NULL, NULL, STATELESS,
     NULL, "e: then an unknown version, said by who serves it"},
    {LIST, NULL, NULL, NULL, -32020, "MCP-Protocol-Version is missing",
     "MCP26 12: e: then what is absent: the version"},
    {LIST, "2026-07-28", NULL, NULL, -32020, "Mcp-Method is missing",
     "MCP26 12: e: the method"},
    {CALL, "2026-07-28", "tools/call", NULL, -32020, "Mcp-Name is missing",
     "MCP26 12: e: the name"},
    {CALL, "2026-07-28", "tools/call", "a b", STATELESS, NULL,
     "MCP26 12: Mcp-Name is params.name"},
    {CALL, "2026-07-28", "tools/call", "=?base64?YSBi?=", STATELESS, NULL,
     "MCP26 12: also as a word in base64"},
    {CALL, "2026-07-28", "tools/call", "=?base64?YSBi", -32020,
     "something else", "MCP26 12: without its end it is a literal"},
    {CALL, "2026-07-28", "tools/call", "=?base64?YSB?=", -32020, "Base64",
     "MCP26 12: and none with bad padding"},
    {CALL, "2026-07-28", "tools/call", "a c", -32020, "params.name",
     "MCP26 12: another name"},
    {REQ("prompts/get", "\"name\":\"p\"," NOW), "2026-07-28", "prompts/get",
     "q", -32020, "params.name", "MCP26 12: of a prompt"},
    {REQ("resources/read", "\"uri\":\"u:v\"," NOW), "2026-07-28",
     "resources/read", "u:w", -32020, "params.uri",
     "MCP26 12: the URI of a resource"},
    {REQ("tasks/get", "\"taskId\":\"t\"," NOW), "2026-07-28", "tasks/get", NULL,
     -32020, "params.taskId", "MCP26 12: tasks/get's id"},
    {REQ("tasks/update", "\"taskId\":\"t\"," NOW), "2026-07-28", "tasks/update",
     "u", -32020, "params.taskId", "MCP26 12: tasks/update's"},
    {REQ("tasks/cancel", "\"taskId\":\"t\"," NOW), "2026-07-28", "tasks/cancel",
     "u", -32020, "params.taskId", "MCP26 12: tasks/cancel's"},
    {REQ("tools/call", NOW), "2026-07-28", "tools/call", NULL, STATELESS, NULL,
     "a name that is missing is the method's to say"},
    {REQ("tools/call", "\"name\":7," NOW), "2026-07-28", "tools/call", "7",
     STATELESS, NULL, "one that is no string, too"},
    /* f */
    {REQ("tools/list", ""), "2026-07-28", NULL, NULL, -32602,
     "io.modelcontextprotocol/protocolVersion and "
     "io.modelcontextprotocol/clientCapabilities",
     "MCP26 1: f: the head alone: what is missing is named"},
    {REQ("tools/list", "\"_meta\":{" CC "}"), "2026-07-28", "x", NULL, -32602,
     "io.modelcontextprotocol/protocolVersion",
     "MCP26 1: f: one of both, before the method is looked at"},
    {REQ("tools/list", ""), "2099-01-01", NULL, NULL, -32602,
     "this server speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, "
     "2026-07-28",
     "MCP26 1: f: also of a revision to come, and which there are"},
    /* g */
    {REQ("tools/list", ""), "2025-11-25", NULL, NULL, SESSIONS, NULL,
     "g: nothing of that kind"},
    {REQ("tools/list", ""), NULL, "tools/list", "x", SESSIONS, NULL,
     "g: the other fields alone make no difference"},
    {REQ("tools/list", ""), "nonsense", NULL, NULL, SESSIONS, NULL,
     "g: nor does what is no date"},
    {REQ("tools/list", ""), "2026-07-2", NULL, NULL, SESSIONS, NULL,
     "g: or is too short"},
    /* messages without an answer */
    {NOTE(""), NULL, NULL, NULL, SESSIONS, NULL, "a notification"},
    {NOTE(""), "2026-07-28", NULL, NULL, STATELESS, NULL,
     "one by its head, which needs no envelope"},
    {NOTE("\"_meta\":{" PV ":\"2026-07-28\"}"), NULL, NULL, NULL, STATELESS,
     NULL, "one by what it says, which needs no head"},
    {NOTE("\"_meta\":{" PV ":7}"), "2026-07-28", NULL, NULL, -32602,
     "protocolVersion", "a claim that is no good"},
    {NOTE(NOW), "2025-11-25", NULL, NULL, -32020, "MCP-Protocol-Version",
     "MCP26 12: another version in its head"},
    {NOTE(NOW), "2026-07-28", "x", NULL, -32020, "Mcp-Method",
     "MCP26 12: another method, by what it says"},
    {NOTE(""), "2026-07-28", "x", NULL, -32020, "Mcp-Method",
     "MCP26 12: or by its head"},
    {NOTE(""), "2099-01-01", NULL, NULL, -32022, "2026-07-28",
     "MCP26 5: a version that is not served"},
    {NOTE(OTHER("\"2025-11-25\"")), NULL, NULL, NULL, -32022, "2025-11-25",
     "MCP26 5: one that has sessions is none for it"},
};

static void check(size_t i)
{
	struct http_request r = {0};
	struct http_fault fault;
	enum http_era era;
	struct rpc_msg m;
	int got;

	r.field[HTTP_REVISION] = cases[i].revision;
	r.field[HTTP_MCP_METHOD] = cases[i].method;
	r.field[HTTP_MCP_NAME] = cases[i].name;
	rpc_parse(&m, cases[i].text, strlen(cases[i].text));
	era = http_era_of(&r, &m, &fault);
	got = era == HTTP_ERA_SESSIONS	  ? SESSIONS
	      : era == HTTP_ERA_STATELESS ? STATELESS
					  : fault.code;
	is_int(got, cases[i].want, "%s", cases[i].of);
	if (cases[i].says != NULL)
		ok(strstr(fault.text, cases[i].says) != NULL,
		   "the fault has the text: %s", fault.text);
	if (fault.code == -32022)
		ok(json_object_object_get_ex(fault.data, "supported", NULL),
		   "the fault lists the supported revisions");
	json_object_put(fault.data);
	rpc_fini(&m);
}

static void check_names(void)
{
	static const struct {
		const char *name;
		bool stateless, no_session;
	} names[] = {{NULL, false, false},	   {"2024-11-05", false, false},
		     {"2025-11-25", false, false}, {"2026-07-28", true, true},
		     {"2026-07-27", false, true},  {"2099-12-31", true, true},
		     {"2099-12-31x", false, true}, {"", false, true},
		     {"latest", false, true}};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct http_request r = {0};

		r.field[HTTP_REVISION] = names[i].name;
		is_int(http_era_names_stateless(&r), names[i].stateless,
		       "%s names a revision without sessions",
		       names[i].name != NULL ? names[i].name : "(none)");
		is_int(http_era_names_no_session(&r), names[i].no_session,
		       "only a revision with sessions names a session");
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(i);
	check_names();
	return tap_done();
}

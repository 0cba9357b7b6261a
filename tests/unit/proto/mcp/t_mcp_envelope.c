/* SPDX-License-Identifier: Apache-2.0 */
/* t_mcp_envelope.c - what a stateless request says of itself, and its answer. */
#include <stdlib.h>

#include "base/mem.h"
#include "proto/mcp/mcp_envelope.h"
#include "proto/mcp/rpc.h"
#include "tests/unit/tap_json.h"

/* ---- envelopes ---- */

#define V "\"" MCP_META_VERSION "\":"
#define C "\"" MCP_META_CAPABILITIES "\":"
#define I "\"" MCP_META_CLIENT "\":"
#define L "\"" MCP_META_LOG_LEVEL "\":"
#define NOW V "\"2026-07-28\""
#define META(members) "{\"_meta\":{" members "}}"
#define GOOD(more) META(NOW "," C "{}," more)
#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN

static const struct {
	const char *params;
	bool claims;
	int code;
	const char *says; /* a part of the sentence */
	const char *name;
} envelopes[] = {
    {META(NOW "," C "{}"), true, 0, "", "all that is required"},
    {GOOD(I "{\"name\":\"a\",\"version\":\"1\",\"icons\":[]}"), true, 0, "",
     "a client that names itself"},
    {GOOD(L "\"debug\",\"progressToken\":1"), true, 0, "", "a level"},
    {GOOD("\"traceparent\":5"), true, 0, "", "what is not ours"},
    {META(C "{}"), false, RPC_INVALID_PARAMS, MCP_META_VERSION "\"] is missing",
     "no version"},
    {META("\"progressToken\":1"), false, RPC_INVALID_PARAMS,
     "lacks " MCP_META_VERSION " and " MCP_META_CAPABILITIES, "neither"},
    {"{\"_meta\":5}", false, RPC_INVALID_PARAMS, "lacks ", "no object"},
    {"{\"_meta\":[{" NOW "}]}", false, RPC_INVALID_PARAMS, "lacks ", "a list"},
    {"{" NOW "," C "{}}", false, RPC_INVALID_PARAMS, "lacks ",
     "both beside _meta"},
    {"null", false, RPC_INVALID_PARAMS, "lacks ", "no params"},
    {META(NOW), true, RPC_INVALID_PARAMS,
     MCP_META_CAPABILITIES "\"] is missing", "no capabilities"},
    {META(NOW "," C "[]"), true, RPC_INVALID_PARAMS,
     MCP_META_CAPABILITIES "\"] is of the type array", "a list of them"},
    {META(NOW "," C "null"), true, RPC_INVALID_PARAMS, "is of the type null",
     "null for them"},
    {META(V "null," C "{}"), true, RPC_INVALID_PARAMS,
     MCP_META_VERSION "\"] is of the type null", "null is a claim, and bad"},
    {META(V "20260728," C "{}"), true, RPC_INVALID_PARAMS, "is of the type int",
     "a number for a version"},
    {META(V "\"\"," C "{}"), true, RPC_INVALID_PARAMS, "is of the type string",
     "an empty version"},
    {META(V "\"2026-07-28\\u0000\"," C "{}"), true, RPC_INVALID_PARAMS,
     "is of the type string", "a version with a NUL"},
    {META(V "\"" SIXTY "01234\"," C "{}"), true, RPC_INVALID_PARAMS, "64 bytes",
     "a version of 65 bytes"},
    {META(V "\"" SIXTY "0123\"," C "{}"), true, RPC_UNSUPPORTED_VERSION,
     "is no revision", "a version of 64 bytes"},
    {META(V "5," C "5"), true, RPC_INVALID_PARAMS, MCP_META_VERSION,
     "the first of two faults is told"},
    {META(V "\"2027-01-01\"," C "{}"), true, RPC_UNSUPPORTED_VERSION,
     "can be of 2026-07-28", "a version to come"},
    {META(V "\"2026-07-28 \"," C "{}"), true, RPC_UNSUPPORTED_VERSION,
     "is no revision", "a version with a blank"},
    {META(V "\"2025-11-25\"," C "{}"), true, RPC_UNSUPPORTED_VERSION,
     "begins with initialize", "a version of sessions"},
    {META(V "\"2027-01-01\"," C "5"), true, RPC_INVALID_PARAMS,
     MCP_META_CAPABILITIES, "what is malformed comes before the version"},
    {GOOD(I "\"me\""), true, RPC_INVALID_PARAMS, MCP_META_CLIENT,
     "a client that is a string"},
    {GOOD(I "null"), true, RPC_INVALID_PARAMS, MCP_META_CLIENT, "null for it"},
    {GOOD(I "{\"name\":\"a\"}"), true, RPC_INVALID_PARAMS, "name and version",
     "a client without a version"},
    {GOOD(I "{\"name\":1,\"version\":\"1\"}"), true, RPC_INVALID_PARAMS,
     "name and version", "a client whose name is a number"},
    {GOOD(L "\"loud\""), true, RPC_INVALID_PARAMS, "one of emergency",
     "no such level"},
    {GOOD(L "\"info\\u0000\""), true, RPC_INVALID_PARAMS, "one of emergency",
     "a level with a NUL"},
    {GOOD(L "6"), true, RPC_INVALID_PARAMS, "one of emergency",
     "a level by its number"},
};

TEST(envelopes)
{
	for (size_t i = 0; i < ARRAY_LEN(envelopes); i++) {
		struct json_object *params = parse(envelopes[i].params);
		const char *name = envelopes[i].name;
		struct mcp_envelope e;

		mcp_envelope_read(&e, params);
		is_int(e.claims, envelopes[i].claims,
		       "MCP 2026 1: %s: the claim", name);
		is_int(e.code, envelopes[i].code, "%s: the code", name);
		if (!ok(strstr(e.text, envelopes[i].says) != NULL,
			"%s: the sentence", name))
			printf("# %s\n", e.text);
		ok((e.code == 0) == (e.text[0] == '\0'),
		   "%s: a sentence only for a fault", name);
		json_object_put(params);
	}
}

TEST(fields)
{
	struct json_object *params =
	    parse(GOOD(I "{\"name\":\"a\",\"version\":\"1\"}," L "\"error\""));
	struct mcp_envelope e;

	mcp_envelope_read(&e, params);
	is_int(e.revision, MCP_2026_07_28, "the envelope has the revision");
	is_str(e.version, "2026-07-28", "the envelope has the revision's name");
	is_int(e.log_level, 3, "the envelope has the wanted log level");
	is_str(json_text(e.capabilities, NULL), "{}",
	       "the envelope has the capabilities");
	is_str(json_member_str(e.client_info, "name"), "a",
	       "the envelope has the client");
	ok(mcp_envelope_data(&e) == NULL,
	   "a valid envelope has no error's data");
	json_object_put(params);

	params = parse(META(NOW "," L "\"loud\""));
	mcp_envelope_read(&e, params);
	is_str(e.version, "2026-07-28",
	       "the revision is read beside a faulty log level");
	is_int(e.log_level, -1, "an unknown log level is not wanted");
	ok(e.capabilities == NULL && e.client_info == NULL,
	   "missing members are NULL in the envelope");
	ok(mcp_envelope_data(&e) == NULL,
	   "a malformed envelope has no error's data");
	json_object_put(params);

	params = parse(META(V "\"1900-01-01\"," C "{}"));
	mcp_envelope_read(&e, params);
	is_json(mcp_envelope_data(&e),
		"{\"supported\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\","
		"\"2025-03-26\",\"2024-11-05\"],\"requested\":\"1900-01-01\"}",
		"MCP 2026 5: a version that is not served gets those that are");
	json_object_put(params);
}

/* ---- capabilities ---- */

#define TASKS "extensions/io.modelcontextprotocol/tasks"

static const struct {
	const char *has, *path;
	bool declares;
} declared[] = {
    {"{\"sampling\":{}}", "sampling", true},
    {"{\"sampling\":{\"tools\":{}}}", "sampling/tools", true},
    {"{\"sampling\":{}}", "sampling/tools", false},
    {"{\"sampling\":true}", "sampling", false},
    {"{\"sampling\":null}", "sampling", false},
    {"{\"samplings\":{}}", "sampling", false},
    {"null", "sampling", false},
    {"{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}", TASKS, true},
    {"{\"extensions\":{\"io.modelcontextprotocol\":{\"tasks\":{}}}}", TASKS,
     false},
    {"{\"extensions\":{}}", TASKS, false},
    {"{\"a\":{\"extensions\":{\"b\":{\"c\":{}}}}}", "a/extensions/b/c", true},
};

TEST(capabilities)
{
	for (size_t i = 0; i < ARRAY_LEN(declared); i++) {
		struct json_object *caps = parse(declared[i].has);

		is_int(mcp_declares(caps, declared[i].path),
		       declared[i].declares, "%s in %s", declared[i].path,
		       declared[i].has);
		json_object_put(caps);
	}
	is_json(mcp_missing_capability("sampling"),
		"{\"requiredCapabilities\":{\"sampling\":{}}}",
		"MCP 2026 5: a capability that is needed");
	is_json(mcp_missing_capability("elicitation/form"),
		"{\"requiredCapabilities\":{\"elicitation\":{\"form\":{}}}}",
		"a part of one");
	is_json(mcp_missing_capability(TASKS),
		"{\"requiredCapabilities\":{\"extensions\":{"
		"\"io.modelcontextprotocol/tasks\":{}}}}",
		"MCP 2026 19: an extension, whose name has a slash");
}

/* ---- answers ---- */

#define SERVER                                                                 \
	"\"" MCP_META_SERVER                                                   \
	"\":{\"name\":\"paddock\",\"version\":\"" PADDOCK_VERSION "\"}"

static const struct {
	const char *result;
	enum mcp_revision rev;
	const char *finished;
	const char *name;
} results[] = {
    {"{\"tools\":[]}", MCP_2026_07_28,
     "{\"tools\":[],\"resultType\":\"complete\",\"_meta\":{" SERVER "}}",
     "MCP 2026 3, 4: a result is complete, and says whose it is"},
    {"{\"resultType\":\"task\",\"taskId\":\"T\"}", MCP_2026_07_28,
     "{\"resultType\":\"task\",\"taskId\":\"T\",\"_meta\":{" SERVER "}}",
     "a type that is there stays"},
    {"{\"_meta\":{\"a\":{\"b\":1}},\"resultType\":\"input_required\"}",
     MCP_2026_07_28,
     "{\"_meta\":{\"a\":{\"b\":1}," SERVER
     "},\"resultType\":\"input_required\"}",
     "so does what _meta has"},
    {"{\"_meta\":{\"" MCP_META_SERVER "\":{\"name\":\"other\"}}}",
     MCP_2026_07_28, "{\"_meta\":{" SERVER "},\"resultType\":\"complete\"}",
     "but nobody else says which server this is"},
    {"{\"_meta\":7}", MCP_2026_07_28,
     "{\"_meta\":{" SERVER "},\"resultType\":\"complete\"}",
     "a _meta that is none is replaced"},
    {"{\"tools\":[]}", MCP_2025_11_25, "{\"tools\":[]}",
     "an older revision has none of that"},
};

TEST(results)
{
	for (size_t i = 0; i < ARRAY_LEN(results); i++) {
		struct json_object *result = parse(results[i].result);
		struct json_object *meta =
		    json_object_get(json_member(result, "_meta"));
		char *was = xstrdup(json_text(meta, NULL));

		mcp_finish_result(result, results[i].rev);
		is_json(result, results[i].finished, results[i].name);
		is_str(json_text(meta, NULL), was,
		       "a _meta that others hold stays as it is");
		json_object_put(meta);
		free(was);
	}
	is_json(mcp_server_info(MCP_2025_03_26),
		"{\"name\":\"paddock\",\"version\":\"" PADDOCK_VERSION "\"}",
		"before 2025-06-18 the server information has no title");
	is_json(mcp_server_info(MCP_2025_11_25),
		"{\"name\":\"paddock\",\"title\":\"paddock\",\"version\":"
		"\"" PADDOCK_VERSION "\"}",
		"in 2025-11-25 the server information has a title");
}

static const struct {
	int code, older, stateless;
} codes[] = {
    {RPC_RATE_LIMITED, -32010, 429},
    {RPC_RESOURCE_NOT_FOUND, -32002, -32602},
    {RPC_INVALID_PARAMS, -32602, -32602},
    {RPC_METHOD_NOT_FOUND, -32601, -32601},
    {RPC_MISSING_CAPABILITY, -32021, -32021},
};

TEST(codes)
{
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		is_int(mcp_error_code(codes[i].code, MCP_2025_11_25),
		       codes[i].older, "%d in a session", codes[i].code);
		is_int(mcp_error_code(codes[i].code, MCP_2026_07_28),
		       codes[i].stateless,
		       "MCP 2026 5: %d in a request by itself", codes[i].code);
	}
}

/* ---- trace context ---- */

#define TRACE "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"

TEST(trace)
{
	static const struct {
		const char *meta;
		bool good;
		const char *name;
	} cases[] = {
	    {"{\"traceparent\":\"" TRACE "\"}", true, "of its form"},
	    {"{\"traceparent\":\"" TRACE "0\"}", false, "longer"},
	    {"{\"traceparent\":\"01" TRACE "\"}", false, "of another version"},
	    {"{\"traceparent\":\"00-0123456789ABCDEF0123456789abcdef-"
	     "0123456789abcdef-01\"}",
	     false, "in capitals"},
	    {"{\"traceparent\":\"00-0123456789abcdef0123456789abcdef-"
	     "0123456789abcdef-\\n1\"}",
	     false, "with a newline"},
	    {"{\"traceparent\":5}", false, "a number"},
	    {"{}", false, "none"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *params = json_object_new_object();
		const char *found;

		json_object_object_add(params, "_meta", parse(cases[i].meta));
		found = mcp_trace_parent(params);
		is_str(found, cases[i].good ? TRACE : NULL, "a traceparent %s",
		       cases[i].name);
		json_object_put(params);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_rpc.c - JSON-RPC messages, the kind of each message, and errors. */
#include "proto/mcp/rpc.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "tests/unit/tap.h"

/* Parse a copy of exact size, so that a read beyond the end is detected. */
static void parse(struct rpc_msg *m, const char *text, size_t len)
{
	char *copy = xcalloc(len, 1);

	memcpy(copy, text, len);
	rpc_parse(m, copy, len);
	free(copy);
}

static const struct {
	const char *name;
	const char *text;
	enum rpc_kind kind;
	const char *id;
	const char *method;
	const char *params;
	const char *result;
	const char *error;
} good[] = {
    {"a request", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
     RPC_REQUEST, "1", "ping", NULL, NULL, NULL},
    {"a request with params",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a/b\",\"params\":{\"x\":[1]}}",
     RPC_REQUEST, "1", "a/b", "{\"x\":[1]}", NULL, NULL},
    {"members in another order",
     " {\"params\":{} , \"method\":\"m\", \"id\" : 7 ,\"jsonrpc\":\"2.0\"}\n",
     RPC_REQUEST, "7", "m", "{}", NULL, NULL},
    {"a notification", "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}",
     RPC_NOTIFICATION, NULL, "n", NULL, NULL, NULL},
    {"a notification with params",
     "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"id\":1}}",
     RPC_NOTIFICATION, NULL, "n", "{\"id\":1}", NULL, NULL},
    {"a result", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}",
     RPC_RESPONSE, "1", NULL, NULL, "{\"a\":1}", NULL},
    {"a null result", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}",
     RPC_RESPONSE, "1", NULL, NULL, NULL, NULL},
    {"an error", "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1}}",
     RPC_RESPONSE, "1", NULL, NULL, NULL, "{\"code\":-1}"},
    {"an error without id", "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-1}}",
     RPC_RESPONSE, NULL, NULL, NULL, NULL, "{\"code\":-1}"},
    {"an error whose id is null",
     "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1}}", RPC_RESPONSE,
     NULL, NULL, NULL, NULL, "{\"code\":-1}"},
    {"a member of no meaning",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"trace\":[]}",
     RPC_REQUEST, "1", "m", NULL, NULL, NULL},
    {"escapes in names and values",
     "{\"json\\u0072pc\":\"2\\u002e0\",\"\\u0069d\":2,\"method\":\"\\u006d\"}",
     RPC_REQUEST, "2", "m", NULL, NULL, NULL},
    {"a batch", "[{\"jsonrpc\":\"2.0\",\"method\":\"n\"}]", RPC_BATCH, NULL,
     NULL, NULL, NULL, NULL},
    {"a batch of anything", "[1]", RPC_BATCH, NULL, NULL, NULL, NULL, NULL},
};

static void is_tree(struct json_object *got, const char *want, const char *name,
		    const char *part)
{
	is_str(got == NULL ? NULL : json_text(got, NULL), want, "%s: its %s",
	       name, part);
}

TEST(good)
{
	struct rpc_msg m;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		parse(&m, good[i].text, strlen(good[i].text));
		is_int(m.kind, good[i].kind, "%s", good[i].name);
		is_str(m.id, good[i].id, "%s: its id", good[i].name);
		is_str(m.method, good[i].method, "%s: its method",
		       good[i].name);
		is_tree(m.params, good[i].params, good[i].name, "params");
		is_tree(m.result, good[i].result, good[i].name, "result");
		is_tree(m.error, good[i].error, good[i].name, "error");
		is_str(m.text, "", "%s: nothing to complain of", good[i].name);
		ok((m.kind == RPC_BATCH ? (void *)m.parts : (void *)m.root) !=
		       NULL,
		   "%s: its tree", good[i].name);
		rpc_fini(&m);
	}
}

/* Valid ids, which must come back byte by byte. */
static const char *const ids[] = {
    "0",
    "-0",
    "-1",
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234567890",
    "-123456789012345678901234567890",
    "\"\"",
    "\"a\"",
    "\"1\"",
    "\"1.5\"",
    "\"null\"",
    "\"\\u0041\\/\\n\"",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"\xF0\x9F\x98\x80\"",
    "\"},\\\"id\\\":2\"",
};

/* Invalid ids, for which the answer's id is null. */
static const struct {
	const char *id;
	const char *says;
} no_ids[] = {
    {"null", "found null"},
    {"true", "found a boolean"},
    {"1.5", "found a number"},
    {"1.0", "found a number"},
    {"1e2", "found a number"},
    {"1E2", "found a number"},
    {"[1]", "found an array"},
    {"{}", "found an object"},
    {"{\"id\":1}", "found an object"},
};

TEST(ids)
{
	struct rpc_msg m;

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		struct buf out = {0};
		char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\": %s ,"
				       "\"method\":\"m\"}",
				       ids[i]);
		char *want = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,"
				       "\"result\":{}}",
				       ids[i]);
		char *got;

		parse(&m, text, strlen(text));
		is_int(m.kind, RPC_REQUEST, "id %s", ids[i]);
		is_str(m.id, ids[i], "id %s: as it came", ids[i]);
		is_int(rpc_put_result(&out, m.id, NULL), 0, "id %s: written",
		       ids[i]);
		got = buf_take(&out, NULL);
		is_str(got, want, "id %s: as it came", ids[i]);
		rpc_fini(&m);
		free(got), free(text), free(want);
	}
	for (size_t i = 0; i < ARRAY_LEN(no_ids); i++) {
		char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,"
				       "\"method\":\"m\"}",
				       no_ids[i].id);

		parse(&m, text, strlen(text));
		is_int(m.kind, RPC_BROKEN, "id %s is none", no_ids[i].id);
		is_int(m.code, RPC_INVALID_REQUEST, "id %s: code",
		       no_ids[i].id);
		is_str(m.id, NULL, "id %s: not kept", no_ids[i].id);
		ok(strstr(m.text, no_ids[i].says) != NULL, "id %s: %s",
		   no_ids[i].id, m.text);
		rpc_fini(&m);
		free(text);
	}
}

/* Two ids in possible spellings: are the ids the same? */
static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
    {"1", "1", true},
    {"1", "\"1\"", false},
    {"1", "2", false},
    {"-0", "0", true},
    {"18446744073709551616", "18446744073709551616", true},
    {"18446744073709551616", "18446744073709551617", false},
    {"\"a\"", "\"\\u0061\"", true},
    {"\"/\"", "\"\\/\"", true},
    {"\"a\"", "\"b\"", false},
    {"\"a\"", "\"a\\u0000\"", false},
    {"\"a\\u0000b\"", "\"a\\u0000c\"", false},
    {"\"\"", "\"\"", true},
};

static void parse_id(struct rpc_msg *m, const char *id)
{
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,"
			       "\"method\":\"m\"}",
			       id);

	parse(m, text, strlen(text));
	free(text);
}

TEST(same_ids)
{
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct rpc_msg a, b;
		bool same;

		parse_id(&a, pairs[i].a);
		parse_id(&b, pairs[i].b);
		same = a.id_key_len == b.id_key_len &&
		       memcmp(a.id_key, b.id_key, a.id_key_len) == 0;
		ok(same == pairs[i].same, "%s and %s are %s id", pairs[i].a,
		   pairs[i].b, pairs[i].same ? "one" : "not one");
		rpc_fini(&a);
		rpc_fini(&b);
	}
}

/* An id of N bytes, quotes included, with each character written in WIDTH bytes. */
static char *long_id(size_t n, const char *character)
{
	size_t width = strlen(character);
	char *id = xcalloc(n + 1, 1);

	id[0] = '"';
	for (size_t i = 1; i + width < n; i += width)
		memcpy(id + i, character, width);
	while (strlen(id) < n - 1)
		id[strlen(id)] = 'x';
	id[n - 1] = '"';
	return id;
}

TEST(long_ids)
{
	static const char *const written[] = {"a", "\\u0061"};
	static const size_t lengths[] = {RPC_ID_MAX, RPC_ID_MAX + 1, 1500000};

	for (size_t i = 0; i < ARRAY_LEN(written); i++)
		for (size_t j = 0; j < ARRAY_LEN(lengths); j++) {
			char *id = long_id(lengths[j], written[i]);
			bool fits = lengths[j] <= RPC_ID_MAX;
			struct rpc_msg m;

			parse_id(&m, id);
			is_int(m.kind, fits ? RPC_REQUEST : RPC_BROKEN,
			       "an id of %zu bytes like %s", lengths[j],
			       written[i]);
			ok(fits ? m.id != NULL
				: m.id == NULL && m.id_key == NULL &&
				      strstr(m.text, "1024 bytes") != NULL,
			   "is %s", fits ? "kept" : "refused by its bound");
			rpc_fini(&m);
			free(id);
		}
}

#define V2 "\"jsonrpc\":\"2.0\""

static const struct {
	const char *name;
	const char *text;
	int code;
	const char *id;
	const char *says;
} bad[] = {
    {"no text", "", RPC_PARSE_ERROR, NULL, "byte 0: expected a value"},
    {"no JSON", "{\"jsonrpc\":", RPC_PARSE_ERROR, NULL, "byte 11"},
    {"two messages", "{} {}", RPC_PARSE_ERROR, NULL, "byte 3"},
    {"a duplicate id", "{" V2 ",\"id\":1,\"id\":2,\"method\":\"m\"}",
     RPC_PARSE_ERROR, NULL, "duplicate key \"id\""},
    {"a duplicate id by escapes",
     "{" V2 ",\"id\":1,\"i\\u0064\":2,\"method\":\"m\"}", RPC_PARSE_ERROR, NULL,
     "duplicate key \"id\""},
    {"half a surrogate pair",
     "{\"method\":\"m\",\"params\":{\"a\":\"\\ud800\",\"id\":7}," V2
     ", \"id\" : \"x}\" }",
     RPC_PARSE_ERROR, "\"x}\"", "lone surrogate"},
    {"a name with NUL",
     "{" V2 ",\"id\":-5,\"method\":\"m\",\"params\":{\"\\u0000\":[1,2]}}",
     RPC_PARSE_ERROR, "-5", "this server does not take it"},
    {"a number too great",
     "{" V2 ",\"params\":[1e400,\"id\"],\"id\":3,\"method\":\"m\"}",
     RPC_PARSE_ERROR, "3", "beyond what a double holds"},
    {"a name twice, deeper",
     "{" V2 ",\"params\":{\"id\":1,\"id\":2},\"id\":3,\"method\":\"m\"}",
     RPC_PARSE_ERROR, "3", "duplicate key \"id\""},
    {"an unfit one of which the end is missing",
     "{" V2 ",\"id\":1,\"method\":\"m\",\"params\":\"\\ud800\"",
     RPC_PARSE_ERROR, NULL, "lone surrogate"},
    {"an unfit one with more after it",
     "{" V2 ",\"id\":1,\"method\":\"m\",\"params\":\"\\ud800\"}}",
     RPC_PARSE_ERROR, NULL, "lone surrogate"},
    {"an unfit one with an id by escapes",
     "{" V2 ",\"a\":\"\\ud800\",\"id\":1,\"i\\u0064\":2,\"method\":\"m\"}",
     RPC_PARSE_ERROR, NULL, "lone surrogate"},
    {"an unfit one with two ids",
     "{" V2 ",\"a\":\"\\ud800\",\"id\":1,\"id\":1,\"method\":\"m\"}",
     RPC_PARSE_ERROR, NULL, "lone surrogate"},
    {"an unfit one whose id is none",
     "{" V2 ",\"a\":\"\\ud800\",\"id\":1.5,\"method\":\"m\"}", RPC_PARSE_ERROR,
     NULL, "lone surrogate"},
    {"an unfit answer", "{" V2 ",\"id\":1,\"result\":{\"method\":\"\\ud800\"}}",
     RPC_PARSE_ERROR, NULL, "lone surrogate"},
    {"an unfit batch", "[{" V2 ",\"id\":1,\"method\":\"\\ud800\"}]",
     RPC_PARSE_ERROR, NULL, "lone surrogate"},
    {"a newline in a string", "{" V2 ",\"id\":\"\n\",\"method\":\"m\"}",
     RPC_PARSE_ERROR, NULL, "control character"},

    {"a string", "\"ping\"", RPC_INVALID_REQUEST, NULL, "JSON object"},
    {"a number", "1", RPC_INVALID_REQUEST, NULL, "JSON object"},
    {"null", "null", RPC_INVALID_REQUEST, NULL, "JSON object"},
    {"true", "true", RPC_INVALID_REQUEST, NULL, "JSON object"},
    {"an empty batch", "[]", RPC_INVALID_REQUEST, NULL, "at least one"},
    {"an empty object", "{}", RPC_INVALID_REQUEST, NULL, "\"2.0\", found none"},

    {"no version", "{\"id\":1,\"method\":\"m\"}", RPC_INVALID_REQUEST, "1",
     "\"jsonrpc\" must be the string \"2.0\", found none"},
    {"version 1.0", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}",
     RPC_INVALID_REQUEST, "1", "found another string"},
    {"a number as version", "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}",
     RPC_INVALID_REQUEST, "1", "found a number"},
    {"an integer as version", "{\"jsonrpc\":2,\"id\":\"x\",\"method\":\"m\"}",
     RPC_INVALID_REQUEST, "\"x\"", "found an integer"},
    {"null as version", "{\"jsonrpc\":null,\"id\":1,\"method\":\"m\"}",
     RPC_INVALID_REQUEST, "1", "found null"},
    {"a version with NUL",
     "{\"jsonrpc\":\"2.0\\u0000\",\"id\":1,\"method\":\"m\"}",
     RPC_INVALID_REQUEST, "1", "found another string"},
    {"a version in capitals", "{\"JSONRPC\":\"2.0\",\"id\":1,\"method\":\"m\"}",
     RPC_INVALID_REQUEST, "1", "found none"},

    {"neither", "{" V2 ",\"id\":1}", RPC_INVALID_REQUEST, "1", "found none"},
    {"params alone", "{" V2 ",\"id\":1,\"params\":{}}", RPC_INVALID_REQUEST,
     "1", "found none"},
    {"result and error", "{" V2 ",\"id\":1,\"result\":{},\"error\":{}}",
     RPC_INVALID_REQUEST, "1", "found several"},
    {"result and a null error",
     "{" V2 ",\"id\":1,\"result\":{},\"error\":null}", RPC_INVALID_REQUEST, "1",
     "found several"},
    {"method and result", "{" V2 ",\"id\":1,\"method\":\"m\",\"result\":{}}",
     RPC_INVALID_REQUEST, "1", "found several"},
    {"method and error", "{" V2 ",\"id\":1,\"method\":\"m\",\"error\":{}}",
     RPC_INVALID_REQUEST, "1", "found several"},

    {"a null method", "{" V2 ",\"id\":1,\"method\":null}", RPC_INVALID_REQUEST,
     "1", "\"method\" must be a string"},
    {"a number as method", "{" V2 ",\"id\":1,\"method\":1}",
     RPC_INVALID_REQUEST, "1", "found an integer"},
    {"an array as method", "{" V2 ",\"id\":1,\"method\":[\"m\"]}",
     RPC_INVALID_REQUEST, "1", "found an array"},
    {"a method with NUL", "{" V2 ",\"id\":1,\"method\":\"m\\u0000x\"}",
     RPC_INVALID_REQUEST, "1", "without \\u0000, found one with"},
    {"a notification with a wrong method", "{" V2 ",\"method\":{}}",
     RPC_INVALID_REQUEST, NULL, "found an object"},

    {"positional params", "{" V2 ",\"id\":1,\"method\":\"m\",\"params\":[1]}",
     RPC_INVALID_PARAMS, "1",
     "\"params\" must be an object or left out, found "
     "an array"},
    {"no positional params", "{" V2 ",\"id\":1,\"method\":\"m\",\"params\":[]}",
     RPC_INVALID_PARAMS, "1", "found an array"},
    {"null params", "{" V2 ",\"id\":1,\"method\":\"m\",\"params\":null}",
     RPC_INVALID_PARAMS, "1", "found null"},
    {"a string as params",
     "{" V2 ",\"id\":\"i\",\"method\":\"m\",\"params\":\"\"}",
     RPC_INVALID_PARAMS, "\"i\"", "found a string"},
    {"a notification with wrong params",
     "{" V2 ",\"method\":\"m\",\"params\":[]}", RPC_INVALID_PARAMS, NULL,
     "found an array"},

    {"a result without id", "{" V2 ",\"result\":{}}", RPC_INVALID_REQUEST, NULL,
     "\"id\" must be a string or an integer, found none"},
    {"a result whose id is null", "{" V2 ",\"id\":null,\"result\":{}}",
     RPC_INVALID_REQUEST, NULL, "found null"},
    {"an error whose id is a fraction", "{" V2 ",\"id\":0.5,\"error\":{}}",
     RPC_INVALID_REQUEST, NULL, "found a number"},
    {"a string as error", "{" V2 ",\"id\":1,\"error\":\"no\"}",
     RPC_INVALID_REQUEST, "1", "\"error\" must be an object"},
    {"a null error", "{" V2 ",\"id\":1,\"error\":null}", RPC_INVALID_REQUEST,
     "1", "found null"},
};

TEST(bad)
{
	struct rpc_msg m;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		parse(&m, bad[i].text, strlen(bad[i].text));
		is_int(m.kind, RPC_BROKEN, "%s: broken", bad[i].name);
		is_int(m.code, bad[i].code, "%s: code", bad[i].name);
		is_str(m.id, bad[i].id, "%s: its id", bad[i].name);
		if (!ok(strstr(m.text, bad[i].says) != NULL, "%s: says why",
			bad[i].name))
			printf("# %s\n", m.text);
		ok(m.params == NULL && m.result == NULL && m.error == NULL,
		   "%s: lends nothing", bad[i].name);
		rpc_fini(&m);
		ok(m.id == NULL && m.root == NULL, "%s: released", bad[i].name);
	}
}

TEST(deep)
{
	struct buf b = {0};
	struct rpc_msg m;

	buf_add_str(&b, "{" V2 ",\"id\":1,\"method\":\"m\",\"params\":");
	for (int i = 0; i < 70; i++)
		buf_add_str(&b, "{\"a\":");
	parse(&m, buf_data(&b), buf_len(&b));
	is_int(m.code, RPC_PARSE_ERROR,
	       "a message nested too deep is a parse error");
	ok(strstr(m.text, "deeper than 64") != NULL,
	   "a message nested too deep: %s", m.text);
	ok(m.id == NULL, "a cut message nested too deep has no id");
	rpc_fini(&m);
	buf_add_str(&b, "1");
	for (int i = 0; i < 71; i++)
		buf_add_str(&b, "}");
	parse(&m, buf_data(&b), buf_len(&b));
	is_str(m.id, "1", "a whole message nested too deep has an id");
	rpc_fini(&m);
	buf_fini(&b);
}

/*
 * The parts of a batch are read from the batch's text, so ids keep their spelling.
 */
TEST(batch)
{
	static const char text[] =
	    " [ {" V2 ",\"id\":1e0,\"method\":\"a\"},{" V2
	    ",\"id\":18446744073709551617,\"method\":\"b\"} , 7 ] ";
	static const char *const want[] = {NULL, "18446744073709551617", NULL};
	static const enum rpc_kind kinds[] = {RPC_BROKEN, RPC_REQUEST,
					      RPC_BROKEN};
	struct buf many = {0};
	struct rpc_msg m;

	parse(&m, text, strlen(text));
	is_int((long long)m.n_parts, 3, "batch: three messages");
	for (size_t n = 0; n < m.n_parts && n < ARRAY_LEN(want); n++) {
		is_str(m.parts[n].id, want[n], "batch: id %zu", n);
		is_int(m.parts[n].kind, kinds[n], "batch: kind %zu", n);
	}
	rpc_fini(&m);

	parse(&m, "[[{}]]", 6);
	is_int(m.parts[0].kind, RPC_BROKEN, "a batch in a batch is none");
	rpc_fini(&m);

	buf_add_str(&many, "[0");
	for (int i = 0; i < RPC_BATCH_MAX; i++)
		buf_add_str(&many, ",0");
	buf_add_str(&many, "]");
	parse(&m, buf_data(&many), buf_len(&many));
	ok(m.kind == RPC_BATCH && m.parts == NULL &&
	       m.n_parts == RPC_BATCH_MAX + 1,
	   "of one that is too long nothing is read but how long it is");
	rpc_fini(&m);
	buf_fini(&many);
}

static void is_out(struct buf *out, const char *want, const char *name)
{
	char *got = buf_take(out, NULL);

	is_str(got, want, "%s", name);
	free(got);
}

TEST(put)
{
	struct json_object *o = json_object_new_object();
	struct buf out = {0};

	json_object_object_add(o, "a/b", json_object_new_double(0.1));

	rpc_put_result(&out, "\"\\u0041\"", o);
	is_out(&out, "{" V2 ",\"id\":\"\\u0041\",\"result\":{\"a/b\":0.1}}",
	       "a result, its id raw");
	rpc_put_result(&out, "1", NULL);
	is_out(&out, "{" V2 ",\"id\":1,\"result\":{}}", "no result is {}");
	rpc_put_error(&out, NULL, RPC_PARSE_ERROR, "say \"why\"\n", NULL);
	is_out(&out,
	       "{" V2 ",\"id\":null,\"error\":{\"code\":-32700,"
	       "\"message\":\"say \\\"why\\\"\\n\"}}",
	       "an error without id or data, its message escaped");
	rpc_put_error(&out, "7", -1, "", o);
	is_out(&out,
	       "{" V2 ",\"id\":7,\"error\":{\"code\":-1,\"message\":\"\","
	       "\"data\":{\"a/b\":0.1}}}",
	       "an error with data");
	rpc_put_error(&out, "7", -1, "caf\xC3\xA9 \xE2\x82", NULL);
	is_out(&out,
	       "{" V2 ",\"id\":7,\"error\":{\"code\":-1,\"message\":"
	       "\"caf\xC3\xA9 \"}}",
	       "a message that was cut within a character");
	rpc_put_notification(&out, "notifications/x", NULL);
	is_out(&out, "{" V2 ",\"method\":\"notifications/x\"}",
	       "a notification");
	rpc_put_notification(&out, "n", o);
	is_out(&out, "{" V2 ",\"method\":\"n\",\"params\":{\"a/b\":0.1}}",
	       "a notification with params");
	rpc_put_request(&out, "3", "ping", NULL);
	is_out(&out, "{" V2 ",\"id\":3,\"method\":\"ping\"}", "a request");
	rpc_put_request(&out, "3", "m", o);
	is_out(&out,
	       "{" V2 ",\"id\":3,\"method\":\"m\",\"params\":{\"a/b\":0.1}}",
	       "a request with params");

	rpc_put_notification(&out, "a", NULL);
	rpc_put_notification(&out, "b", NULL);
	is_out(&out, "{" V2 ",\"method\":\"a\"}{" V2 ",\"method\":\"b\"}",
	       "messages are appended");
	json_object_put(o);
}

/* A buffer takes a whole message or nothing, at any free size. */
TEST(put_bounded)
{
	static const char want[] =
	    "{" V2 ",\"id\":12,\"error\":{\"code\":-32603,"
	    "\"message\":\"no\",\"data\":[1,2]}}";
	struct json_object *data = json_object_new_array();
	struct buf out;
	int torn = 0;

	json_object_array_add(data, json_object_new_int(1));
	json_object_array_add(data, json_object_new_int(2));
	for (size_t max = 4; max < strlen(want) + 4; max++) {
		out = (struct buf){0};
		buf_add_str(&out, "..held");
		buf_drop(&out, 2);
		out.max = max;
		torn += rpc_put_error(&out, "12", RPC_INTERNAL_ERROR, "no",
				      data) != -EMSGSIZE;
		torn += buf_len(&out) != 4 ||
			memcmp(buf_data(&out), "held", 4) != 0;
		buf_fini(&out);
	}
	is_int(torn, 0, "a message that does not fit leaves no piece behind");
	out = (struct buf){.max = strlen(want)};
	is_int(rpc_put_error(&out, "12", RPC_INTERNAL_ERROR, "no", data), 0,
	       "a message which just fits passes");
	is_out(&out, want, "whole");
	json_object_put(data);
}

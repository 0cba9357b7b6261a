/* SPDX-License-Identifier: Apache-2.0 */
/* t_mcp.c - the protocol's shapes, as text. */
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp.h"
#include "proto/mcp/mcp_schema.h"
#include "tests/unit/tap_json.h"

/* ---- revisions ---- */

static const struct {
	const char *asked, *got;
	bool batches, annotations, structured;
} revisions[] = {
    {"2024-11-05", "2024-11-05", false, false, false},
    {"2025-03-26", "2025-03-26", true, true, false},
    {"2025-06-18", "2025-06-18", false, true, true},
    {"2025-11-25", "2025-11-25", false, true, true},
    {"2026-07-28", "2025-11-25", false, true, true},
    {"1999-01-01", "2025-11-25", false, true, true},
    {"2999-01-01", "2025-11-25", false, true, true},
    {"2025-11-25 ", "2025-11-25", false, true, true},
    {"", "2025-11-25", false, true, true},
    {NULL, "2025-11-25", false, true, true},
};

TEST(revisions)
{
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++) {
		const char *asked = revisions[i].asked;
		enum mcp_revision rev = mcp_negotiate(asked);

		asked = asked != NULL ? asked : "none";
		is_str(mcp_revision_name(rev), revisions[i].got,
		       "asked for \"%s\"", asked);
		is_int(mcp_has(rev, MCP_BATCHES), revisions[i].batches,
		       "\"%s\": batches", asked);
		is_int(mcp_has(rev, MCP_ANNOTATIONS), revisions[i].annotations,
		       "\"%s\": annotations", asked);
		is_int(mcp_has(rev, MCP_STRUCTURED), revisions[i].structured,
		       "\"%s\": structured output", asked);
	}
	for (int i = 1; i < MCP_REVISIONS; i++)
		ok(strcmp(mcp_revision_name((enum mcp_revision)(i - 1)),
			  mcp_revision_name((enum mcp_revision)i)) < 0,
		   "revision %d is older than the next", i - 1);
}

/* ---- tool results ---- */

static const struct {
	const char *text, *structured;
	bool is_error;
	const char *want, *name;
} results[] = {
    {"hello", NULL, false,
     "{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}", "a text"},
    {"", NULL, false, "{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}",
     "an empty text"},
    {"bad", NULL, true,
     "{\"content\":[{\"type\":\"text\",\"text\":\"bad\"}],\"isError\":true}",
     "an error"},
    {"{\"a\":1}", "{\"a\":1}", false,
     "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}],"
     "\"structuredContent\":{\"a\":1}}",
     "structured content, as it stands"},
    {"{\"n\":1.50}", "{\"n\":1.50}", true,
     "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1.50}\"}],"
     "\"structuredContent\":{\"n\":1.50},\"isError\":true}",
     "an error with structured content, whose numbers stay as written"},
};

TEST(results)
{
	for (size_t i = 0; i < ARRAY_LEN(results); i++) {
		const char *s = results[i].structured;

		is_json(mcp_tool_result(
			    results[i].text, strlen(results[i].text), s,
			    s == NULL ? 0 : strlen(s), results[i].is_error),
			results[i].want, results[i].name);
	}
	is_json(mcp_tool_result("a\0b", 3, NULL, 0, false),
		"{\"content\":[{\"type\":\"text\",\"text\":\"a\\u0000b\"}]}",
		"a text with a NUL is whole");
	is_json(mcp_raw("[1, 2]xyz", 6), "[1, 2]",
		"raw text, of so many bytes");
}

/* ---- progress ---- */

static const struct {
	const char *params, *token, *name;
} tokens[] = {
    {"{\"_meta\":{\"progressToken\":\"t\"}}", "\"t\"", "a string"},
    {"{\"_meta\":{\"progressToken\":\"\"}}", "\"\"", "an empty string"},
    {"{\"_meta\":{\"progressToken\":7}}", "7", "an integer"},
    {"{\"_meta\":{\"progressToken\":0}}", "0", "zero"},
    {"{\"_meta\":{\"progressToken\":1.5}}", NULL, "no fraction"},
    {"{\"_meta\":{\"progressToken\":null}}", NULL, "not null"},
    {"{\"_meta\":{\"progressToken\":true}}", NULL, "not true"},
    {"{\"_meta\":{\"progressToken\":[1]}}", NULL, "not a list"},
    {"{\"_meta\":{}}", NULL, "none in an empty _meta"},
    {"{\"_meta\":[]}", NULL, "none in a list"},
    {"{\"progressToken\":1}", NULL, "none outside of _meta"},
    {"[]", NULL, "none in params that are a list"},
    {"null", NULL, "none without params"},
};

static const struct {
	const char *token;
	uint64_t progress, total;
	const char *message, *want, *name;
} progresses[] = {
    {"\"t\"", 1, 0, NULL, "{\"progressToken\":\"t\",\"progress\":1}",
     "progress alone"},
    {"5", 0, 9, NULL, "{\"progressToken\":5,\"progress\":0,\"total\":9}",
     "of a total"},
    {"5", 2, 9, "half\n",
     "{\"progressToken\":5,\"progress\":2,\"total\":9,\"message\":\"half\\n\"}",
     "with a message"},
    {"5", UINT64_MAX, UINT64_MAX, "",
     "{\"progressToken\":5,\"progress\":18446744073709551615,"
     "\"total\":18446744073709551615,\"message\":\"\"}",
     "up to 64 bits"},
};

TEST(progress)
{
	for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
		struct json_object *params = parse(tokens[i].params);
		struct json_object *t = mcp_progress_token(params);

		is_str(t == NULL ? NULL : json_text(t, NULL), tokens[i].token,
		       "a token: %s", tokens[i].name);
		json_object_put(params);
	}
	ok(mcp_progress_token(NULL) == NULL, "a token: none of nothing");
	for (size_t i = 0; i < 2; i++) {
		char token[MCP_TOKEN_MAX + 2] = "";
		struct json_object *params;

		memset(token, 'x', MCP_TOKEN_MAX + i);
		params =
		    json_pack("_meta:o", json_pack("progressToken:s", token));
		ok((mcp_progress_token(params) == NULL) == (i == 1) &&
		       mcp_progress_token_fits(params) == (i == 0),
		   "a token of %zu bytes", strlen(token));
		json_object_put(params);
	}
	for (size_t i = 0; i < ARRAY_LEN(progresses); i++) {
		struct json_object *token = parse(progresses[i].token);

		is_json(mcp_progress(token, progresses[i].progress,
				     progresses[i].total,
				     progresses[i].message),
			progresses[i].want, progresses[i].name);
		is_json(token, progresses[i].token, "the token is only lent");
	}
}

TEST(content)
{
	static const struct {
		const char *content;
		int fault;
	} cases[] = {
	    {"[]", -1},
	    {"[{\"type\":\"text\",\"text\":\"\"}]", -1},
	    {"[{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"image/png\"},"
	     "{\"type\":\"audio\",\"data\":\"\",\"mimeType\":\"audio/wav\"}]",
	     -1},
	    {"[{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\"}]",
	     -1},
	    {"[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
	     "\"text\":\"\"}}]",
	     -1},
	    {"[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\"}}]", 0},
	    {"[{\"type\":\"text\",\"text\":\"\"},{\"type\":\"text\"}]", 1},
	    {"[{\"type\":\"image\",\"data\":\"\"}]", 0},
	    {"[{\"type\":\"video\"}]", 0},
	    {"[{\"type\":\"text\",\"text\":null}]", 0},
	    {"[{\"type\":\"text\\u0000\",\"text\":\"\"}]", 0},
	    {"[{\"type\":\"image\",\"data\":\"A\",\"mimeType\":\"a/b\"}]", 0},
	    {"[{\"type\":\"image\",\"data\":\"AA=\",\"mimeType\":\"a/b\"}]", 0},
	    {"[{\"type\":\"audio\",\"data\":1,\"mimeType\":\"a/b\"}]", 0},
	    {"[{\"type\":\"resource_link\",\"uri\":\"a\",\"name\":\"n\"}]", 0},
	    {"[{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\","
	     "\"title\":null}]",
	     0},
	    {"[{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\","
	     "\"title\":\"t\",\"description\":\"d\",\"mimeType\":\"a/b\","
	     "\"size\":7,\"icons\":[{\"src\":\"a:b\",\"sizes\":[\"any\"],"
	     "\"theme\":\"dark\"}]}]",
	     -1},
	    {"[{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\","
	     "\"icons\":[{\"src\":\"a:b\",\"sizes\":\"any\"}]}]",
	     0},
	    {"[{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\","
	     "\"icons\":[{\"src\":\"a:b\",\"theme\":\"blue\"}]}]",
	     0},
	    {"[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
	     "\"blob\":\"AAAA\",\"mimeType\":\"a/b\"}}]",
	     -1},
	    {"[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
	     "\"blob\":\"*\"}}]",
	     0},
	    {"[{\"type\":\"resource\",\"resource\":{\"uri\":\"a b\","
	     "\"text\":\"\"}}]",
	     0},
	    {"[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
	     "\"text\":\"\",\"blob\":\"\"}}]",
	     0},
	    {"[{\"type\":\"resource\",\"resource\":[]}]", 0},
	    {"[{\"type\":\"text\",\"text\":\"\",\"_meta\":[]}]", 0},
	    {"[{\"type\":\"text\",\"text\":\"\",\"annotations\":{\"audience\":"
	     "[\"user\",\"assistant\"],\"priority\":0.5,\"lastModified\":"
	     "\"2025-01-01T00:00:00Z\"},\"_meta\":{}}]",
	     -1},
	    {"[{\"type\":\"text\",\"text\":\"\",\"annotations\":{\"audience\":"
	     "[\"me\"]}}]",
	     0},
	    {"[{\"type\":\"text\",\"text\":\"\",\"annotations\":{\"priority\":"
	     "2}}]",
	     0},
	    {"[{\"type\":\"text\",\"text\":\"\",\"annotations\":"
	     "{\"lastModified\":\"today\"}}]",
	     0},
	    {"[{}]", 0},
	    {"[null]", 0},
	    {"[\"text\"]", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_object *content = NULL;
		const char *expected = NULL;

		json_parse(&content, cases[i].content, strlen(cases[i].content),
			   NULL);
		is_int(mcp_content_fault(content, &expected), cases[i].fault,
		       "content %s: %s", cases[i].content,
		       cases[i].fault < 0 ? "passes" : "is refused");
		ok((expected != NULL) == (cases[i].fault >= 0),
		   "a refused content has a text about valid content");
		json_object_put(content);
	}
}

#define DEFAULT "\"$schema\":\"https://json-schema.org/draft/2020-12/schema\""

/*
 * Keywords which hosts refuse are removed from shown schemas; instances valid by the
 * real schema stay valid by the shown schema.
 */
TEST(inputs)
{
	static const struct {
		const char *schema, *want;
	} cases[] = {
	    {"{\"type\":\"object\"}", "{\"type\":\"object\"}"},
	    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}",
	     "{\"properties\":{\"a\":{\"type\":\"string\"}}}"},
	    {"{\"properties\":{\"a\":true,\"b\":{},\"c\":false},"
	     "\"additionalProperties\":false}",
	     "{\"properties\":{\"a\":{},\"b\":{},\"c\":{\"not\":{}}},"
	     "\"additionalProperties\":false}"},
	    {"{\"patternProperties\":{\"a\":true,\"b\":false}}",
	     "{\"patternProperties\":{\"a\":{},\"b\":{\"not\":{}}}}"},
	    {"{\"properties\":{\"properties\":true}}",
	     "{\"properties\":{\"properties\":{}}}"},
	    {"{" DEFAULT "}", "{}"},
	    /*
	     * a keyword unknown to the host loses the definitions used by the keyword
	     * alone
	     */
	    {"{" DEFAULT ",\"$defs\":{\"a\":{\"$anchor\":\"b\"}}}",
	     "{" DEFAULT ",\"$defs\":{\"a\":{\"$anchor\":\"b\"}}}"},
	    {"{" DEFAULT ",\"unevaluatedProperties\":false}", "{}"},
	    {"{" DEFAULT ",\"properties\":{\"prefixItems\":{}}}",
	     "{\"properties\":{\"prefixItems\":{}}}"},
	    {"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema#\"}",
	     "{}"},
	    {"{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
	     "{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}"},
	    {"{\"$id\":\"urn:a\",\"$ref\":\"#/$defs/b\"}",
	     "{\"$ref\":\"#/$defs/b\"}"},
	    {"{\"$id\":\"urn:a\",\"$ref\":\"urn:a#/$defs/b\",\"not\":{}}",
	     "{\"$id\":\"urn:a\",\"$ref\":\"urn:a#/$defs/b\",\"not\":{}}"},
	    {"{\"if\":{},\"then\":{},\"else\":{},\"not\":{},\"allOf\":[{}],"
	     "\"anyOf\":[{}],\"oneOf\":[{}],\"unevaluatedProperties\":false,"
	     "\"properties\":{\"if\":{\"anyOf\":[{}]}}}",
	     "{\"properties\":{\"if\":{\"anyOf\":[{}]}}}"},
	    {"{\"oneOf\":[{}],\"items\":{\"$ref\":\"#/oneOf/0\"}}",
	     "{\"oneOf\":[{}],\"items\":{\"$ref\":\"#/oneOf/0\"}}"},
	    {"{\"allOf\":[{}],\"items\":{\"$ref\":\"#/allOfIt\"}}",
	     "{\"items\":{\"$ref\":\"#/allOfIt\"}}"},
	    {"{\"properties\":{\"pattern\":{\"pattern\":\"\\\\-\"}},"
	     "\"patternProperties\":{\"^\\\\@\":{\"items\":{\"pattern\":"
	     "\"]\"}}},\"const\":{\"pattern\":\"\\\\-\"}}",
	     "{\"properties\":{\"pattern\":{\"pattern\":\"-\"}},"
	     "\"patternProperties\":{\"^@\":{\"items\":{\"pattern\":"
	     "\"\\\\]\"}}},\"const\":{\"pattern\":\"\\\\-\"}}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_object *schema = parse(cases[i].schema);

		is_json(mcp_schema_inputs(schema, MCP_2025_11_25),
			cases[i].want, cases[i].schema);
		is_json(schema, cases[i].schema, "the schema is only lent");
	}
}

/* From 2026-07-28 on clients know composed schemas at the top level. */
TEST(composed)
{
	static const struct {
		const char *schema, *want;
	} cases[] = {
	    {"{" DEFAULT ",\"if\":{},\"then\":{},\"else\":{},\"not\":{},"
	     "\"allOf\":[{}],\"anyOf\":[{}],\"oneOf\":[{}]}",
	     "{\"if\":{},\"then\":{},\"else\":{},\"not\":{},"
	     "\"allOf\":[{}],\"anyOf\":[{}],\"oneOf\":[{}]}"},
	    {"{" DEFAULT ",\"unevaluatedProperties\":false}",
	     "{" DEFAULT ",\"unevaluatedProperties\":false}"},
	    {"{\"$id\":\"urn:a\",\"properties\":{\"a\":true}}",
	     "{\"properties\":{\"a\":{}}}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *schema = parse(cases[i].schema);

		is_json(mcp_schema_inputs(schema, MCP_2026_07_28),
			cases[i].want, cases[i].schema);
		json_object_put(schema);
	}
}

/*
 * The schema of the output, or of a handle: a reference to the root must refer to the
 * root's new place.
 */
TEST(either)
{
	static const struct {
		const char *schema, *want;
	} cases[] = {
	    {"{\"type\":\"object\"}", "{\"type\":\"object\"}"},
	    {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#\"}}}",
	     "{\"$ref\":\"#/anyOf/0/$defs/a\",\"$defs\":{\"a\":{\"$ref\":"
	     "\"#/anyOf/0\"}}}"},
	    {"{\"allOf\":[{\"not\":{\"$ref\":\"#/not\"}}],\"items\":false}",
	     "{\"allOf\":[{\"not\":{\"$ref\":\"#/anyOf/0/not\"}}],"
	     "\"items\":false}"},
	    /*
	     * an anchor is found at the old place; a document of another URI is never
	     * found
	     */
	    {"{\"anyOf\":[{\"$ref\":\"#an\"}]}",
	     "{\"anyOf\":[{\"$ref\":\"#an\"}]}"},
	    {"{\"anyOf\":[{\"$ref\":\"#an\"},{\"$ref\":\"x.json#/a\"}]}",
	     "{\"type\":\"object\"}"},
	    /* a property named $ref, and $ref within data, are no references */
	    {"{\"properties\":{\"$ref\":{\"$ref\":\"#\"},\"const\":{\"$ref\":"
	     "\"#\"}},\"const\":{\"$ref\":\"#\"}}",
	     "{\"properties\":{\"$ref\":{\"$ref\":\"#/anyOf/0\"},\"const\":{"
	     "\"$ref\":\"#/anyOf/0\"}},\"const\":{\"$ref\":\"#\"}}"},
	    /* a subschema with an $id is a root of its own */
	    {"{\"$defs\":{\"a\":{\"$id\":\"urn:a\",\"$ref\":\"#/x\"}}}",
	     "{\"type\":\"object\"}"},
	    {"{" DEFAULT "}", "{}"},
	    {"{\"$id\":\"urn:a\",\"pattern\":\"[\\\\w-.]\"}",
	     "{\"pattern\":\"[\\\\w\\\\-.]\"}"},
	};
	struct json_object *other = parse("{\"title\":\"handle\"}"), *schema;
	char want[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		schema = parse(cases[i].schema);
		snprintf(want, sizeof(want),
			 "{\"type\":\"object\",\"anyOf\":[%s,"
			 "{\"title\":\"handle\"}]}",
			 cases[i].want);
		is_json(mcp_schema_either(schema, other), want,
			cases[i].schema);
		is_json(schema, cases[i].schema, "the schema is only lent");
	}
	json_object_put(other);
}

/* Content of a kind unknown to a revision becomes a text. */
TEST(blocks)
{
	static const struct {
		enum mcp_revision rev;
		const char *block, *want;
	} cases[] = {
	    {MCP_2024_11_05,
	     "{\"type\":\"audio\",\"data\":\"AAAA\",\"mimeType\":\"audio/wav\"}",
	     "{\"type\":\"text\",\"text\":\"[audio, audio/wav: this client's "
	     "revision of MCP has no audio]\"}"},
	    {MCP_2025_03_26,
	     "{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\","
	     "\"annotations\":{\"priority\":1}}",
	     "{\"type\":\"text\",\"text\":\"n: a:b\",\"annotations\":"
	     "{\"priority\":1}}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int rev = 0; rev < MCP_REVISIONS; rev++) {
			struct json_object *block = parse(cases[i].block);

			is_json(mcp_block_for(block, (enum mcp_revision)rev),
				rev <= (int)cases[i].rev ? cases[i].want
							 : cases[i].block,
				mcp_revision_name((enum mcp_revision)rev));
			json_object_put(block);
		}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.c - checks a template's question to a client's model, and the
 * model's answer, for supervisor/mcp/input/input_request.c. A member that clients
 * would refuse is told by a JSON pointer; the abilities needed of the client
 * are a set of bits.
 */
#include "proto/mcp/sampling.h"

#include <string.h>

#include "base/mem.h"
#include "base/text/words.h"
#include "proto/json/json.h"
#include "proto/json/json_is.h"

/* ---- content ---- */

/* The kinds of block, and the members that each must have, by type. */
static const struct {
	const char *type;
	struct {
		const char *name;
		enum json_type type;
	} has[3];
	unsigned needs;
	const char *expected;
} blocks[] = {
    {"text", {{"text", json_type_string}}, 0, "text, a string"},
    {"image",
     {{"data", json_type_string}, {"mimeType", json_type_string}},
     0,
     "data and mimeType, strings"},
    {"audio",
     {{"data", json_type_string}, {"mimeType", json_type_string}},
     SAMPLING_AUDIO,
     "data and mimeType, strings"},
    {"tool_use",
     {{"id", json_type_string},
      {"name", json_type_string},
      {"input", json_type_object}},
     SAMPLING_TOOLS,
     "id and name, strings, and input, an object"},
    {"tool_result",
     {{"toolUseId", json_type_string}, {"content", json_type_array}},
     SAMPLING_TOOLS,
     "toolUseId, a string, and content, an array"},
};

static bool check_block(struct json_object *block, unsigned *needs,
			struct pointer_error *f)
{
	const char *type = json_member_str(block, "type");

	for (size_t i = 0; type != NULL && i < ARRAY_LEN(blocks); i++) {
		if (strcmp(type, blocks[i].type) != 0)
			continue;
		*needs |= blocks[i].needs;
		for (size_t k = 0; k < 3 && blocks[i].has[k].name != NULL; k++)
			if (!json_object_is_type(
				json_member(block, blocks[i].has[k].name),
				blocks[i].has[k].type))
				return pointer_error_at(f, NULL,
							blocks[i].expected);
		return true;
	}
	return pointer_error_at(f, "type",
				"text, image, audio, tool_use or tool_result");
}

static bool check_content(struct json_object *content, unsigned *needs,
			  struct pointer_error *f)
{
	size_t n;

	pointer_error_point(f, "content");
	if (!json_object_is_type(content, json_type_array))
		return check_block(content, needs, f);
	*needs |= SAMPLING_BLOCKS;
	n = json_object_array_length(content);
	for (size_t i = 0; i < n; i++) {
		struct pointer_error block = *f;

		pointer_error_index(&block, i);
		if (!check_block(json_object_array_get_idx(content, i), needs,
				 &block)) {
			*f = block;
			return false;
		}
	}
	return n > 0 || pointer_error_at(f, NULL, "a block at least");
}

static bool check_message(struct json_object *message, unsigned *needs,
			  struct pointer_error *f)
{
	const char *role = json_member_str(message, "role");

	if (role == NULL ||
	    (strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0))
		return pointer_error_at(f, "role", "user or assistant");
	return check_content(json_member(message, "content"), needs, f);
}

/* ---- parameters ---- */

static bool check_messages(struct json_object *v, unsigned *needs,
			   struct pointer_error *f)
{
	size_t n = json_length(v);

	for (size_t i = 0; i < n; i++) {
		struct pointer_error message = *f;

		pointer_error_index(&message, i);
		if (!check_message(json_object_array_get_idx(v, i), needs,
				   &message)) {
			*f = message;
			return false;
		}
	}
	return n > 0 ||
	       pointer_error_at(f, NULL, "an array of messages, one at least");
}

static bool is_token_count(struct json_object *v)
{
	return json_object_is_type(v, json_type_int) &&
	       json_object_get_int64(v) > 0;
}

static bool is_strings(struct json_object *v)
{
	return json_is_list(v, json_is_string);
}

static bool check_context(struct json_object *v, unsigned *needs,
			  struct pointer_error *f)
{
	const char *of = json_is_string(v) ? json_object_get_string(v) : "";

	if (words_have("thisServer allServers", of))
		*needs |= SAMPLING_CONTEXT;
	return words_have("none thisServer allServers", of) ||
	       pointer_error_at(f, NULL, "none, thisServer or allServers");
}

static bool check_tools(struct json_object *v, unsigned *needs,
			struct pointer_error *f)
{
	size_t n = json_length(v);

	*needs |= SAMPLING_TOOLS;
	for (size_t i = 0; i < n; i++) {
		struct json_object *t = json_object_array_get_idx(v, i);

		if (json_member_str(t, "name") != NULL &&
		    json_object_is_type(json_member(t, "inputSchema"),
					json_type_object))
			continue;
		pointer_error_index(f, i);
		return pointer_error_at(f, NULL,
					"a tool with name and inputSchema");
	}
	return n > 0 ||
	       pointer_error_at(f, NULL, "an array of tools, one at least");
}

static bool check_choice(struct json_object *v, unsigned *needs,
			 struct pointer_error *f)
{
	const char *mode = json_member_str(v, "mode");

	*needs |= SAMPLING_TOOLS;
	return (mode != NULL && words_have("auto required none", mode)) ||
	       pointer_error_at(f, NULL, "{mode: auto, required or none}");
}

static const struct {
	const char *name;
	bool required;
	json_is_fn *is; /* NULL: CHECK checks the value */
	const char *expected;
	bool (*check)(struct json_object *v, unsigned *needs,
		      struct pointer_error *f);
} params_table[] = {
    {"messages", true, NULL, NULL, check_messages},
    {"maxTokens", true, is_token_count, "an integer above 0", NULL},
    {"systemPrompt", false, json_is_string, "a string", NULL},
    {"temperature", false, json_is_number, "a number", NULL},
    {"stopSequences", false, is_strings, "an array of strings", NULL},
    {"includeContext", false, NULL, NULL, check_context},
    {"modelPreferences", false, json_is_object, "an object", NULL},
    {"metadata", false, json_is_object, "an object", NULL},
    {"tools", false, NULL, NULL, check_tools},
    {"toolChoice", false, NULL, NULL, check_choice},
};

static bool is_param(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(params_table); i++)
		if (strcmp(params_table[i].name, name) == 0)
			return true;
	return false;
}

bool sampling_check(struct json_object *params, unsigned *needs,
		    struct pointer_error *f)
{
	*f = (struct pointer_error){0};
	*needs = 0;
	if (!json_is_object(params))
		return pointer_error_at(f, NULL, "an object");
	json_object_object_foreach(params, key, value) {
		(void)value;
		if (!is_param(key))
			return pointer_error_at(
			    f, key, "a parameter of sampling/createMessage");
	}
	for (size_t i = 0; i < ARRAY_LEN(params_table); i++) {
		const char *name = params_table[i].name;
		struct json_object *v;

		if (!json_object_object_get_ex(params, name, &v) &&
		    !params_table[i].required)
			continue;
		pointer_error_point(f, name);
		if (params_table[i].is == NULL) {
			if (!params_table[i].check(v, needs, f))
				return false;
		} else if (!params_table[i].is(v)) {
			return pointer_error_at(f, NULL,
						params_table[i].expected);
		}
		*f = (struct pointer_error){0};
	}
	return true;
}

bool sampling_result_check(struct json_object *result, struct pointer_error *f)
{
	unsigned needs = 0;

	*f = (struct pointer_error){0};
	if (json_member_str(result, "model") == NULL)
		return pointer_error_at(f, "model", "a string");
	return check_message(result, &needs, f);
}

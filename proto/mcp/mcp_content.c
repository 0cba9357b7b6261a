/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_content.c - checks content blocks and adapts them to older revisions, for
 * the results of templates and for prompts. The answer to a bad block is its
 * index and a sentence on what would pass; a kind unknown to a revision becomes
 * a text.
 */
#include "proto/mcp/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/mem.h"
#include "proto/json/json_is.h"
#include "proto/json/json_pack.h"
#include "proto/schema/schema_format.h"

/* ---- values ---- */

static bool is_string_of(struct json_object *v, const char *word)
{
	return json_is_string(v) &&
	       (size_t)json_object_get_string_len(v) == strlen(word) &&
	       strcmp(json_object_get_string(v), word) == 0;
}

static bool is_uri_string(struct json_object *v)
{
	return json_is_string(v) &&
	       schema_is_uri(json_object_get_string(v),
			     (size_t)json_object_get_string_len(v));
}

bool mcp_uri_ok(const char *text)
{
	return schema_is_uri(text, strlen(text));
}

static bool is_base64(struct json_object *v)
{
	size_t n = json_is_string(v) ? (size_t)json_object_get_string_len(v)
				     : 0,
	       len;
	char *bytes;
	int rc;

	if (!json_is_string(v))
		return false;
	bytes = xcalloc(1, n / 4 * 3 + 1);
	rc = base64_decode(bytes, &len, json_object_get_string(v), n);
	free(bytes);
	return rc == 0;
}

static bool is_share(struct json_object *v)
{
	return json_is_number(v) && json_object_get_double(v) >= 0 &&
	       json_object_get_double(v) <= 1;
}

static bool is_time(struct json_object *v)
{
	return json_is_string(v) &&
	       schema_is_date_time(json_object_get_string(v),
				   (size_t)json_object_get_string_len(v));
}

/* ---- objects ---- */

struct member {
	const char *key;
	bool (*fits)(struct json_object *v);
	bool needed;
};

/* Do the members of O fit M, and are all needed members there? */
static bool all_fit(struct json_object *o, const struct member *m)
{
	for (; m->key != NULL; m++) {
		struct json_object *v;

		if (!json_object_object_get_ex(o, m->key, &v)) {
			if (m->needed)
				return false;
		} else if (!m->fits(v)) {
			return false;
		}
	}
	return true;
}

static bool is_role(struct json_object *v)
{
	return is_string_of(v, "user") || is_string_of(v, "assistant");
}

static bool are_roles(struct json_object *v)
{
	return json_is_list(v, is_role);
}

static bool are_texts(struct json_object *v)
{
	return json_is_list(v, json_is_string);
}

static bool is_theme(struct json_object *v)
{
	return is_string_of(v, "light") || is_string_of(v, "dark");
}

static bool is_icon(struct json_object *v)
{
	static const struct member members[] = {
	    {"src", is_uri_string, true},
	    {"mimeType", json_is_string, false},
	    {"sizes", are_texts, false},
	    {"theme", is_theme, false},
	    {0}};

	return json_is_object(v) && all_fit(v, members);
}

static bool are_icons(struct json_object *v)
{
	return json_is_list(v, is_icon);
}

static bool are_annotations(struct json_object *v)
{
	static const struct member members[] = {
	    {"audience", are_roles, false},
	    {"priority", is_share, false},
	    {"lastModified", is_time, false},
	    {0}};

	return json_is_object(v) && all_fit(v, members);
}

/* Is V a ResourceContents, with either a text or a blob? */
static bool is_contents(struct json_object *v)
{
	static const struct member members[] = {
	    {"uri", is_uri_string, true},
	    {"mimeType", json_is_string, false},
	    {"text", json_is_string, false},
	    {"blob", is_base64, false},
	    {"_meta", json_is_object, false},
	    {0}};

	return json_is_object(v) && all_fit(v, members) &&
	       (json_member(v, "text") != NULL) !=
		   (json_member(v, "blob") != NULL);
}

/* ---- blocks ---- */

static const struct member text_members[] = {{"text", json_is_string, true},
					     {0}};
static const struct member bytes_members[] = {
    {"data", is_base64, true}, {"mimeType", json_is_string, true}, {0}};
static const struct member resource_members[] = {
    {"resource", is_contents, true}, {0}};
static const struct member link_members[] = {
    {"uri", is_uri_string, true},	 {"name", json_is_string, true},
    {"title", json_is_string, false},	 {"description", json_is_string, false},
    {"mimeType", json_is_string, false}, {"size", json_is_number, false},
    {"icons", are_icons, false},	 {0}};
static const struct member any_members[] = {
    {"annotations", are_annotations, false},
    {"_meta", json_is_object, false},
    {0}};

/* The types of ContentBlock in MCP's schema, and the members of each. */
static const struct {
	const char *type;
	const struct member *members;
	const char *expected;
} blocks[] = {
    {"text", text_members, "a text block with text, a string"},
    {"image", bytes_members,
     "an image block with data, base64, and mimeType, a string"},
    {"audio", bytes_members,
     "an audio block with data, base64, and mimeType, a string"},
    {"resource_link", link_members,
     "a resource_link block with uri, an absolute URI, and name, a string; "
     "what else it has as MCP's ResourceLink"},
    {"resource", resource_members,
     "a resource block with resource, an object with uri, an absolute URI, "
     "and either text, a string, or blob, base64"},
};

static const char *block_fault(struct json_object *block)
{
	struct json_object *type = json_member(block, "type");

	for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
		if (!is_string_of(type, blocks[i].type))
			continue;
		if (!all_fit(block, blocks[i].members))
			return blocks[i].expected;
		return all_fit(block, any_members)
			   ? NULL
			   : "a block whose annotations and _meta are as in "
			     "MCP, where they are there";
	}
	return "a block of type text, image, audio, resource_link or resource";
}

int mcp_content_fault(struct json_object *content, const char **expected)
{
	for (size_t i = 0; i < json_object_array_length(content); i++) {
		*expected = block_fault(json_object_array_get_idx(content, i));
		if (*expected != NULL)
			return (int)i;
	}
	return -1;
}

/* ---- revisions ---- */

static bool knows_member(enum mcp_revision rev, const char *name)
{
	static const struct {
		const char *name;
		enum mcp_feature since;
	} newer[] = {{"_meta", MCP_CONTENT_META},
		     {"lastModified", MCP_CONTENT_META},
		     {"icons", MCP_ICONS}};

	for (size_t i = 0; i < ARRAY_LEN(newer); i++)
		if (strcmp(newer[i].name, name) == 0)
			return mcp_has(rev, newer[i].since);
	return true;
}

/*
 * Copy V (a block, its resource or annotations) with the members known to REV.
 */
static struct json_object *members_for(struct json_object *v,
				       enum mcp_revision rev)
{
	struct json_object *o = json_object_new_object();

	json_object_object_foreach(v, key, value) {
		bool inner = json_object_is_type(value, json_type_object) &&
			     strcmp(key, "_meta") != 0;

		if (knows_member(rev, key))
			json_object_object_add(o, key,
					       inner ? members_for(value, rev)
						     : json_object_get(value));
	}
	return o;
}

/* Return BLOCK, or a text block when REV lacks its kind. */
static struct json_object *kind_for(struct json_object *block,
				    enum mcp_revision rev)
{
	const char *type = json_member_str(block, "type");
	struct json_object *o;
	char *text;

	if (strcmp(type, "audio") == 0 && !mcp_has(rev, MCP_AUDIO))
		text = xasprintf("[audio, %s: this client's revision of MCP "
				 "has no audio]",
				 json_member_str(block, "mimeType"));
	else if (strcmp(type, "resource_link") == 0 &&
		 !mcp_has(rev, MCP_RESOURCE_LINKS))
		text = xasprintf("%s: %s", json_member_str(block, "name"),
				 json_member_str(block, "uri"));
	else
		return json_object_get(block);
	o = json_pack("type:s text:s annotations?O", "text", text,
		      json_member(block, "annotations"));
	free(text);
	return o;
}

struct json_object *mcp_block_for(struct json_object *block,
				  enum mcp_revision rev)
{
	struct json_object *o = kind_for(block, rev), *known;

	if (rev >= MCP_2025_11_25)
		return o;
	known = members_for(o, rev);
	json_object_put(o);
	return known;
}

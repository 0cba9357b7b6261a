/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_dialect.c - the vocabularies that "$schema" turns on: 2020-12,
 * draft-07 and metaschemas of the resolver. schema_load.c asks at each
 * resource, schema_lint.c for the known keywords. Any other dialect is refused
 * with -EINVAL.
 */
#include "proto/schema/schema_compiler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DIALECT_2020 "https://json-schema.org/draft/2020-12/schema"
#define VOCAB_2020 "https://json-schema.org/draft/2020-12/vocab/"

/* Dialects by URI (without an empty fragment); vocabs 0: refused. */
static const struct {
	const char *uri;
	const char *name;
	unsigned vocabs;
} dialects[] = {
    {DIALECT_2020, "2020-12", V_2020},
    {"http://json-schema.org/draft-07/schema", "draft-07", V_DRAFT7},
    {"https://json-schema.org/draft-07/schema", "draft-07", V_DRAFT7},
    {"https://json-schema.org/draft/2019-09/schema", "2019-09", 0},
    {"http://json-schema.org/draft-06/schema", "draft-06", 0},
    {"http://json-schema.org/draft-04/schema", "draft-04", 0},
    {"http://json-schema.org/draft-03/schema", "draft-03", 0},
    {"http://json-schema.org/schema", "the newest draft, whichever", 0},
};

static const struct {
	const char *name; /* the part of the URI behind VOCAB_2020 */
	unsigned bit;
} vocabularies[] = {
    {"core", V_CORE},
    {"applicator", V_APPLICATOR},
    {"unevaluated", V_UNEVALUATED},
    {"validation", V_VALIDATION},
    {"meta-data", V_METADATA},
    {"format-annotation", V_FORMAT},
    {"format-assertion", V_FORMAT_ASSERT},
    {"content", V_CONTENT},
};

static unsigned vocabulary(const char *uri)
{
	size_t n = strlen(VOCAB_2020);

	if (strncmp(uri, VOCAB_2020, n) != 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(vocabularies); i++)
		if (strcmp(vocabularies[i].name, uri + n) == 0)
			return vocabularies[i].bit;
	return 0;
}

static int refuse_dialect(struct schema_compiler *c,
			  const struct schema_node *n, const char *what)
{
	return schema_bad(c, n, "$schema",
			  "2020-12 (" DIALECT_2020 ") or draft-07",
			  "the dialect %s is not supported, only JSON Schema "
			  "2020-12 and draft-07 are",
			  what);
}

/* Read the vocabularies in the metaschema's $vocabulary. */
static int vocabularies_of(struct schema_compiler *c,
			   const struct schema_node *n, const char *uri,
			   struct json_object *list, unsigned *vocabs)
{
	*vocabs = V_CORE;
	json_object_object_foreach(list, key, val) {
		unsigned bit = vocabulary(key);

		*vocabs |= bit;
		if (bit == 0 && json_object_get_boolean(val))
			return schema_bad(
			    c, n, "$schema", "vocabularies that are known",
			    "the metaschema %s requires the vocabulary %s, "
			    "which is not supported",
			    uri, key);
	}
	return 0;
}

/*
 * Read the vocabularies of META, which must be based on 2020-12 or draft-07;
 * else refuse.
 */
static int custom(struct schema_compiler *c, const struct schema_node *n,
		  const char *uri, struct json_object *meta, unsigned *vocabs)
{
	struct json_object *own = NULL, *list = NULL;
	int rc = 0;

	*vocabs = V_2020;
	if (json_object_get_type(meta) != json_type_object)
		return refuse_dialect(c, n, uri);
	if (json_object_object_get_ex(meta, "$schema", &own) &&
	    json_object_get_type(own) == json_type_string &&
	    strcmp(json_object_get_string(own), uri) != 0)
		rc = schema_dialect_of(c, n, json_object_get_string(own),
				       vocabs);
	if (rc != 0)
		return rc;
	if (!json_object_object_get_ex(meta, "$vocabulary", &list) ||
	    *vocabs == V_DRAFT7)
		return 0;
	if (json_object_get_type(list) != json_type_object)
		return refuse_dialect(c, n, uri);
	return vocabularies_of(c, n, uri, list, vocabs);
}

bool schema_dialect_known(const char *uri)
{
	for (size_t i = 0; i < ARRAY_LEN(dialects); i++)
		if (strcmp(dialects[i].uri, uri) == 0)
			return true;
	return false;
}

unsigned schema_dialect_vocabs(const char *uri)
{
	char *plain = schema_uri_resolve("", uri);
	unsigned vocabs = 0;

	for (size_t i = 0; i < ARRAY_LEN(dialects); i++)
		if (strcmp(dialects[i].uri, plain) == 0)
			vocabs = dialects[i].vocabs;
	free(plain);
	return vocabs;
}

int schema_dialect_of(struct schema_compiler *c, const struct schema_node *n,
		      const char *uri, unsigned *vocabs)
{
	char *plain = schema_uri_resolve("", uri);
	struct json_object *meta;
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(dialects); i++) {
		if (strcmp(dialects[i].uri, plain) != 0)
			continue;
		free(plain);
		*vocabs = dialects[i].vocabs;
		return *vocabs != 0 ? 0
				    : refuse_dialect(c, n, dialects[i].name);
	}
	if (++c->meta_depth > SCHEMA_META_MAX)
		rc = schema_bad(c, n, "$schema", "fewer metaschemas",
				"the metaschema %s has more than %d above it",
				plain, SCHEMA_META_MAX);
	else if ((meta = schema_document(c, plain)) == NULL)
		rc = refuse_dialect(c, n, plain);
	else
		rc = custom(c, n, plain, meta, vocabs);
	c->meta_depth--;
	free(plain);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_fixture.h - schemas and instances as text, and the documents of the resolver.
 */
#ifndef TESTS_UNIT_PROTO_SCHEMA_SCHEMA_FIXTURE_H
#define TESTS_UNIT_PROTO_SCHEMA_SCHEMA_FIXTURE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/schema/schema.h"
#include "proto/schema/schema_private.h"
#include "tests/unit/tap_json.h"

#define META "{\"$schema\":\"https://example.com/meta\","
#define D7 "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","

/* The documents of the resolver. */
static const struct {
	const char *uri;
	const char *text;
} remotes[] = {
    {"https://example.com/int", "{\"type\":\"integer\"}"},
    {"https://example.com/moved",
     "{\"$id\":\"https://example.com/home\",\"$defs\":{\"s\":{\"$anchor\":"
     "\"str\",\"type\":\"string\"}},\"type\":\"object\"}"},
    {"https://example.com/meta",
     "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
     "\"$id\":\"https://example.com/meta\",\"$vocabulary\":{"
     "\"https://json-schema.org/draft/2020-12/vocab/core\":true,"
     "\"https://json-schema.org/draft/2020-12/vocab/applicator\":true,"
     "\"https://example.com/vocab\":false},"
     "\"properties\":{\"title\":{\"maxLength\":5}}}"},
    {"https://example.com/strange",
     "{\"$vocabulary\":{\"https://example.com/vocab\":true}}"},
    {"https://example.com/self",
     "{\"$schema\":\"https://example.com/self\",\"type\":\"object\"}"},
    {"https://example.com/ping", "{\"$schema\":\"https://example.com/pong\"}"},
    {"https://example.com/pong", "{\"$schema\":\"https://example.com/ping\"}"},
};

static struct json_object *remote_docs[ARRAY_LEN(remotes)];

static struct json_object *resolve(const char *uri, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < ARRAY_LEN(remotes); i++) {
		if (strcmp(remotes[i].uri, uri) != 0)
			continue;
		if (remote_docs[i] == NULL)
			remote_docs[i] = parse(remotes[i].text);
		return remote_docs[i];
	}
	return NULL;
}

static const struct schema_options with_formats = {.assert_formats = true,
						   .resolver = resolve};

static int compile(struct schema **s, const char *text,
		   struct schema_error *err)
{
	struct json_object *doc = parse(text);
	int rc = schema_compile(s, doc, &with_formats, err);

	json_object_put(doc); /* the schema holds a reference of its own */
	return rc;
}

/* Last in main(). */
static int done(void)
{
	for (size_t i = 0; i < ARRAY_LEN(remote_docs); i++)
		json_object_put(remote_docs[i]);
	return tap_done();
}

#endif

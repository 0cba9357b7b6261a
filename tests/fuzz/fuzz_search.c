/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A query and, after the first newline, the text of a template, which may be a
 * schema: words are bounded and not silent, a text is found by each of its own
 * words, the order of equal documents is kept, and the type of a schema is bounded
 * UTF-8 without controls.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "supervisor/packages/search/search_rank.h"
#include "supervisor/packages/search/search_words.h"
#include "supervisor/packages/search/signature.h"

static bool count(void *arg, const char *word, size_t n)
{
	assert(n > 0 && n <= SEARCH_WORD_MAX && word != NULL);
	return ++*(size_t *)arg < SEARCH_DOC_WORDS;
}

static size_t words_in(const char *text, size_t len)
{
	size_t n = 0;

	search_words_each(text, len, count, &n);
	return n;
}

static struct search_doc *doc_of(const char *text, size_t len)
{
	struct search_doc_draft d = {0};

	search_doc_add(&d, SEARCH_DESCRIPTION, text, len);
	return search_doc_finish(&d);
}

static void rank(const char *query, size_t n_query, const char *text,
		 size_t len)
{
	struct search_doc *doc = doc_of(text, len), *other = doc_of("", 0);
	const struct search_doc *const docs[] = {other, doc, doc};
	struct search_hit hits[3];
	size_t n = search_rank(hits, docs, 3, query, n_query);

	assert(n == 0 || (n == 2 && hits[0].doc == 1 && hits[1].doc == 2 &&
			  hits[0].score > 0));
	n = search_rank(hits, docs, 3, text, len);
	assert((n == 2) == (words_in(text, len) > 0));
	search_doc_unref(doc);
	search_doc_unref(other);
}

static void sign(const char *text, size_t len)
{
	struct json_object *schema;
	char *type;
	size_t n;

	if (json_parse(&schema, text, len, NULL) < 0)
		return;
	type = signature_of(schema);
	assert(strlen(type) <= SIGNATURE_MAX && utf8_ok(type, strlen(type)));
	for (const char *p = type; *p != '\0'; p += n) {
		int32_t point = utf8_decode(p, strlen(p), &n);

		assert(point == '\n' || !utf8_is_control(point));
	}
	free(type);
	json_object_put(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *query = (const char *)data;
	const char *end = size > 0 ? memchr(query, '\n', size) : NULL;
	size_t n = end != NULL ? (size_t)(end - query) : size;
	const char *text = query + n + (end != NULL);
	size_t len = size - n - (end != NULL);

	rank(query, n, text, len);
	sign(text, len);
	return 0;
}

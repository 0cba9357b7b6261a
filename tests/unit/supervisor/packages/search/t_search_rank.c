/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which documents are found. */
#include "supervisor/packages/search/search_rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

#define DOCS 24

static struct search_doc *docs[DOCS];
static size_t n_docs;

static void doc(const char *id, const char *description)
{
	struct search_doc_draft d = {0};

	search_doc_add(&d, SEARCH_ID, id, strlen(id));
	search_doc_add(&d, SEARCH_DESCRIPTION, description,
		       strlen(description));
	docs[n_docs++] = search_doc_finish(&d);
}

static void clear(void)
{
	while (n_docs > 0)
		search_doc_unref(docs[--n_docs]);
}

/* Return the indexes found for QUERY, such as "201". */
static const char *found(const char *query)
{
	static char text[DOCS + 1];
	struct search_hit hits[DOCS];
	size_t n = search_rank(hits, (const struct search_doc *const *)docs,
			       n_docs, query, strlen(query));

	for (size_t i = 0; i < n; i++)
		text[i] = (char)('0' + hits[i].doc);
	text[n] = '\0';
	return text;
}

TEST(order)
{
	doc("csv_profile", "Profiles a CSV text: for each column its type");
	doc("text_diff", "Compares two texts, such as two versions of a CSV");
	doc("word_count", "Counts the words of a text");
	is_str(found("profile a table"), "0", "words are found in the id");
	is_str(found("csv"), "01", "a word of the id goes before others");
	is_str(found("COUNTING words"), "2", "endings and cases do not matter");
	is_str(found("csv csv csv counts"), "201",
	       "a word counts once however often it is asked for");
	is_str(found("nothing like that"), "", "unknown words find nothing");
	is_str(found(""), "", "a query without words finds nothing");
	is_str(found("the of and"), "",
	       "words that all texts have find nothing");
	clear();
	is_str(found("csv"), "", "no documents, nothing found");
}

TEST(ties)
{
	doc("a", "same words");
	doc("b", "same words");
	doc("c", "same words");
	is_str(found("words"), "012", "equal documents stay in their order");
	clear();
}

/* A text that has WORDS so many times. */
static char *repeated(const char *words, size_t times)
{
	struct buf b = {0};

	for (; times > 0; times--)
		buf_printf(&b, "%s ", words);
	return buf_take(&b, NULL);
}

TEST(stuffing)
{
	char *csv = repeated("csv profile", 2000);
	char *many = repeated("csv pdf html json xml table profile image text "
			      "translate weather mail",
			      80);

	doc("stuffed", csv);
	doc("dictionary", many);
	doc("csv_profile", "Profiles a CSV text");
	doc("html_text", "Gives the text of an HTML page");
	doc("columns", "Lists the columns of a CSV");
	while (n_docs < DOCS)
		doc("other", "Something else with a few words of its own");
	is_int(found("csv profile")[0], '2',
	       "repeated words, and many words, do not make a template first");
	is_int(found("csv profile")[1], '4',
	       "repeated words, and many words, do not make a template second");
	is_int(found("html text")[0], '3',
	       "a template with all words does not take each query");
	clear();
	free(csv);
	free(many);
}

TEST(bounds)
{
	char *words = repeated("a1 b2 c3 d4 e5 f6 g7 h8 i9", 10000);
	struct search_doc_draft d = {0};
	char *query;

	ok(!search_doc_add(&d, SEARCH_DESCRIPTION, words, strlen(words)),
	   "a document takes so many words alone");
	is_int(d.n, SEARCH_DOC_WORDS,
	       "a document has so many words and no more");
	docs[n_docs++] = search_doc_finish(&d);
	is_int(docs[0]->n, 9, "different words are kept once");
	is_int(search_doc_bytes(docs[0]), sizeof(*docs[0]) + 9 * 8,
	       "the bytes of a document are known");
	ok(search_doc_weight(docs[0], search_hash("a1", 2)) > 0 &&
	       search_doc_weight(docs[0], search_hash("zz", 2)) == 0,
	   "words are found in a document");
	is_str(found(words), "0", "a query of 90,000 words is answered");
	query = xasprintf("%*s a1", 1000000, "");
	is_str(found(query), "0", "a query of spaces is answered");
	clear();
	free(query);
	free(words);
	docs[n_docs++] = search_doc_finish(&d);
	is_str(found("a"), "", "an empty document is not found");
	clear();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The words of texts in the form in which a search compares them. */
#include "supervisor/packages/search/search_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "supervisor/packages/search/search_stem.h"
#include "tests/unit/tap.h"

static const struct {
	const char *text, *words;
} texts[] = {
    {"", ""},
    {" .,;!?\t\n", ""},
    {"Profile a TABLE", "profil tabl"},
    {"csv_profile", "csv profil csvprofil"},
    {"csvProfile", "csv profil csvprofil"},
    {"HTTPServer2Go", "http serv go httpserver2go"},
    {"PDFs", "pd fs pdf"},
    {"e-mail", "mail email"},
    {"sha256 base64", "sha 256 sha256 ba 64 base64"},
    {"C and R", "c r"},
    {"the file's name, isn't it", "fil nam isnt"},
    {"R\xC3\xA9sum\xC3\xA9 \xC3\x89"
     "COLE stra\xC3\x9F"
     "e",
     "resum ecol strass"},
    {"re\xCC\x81sume\xCC\x81", "resum"},
    {"\xD0\x9F\xD0\xA0\xD0\x98\xD0\x92\xD0\x95\xD0\xA2",
     "\xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82"},
    {"\xCE\x9F\xCE\xB4\xCF\x8C\xCF\x82", "\xCE\xBF\xCE\xB4\xCE\xBF\xCF\x83"},
    {"\xEF\xBC\xA3\xEF\xBC\xB3\xEF\xBC\xB6", "csv"},
    {"\xE8\xA1\xA8\xE6\xA0\xBC\xE5\x88\x86",
     "\xE8\xA1\xA8\xE6\xA0\xBC \xE6\xA0\xBC\xE5\x88\x86"},
    {"\xE8\xA1\xA8", "\xE8\xA1\xA8"},
    {"csv\xE8\xA1\xA8", "csv \xE8\xA1\xA8"},
    {"soft\xC2\xADhyphen don\xE2\x80\x99t", "softhyphen"},
    {"bad\xFF"
     "bytes \xC3",
     "bad byt"},
    {"a\xF0\x9F\x98\x80"
     "b",
     "b"},
    {"____ ---- '''", ""},
};

/* Words of a row have one stem, and no two rows have the same. */
static const char *const roots[] = {
    "table tables",
    "translate translates translation translations translator translating",
    "summarize summarise summarization summary",
    "analyze analyse analysis analyzer analyzing analytics",
    "plan plans planning planned planner",
    "query queries",
    "copy copies copied copying",
    "file files filing",
    "convert converts converting converter converted",
    "document documents documentation",
    "pay payment payments paying",
    "classify classification classifier classified",
    "duplicate duplicates duplication",
    "address addresses",
    "compress compression compressed",
    "monitor monitors monitoring monitored",
    "status",
    "data",
    "date dates",
    "rate rates rating",
};

static bool add(void *arg, const char *word, size_t n)
{
	struct buf *all = arg;

	buf_add_str(all, buf_len(all) > 0 ? " " : "");
	buf_add(all, word, n);
	return true;
}

static char *words_of(const char *text)
{
	struct buf all = {0};

	search_words_each(text, strlen(text), add, &all);
	return buf_take(&all, NULL);
}

TEST(texts)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *got = words_of(texts[i].text);

		is_str(got, texts[i].words, "the words of text %zu", i);
		free(got);
	}
}

TEST(roots)
{
	char stems[sizeof(roots) / sizeof(roots[0])][64];

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		char *got = words_of(roots[i]), *word;
		bool same = true, other = true;

		snprintf(stems[i], sizeof(stems[i]), "%.*s",
			 (int)strcspn(got, " "), got);
		for (word = strtok(got, " "); word != NULL;
		     word = strtok(NULL, " "))
			same &= strcmp(word, stems[i]) == 0;
		for (size_t j = 0; j < i; j++)
			other &= strcmp(stems[j], stems[i]) != 0;
		ok(same && other, "one stem, %s, of: %s", stems[i], roots[i]);
		free(got);
	}
}

TEST(silent)
{
	static const char *const words[] = {
	    "a", "about", "dont", "i", "ive", "s", "whether", "you", "your"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ok(search_stem_says_nothing(words[i], strlen(words[i])),
		   "%s is left out", words[i]);
	ok(!search_stem_says_nothing("whethers", 8) &&
	       !search_stem_says_nothing("csv", 3),
	   "other words are not left out");
}

static bool one(void *arg, const char *word, size_t n)
{
	(void)word;
	*(size_t *)arg += n;
	return false;
}

TEST(bounds)
{
	static char text[100000];
	size_t bytes = 0;
	char *got;

	memset(text, 'x', sizeof(text) - 1);
	got = words_of(text);
	is_int(strlen(got), SEARCH_WORD_MAX, "a long word is cut");
	free(got);
	memset(text, '_', sizeof(text) - 1);
	got = words_of(text);
	is_str(got, "", "hyphens alone are no word");
	free(got);
	search_words_each("one two", 7, one, &bytes);
	search_words_each("one two three", 13, one, &bytes);
	is_int(bytes, 6, "no word comes after the last that is wanted");
}

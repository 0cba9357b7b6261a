/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_stem.c - removes common endings of English words, by a table, for
 * search_words.c. Words that are no English may lose letters as well, but in
 * queries and in templates alike.
 */
#include "supervisor/packages/search/search_stem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define WORD_MAX 7 /* letters of the longest word of the lists below */
#define ROUNDS 3   /* endings of a word: monitor-ing-s */

struct ending {
	const char *text, *to;
	size_t least; /* letters that stay before TO */
};

/* The first that fits is taken, so longer endings come first. */
static const struct ending endings[] = {
    {"ification", "", 3}, {"ization", "", 3}, {"isation", "", 3},
    {"ication", "", 3},	  {"icating", "", 3}, {"icated", "", 3},
    {"icates", "", 3},	  {"icator", "", 3},  {"icate", "", 3},
    {"ifying", "", 3},	  {"ations", "", 3},  {"ators", "", 3},
    {"ation", "", 3},	  {"ating", "", 3},   {"izing", "", 3},
    {"ising", "", 3},	  {"ifier", "", 3},   {"ified", "", 3},
    {"ifies", "", 3},	  {"ator", "", 3},    {"ated", "", 3},
    {"ates", "", 3},	  {"ized", "", 3},    {"ised", "", 3},
    {"izer", "", 3},	  {"iser", "", 3},    {"izes", "", 3},
    {"ises", "", 3},	  {"ysing", "yz", 1}, {"yzing", "yz", 1},
    {"ytics", "yz", 1},	  {"ysis", "yz", 1},  {"yses", "yz", 1},
    {"yzes", "yz", 1},	  {"ysed", "yz", 1},  {"yzed", "yz", 1},
    {"yser", "yz", 1},	  {"yzer", "yz", 1},  {"yse", "yz", 1},
    {"yze", "yz", 1},	  {"ment", "", 3},    {"ness", "", 3},
    {"sses", "ss", 1},	  {"ies", "y", 2},    {"ied", "y", 2},
    {"ate", "", 3},	  {"ize", "", 3},     {"ise", "", 3},
    {"ify", "", 3},	  {"ing", "", 3},     {"ion", "", 3},
    {"ors", "", 3},	  {"ers", "", 3},     {"ed", "", 3},
    {"er", "", 3},	  {"or", "", 3},      {"ly", "", 4},
    {"us", "us", 1},	  {"is", "is", 1},    {"ss", "ss", 1},
    {"s", "", 2},	  {"e", "", 3},	      {"y", "", 4},
};

/* in order, for bsearch(3) */
static const char *const silent[] = {
    "a",     "about",  "all",	"also",	   "am",    "an",    "and",   "any",
    "are",   "as",     "at",	"be",	   "been",  "but",   "by",    "can",
    "could", "did",    "do",	"does",	   "dont",  "each",  "etc",   "every",
    "for",   "from",   "get",	"gets",	   "give",  "gives", "had",   "has",
    "have",  "here",   "how",	"i",	   "if",    "ill",   "im",    "in",
    "into",  "is",     "it",	"its",	   "ive",   "just",  "let",   "like",
    "make",  "makes",  "many",	"may",	   "me",    "might", "much",  "must",
    "my",    "need",   "needs", "no",	   "not",   "of",    "on",    "one",
    "only",  "or",     "our",	"please",  "put",   "puts",  "s",     "shall",
    "she",   "should", "so",	"some",	   "such",  "t",     "take",  "takes",
    "than",  "that",   "the",	"their",   "them",  "then",  "there", "these",
    "they",  "thing",  "this",	"those",   "to",    "too",   "us",    "use",
    "used",  "uses",   "using", "very",	   "want",  "was",   "we",    "were",
    "what",  "when",   "where", "whether", "which", "while", "who",   "why",
    "will",  "with",   "would", "you",	   "your"};

/* in order, for bsearch(3) */
static const char *const asking[] = {"are",   "did",  "does",  "how",  "is",
				     "was",   "were", "what",  "when", "where",
				     "which", "who",  "whose", "why",  "will"};

static int compare(const void *key, const void *row)
{
	return strcmp(key, *(const char *const *)row);
}

/* Is WORD among the N words of LIST, none longer than WORD_MAX bytes? */
static bool listed(const char *const *list, size_t n, const char *word,
		   size_t len)
{
	char text[WORD_MAX + 1];

	if (len > WORD_MAX)
		return false;
	memcpy(text, word, len);
	text[len] = '\0';
	return bsearch(text, list, n, sizeof(*list), compare) != NULL;
}

bool search_stem_says_nothing(const char *word, size_t n)
{
	return listed(silent, ARRAY_LEN(silent), word, n);
}

bool search_stem_asks(const char *text, size_t len)
{
	char word[WORD_MAX + 1];
	size_t n = 0;

	for (; n < len && n < sizeof(word) && isalpha((unsigned char)text[n]);
	     n++)
		word[n] = (char)tolower((unsigned char)text[n]);
	return listed(asking, ARRAY_LEN(asking), word, n);
}

static bool is_letters(const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (word[i] < 'a' || word[i] > 'z')
			return false;
	return true;
}

/* Take one ending off WORD: return the new length, N when there is no ending. */
static size_t shorten(char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		const struct ending *e = &endings[i];
		size_t len = strlen(e->text), to = strlen(e->to);

		if (n < len + e->least ||
		    memcmp(word + n - len, e->text, len) != 0)
			continue;
		memcpy(word + n - len, e->to, to);
		return n - len + to;
	}
	return n;
}

/* "planning" and "plan": one of two equal letters at the end goes. */
static size_t undouble(const char *word, size_t n)
{
	return n > 3 && word[n - 1] == word[n - 2] &&
		       strchr("lsz", word[n - 1]) == NULL
		   ? n - 1
		   : n;
}

size_t search_stem(char *word, size_t n)
{
	size_t was;

	if (!is_letters(word, n))
		return n;
	for (int i = 0; i < ROUNDS; i++) {
		was = n;
		n = shorten(word, n);
		if (n == was)
			break;
		n = undouble(word, n);
	}
	return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static const char *const keys[] = {"listen", "socket", "state_dir",
				   "uid",    "issuer", "templates"};

static const struct {
	const char *word, *want, *name;
} cases[] = {
    {"listen", "listen", "the word itself"},
    {"listn", "listen", "a byte left out"},
    {"listten", "listen", "a byte too many"},
    {"lisden", "listen", "a byte changed"},
    {"lisetn", "listen", "two neighbours swapped count as one edit"},
    {"LISTEN", "listen", "upper case is lower case"},
    {"Template", "templates", "case and a byte left out"},
    {"state-dir", "state_dir", "a dash for an underscore"},
    {"tmplats", "templates", "two edits in seven bytes"},
    {"uit", "uid", "one edit in three bytes"},
    {"id", "uid", "a short word has one edit all the same"},
    {"u", NULL, "two edits in one byte are too many"},
    {"isotope", NULL, "a stranger is near to nothing"},
    {"", NULL, "the empty word is near to nothing"},
    {"lstn", NULL, "two edits in four bytes are too many"},
};

static void long_words(void)
{
	char word[SUGGEST_WORD_MAX + 2], other[SUGGEST_WORD_MAX + 2];
	const char *list[] = {other};

	memset(word, 'a', sizeof(word));
	memset(other, 'a', sizeof(other));
	word[SUGGEST_WORD_MAX] = other[SUGGEST_WORD_MAX] = '\0';
	other[3] = 'b';
	is_str(suggest_word(word, list, 1), other, "the longest word");
	word[SUGGEST_WORD_MAX] = 'a';
	word[SUGGEST_WORD_MAX + 1] = '\0';
	ok(suggest_word(word, list, 1) == NULL,
	   "no word is suggested for an overlong word");
	list[0] = word;
	is_str(suggest_word("aaaa", list, 1), NULL,
	       "an overlong candidate is not suggested");
}

static void order(void)
{
	const char *list[] = {"max_b", "max_c", "max_a"};

	is_str(suggest_word("max_x", list, 3), "max_b",
	       "the first of equally near words is suggested");
	is_str(suggest_word("max_a", list, 3), "max_a", "a nearer one wins");
	is_str(suggest_word("max_x", list, 0), NULL,
	       "an empty list has no suggestion");
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_str(suggest_word(cases[i].word, keys, ARRAY_LEN(keys)),
		       cases[i].want, "%s: '%s'", cases[i].name, cases[i].word);
	long_words();
	order();
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_words.c - splits texts of templates and queries into words, for
 * search_doc.c and search_rank.c. Any bytes are a text: nothing is refused.
 */
#include "supervisor/packages/search/search_words.h"

#include <string.h>

#include "base/text/utf8.h"
#include "supervisor/packages/search/search_chars.h"
#include "supervisor/packages/search/search_stem.h"

struct word {
	char text[SEARCH_WORD_MAX];
	size_t n;
	size_t chars;
	size_t last; /* bytes of the last character */
};

struct splitter {
	search_words_take take;
	void *arg;
	bool ended;	   /* TAKE wants no more */
	struct word part;  /* the word under way */
	struct word whole; /* the name that PART is in */
	unsigned parts;	   /* words of the name so far */
	enum search_char before;
	/* the character before, if it may be the first of a pair */
	char first[SEARCH_CHAR_MAX];
	size_t n_first;
	bool paired; /* FIRST was in a pair already */
};

static void add(struct word *w, const char *p, size_t n)
{
	if (w->n + n > sizeof(w->text))
		return;
	memcpy(w->text + w->n, p, n);
	w->n += n;
	w->chars++;
	w->last = n;
}

static void give(struct splitter *s, const char *text, size_t n)
{
	char word[SEARCH_WORD_MAX];

	if (s->ended || n == 0 || search_stem_says_nothing(text, n))
		return;
	memcpy(word, text, n);
	n = search_stem(word, n);
	s->ended = !s->take(s->arg, word, n);
}

/* A word ends, and a name perhaps goes on; a single letter is no word of it. */
static void end_part(struct splitter *s)
{
	if (s->part.n == 0)
		return;
	s->parts++;
	if (s->part.chars > 1)
		give(s, s->part.text, s->part.n);
	s->part = (struct word){0};
}

static void end_name(struct splitter *s)
{
	bool alone = s->parts == 0 && s->part.n > 0;

	if (alone) {
		give(s, s->part.text, s->part.n);
		s->part = (struct word){0};
	} else {
		end_part(s);
	}
	if (s->parts > 1)
		give(s, s->whole.text, s->whole.n);
	s->whole = (struct word){0};
	s->parts = 0;
}

/* "HTTPServer": its S belongs to the next word. */
static void begin_at_last(struct splitter *s)
{
	struct word next = {0};

	add(&next, s->part.text + s->part.n - s->part.last, s->part.last);
	s->part.n -= s->part.last;
	s->part.chars--;
	end_part(s);
	s->part = next;
}

static void add_letter(struct splitter *s, enum search_char kind, const char *p,
		       size_t n)
{
	bool digit = kind == SEARCH_DIGIT;

	if (s->part.n > 0 &&
	    (digit != (s->before == SEARCH_DIGIT) ||
	     (kind == SEARCH_UPPER && s->before == SEARCH_LOWER)))
		end_part(s);
	else if (kind == SEARCH_LOWER && s->before == SEARCH_UPPER &&
		 s->part.chars > 1)
		begin_at_last(s);
	add(&s->part, p, n);
	add(&s->whole, p, n);
}

static void end_pairs(struct splitter *s)
{
	if (s->n_first > 0 && !s->paired)
		give(s, s->first, s->n_first);
	s->n_first = 0;
	s->paired = false;
}

static void add_paired(struct splitter *s, const char *p, size_t n)
{
	char pair[2 * SEARCH_CHAR_MAX];

	if (s->n_first > 0) {
		memcpy(pair, s->first, s->n_first);
		memcpy(pair + s->n_first, p, n);
		give(s, pair, s->n_first + n);
		s->paired = true;
	}
	memcpy(s->first, p, n);
	s->n_first = n;
}

static void add_char(struct splitter *s, int32_t point)
{
	char folded[SEARCH_CHAR_MAX];
	size_t n;
	enum search_char kind = search_char_of(point, folded, &n);

	if (kind == SEARCH_SKIPPED)
		return;
	if (kind == SEARCH_PAIRED) {
		end_name(s);
		add_paired(s, folded, n);
	} else {
		end_pairs(s);
		if (kind == SEARCH_PARTS)
			end_name(s);
		else if (kind == SEARCH_HYPHEN)
			end_part(s);
		else
			add_letter(s, kind, folded, n);
	}
	s->before = kind;
}

void search_words_each(const char *text, size_t len, search_words_take take,
		       void *arg)
{
	struct splitter s = {.take = take, .arg = arg};

	for (size_t i = 0, n; i < len && !s.ended; i += n)
		add_char(&s, utf8_decode(text + i, len - i, &n));
	end_pairs(&s);
	end_name(&s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_uri.c - takes a paddock:// URI apart into kind, ids and range, for
 * resources.c and subscriber.c. Any other text has the kind RESOURCE_URI_NONE;
 * whether a run exists is not looked at.
 */
#include "supervisor/session/result/resource_uri.h"

#include <string.h>

#define DIGITS_MAX 15 /* digits of a number of bytes */

/*
 * Read the id with PREFIX at *TEXT, up to a "/", a "?" or the end, and move
 * *TEXT there.
 */
static bool take_uri_id(char out[ID_SIZE], const char *prefix,
			const char **text)
{
	size_t n = strcspn(*text, "/?");

	if (n >= ID_SIZE)
		return false;
	memcpy(out, *text, n);
	out[n] = '\0';
	*text += n;
	return id_ok(out, prefix);
}

static bool take_word(const char *word, const char **text)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n) != 0)
		return false;
	*text += n;
	return true;
}

static bool take_number(int64_t *out, const char **text)
{
	int64_t n = 0;
	int digits = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++, digits++)
		if (digits < DIGITS_MAX)
			n = 10 * n + (**text - '0');
	*out = n;
	return digits > 0 && digits <= DIGITS_MAX;
}

/* Read the query at *TEXT: offset and limit, at most once each. */
static bool take_piece(struct resource_uri_range *piece, const char **text)
{
	bool offset = false, limit = false;
	char before = '?';

	piece->asked = **text == '?';
	for (; **text == before; before = '&') {
		bool good;

		++*text;
		if (!offset && take_word("offset=", text))
			good = offset = take_number(&piece->offset, text);
		else if (!limit && take_word("limit=", text))
			good = limit = take_number(&piece->limit, text) &&
				       piece->limit > 0;
		else
			return false;
		if (!good)
			return false;
	}
	return **text == '\0';
}

/* Returns the part of a run that *TEXT names, and moves *TEXT past the name. */
static enum resource_uri_kind take_kind(struct resource_uri *u,
					const char **text)
{
	if (**text == '\0' || **text == '?')
		return RESOURCE_URI_IS_RUN;
	if (take_word("/log", text))
		return RESOURCE_URI_IS_LOG;
	if (take_word("/result", text))
		return RESOURCE_URI_IS_RESULT;
	if (take_word("/artifacts/", text) &&
	    take_uri_id(u->artifact_id, "art", text))
		return RESOURCE_URI_IS_ARTIFACT;
	return RESOURCE_URI_NONE;
}

struct resource_uri resource_uri_parse(const char *text)
{
	struct resource_uri u = {0};

	if (strcmp(text, RESOURCE_URI_ISOLATION) == 0) {
		u.kind = RESOURCE_URI_IS_ISOLATION;
		return u;
	}
	if (!take_word(RESOURCE_URI_RUNS, &text) ||
	    !take_uri_id(u.run_id, "run", &text))
		return u;
	u.kind = take_kind(&u, &text);
	if (!take_piece(&u.piece, &text))
		u.kind = RESOURCE_URI_NONE;
	return u;
}

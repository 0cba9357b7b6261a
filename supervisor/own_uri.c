/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/own_uri.h"

#include <string.h>

/* The id with PREFIX at *TEXT, up to a "/" or the end, where *TEXT goes. */
static bool take_id(char out[ID_SIZE], const char *prefix, const char **text)
{
	size_t n = strcspn(*text, "/");

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

struct own_uri own_uri_parse(const char *text)
{
	struct own_uri u = {0};

	if (strcmp(text, OWN_URI_ISOLATION) == 0)
		u.kind = OWN_URI_IS_ISOLATION;
	else if (!take_word(OWN_URI_RUNS, &text) ||
		 !take_id(u.run_id, "run", &text))
		return u;
	else if (*text == '\0')
		u.kind = OWN_URI_IS_RUN;
	else if (strcmp(text, "/log") == 0)
		u.kind = OWN_URI_IS_LOG;
	else if (take_word("/artifacts/", &text) &&
		 take_id(u.artifact_id, "art", &text) && *text == '\0')
		u.kind = OWN_URI_IS_ARTIFACT;
	return u;
}

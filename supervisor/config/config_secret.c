/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_secret.c - the sections [secret "NAME"]: the forms of keys, and which keys a
 * section must have. The value of a secret is in a file that only paddock-egress reads.
 * A bad section is -EINVAL with a sentence, as for config_check().
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "base/text/words.h"
#include "net/host_rule.h"
#include "supervisor/config/config_private.h"

#define NAME_MAX_BYTES 63
#define WORD_MAX 255
#define PLACEHOLDER_MIN 8

/* ---- forms ---- */

bool config_is_secret(const char *s, size_t n)
{
	if (n == 0 || n > NAME_MAX_BYTES || !isalpha((unsigned char)*s))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) &&
		    strchr("._-", s[i]) == NULL)
			return false;
	return true;
}

bool config_is_rule(const char *s, size_t n)
{
	const char *colon = memchr(s, ':', n);
	char rule[PATH_RULE_MAX];
	struct path_rule parsed;

	if (colon == NULL || n >= sizeof(rule))
		return false;
	memcpy(rule, s, n);
	rule[n] = '\0';
	rule[colon - s] = ' ';
	return path_rule_parse(&parsed, rule, n) == NULL;
}

bool config_is_header(const char *value)
{
	size_t name = strcspn(value, ": \t");

	return name > 0 && value[name] == ':' && strlen(value) <= WORD_MAX &&
	       strstr(value + name, "{}") != NULL;
}

bool config_is_word(const char *value)
{
	size_t n = strlen(value);

	for (size_t i = 0; i < n; i++)
		if (!isgraph((unsigned char)value[i]) || value[i] == ':')
			return false;
	return n > 0 && n <= WORD_MAX;
}

bool config_is_variable(const char *value)
{
	size_t n = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n > 0 && n <= NAME_MAX_BYTES && value[n] == '\0' &&
	       !isdigit((unsigned char)*value);
}

/* ---- sections ---- */

/* Return the fault of S, to follow the section's name; NULL: no fault. */
static const char *fault_of(const struct config_secret *s)
{
	int places =
	    (s->header != NULL) + (s->basic != NULL) + (s->query != NULL);

	if (s->file == NULL)
		return "needs a file, which has the value";
	if (s->hosts == NULL || words_have(s->hosts, "*"))
		return "needs hosts, and * is none: the value would go to any";
	if (places != 1)
		return "needs one of header, basic and query, which say where "
		       "in a request the value goes";
	if (s->placeholder != NULL && strlen(s->placeholder) < PLACEHOLDER_MIN)
		return "needs 8 bytes or more in its placeholder, which is "
		       "searched for";
	return NULL;
}

int config_check_secrets(const struct config *c, const char *file, char *errmsg,
			 size_t size)
{
	if (c->n_secrets > CONFIG_SECRETS_MAX)
		return errmsg_set(errmsg, size,
				  "%s: there are more than %d secrets", file,
				  CONFIG_SECRETS_MAX);
	for (size_t i = 0; i < c->n_secrets; i++) {
		const char *fault = fault_of(&c->secrets[i]);

		if (fault != NULL)
			return errmsg_set(errmsg, size,
					  "%s: [secret \"%s\"] %s", file,
					  c->secrets[i].name, fault);
	}
	return 0;
}

const struct config_secret *config_secret_find(const struct config *c,
					       const char *name)
{
	for (size_t i = 0; i < c->n_secrets; i++)
		if (strcmp(c->secrets[i].name, name) == 0)
			return &c->secrets[i];
	return NULL;
}

char *config_secret_placeholder(const struct config_secret *s)
{
	if (s->placeholder != NULL)
		return xstrdup(s->placeholder);
	return s->variable != NULL
		   ? xasprintf("paddock-placeholder-%s", s->name)
		   : NULL;
}

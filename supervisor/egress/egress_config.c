/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress_config.c - the configuration of paddock-egress as a packet, for egress.c. The
 * program checks all of the packet again, and refuses the whole for a fault.
 */
#include "supervisor/egress/egress_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/words.h"
#include "proto/json/json_pack.h"

static struct json_object *word_list(const char *words)
{
	struct json_object *list = json_object_new_array();
	const char *word;
	size_t n;

	while ((word = words_next(&words, &n)) != NULL)
		json_object_array_add(list,
				      json_object_new_string_len(word, (int)n));
	return list;
}

/* The words RANGE and RANGE=REQUESTOR. */
static struct json_object *range_list(const char *words)
{
	struct json_object *list = json_object_new_array();
	const char *word;
	size_t n;

	while ((word = words_next(&words, &n)) != NULL) {
		const char *equals = memchr(word, '=', n);
		size_t net = equals != NULL ? (size_t)(equals - word) : n;
		struct json_object *o = json_pack("range:S", word, net);

		if (equals != NULL)
			json_add(o, "requestor:S", equals + 1, n - net - 1);
		json_object_array_add(list, o);
	}
	return list;
}

/* ---- secrets ---- */

static const char flag[] = "--secret-file";

static bool has_file(char *const argv[], const char *file)
{
	for (size_t i = 1; argv != NULL && argv[i] != NULL; i++)
		if (strcmp(argv[i], file) == 0)
			return true;
	return false;
}

/* The words METHOD:/PATH as rules; NULL: no words. */
static struct json_object *rule_list(const char *words)
{
	struct json_object *list = NULL;
	const char *word;
	size_t n;

	while ((word = words_next(&words, &n)) != NULL) {
		char *rule = xstrndup(word, n);

		*strchr(rule, ':') = ' '; /* the word has passed */
		if (list == NULL)
			list = json_object_new_array();
		json_object_array_add(list, json_object_new_string(rule));
		free(rule);
	}
	return list;
}

static struct json_object *secret_list(const struct config *c,
				       char *const argv[])
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < c->n_secrets; i++) {
		const struct config_secret *s = &c->secrets[i];
		char *placeholder = config_secret_placeholder(s);

		if (has_file(argv, s->file))
			json_object_array_add(
			    list,
			    json_pack("name:s file:s hosts:o header?s "
				      "basic?s query?s rules?o "
				      "placeholder?s",
				      s->name, s->file, word_list(s->hosts),
				      s->header, s->basic, s->query,
				      rule_list(s->rules), placeholder));
		free(placeholder);
	}
	return list;
}

char **egress_config_argv(const struct config *c)
{
	char **argv = xcalloc(2 + 2 * c->n_secrets, sizeof(char *));
	size_t n = 0;

	argv[n++] = xstrdup("paddock-egress");
	for (size_t i = 0; i < c->n_secrets; i++) {
		argv[n++] = xstrdup(flag);
		argv[n++] = xstrdup(c->secrets[i].file);
	}
	return argv;
}

void egress_config_free(char **argv)
{
	for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}

static bool is_among(struct json_object *names, const char *name)
{
	json_each(one, names) {
		if (strcmp(json_object_get_string(one), name) == 0)
			return true;
	}
	return names == NULL;
}

const char *egress_config_lacked(const struct config *c, char *const argv[],
				 struct json_object *secrets)
{
	for (size_t i = 0; i < c->n_secrets; i++)
		if (is_among(secrets, c->secrets[i].name) &&
		    !has_file(argv, c->secrets[i].file))
			return c->secrets[i].name;
	return NULL;
}

bool egress_may_start(const struct config *c, char *const argv[])
{
	for (size_t i = 1; argv[0] != NULL && argv[i] != NULL; i += 2) {
		bool known = false;

		if (strcmp(argv[i], flag) != 0 || argv[i + 1] == NULL)
			return false;
		for (size_t j = 0; j < c->n_secrets; j++)
			known |= strcmp(c->secrets[j].file, argv[i + 1]) == 0;
		if (!known)
			return false;
	}
	return argv[0] != NULL;
}

char *egress_variables(const struct config *c, struct json_object *secrets,
		       size_t *len)
{
	struct buf b = {0};

	json_each(one, secrets) {
		const struct config_secret *s =
		    config_secret_find(c, json_object_get_string(one));
		char *placeholder;

		if (s == NULL || s->variable == NULL)
			continue;
		placeholder = config_secret_placeholder(s);
		buf_printf(&b, "%s=%s", s->variable, placeholder);
		buf_add(&b, "", 1);
		free(placeholder);
	}
	return buf_take(&b, len);
}

/* ---- the packet ---- */

struct json_object *egress_config_packet(const struct config *c,
					 char *const argv[])
{
	return json_pack("config:o",
			 json_pack("deny:o private:o resolver?s ca?s secrets:o",
				   word_list(c->network_deny),
				   range_list(c->network_private),
				   c->network_resolver, c->network_authorities,
				   secret_list(c, argv)));
}

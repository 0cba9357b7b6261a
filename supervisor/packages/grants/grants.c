/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants.c - compares the permissions that templates ask for with the grants.
 * The table below lists the kinds of permissions; manifests ask, the
 * configuration grants, and etc/shipped.conf grants for packages of paddock's
 * own folder. Nothing here fails: a grant that is not understood grants
 * nothing.
 */
#include "supervisor/packages/grants/grants.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "base/text/words.h"
#include "ipc/browser_proto.h"
#include "net/network_word.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/grants/granted_path.h"
#include "supervisor/packages/grants/grants_private.h"
#include "supervisor/packages/templates/template_shipped.h"
#include "supervisor/runtime/runtime.h"

#define SAID_MAX ((size_t)8) /* most words of a kind, in a sentence */

static bool covers_tool(const struct config_grant *g, const char *word)
{
	return words_have(g->tools, word) || words_have(g->tools, "all");
}

static bool covers_template(const struct config_grant *g, const char *word)
{
	return words_have(g->templates, word) || words_have(g->templates, "*");
}

static bool covers_read(const struct config_grant *g, const char *word)
{
	return granted_path_listed(g->read_paths, word);
}

static bool covers_network(const struct config_grant *g, const char *word)
{
	const char *list = g->network, *have;
	size_t n;

	if (strcmp(word, TEMPLATE_GRANTED) == 0)
		return true;
	while ((have = words_next(&list, &n)) != NULL)
		if (network_word_covers(have, n, word))
			return true;
	return false;
}

static bool covers_secret(const struct config_grant *g, const char *word)
{
	return words_have(g->secrets, word);
}

static bool covers_locks(const struct config_grant *g, const char *word)
{
	(void)word;
	return g->locks;
}

const struct grants_kind grants_kinds[GRANTS_KINDS] = {
    {"tools", NULL, "tools", "for the tool ", "for the tools ", NULL, false,
     covers_tool},
    {"templates", "templates", "templates", "to call the template ",
     "to call the templates ", NULL, false, covers_template},
    {"read_paths", "readPaths", "readPaths", "to read ", "to read ", NULL,
     false, covers_read},
    {"network", "network", "network", "to connect to ", "to connect to ", NULL,
     false, covers_network},
    {"secrets", "secrets", "secrets", "for the secret ", "for the secrets ",
     "no Lua template can have secrets in this version of paddock", true,
     covers_secret},
    {"locks", "locks", "locks", "to lock files", "", NULL, false, covers_locks},
};

#define CALLS (&grants_kinds[1])
#define READS (&grants_kinds[2])
#define NETWORK (&grants_kinds[3])
#define SECRETS (&grants_kinds[4])

const char *grants_nobody(const struct grants_kind *k, const struct template *t)
{
	return k->to_programs && runtimes[t->runtime]->sees_host ? NULL
								 : k->nobody;
}

/* ---- asked ---- */

static struct json_object *asked(const struct template *t,
				 const struct grants_kind *k)
{
	struct json_object *p = json_member(t->manifest, "permissions");

	if (k == NETWORK)
		return t->network;
	return k->member == NULL ? json_member(t->manifest, k->key)
				 : json_member(p, k->member);
}

static size_t n_asked(const struct template *t, const struct grants_kind *k)
{
	struct json_object *o = asked(t, k);

	if (json_object_is_type(o, json_type_boolean))
		return json_object_get_boolean(o) ? 1 : 0;
	return o == NULL ? 0 : json_object_array_length(o);
}

/*
 * Return the Ith word that T asks for, as an operator would write the word.
 * Borrowed.
 */
static const char *asked_word(const struct template *t,
			      const struct grants_kind *k, size_t i)
{
	struct json_object *o = asked(t, k);

	if (json_object_is_type(o, json_type_boolean))
		return "yes";
	return json_object_get_string(json_object_array_get_idx(o, i));
}

bool grants_asks(const struct template *t)
{
	for (size_t i = 0; i < GRANTS_KINDS; i++)
		if (n_asked(t, &grants_kinds[i]) > 0)
			return true;
	return false;
}

bool grants_asks_locks(const struct template *t)
{
	return n_asked(t, GRANTS_LOCKS) > 0;
}

/* ---- granted ---- */

/* Does G, which names T or all templates, hold for T's package? */
static bool holds(const struct config_grant *g, const struct template *t)
{
	return g->digest == NULL || words_have(g->digest, t->digest);
}

static bool is_for(const struct config_grant *g, const struct template *t)
{
	return strcmp(g->name, "*") == 0 || strcmp(g->name, t->id) == 0;
}

/*
 * A function called with each grant of T; true ends the loop, and is returned.
 */
typedef bool (*look)(const struct config_grant *g, void *arg);

static bool any_of(const struct config_grant *list, size_t n,
		   const struct template *t, look at, void *arg)
{
	for (size_t i = 0; i < n; i++)
		if (is_for(&list[i], t) && holds(&list[i], t) &&
		    at(&list[i], arg))
			return true;
	return false;
}

static bool any_grant(const struct template *t, const struct config *c, look at,
		      void *arg)
{
	static char everyone[] = "*";
	const struct config_grant all = {.name = everyone,
					 .read_paths = c->read_paths};
	const struct config_grant *ours;
	size_t n;

	if (any_of(&all, 1, t, at, arg) ||
	    any_of(c->grants, c->n_grants, t, at, arg))
		return true;
	ours = template_shipped_grants(&n);
	return t->shipped && any_of(ours, n, t, at, arg);
}

static bool is_by_digest(const struct config_grant *g, void *arg)
{
	(void)arg;
	return g->digest != NULL;
}

bool grants_by_digest(const struct template *t, const struct config *c)
{
	return grants_asks(t) && any_grant(t, c, is_by_digest, NULL);
}

struct input_request {
	const struct grants_kind *kind;
	const char *word;
};

static bool covers(const struct config_grant *g, void *arg)
{
	const struct input_request *q = arg;

	return q->kind->covers(g, q->word);
}

bool grants_covers(const struct template *t, const struct config *c,
		   const struct grants_kind *k, const char *word)
{
	struct input_request q = {k, word};

	return any_grant(t, c, covers, &q);
}

bool grants_read(const struct template *t, const struct config *c,
		 const char *path)
{
	return grants_covers(t, c, READS, path);
}

static bool add_reads(const struct config_grant *g, void *list)
{
	if (g->read_paths != NULL)
		buf_printf(list, " %s", g->read_paths);
	return false;
}

char *grants_reads(const struct template *t, const struct config *c)
{
	struct buf list = {0};

	any_grant(t, c, add_reads, &list);
	return buf_take(&list, NULL);
}

bool grants_any_read(const struct config *c, const char *path)
{
	if (granted_path_listed(c->read_paths, path))
		return true;
	for (size_t i = 0; i < c->n_grants; i++)
		if (granted_path_listed(c->grants[i].read_paths, path))
			return true;
	return false;
}

const char *grants_tool(const struct template *t, const struct config *c,
			const char *tool)
{
	bool asks = false;

	for (size_t i = 0; !asks && i < n_asked(t, GRANTS_TOOLS); i++)
		asks = strcmp(asked_word(t, GRANTS_TOOLS, i), tool) == 0;
	if (!asks)
		return "the manifest's tools do not list it, which the "
		       "template's author can change";
	if (!grants_covers(t, c, GRANTS_TOOLS, tool))
		return "it is no more granted to the template; the operator "
		       "can grant it, by tools of its [grant] in paddock.conf";
	return NULL;
}

const char *grants_call(const struct template *t, const struct config *c,
			const char *id)
{
	const char *asked = NULL;

	for (size_t i = 0; asked == NULL && i < n_asked(t, CALLS); i++) {
		const char *word = asked_word(t, CALLS, i);

		if (strcmp(word, id) == 0 || strcmp(word, "*") == 0)
			asked = word;
	}
	if (asked == NULL)
		return "its manifest's permissions.templates do not list it, "
		       "which the template's author can change";
	if (!grants_covers(t, c, CALLS, asked))
		return "it is no more granted to the template; the operator "
		       "can grant it, by templates of its [grant] in "
		       "paddock.conf";
	return NULL;
}

/* Return the members of the packet of paddock-egress for the word, N bytes. */
static struct json_object *network_host(const char *word, size_t n)
{
	size_t host = network_word_host(word, n);
	struct json_object *allow = NULL, *o;
	const char *at = word + host;
	char rule[PATH_RULE_MAX];

	while (network_word_next(&at, word + n, rule)) {
		if (allow == NULL)
			allow = json_object_new_array();
		json_object_array_add(allow, json_text_new(rule));
	}
	o = json_pack("host:S allow?o", word, host, allow);
	return o;
}

struct networks {
	const struct template *template;
	struct json_object *list;
};

/* Grants of all templates name none, so none of their hosts is meant. */
static bool add_network(const struct config_grant *g, void *arg)
{
	const char *words = g->network, *word;
	const struct networks *all = arg;
	size_t n;

	while (strcmp(g->name, all->template->id) == 0 &&
	       (word = words_next(&words, &n)) != NULL)
		json_object_array_add(all->list, network_host(word, n));
	return false;
}

struct json_object *grants_network(const struct template *t,
				   const struct config *c)
{
	struct json_object *list = json_object_new_array();
	struct networks all = {t, list};

	if (t->network_granted)
		any_grant(t, c, add_network, &all);
	for (size_t i = 0; i < n_asked(t, NETWORK) && !t->network_granted;
	     i++) {
		const char *word = asked_word(t, NETWORK, i);

		json_object_array_add(list, network_host(word, strlen(word)));
	}
	return list;
}

struct json_object *grants_secrets(const struct template *t)
{
	struct json_object *list = asked(t, SECRETS);

	return json_length(list) > 0 ? list : NULL;
}

static bool add_hosts(const struct config_grant *g, void *list)
{
	const char *hosts = g->hosts, *word;
	size_t n;

	while ((word = words_next(&hosts, &n)) != NULL)
		json_object_array_add(list,
				      json_object_new_string_len(word, (int)n));
	return false;
}

struct json_object *grants_hosts(const struct template *t,
				 const struct config *c)
{
	struct json_object *list = json_object_new_array();

	any_grant(t, c, add_hosts, list);
	return list;
}

/* ---- permissions that are missing ---- */

struct json_object *grants_words(const struct template *t,
				 const struct config *c,
				 const struct grants_kind *k,
				 enum grants_which which)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < n_asked(t, k); i++) {
		const char *word = asked_word(t, k, i);
		bool has =
		    which != GRANTS_ASKED && grants_covers(t, c, k, word);

		if (which == GRANTS_ASKED || (which == GRANTS_HELD && has) ||
		    (which == GRANTS_LACKED &&
		     (!has || grants_nobody(k, t) != NULL)))
			json_object_array_add(list, json_text_new(word));
	}
	return list;
}

/*
 * Return the words of LIST as written in paddock.conf; of many words only some.
 * The caller frees the text.
 */
static char *said_words(struct json_object *list)
{
	size_t n = json_object_array_length(list);
	struct buf b = {0};

	for (size_t i = 0; i < n && i < SAID_MAX; i++)
		buf_printf(
		    &b, "%s%s", i > 0 ? " " : "",
		    json_object_get_string(json_object_array_get_idx(list, i)));
	if (n > SAID_MAX)
		buf_printf(&b, " and %zu more", n - SAID_MAX);
	return buf_take(&b, NULL);
}

bool grants_is_other_package(const struct template *t, const struct config *c)
{
	for (size_t i = 0; i < c->n_grants; i++)
		if (is_for(&c->grants[i], t) && !holds(&c->grants[i], t))
			return true;
	return false;
}

bool grants_is_known(const struct grants_kind *k, const char *word)
{
	return k != GRANTS_TOOLS || browser_proto_action(word) != NULL;
}

/* Return the first word of LIST that no operator can grant; or NULL. */
static const char *unknown_of(const struct grants_kind *k,
			      struct json_object *list)
{
	json_each(one, list) {
		const char *word = json_object_get_string(one);

		if (!grants_is_known(k, word))
			return word;
	}
	return NULL;
}

static void refuse_kind(const struct template *t, const struct config *c,
			const struct grants_kind *k, struct json_object *list,
			struct tool_error *r)
{
	const char *nobody = grants_nobody(k, t);
	struct json_object *details;
	bool many = json_object_array_length(list) > 1;
	bool other = nobody == NULL && grants_is_other_package(t, c);
	char *said = said_words(list);
	char *asks = xasprintf("%s asks %s%s", t->id, many ? k->many : k->asks,
			       k == GRANTS_LOCKS ? "" : said);
	/* the line that would grant LIST; of many words just the key */
	char *line = json_object_array_length(list) > SAID_MAX
			 ? xstrdup(k->key)
			 : xasprintf("%s = %s", k->key, said);
	char *who = nobody != NULL
			? xasprintf("nobody: %s", nobody)
			: xasprintf("the operator, by %s in [grant \"%s\"] of "
				    "paddock.conf",
				    other ? "digest" : k->key, t->id);

	details = json_pack("asked:O key:s whoCanGrant:s", list, k->key, who);
	if (nobody != NULL)
		tool_error_set(r, "PERMISSION_NOT_ALLOWED", details,
			       "%s, and %s", asks, nobody);
	else if (other)
		tool_error_set(
		    r, "PERMISSION_NOT_ALLOWED", details,
		    "%s, and its grant in paddock.conf is for another "
		    "package than the one that is there: the operator can "
		    "look at it and grant it, too, by digest = %s",
		    asks, t->digest);
	else
		tool_error_set(
		    r, "PERMISSION_NOT_ALLOWED", details,
		    "%s, which %s not granted; the operator can grant %s, "
		    "by %s in [grant \"%s\"] of paddock.conf",
		    asks, many ? "are" : "is", many ? "them" : "it", line,
		    t->id);
	free(said);
	free(asks);
	free(line);
	free(who);
}

bool grants_allow(const struct template *t, const struct config *c,
		  struct tool_error *r)
{
	for (size_t i = 0; i < GRANTS_KINDS; i++) {
		const struct grants_kind *k = &grants_kinds[i];
		struct json_object *list;
		const char *unknown;
		bool fine;

		if (n_asked(t, k) == 0)
			continue;
		list = grants_words(t, c, k, GRANTS_LACKED);
		fine = json_object_array_length(list) == 0;
		unknown = fine ? NULL : unknown_of(k, list);
		if (unknown != NULL)
			tool_error_set(
			    r, "PERMISSION_NOT_ALLOWED",
			    json_pack("asked:O key:s whoCanGrant:s", list,
				      k->key, "nobody: there is no such tool"),
			    "%s asks for the tool %s, which there is not in "
			    "this version of paddock; its author can take it "
			    "out of the manifest's tools",
			    t->id, unknown);
		else if (!fine)
			refuse_kind(t, c, k, list, r);
		json_object_put(list);
		if (!fine)
			return false;
	}
	return grants_secrets_allow(t, c, NULL, r);
}

const char *grants_unused(const struct config_grant *g,
			  const struct catalogue *all)
{
	bool known = false;

	for (size_t i = 0; i < all->n; i++) {
		if (!is_for(g, all->all[i]))
			continue;
		if (holds(g, all->all[i]))
			return NULL;
		known = true;
	}
	return known ? "its digest is no package's that is there"
		     : "there is no such template";
}

void grants_log(const struct catalogue *all, const struct config *c)
{
	for (size_t i = 0; i < c->n_grants; i++) {
		const char *errmsg = grants_unused(&c->grants[i], all);

		if (errmsg != NULL)
			log_warn("grants", "grant=\"%s\" used=no msg=\"%s\"",
				 c->grants[i].name, errmsg);
	}
}

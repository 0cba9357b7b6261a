/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants_draft.c - drafts of grants, by the table of kinds in grants.c, the hosts of the
 * browser and base/limits.def. The methods of drafts and proposals call it. Words of a
 * client are taken only if paddock.conf could have each as a single word, so that no word
 * begins a line or a section.
 */
#include "supervisor/packages/grants/grants_draft.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text/errmsg.h"
#include "base/text/quantity.h"
#include "base/text/words.h"
#include "proto/json/json_pack.h"
#include "supervisor/config/config_keys.h"
#include "supervisor/packages/grants/grants_private.h"

#define WORD_MAX 180 /* bytes: a line of paddock.conf has to have room */

static bool covers_host(const struct config_grant *g, const char *word)
{
	return words_have(g->hosts, word) || words_have(g->hosts, "*");
}

/* the operator, or a client, names hosts: a manifest cannot ask for hosts */
static const struct grants_kind hosts = {
    .key = "hosts",
    .shown = "hosts",
    .asks = "that the browser opens ",
    .many = "that the browser opens ",
    .covers = covers_host,
};

#define KINDS (GRANTS_KINDS + 1)

static const struct grants_kind *kind_at(size_t i)
{
	return i < GRANTS_KINDS ? &grants_kinds[i] : &hosts;
}

static const struct grants_kind *kind_of(const char *key)
{
	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(kind_at(i)->key, key) == 0)
			return kind_at(i);
	return NULL;
}

/* ---- wanted words and limits ---- */

/* Does KEY of SECTION, whose struct is BASE (zero), take VALUE? */
static bool is_value(const char *section, const char *key, void *base,
		     const char *value)
{
	const char *suggest;
	const struct config_key *k = config_key_find(section, key, &suggest);
	char reason[512];
	bool good = k != NULL && config_key_set(k, base, value, false, reason,
						sizeof(reason)) == 0;

	if (k != NULL && config_key_is_text(k))
		free(*(char **)((char *)base + k->offset));
	return good;
}

static bool is_word(const struct grants_kind *k, struct json_object *o)
{
	const char *word = json_object_get_string(o);
	struct config_grant scratch = {0};

	if (!json_object_is_type(o, json_type_string) ||
	    (size_t)json_object_get_string_len(o) != strlen(word) ||
	    *word == '\0' || strlen(word) > WORD_MAX)
		return false;
	for (const char *p = word; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7F ||
		    strchr(";#\"", *p) != NULL)
			return false;
	return is_value(CONFIG_GRANT, k->key, &scratch, word);
}

static bool check_words(const char *key, struct json_object *list, char *errmsg,
			size_t size)
{
	const struct grants_kind *k = kind_of(key);

	if (k == NULL || !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > GRANTS_DRAFT_WORDS) {
		errmsg_set(errmsg, size,
			   "grant has lists of at most %d words, by keys of "
			   "[grant] in paddock.conf, and not \"%.64s\" so",
			   GRANTS_DRAFT_WORDS, key);
		return false;
	}
	json_each(one, list)
		if (!is_word(k, one)) {
			errmsg_set(errmsg, size,
				   "\"%.100s\" cannot be a word of %s in a "
				   "grant",
				   json_object_get_string(one), k->key);
			return false;
		}
	return true;
}

/* Find the limit NAME, in the words of errors or of a manifest. */
static const struct limit_info *limit_named(const char *name)
{
	const struct limit_info *l = limit_find(name);

	for (size_t i = 0; l == NULL && i < LIMITS; i++)
		if (strcmp(limit_info[i].manifest, name) == 0)
			l = &limit_info[i];
	return l;
}

static bool check_limit(const char *name, struct json_object *o, char *errmsg,
			size_t size)
{
	const struct limit_info *l = limit_named(name);
	struct config_template scratch = {0};
	bool good = l != NULL && json_object_is_type(o, json_type_int) &&
		    is_value(CONFIG_TEMPLATE, l->max_key, &scratch,
			     json_object_get_string(o));

	if (!good)
		errmsg_set(errmsg, size,
			   "limits has numbers by names such as "
			   "maxMemoryBytes, in the bounds of paddock.conf, and "
			   "not \"%.64s\" so",
			   name);
	return good;
}

bool grants_draft_check(struct json_object *want, char *errmsg, size_t size)
{
	struct json_object *grant = json_member(want, "grant");
	struct json_object *limits = json_member(want, "limits");

	if ((grant != NULL && !json_object_is_type(grant, json_type_object)) ||
	    (limits != NULL &&
	     !json_object_is_type(limits, json_type_object))) {
		errmsg_set(errmsg, size, "grant and limits are objects");
		return false;
	}
	if (grant != NULL) {
		json_object_object_foreach(grant, key, list)
			if (!check_words(key, list, errmsg, size))
				return false;
	}
	if (limits != NULL) {
		json_object_object_foreach(limits, name, value)
			if (!check_limit(name, value, errmsg, size))
				return false;
	}
	return true;
}

/* ---- the draft ---- */

struct draft {
	const struct template *t;
	const struct config *c;
	bool whole, blind;
	struct json_object *lines;
	struct json_object
	    *manifest; /* words that T does not ask for, or NULL */
	struct buf section;
};

static bool has_word(struct json_object *list, const char *word)
{
	json_each(one, list)
		if (strcmp(json_object_get_string(one), word) == 0)
			return true;
	return false;
}

/* Note that T would have to ask for WORD of K, which a grant alone does not give. */
static void add_to_manifest(struct draft *d, const struct grants_kind *k,
			    const char *word)
{
	struct json_object *at, *list;
	const char *member = k->member != NULL ? k->member : k->key;

	if (d->manifest == NULL)
		d->manifest = json_object_new_object();
	at = d->manifest;
	if (k->member != NULL) {
		at = json_member(d->manifest, "permissions");
		if (at == NULL) {
			at = json_object_new_object();
			json_add(d->manifest, "permissions:o", at);
		}
	}
	if (k == GRANTS_LOCKS) {
		json_object_object_add(at, member,
				       json_object_new_boolean(true));
		return;
	}
	list = json_member(at, member);
	if (list == NULL) {
		list = json_object_new_array();
		json_object_object_add(at, member, list);
	}
	json_object_array_add(list, json_text_new(word));
}

/* Does T's package lack WORD of K, as far as a reader of the draft may know? */
static bool is_new(struct draft *d, const struct grants_kind *k,
		   const char *word)
{
	struct json_object *asked;
	bool own;

	if (!grants_covers(d->t, d->c, k, word))
		return true;
	if (!d->blind)
		return false;
	asked = grants_words(d->t, d->c, k, GRANTS_ASKED);
	own = has_word(asked, word);
	json_object_put(asked);
	return !own;
}

/* Return the words of K for the draft, those of WANTED after T's own; the caller's. */
static struct json_object *words_of(struct draft *d,
				    const struct grants_kind *k,
				    struct json_object *wanted)
{
	struct json_object *asked = grants_words(d->t, d->c, k, GRANTS_ASKED);
	struct json_object *list = grants_words(
	    d->t, d->c, k, d->whole ? GRANTS_ASKED : GRANTS_LACKED);

	json_each(one, wanted) {
		const char *word = json_object_get_string(one);

		if (has_word(list, word))
			continue;
		if (k != &hosts && !has_word(asked, word))
			add_to_manifest(d, k, word);
		if (d->whole || is_new(d, k, word))
			json_object_array_add(list, json_text_new(word));
	}
	json_object_put(asked);
	return list;
}

static void add_line(struct draft *d, const char *key, const char *word,
		     char *text, bool new)
{
	json_object_array_add(d->lines, json_pack("key:s word:s text:s new:b",
						  key, word, text, new));
	free(text);
}

/* Add a line for people for each word of LIST, of the kind K. */
static void add_lines(struct draft *d, const struct grants_kind *k,
		      struct json_object *list, bool new)
{
	json_each(one, list) {
		const char *word = json_object_get_string(one);

		add_line(d, k->key, word,
			 xasprintf("%s asks %s%s", d->t->id, k->asks,
				   k == GRANTS_LOCKS ? "" : word),
			 new &&is_new(d, k, word));
	}
}

static void add_kind(struct draft *d, const struct grants_kind *k,
		     struct json_object *wanted)
{
	struct json_object *held = grants_words(d->t, d->c, k, GRANTS_HELD);
	struct json_object *list = words_of(d, k, wanted);

	if (!d->whole) /* known to the reader, and not in the section */
		add_lines(d, k, held, false);
	add_lines(d, k, list, true);
	grants_put_line(&d->section, k, list);
	json_object_put(held);
	json_object_put(list);
}

static void add_limits(struct draft *d, struct json_object *limits)
{
	if (limits == NULL || json_object_object_length(limits) == 0)
		return;
	buf_printf(&d->section, "[template \"%s\"]\ndigest = %s\n", d->t->id,
		   d->t->digest);
	json_object_object_foreach(limits, name, value) {
		const struct limit_info *l = limit_named(name);
		int64_t n = json_object_get_int64(value);
		char most[QUANTITY_SIZE], word[24];

		snprintf(word, sizeof(word), "%" PRId64, n);
		buf_printf(&d->section, "%s = %s\n", l->max_key, word);
		add_line(d, l->max_key, word,
			 xasprintf("%s asks for %s%s%s", d->t->id,
				   quantity(most, n, l->unit),
				   l->noun != NULL ? " of " : "",
				   l->noun != NULL ? l->noun : ""),
			 true);
	}
}

struct json_object *grants_draft(const struct template *t,
				 const struct config *c,
				 struct json_object *want, unsigned how)
{
	struct json_object *grant = json_member(want, "grant"), *o;
	struct draft d = {.t = t,
			  .c = c,
			  .whole = (how & GRANTS_DRAFT_WHOLE) != 0,
			  .blind = (how & GRANTS_DRAFT_BLIND) != 0,
			  .lines = json_object_new_array()};
	size_t head;
	char *text;

	buf_printf(&d.section, "[grant \"%s\"]\ndigest = %s\n", t->id,
		   t->digest);
	head = buf_len(&d.section);
	for (size_t i = 0; i < KINDS; i++)
		add_kind(&d, kind_at(i), json_member(grant, kind_at(i)->key));
	if (buf_len(&d.section) == head)
		buf_drop(&d.section, head);
	add_limits(&d, json_member(want, "limits"));
	text = buf_take(&d.section, NULL);
	o = json_pack("templateId:s version:s digest:s lines:o section:s "
		      "manifest?o",
		      t->id, t->version_text, t->digest, d.lines,
		      text != NULL ? text : "", d.manifest);
	free(text);
	return o;
}

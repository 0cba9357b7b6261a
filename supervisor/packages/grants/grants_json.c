/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants_json.c - shows the permissions asked for and granted to people and
 * clients, with the lines of paddock.conf to grant the rest. tool_templates.c
 * and --print-grants call here; nothing fails.
 */
#include "supervisor/packages/grants/grants.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/grants/grants_private.h"

#define NO_HOSTS                                                               \
	"# what the browser may open for it: names, *.names, addresses; * is " \
	"any public host\nhosts =\n"

static void add_shown(struct json_object *o, const struct grants_kind *k,
		      struct json_object *list)
{
	if (json_object_array_length(list) == 0) {
		json_object_put(list);
	} else if (k == GRANTS_LOCKS) {
		json_object_put(list);
		json_object_object_add(o, k->shown,
				       json_object_new_boolean(true));
	} else {
		json_object_object_add(o, k->shown, list);
	}
}

void grants_put_line(struct buf *b, const struct grants_kind *k,
		     struct json_object *list)
{
	const char *nobody = k->nobody;
	size_t n = json_object_array_length(list), put = 0;

	json_each(one, list) {
		const char *word = json_object_get_string(one);

		if (nobody != NULL)
			buf_printf(b, "# %s = %s: %s\n", k->key, word, nobody);
		else if (!grants_is_known(k, word))
			buf_printf(b, "# %s: there is no tool %s\n", k->key,
				   word);
		else if (strpbrk(word, " ;#\"") != NULL)
			buf_printf(b,
				   "# %s: \"%s\" cannot be written here, "
				   "but a folder above it can\n",
				   k->key, word);
	}
	for (size_t i = 0; nobody == NULL && i < n; i++) {
		const char *word =
		    json_object_get_string(json_object_array_get_idx(list, i));

		if (!grants_is_known(k, word) || strpbrk(word, " ;#\"") != NULL)
			continue;
		if (put++ == 0)
			buf_printf(b, "%s = %s", k->key, word);
		else
			buf_printf(b, "\n\t%s", word);
	}
	if (put > 0)
		buf_add_str(b, "\n");
}

struct json_object *grants_view(const struct template *t,
				const struct config *c, bool hosts)
{
	struct json_object *v = json_object_new_object();
	struct json_object *ask = json_object_new_object();
	struct json_object *have = json_object_new_object();
	struct json_object *lack = json_object_new_array(), *list;
	bool asks_tools;
	struct buf lines = {0};
	char *text;

	buf_printf(&lines, "[grant \"%s\"]\n", t->id);
	if (grants_is_other_package(t, c))
		buf_printf(&lines, "digest = %s\n", t->digest);
	for (size_t i = 0; i < GRANTS_KINDS; i++) {
		const struct grants_kind *k = &grants_kinds[i];

		add_shown(ask, k, grants_words(t, c, k, GRANTS_ASKED));
		add_shown(have, k, grants_words(t, c, k, GRANTS_HELD));
		list = grants_words(t, c, k, GRANTS_LACKED);
		if (json_object_array_length(list) > 0) {
			json_object_array_add(
			    lack, json_pack("key:s asked:O reason?s", k->key,
					    list, k->nobody));
			grants_put_line(&lines, k, list);
		}
		json_object_put(list);
	}
	asks_tools = json_member(ask, GRANTS_TOOLS->shown) != NULL;
	list = grants_hosts(t, c);
	if (asks_tools && json_object_array_length(list) == 0)
		buf_add_str(&lines, NO_HOSTS);
	if (hosts && asks_tools)
		json_add(have, "hosts:O", list);
	json_object_put(list);
	json_add(v, "asked:o granted:o", ask, have);
	text = buf_take(&lines, NULL);
	if (json_object_array_length(lack) > 0)
		json_add(v, "missing:O grant:s", lack, text);
	json_object_put(lack);
	free(text);
	return v;
}

/* Return the section to grant this package all that T asks for. */
static char *section(const struct template *t)
{
	bool asks_tools = false;
	struct buf b = {0};

	buf_printf(&b, "[grant \"%s\"]\ndigest = %s\n", t->id, t->digest);
	for (size_t i = 0; i < GRANTS_KINDS; i++) {
		const struct grants_kind *k = &grants_kinds[i];
		struct json_object *list =
		    grants_words(t, NULL, k, GRANTS_ASKED);

		asks_tools |=
		    k == GRANTS_TOOLS && json_object_array_length(list) > 0;
		grants_put_line(&b, k, list);
		json_object_put(list);
	}
	if (asks_tools)
		buf_add_str(&b, NO_HOSTS);
	return buf_take(&b, NULL);
}

struct json_object *grants_of(const struct template *t, const struct config *c)
{
	char *lines = section(t);
	struct json_object *o = json_pack(
	    "templateId:s version:s path:s digest:s permissions:o section:s",
	    t->id, t->version_text, t->dir, t->digest, grants_view(t, c, true),
	    lines);

	free(lines);
	return o;
}

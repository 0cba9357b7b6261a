/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_limits.c - reads the limits of a manifest, and the permissions,
 * which lower limits. manifest.c calls it once the shape is good; faults go to
 * the diagnostics with their places.
 */
#include "supervisor/packages/templates/manifest_limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/os/nofollow.h"
#include "net/network_word.h"
#include "proto/json/json.h"
#include "supervisor/packages/package/package.h"
#include "supervisor/runtime/runtime.h"

#define PLACE_SIZE 64 /* size of a JSON Pointer made here */

#define fail(f, pointer, ...)                                                  \
	diagnostics_add(f, DIAGNOSTIC_ERROR, MANIFEST_FILE, pointer,           \
			__VA_ARGS__)

static const struct {
	const char *key;
	/* in struct template_limits; NO_FIELD: the schema alone checks the
	   key */
	size_t offset;
	int64_t value; /* the default, where the manifest is silent */
} limits[] = {
#define NO_FIELD SIZE_MAX
#define LIMIT(id, field, max_field, name, unit, manifest, ...)                 \
	{manifest, offsetof(struct template_limits, field), TEMPLATE_UNSAID},
#include "base/limits.def"
    {"cancelGraceMs", offsetof(struct template_limits, cancel_grace_ms), 5000},
    {"maxConcurrency", NO_FIELD, 0},
};

/*
 * Report KEY when only its case differs from a known limit: as the template's
 * own limit KEY would limit nothing.
 */
static int check_spelling(struct diagnostics *f, const char *key)
{
	char at[512];

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		if (strcasecmp(key, limits[i].key) != 0 ||
		    strcmp(key, limits[i].key) == 0)
			continue;
		snprintf(at, sizeof(at), "/limits/%s", key);
		fail(f, at, "unknown key \"%s\"; did you mean \"%s\"?", key,
		     limits[i].key);
		return diagnostics_of_name(f);
	}
	return 0;
}

int manifest_limits_read(struct template *t, struct json_object *manifest,
			 struct diagnostics *f)
{
	struct json_object *given = json_member(manifest, "limits");
	int rc = 0;

	t->limits_json = given;
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		struct json_object *o = json_member(given, limits[i].key);
		int64_t v = o ? json_object_get_int64(o) : limits[i].value;

		if (limits[i].offset != NO_FIELD)
			memcpy((char *)&t->limits + limits[i].offset, &v,
			       sizeof(v));
	}
	if (given == NULL)
		return 0;
	json_object_object_foreach(given, key, value) {
		(void)value;
		if (check_spelling(f, key) < 0)
			rc = -EINVAL;
	}
	return rc;
}

static void take_lower(int64_t *limit, struct json_object *o)
{
	if (o != NULL &&
	    (*limit == TEMPLATE_UNSAID || json_object_get_int64(o) < *limit))
		*limit = json_object_get_int64(o);
}

static bool is_path(const char *path)
{
	return nofollow_is_plain(path + 1);
}

/* Is each of P's KEY good? ERRMSG tells the fault of a bad word. */
static int check_list(struct diagnostics *f, struct json_object *p,
		      const char *key, bool (*good)(const char *word),
		      const char *errmsg)
{
	size_t i = 0;
	int rc = 0;

	json_each(one, json_member(p, key)) {
		const char *word = json_object_get_string(one);
		char at[PLACE_SIZE];

		snprintf(at, sizeof(at), "/permissions/%s/%zu", key, i++);
		if (!good(word))
			rc = fail(f, at, "\"%s\" %s", word, errmsg);
	}
	return rc;
}

/* ---- network ---- */

/* Return the word of ONE, an element of the manifest's network; the caller's. */
static char *network_word(struct json_object *one)
{
	struct json_object *allow = json_member(one, "allow");
	struct buf word = {0};
	char mark = '=';

	if (json_object_is_type(one, json_type_string))
		return xstrdup(json_object_get_string(one));
	buf_add_str(&word, json_member_str(one, "host"));
	json_each(rule, allow) {
		const char *text = json_object_get_string(rule);
		size_t method = strcspn(text, " ");

		buf_printf(&word, "%c%.*s:%s", mark, (int)method, text,
			   text[method] == ' ' ? text + method + 1 : "");
		mark = ',';
	}
	return buf_take(&word, NULL);
}

static int read_network(struct template *t, struct json_object *list,
			struct diagnostics *f)
{
	size_t n = json_length(list), i = 0;
	int rc = 0;

	if (n > 0)
		t->network = json_object_new_array();
	json_each(one, list) {
		char *word = network_word(one), at[PLACE_SIZE];
		const char *host = json_member_str(one, "host");
		const char *fault = NULL;

		if (host != NULL && strchr(host, '=') != NULL)
			fault = "a host has no equals sign";
		else if (n == 1 && strcmp(word, TEMPLATE_GRANTED) == 0)
			t->network_granted = true;
		else
			fault = network_word_fault(word, strlen(word));
		snprintf(at, sizeof(at), "/permissions/network/%zu", i++);
		if (fault != NULL)
			rc = fail(f, at, "\"%s\": %s", word, fault);
		json_object_array_add(t->network, json_text_new(word));
		free(word);
	}
	return rc;
}

int manifest_permissions_read(struct template *t, struct json_object *manifest,
			      struct diagnostics *f)
{
	struct json_object *p = json_member(manifest, "permissions");
	struct json_object *paths = json_member(p, "readPaths");
	int rc = check_list(f, p, "readPaths", is_path,
			    "is not a plain absolute path, such as /srv/data: "
			    "not / itself, and without . and ..");

	if (read_network(t, json_member(p, "network"), f) < 0 || rc < 0)
		return -EINVAL;
	if (!runtimes[t->runtime]->sees_host)
		return 0;
	take_lower(&t->limits.processes, json_member(p, "processes"));
	take_lower(&t->limits.memory_bytes, json_member(p, "memoryBytes"));
	t->reads = xcalloc(json_length(paths) + 1, sizeof(*t->reads));
	json_each(one, paths)
		t->reads[t->n_reads++] = json_object_get_string(one);
	return 0;
}

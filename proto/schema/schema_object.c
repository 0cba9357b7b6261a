/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_object.c - the checks of objects: counts, required, properties and
 * other keywords on members. schema_run() calls them as operations. False is a
 * violation, with a guess at a misspelt name in the error, or a bound that was
 * met.
 */
#include "proto/schema/schema_private.h"

#include <errno.h>
#include <string.h>

#include "base/text/suggest.h"

#define NEAR_LEAST 3u /* bytes of a name worth a guess */

static struct lh_entry *first_member(const struct schema_place *at)
{
	return lh_table_head(json_object_get_object(at->value));
}

static struct schema_place member(const struct schema_place *at,
				  const struct lh_entry *e)
{
	return (struct schema_place){
	    .up = at,
	    .key = lh_entry_k(e),
	    .value = lh_entry_v(e),
	};
}

static bool has_property(const struct schema_place *at, const char *name)
{
	return json_object_object_get_ex(at->value, name, NULL);
}

static const struct schema_node *find_property(const struct schema_members *m,
					       const char *name, size_t *len)
{
	size_t at;

	*len = strlen(name);
	if (m->slot == NULL)
		return NULL;
	at = schema_hash_bytes(0, name, *len);
	for (at &= m->mask; m->slot[at].name != NULL; at = (at + 1) & m->mask)
		if (m->slot[at].len == *len &&
		    memcmp(m->slot[at].name, name, *len) == 0)
			return m->slot[at].node;
	return NULL;
}

/*
 * Return an unknown member of AT that may be NAME misspelt, or NULL. Only the
 * first CHECK_NEAR_MAX members are tried.
 */
static const char *misspelt(struct schema_check *c, const struct schema_op *op,
			    const struct schema_place *at, const char *name)
{
	struct suggest suggest;
	size_t len, n = 0;

	suggest_init(&suggest, name);
	if (op->peers == NULL || strlen(name) < NEAR_LEAST)
		return NULL;
	for (struct lh_entry *e = first_member(at);
	     e != NULL && n++ < CHECK_NEAR_MAX && schema_step(c, COST_NEAR);
	     e = lh_entry_next(e))
		if (find_property(op->peers, lh_entry_k(e), &len) == NULL)
			suggest_try(&suggest, lh_entry_k(e));
	return suggest.best;
}

/*
 * Report that NAME is missing; BECAUSE (or NULL) is the member in need of NAME.
 */
static bool fail_missing(struct schema_check *c, const struct schema_op *op,
			 const struct schema_place *at, const char *name,
			 const char *because)
{
	char want[128], errmsg[192];
	struct schema_text t, w;
	const char *suggest;

	if (!schema_wanted(c))
		return false;
	schema_text_init(&t, want, sizeof(want));
	schema_put(&t, "the member ");
	schema_put_quoted(&t, name, strlen(name));
	schema_text_init(&w, errmsg, sizeof(errmsg));
	suggest = misspelt(c, op, at, name);
	if (because != NULL) {
		schema_put(&w, ", which ");
		schema_put_quoted(&w, because, strlen(because));
		schema_put(&w, " asks for");
	} else if (suggest != NULL) {
		schema_put(&w, "; was it meant by ");
		schema_put_quoted(&w, suggest, strlen(suggest));
		schema_put(&w, "?");
	}
	return schema_fail_text(c, at, op->keyword, want, "lacks %s%s", want,
				errmsg);
}

bool schema_check_required(struct schema_check *c, const struct schema_op *op,
			   const struct schema_place *at,
			   struct schema_seen *seen)
{
	bool ok = schema_step(c, op->n * COST_LOOKUP);

	(void)seen;
	for (size_t i = 0; i < op->n && c->rc == 0; i++) {
		if (has_property(at, op->u.names[i]))
			continue;
		ok = fail_missing(c, op, at, op->u.names[i], NULL);
		if (schema_enough(c))
			break;
	}
	return ok;
}

bool schema_check_dependent_required(struct schema_check *c,
				     const struct schema_op *op,
				     const struct schema_place *at,
				     struct schema_seen *seen)
{
	bool ok = schema_step(c, op->n * COST_LOOKUP);

	(void)seen;
	for (size_t i = 0; i < op->n && c->rc == 0; i++) {
		const struct schema_needs *k = &op->u.needs[i];

		if (!has_property(at, k->name))
			continue;
		if (!schema_step(c, k->n * COST_LOOKUP))
			return false;
		for (size_t j = 0; j < k->n; j++) {
			if (has_property(at, k->needs[j]))
				continue;
			ok = fail_missing(c, op, at, k->needs[j], k->name);
			if (schema_enough(c))
				return false;
		}
	}
	return ok;
}

/* Write "a", "b" and "c", as far as there is room. */
static void put_names(struct schema_text *t, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (t->len + 70 > t->cap && i + 1 < n) {
			schema_putf(t, " and %zu more", n - i);
			return;
		}
		schema_put(t, i == 0 ? "" : i + 1 < n ? ", " : " and ");
		schema_put_quoted(t, names[i], strlen(names[i]));
	}
}

/*
 * Return the nearest name in the schema still missing in the object, or NULL.
 */
static const char *meant(struct schema_check *c, const struct schema_members *m,
			 const struct schema_place *at)
{
	struct suggest suggest;

	suggest_init(&suggest, at->key);
	for (size_t i = 0;
	     i < m->nnames && i < CHECK_NEAR_MAX && schema_step(c, COST_NEAR);
	     i++)
		if (!has_property(at->up, m->names[i]))
			suggest_try(&suggest, m->names[i]);
	return suggest.best;
}

static bool fail_unknown(struct schema_check *c, const struct schema_members *m,
			 const struct schema_place *at)
{
	char want[200], hint[300];
	const char *suggest;
	struct schema_text t, h;

	if (!schema_wanted(c))
		return false;
	suggest = meant(c, m, at);
	schema_text_init(&t, want, sizeof(want));
	schema_text_init(&h, hint, sizeof(hint));
	if (m->nnames > 0) {
		schema_put(&t, m->npatterns > 0
				   ? "a name that the schema knows, "
				     "such as "
				   : "only ");
		put_names(&t, m->names, m->nnames);
	} else {
		schema_put(&t, m->npatterns > 0 ? "a name that the schema knows"
						: "no members");
	}
	if (suggest != NULL) {
		schema_put(&h, "did you mean ");
		schema_put_quoted(&h, suggest, strlen(suggest));
		schema_put(&h, "?");
	} else {
		schema_putf(&h, "allowed: %s", want);
	}
	return schema_fail_text(c, at, "additionalProperties", want,
				"is not a known member; %s", hint);
}

/* Check AT by all schemas for its name; *FOUND: there was any. */
static bool check_member(struct schema_check *c, const struct schema_op *op,
			 const struct schema_place *at, bool *found)
{
	const struct schema_members *m = op->u.members;
	const struct schema_node *n;
	size_t len;
	bool ok = true;

	n = find_property(m, at->key, &len);
	*found = n != NULL;
	if (n != NULL)
		ok = schema_run(c, n, at, NULL);
	for (size_t i = 0; i < m->npatterns && (ok || !schema_enough(c)); i++) {
		int rc = schema_pattern_match(m->patterns[i], c, at->key, len);

		if (rc == 0)
			continue;
		*found = true;
		if (rc < 0)
			return schema_too_long(c, at, "patternProperties",
					       "has a name that takes",
					       m->patterns[i]);
		ok = schema_run(c, m->pattern_nodes[i], at, NULL) && ok;
	}
	if (*found || m->additional == NULL)
		return ok;
	*found = true;
	if (schema_is_false(m->additional) && !c->mark)
		return fail_unknown(c, m, at);
	return schema_run(c, m->additional, at, NULL);
}

bool schema_check_members(struct schema_check *c, const struct schema_op *op,
			  const struct schema_place *at,
			  struct schema_seen *seen)
{
	bool ok = true, found;
	size_t i = 0;

	for (struct lh_entry *e = first_member(at); e != NULL;
	     e = lh_entry_next(e), i++) {
		struct schema_place child = member(at, e);

		if (!schema_step(c, COST_MEMBER +
					strlen(child.key) / BYTES_HASHED))
			return false;
		if (!check_member(c, op, &child, &found)) {
			ok = false;
			if (schema_enough(c))
				return false;
		}
		if (found)
			schema_seen_add(seen, i);
	}
	return ok;
}

/*
 * Report a name that propertyNames refuses; the schema's description may say
 * which names pass.
 */
static void refuse_name(struct schema_check *c, const struct schema_op *op,
			const struct schema_place *at, const char *name)
{
	struct json_object *words = NULL;
	char quoted[100], expected[200] = "a name that propertyNames allows";
	struct schema_text t;

	schema_text_init(&t, quoted, sizeof(quoted));
	schema_put_quoted(&t, name, strlen(name));
	if (json_object_is_type(op->nodes[0]->json, json_type_object) &&
	    json_object_object_get_ex(op->nodes[0]->json, "description",
				      &words) &&
	    json_object_is_type(words, json_type_string)) {
		schema_text_init(&t, expected, sizeof(expected));
		schema_put(&t, json_object_get_string(words));
	}
	schema_fail_text(c, at, op->keyword, expected,
			 "has a member that is called %s; what it is called "
			 "has to be %s",
			 quoted, expected);
}

/* Check each member's name as a string instance. */
bool schema_check_property_names(struct schema_check *c,
				 const struct schema_op *op,
				 const struct schema_place *at,
				 struct schema_seen *seen)
{
	bool ok = true;

	(void)seen;
	for (struct lh_entry *e = first_member(at); e != NULL;
	     e = lh_entry_next(e)) {
		struct schema_place name = member(at, e);
		bool pass;

		if (!schema_step(c,
				 COST_NAME + strlen(name.key) / BYTES_HASHED))
			return false;
		name.value = json_object_new_string(name.key);
		pass = schema_passes(c, op->nodes[0], &name, NULL);
		json_object_put(name.value);
		if (c->rc != 0)
			return false;
		if (pass)
			continue;
		ok = false;
		refuse_name(c, op, at, name.key);
		if (schema_enough(c))
			return false;
	}
	return ok;
}

bool schema_check_unevaluated_properties(struct schema_check *c,
					 const struct schema_op *op,
					 const struct schema_place *at,
					 struct schema_seen *seen)
{
	bool ok = true;
	size_t i = 0;

	for (struct lh_entry *e = first_member(at); e != NULL;
	     e = lh_entry_next(e), i++) {
		struct schema_place child = member(at, e);

		if (!schema_step(c, 1))
			return false;
		ok = schema_unevaluated(c, op, &child, i, seen, "a member") &&
		     ok;
		if (!ok && schema_enough(c))
			break;
	}
	return ok;
}

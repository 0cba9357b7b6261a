/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c - a run's limits: the least of the manifest's, the caller's, the
 * requestor's and the server's, and its origin, by base/limits.def.
 * runs_create.c sets the limits; outcome.c and worker_recv.c name an exceeded
 * limit. No function here fails.
 */
#include "supervisor/run/limits.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/words.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/runtime/runtime.h"

#define NONE SIZE_MAX /* no requestor has such a key */

/* Where each limit's number lies. */
static const struct place {
	size_t run, template; /* offsets in their limits */
	size_t usual, max;    /* in the configuration */
	size_t requestor; /* in the requestor's section; value 0: no limit */
	size_t over;	  /* in the template's section; value 0: not set */
} places[LIMITS] = {
#define RAISED_SERVER(max_field) NONE
#define RAISED_REQUESTOR(max_field)                                            \
	offsetof(struct config_requestor, max_##max_field)
#define LIMIT(id, field, max_field, name, unit, manifest, of, raised_by, ...)  \
	{offsetof(struct run_limits, field),                                   \
	 offsetof(struct template_limits, field),                              \
	 offsetof(struct config, default_##field),                             \
	 offsetof(struct config, max_##max_field),                             \
	 RAISED_##raised_by(max_field),                                        \
	 offsetof(struct config_template, max_##max_field)},
#include "base/limits.def"
};

static int64_t at(const void *base, size_t offset)
{
	int64_t v;

	memcpy(&v, (const char *)base + offset, sizeof(v));
	return v;
}

/* Lower *LIMIT to V, set by WHO, unless *LIMIT is lower already. */
static void lower(int64_t *limit, enum limit_source *by, int64_t v,
		  enum limit_source who)
{
	if (v >= *limit)
		return;
	*limit = v;
	*by = who;
}

/* The setters of a limit, beside the caller of a run. */
struct setters {
	const struct template *template;
	const struct config_requestor *requestor;
	const struct config *config;
};

static struct setters setters_of(const struct template *t,
				 const struct config_requestor *q,
				 const struct config *c)
{
	return (struct setters){t, q, c};
}

/*
 * Return what the operator has set at OFFSET for the template; 0: nothing. A later
 * section wins, and a section for this package wins over sections for any.
 */
static int64_t set_by_operator(const struct setters *s, size_t offset)
{
	const struct template *t = s->template;
	int64_t any = 0, own = 0;

	for (size_t i = 0; i < s->config->n_overs; i++) {
		const struct config_template *o = &s->config->overs[i];
		int64_t v = strcmp(o->name, t->id) == 0 ? at(o, offset) : 0;

		if (v > 0 && o->digest == NULL)
			any = v;
		else if (v > 0 && words_have(o->digest, t->digest))
			own = v;
	}
	return own > 0 ? own : any;
}

/* Returns the value of limit B by all setters; *BY: the setter of the value. */
static int64_t effective(enum limit_source *by, const struct setters *s,
			 enum limit b, int64_t wish)
{
	const struct place *p = &places[b];
	int64_t over = set_by_operator(s, p->over);
	int64_t limit = at(&s->template->limits, p->template);

	*by = BY_MANIFEST;
	if (over > 0) {
		limit = over;
		*by = BY_TEMPLATE;
	} else if (limit == TEMPLATE_UNSAID) {
		limit = at(s->config, p->usual);
		*by = BY_DEFAULT;
	}
	if (wish > 0)
		lower(&limit, by, wish, BY_CALLER);
	if (p->requestor != NONE && at(s->requestor, p->requestor) > 0)
		lower(&limit, by, at(s->requestor, p->requestor), BY_REQUESTOR);
	if (over <= 0)
		lower(&limit, by, at(s->config, p->max), BY_SERVER);
	return limit;
}

void limits_set(struct run *r, const struct config *c, int64_t timeout_ms)
{
	struct setters setters =
	    setters_of(r->template, r->requestor->section, c);

	r->limits.wished_ms = timeout_ms;
	for (int b = 0; b < LIMITS; b++) {
		int64_t limit =
		    effective(&r->limits.by[b], &setters, (enum limit)b,
			      b == LIMIT_TIMEOUT ? timeout_ms : 0);

		memcpy((char *)&r->limits + places[b].run, &limit,
		       sizeof(limit));
	}
}

struct program_limits limits_of_program(const struct run *r)
{
	return (struct program_limits){
#define OF_RUN(field)
#define OF_PROGRAM(field) .field = (uint64_t)r->limits.field,
#define LIMIT(id, field, max_field, name, unit, manifest, of, ...)             \
	OF_##of(field)
#include "base/limits.def"
	};
}

/* Returns in words who can raise limit B, set by BY; ID is the template's. */
static char *who_can_raise(enum limit_source by, enum limit b,
			   const struct requestor *q, const char *id)
{
	const struct limit_info *k = &limit_info[b];

	switch (by) {
	case BY_CALLER:
		return xasprintf("the caller: options.timeoutMs, up to the "
				 "template's limits.%s",
				 k->manifest);
	case BY_REQUESTOR:
		return xasprintf("the operator: %s in [requestor \"%s\"]",
				 k->max_key, q->name);
	case BY_SERVER:
		return xasprintf("the operator: %s in [limits]", k->max_key);
	case BY_TEMPLATE:
		return xasprintf("the operator: %s in [template \"%s\"]",
				 k->max_key, id);
	case BY_DEFAULT:
		return xasprintf("the operator: %s in [limits], or the "
				 "template's author: limits.%s, up to the "
				 "server's %s",
				 k->default_key, k->manifest, k->max_key);
	case BY_MANIFEST:
		break;
	}
	return xasprintf("the template's author: limits.%s, up to the server's "
			 "%s, or the operator: %s in [template \"%s\"]",
			 k->manifest, k->max_key, k->max_key, id);
}

char *limits_who_can_raise(const struct run *r, enum limit b)
{
	return who_can_raise(r->limits.by[b], b, r->requestor, r->template->id);
}

/* Returns the origin of limit B with its key of paddock.conf, for setBy. */
static char *set_by(enum limit_source by, enum limit b,
		    const struct requestor *q)
{
	const struct limit_info *k = &limit_info[b];

	switch (by) {
	case BY_REQUESTOR:
		return xasprintf("requestor \"%s\": %s", q->name, k->max_key);
	case BY_SERVER:
		return xasprintf("server: %s", k->max_key);
	case BY_DEFAULT:
		return xasprintf("server: %s", k->default_key);
	case BY_TEMPLATE:
		return xasprintf("template: %s", k->max_key);
	case BY_CALLER:
	case BY_MANIFEST:
		break;
	}
	return xstrdup("manifest");
}

struct json_object *limits_preview(const struct template *t,
				   const struct requestor *q,
				   const struct config *c)
{
	struct setters setters = setters_of(t, q->section, c);
	struct json_object *all = json_object_new_object();

	for (int i = 0; i < LIMITS; i++) {
		enum limit b = (enum limit)i;
		enum limit_source by;
		int64_t limit = effective(&by, &setters, b, 0);
		char *set, *who;

		if (limit_info[b].of_programs &&
		    !runtimes[t->runtime]->has_shim)
			continue;
		set = set_by(by, b, q);
		who = who_can_raise(by, b, q, t->id);
		json_object_object_add(
		    all, limit_info[b].manifest,
		    json_pack("allowed:i unit:s setBy:s whoCanRaise:s", limit,
			      limit_info[b].unit, set, who));
		free(set);
		free(who);
	}
	return all;
}

struct json_object *limits_details(const struct run *r, enum limit b,
				   int64_t used)
{
	const struct limit_info *k = &limit_info[b];
	char *who = limits_who_can_raise(r, b);
	struct json_object *d = tool_error_limit(
	    k->name, used, at(&r->limits, places[b].run), k->unit, who);

	free(who);
	return d;
}

void limits_hit(struct run *r, enum limit b, int64_t used)
{
	if (used > r->hit[b])
		r->hit[b] = used;
}

struct json_object *limits_hit_details(const struct run *r)
{
	struct json_object *list = NULL;

	for (int b = 0; b < LIMITS; b++) {
		if (r->hit[b] == 0)
			continue;
		if (list == NULL)
			list = json_object_new_array();
		json_object_array_add(
		    list, limits_details(r, (enum limit)b, r->hit[b]));
	}
	return list;
}

void limits_correct(const struct run *r, struct json_object *details)
{
	const struct limit_info *k =
	    limit_find(json_member_str(details, "limit"));
	enum limit b;
	char *who;

	if (k == NULL)
		return;
	b = (enum limit)(k - limit_info);
	who = limits_who_can_raise(r, b);
	json_add(details, "allowed:i unit:s whoCanRaise:s",
		 at(&r->limits, places[b].run), k->unit, who);
	free(who);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c - what a run is held to: the least of what manifest, caller,
 * requestor and server allow, and who said so, by base/limits.def.
 * runs_create.c sets it, outcome.c and worker_recv.c name a limit that was met.
 * Nothing in it can fail.
 */
#include "supervisor/run/limits.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/tool_error.h"

#define NONE SIZE_MAX /* no such key */

/* Where each limit's number lies. */
static const struct place {
	size_t run, template; /* in their limits */
	size_t usual, max;    /* in the configuration */
	size_t requestor;     /* in its section; 0 there: no limit */
} places[LIMITS] = {
#define RAISED_SERVER(max_field) NONE
#define RAISED_REQUESTOR(max_field)                                            \
	offsetof(struct config_requestor, max_##max_field)
#define LIMIT(id, field, max_field, name, unit, manifest, of, raised_by, ...)  \
	{offsetof(struct run_limits, field),                                   \
	 offsetof(struct template_limits, field),                              \
	 offsetof(struct config, default_##field),                             \
	 offsetof(struct config, max_##max_field),                             \
	 RAISED_##raised_by(max_field)},
#include "base/limits.def"
};

static int64_t at(const void *base, size_t offset)
{
	int64_t v;

	memcpy(&v, (const char *)base + offset, sizeof(v));
	return v;
}

/* V, unless *LIMIT is lower already; then BY is who set it. */
static void lower(int64_t *limit, enum limit_source *by, int64_t v,
		  enum limit_source who)
{
	if (v >= *limit)
		return;
	*limit = v;
	*by = who;
}

/* Of one limit: what T, Q and C allow together, and which of them says so. */
static int64_t effective(enum limit_source *by, const struct template *t,
			 const struct config_requestor *q,
			 const struct config *c, enum limit b, int64_t wish)
{
	const struct place *p = &places[b];
	int64_t limit = at(&t->limits, p->template);

	*by = BY_MANIFEST;
	if (limit == TEMPLATE_UNSAID) {
		limit = at(c, p->usual);
		*by = BY_DEFAULT;
	}
	if (wish > 0)
		lower(&limit, by, wish, BY_CALLER);
	if (p->requestor != NONE && at(q, p->requestor) > 0)
		lower(&limit, by, at(q, p->requestor), BY_REQUESTOR);
	lower(&limit, by, at(c, p->max), BY_SERVER);
	return limit;
}

void limits_set(struct run *r, const struct config *c, int64_t timeout_ms)
{
	r->limits.wished_ms = timeout_ms;
	for (int b = 0; b < LIMITS; b++) {
		int64_t limit = effective(
		    &r->limits.by[b], r->template, r->requestor->section, c,
		    (enum limit)b, b == LIMIT_TIMEOUT ? timeout_ms : 0);

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

static char *who_can_raise(enum limit_source by, enum limit b,
			   const struct requestor *q)
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
	case BY_DEFAULT:
		return xasprintf("the operator: %s in [limits], or the "
				 "template's author: limits.%s, up to the "
				 "server's %s",
				 k->default_key, k->manifest, k->max_key);
	case BY_MANIFEST:
		break;
	}
	return xasprintf("the template's author: limits.%s, up to the server's "
			 "%s",
			 k->manifest, k->max_key);
}

char *limits_who_can_raise(const struct run *r, enum limit b)
{
	return who_can_raise(r->limits.by[b], b, r->requestor);
}

/* Who says so, by which key of paddock.conf. */
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
	struct json_object *all = json_object_new_object();

	for (int i = 0; i < LIMITS; i++) {
		enum limit b = (enum limit)i;
		enum limit_source by;
		int64_t limit = effective(&by, t, q->section, c, b, 0);
		char *set, *who;

		if (limit_info[b].of_programs && t->runtime != RUNTIME_PROGRAM)
			continue;
		set = set_by(by, b, q);
		who = who_can_raise(by, b, q);
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

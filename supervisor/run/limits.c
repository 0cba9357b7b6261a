/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/run/limits.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/mcp/tool_error.h"

#define NONE SIZE_MAX /* no such key */

static const struct kind {
	const char *name, *unit; /* in details */
	const char *manifest;	 /* in its limits */
	const char *key;	 /* max_KEY in [limits] */
	const char *def_key;	 /* there, too */
	size_t run, template;	 /* in their limits */
	size_t def, max;	 /* in the configuration */
	size_t requestor;	 /* in the section; 0 there: no limit */
	bool of_programs;	 /* Lua has none of these */
} kinds[LIMITS] = {
#define KIND(field, max_field)                                                 \
	.run = offsetof(struct run_limits, field),                             \
	.template = offsetof(struct template_limits, field),                   \
	.def_key = "default_" #field,                                          \
	.def = offsetof(struct config, default_##field),                       \
	.max = offsetof(struct config, max_##max_field)
#define OF_REQUESTOR(field)                                                    \
	.requestor = offsetof(struct config_requestor, max_##field)
    [LIMIT_TIMEOUT] = {"timeout", "ms", "maxTimeoutMs", "run_timeout_ms",
		       KIND(timeout_ms, run_timeout_ms),
		       OF_REQUESTOR(run_timeout_ms)},
    [LIMIT_CPU] = {"cpu", "ms", "maxCpuMs", "cpu_ms", KIND(cpu_ms, cpu_ms),
		   OF_REQUESTOR(cpu_ms)},
    [LIMIT_MEMORY] = {"memory", "bytes", "maxMemoryBytes", "memory_bytes",
		      KIND(memory_bytes, memory_bytes),
		      OF_REQUESTOR(memory_bytes)},
    [LIMIT_PROCESSES] = {"processes", "processes", "maxProcesses", "processes",
			 KIND(processes, processes), OF_REQUESTOR(processes),
			 .of_programs = true},
    [LIMIT_OPEN_FILES] = {"open_files", "files", "maxOpenFiles", "open_files",
			  KIND(open_files, open_files), .requestor = NONE,
			  .of_programs = true},
    [LIMIT_FILES] = {"files", "files", "maxFiles", "files", KIND(files, files),
		     .requestor = NONE, .of_programs = true},
    [LIMIT_OUTPUT] = {"output_bytes", "bytes", "maxOutputBytes", "output_bytes",
		      KIND(output_bytes, output_bytes), .requestor = NONE},
    [LIMIT_LOG] = {"logged_bytes", "bytes", "maxLoggedBytes", "logged_bytes",
		   KIND(logged_bytes, logged_bytes), .requestor = NONE},
    [LIMIT_ARTIFACTS] = {"artifacts", "artifacts", "maxArtifacts", "artifacts",
			 KIND(artifacts, artifacts), .requestor = NONE},
    [LIMIT_ARTIFACT_BYTES] = {"artifact_bytes", "bytes", "maxArtifactBytes",
			      "artifact_bytes",
			      KIND(artifact_bytes, artifact_bytes),
			      .requestor = NONE},
    [LIMIT_MESSAGES] = {"messages_per_second", "messages/s",
			"maxMessagesPerSecond", "messages_per_second",
			KIND(messages_per_second, messages_per_second),
			.requestor = NONE},
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
	const struct kind *k = &kinds[b];
	int64_t limit = at(&t->limits, k->template);

	*by = BY_MANIFEST;
	if (limit == TEMPLATE_UNSAID) {
		limit = at(c, k->def);
		*by = BY_DEFAULT;
	}
	if (wish > 0)
		lower(&limit, by, wish, BY_CALLER);
	if (k->requestor != NONE && at(q, k->requestor) > 0)
		lower(&limit, by, at(q, k->requestor), BY_REQUESTOR);
	lower(&limit, by, at(c, k->max), BY_SERVER);
	return limit;
}

void limits_set(struct run *r, const struct config *c, int64_t timeout_ms)
{
	r->limits.wished_ms = timeout_ms;
	for (int b = 0; b < LIMITS; b++) {
		int64_t limit = effective(
		    &r->limits.by[b], r->template, r->requestor->section, c,
		    (enum limit)b, b == LIMIT_TIMEOUT ? timeout_ms : 0);

		memcpy((char *)&r->limits + kinds[b].run, &limit,
		       sizeof(limit));
	}
}

static char *who_can_raise(enum limit_source by, enum limit b,
			   const struct requestor *q)
{
	const struct kind *k = &kinds[b];

	switch (by) {
	case BY_CALLER:
		return xasprintf("the caller: options.timeoutMs, up to the "
				 "template's limits.%s",
				 k->manifest);
	case BY_REQUESTOR:
		return xasprintf("the operator: max_%s in [requestor \"%s\"]",
				 k->key, q->name);
	case BY_SERVER:
		return xasprintf("the operator: max_%s in [limits]", k->key);
	case BY_DEFAULT:
		return xasprintf("the operator: %s in [limits], or the "
				 "template's author: limits.%s, up to the "
				 "server's max_%s",
				 k->def_key, k->manifest, k->key);
	case BY_MANIFEST:
		break;
	}
	return xasprintf("the template's author: limits.%s, up to the server's "
			 "max_%s",
			 k->manifest, k->key);
}

char *limits_who_can_raise(const struct run *r, enum limit b)
{
	return who_can_raise(r->limits.by[b], b, r->requestor);
}

/* Who says so, by which key of paddock.conf. */
static char *set_by(enum limit_source by, enum limit b,
		    const struct requestor *q)
{
	const struct kind *k = &kinds[b];

	switch (by) {
	case BY_REQUESTOR:
		return xasprintf("requestor \"%s\": max_%s", q->name, k->key);
	case BY_SERVER:
		return xasprintf("server: max_%s", k->key);
	case BY_DEFAULT:
		return xasprintf("server: %s", k->def_key);
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
		struct json_object *o;
		char *set, *who;

		if (kinds[b].of_programs && t->runtime != RUNTIME_PROGRAM)
			continue;
		set = set_by(by, b, q);
		who = who_can_raise(by, b, q);
		o = json_object_new_object();
		json_object_object_add(o, "allowed",
				       json_object_new_int64(limit));
		json_object_object_add(o, "unit",
				       json_object_new_string(kinds[b].unit));
		json_object_object_add(o, "setBy", json_object_new_string(set));
		json_object_object_add(o, "whoCanRaise",
				       json_object_new_string(who));
		json_object_object_add(all, kinds[b].manifest, o);
		free(set);
		free(who);
	}
	return all;
}

struct json_object *limits_details(const struct run *r, enum limit b,
				   int64_t used)
{
	const struct kind *k = &kinds[b];
	char *who = limits_who_can_raise(r, b);
	struct json_object *d = tool_error_limit(
	    k->name, used, at(&r->limits, k->run), k->unit, who);

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
	const char *name = json_member_str(details, "limit");
	char *who;

	for (size_t b = 0; name != NULL && b < LIMITS; b++) {
		const struct kind *k = &kinds[b];

		if (strcmp(k->name, name) != 0)
			continue;
		who = limits_who_can_raise(r, (enum limit)b);
		json_object_object_add(
		    details, "allowed",
		    json_object_new_int64(at(&r->limits, k->run)));
		json_object_object_add(details, "unit",
				       json_object_new_string(k->unit));
		json_object_object_add(details, "whoCanRaise",
				       json_object_new_string(who));
		free(who);
		return;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_limits.c - the limits of a run, and the person who can change each limit. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/config/config_keys.h"
#include "supervisor/run/limits.h"
#include "supervisor/packages/templates/manifest_shape.h"
#include "tests/unit/tap.h"

static struct config_requestor section;
static struct requestor alice = {.section = &section, .name = (char *)"alice"};

static const struct {
	int64_t manifest, def, requestor, max, wish;
	int64_t want;
	const char *who, *name;
} cases[] = {
    {500, 600, 0, 1000, 0, 500,
     "the template's author: limits.maxTimeoutMs, up to the server's "
     "max_run_timeout_ms, or the operator: max_run_timeout_ms in [template "
     "\"large\"]",
     "the manifest's"},
    {TEMPLATE_UNSAID, 600, 0, 1000, 0, 600,
     "the operator: default_timeout_ms in [limits], or the template's author: "
     "limits.maxTimeoutMs, up to the server's max_run_timeout_ms",
     "the default"},
    {5000, 600, 0, 1000, 0, 1000,
     "the operator: max_run_timeout_ms in [limits]", "the server's"},
    {TEMPLATE_UNSAID, 6000, 0, 1000, 0, 1000,
     "the operator: max_run_timeout_ms in [limits]", "a default over it"},
    {500, 600, 400, 1000, 0, 400,
     "the operator: max_run_timeout_ms in [requestor \"alice\"]",
     "the requestor's"},
    {500, 600, 400, 300, 0, 300, "the operator: max_run_timeout_ms in [limits]",
     "the least of all"},
    {500, 600, 400, 1000, 100, 100,
     "the caller: options.timeoutMs, up to the template's limits.maxTimeoutMs",
     "the caller's"},
    {500, 600, 400, 1000, 450, 400,
     "the operator: max_run_timeout_ms in [requestor \"alice\"]",
     "a wish for more than there is"},
};

static void effective(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct config *c = config_new(0);
		struct template t = {
		    .id = (char *)"large",
		    .limits = {.timeout_ms = cases[i].manifest}};
		struct run r = {.requestor = &alice, .template = &t};
		char *who;

		c->default_timeout_ms = cases[i].def;
		c->max_run_timeout_ms = cases[i].max;
		section.max_run_timeout_ms = cases[i].requestor;
		limits_set(&r, c, cases[i].wish);
		who = limits_who_can_raise(&r, LIMIT_TIMEOUT);
		is_int(r.limits.timeout_ms, cases[i].want, "%s", cases[i].name);
		is_str(who, cases[i].who, "%s: who can raise it",
		       cases[i].name);
		free(who);
		config_free(c);
	}
	section = (struct config_requestor){0};
}

#define DIGEST_B                                                               \
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/*
 * The operator has set one limit of a template; the manifest sets the other limits.
 */
static void said_by_operator(void)
{
	struct config *c = config_new(0);
	struct config_template *over;
	struct template t = {
	    .id = (char *)"large",
	    .limits = {.timeout_ms = 500, .memory_bytes = 1 << 20}};
	struct run r = {.requestor = &alice, .template = &t};

	c->overs = xcalloc(1, sizeof(*c->overs));
	c->n_overs = 1;
	over = &c->overs[0];
	over->name = xstrdup("large");
	over->max_memory_bytes = 1 << 30;
	limits_set(&r, c, 0);
	is_int(r.limits.memory_bytes, 1 << 30,
	       "the operator gives a template more than its manifest");
	is_int(r.limits.timeout_ms, 500,
	       "a limit that the operator does not set is the manifest's");
	over->digest = xstrdup(DIGEST_B);
	limits_set(&r, c, 0);
	is_int(r.limits.memory_bytes, 1 << 20,
	       "limits for another package of the template do not hold");
	memcpy(t.digest, DIGEST_B, sizeof(DIGEST_B));
	limits_set(&r, c, 0);
	is_int(r.limits.memory_bytes, 1 << 30,
	       "limits for the package, by digest, hold");
	free(over->digest);
	over->digest = NULL;
	over->name[0] = 'L';
	limits_set(&r, c, 0);
	is_int(r.limits.memory_bytes, 1 << 20, "another template has nothing");
	over->name[0] = 'l';
	section.max_memory_bytes = 1 << 10;
	limits_set(&r, c, 0);
	is_int(r.limits.memory_bytes, 1 << 10,
	       "a requestor is held to what it may have all the same");
	section = (struct config_requestor){0};
	config_free(c);
}

/* The limits for a run before there is a run. */
static void views(void)
{
	struct config *c = config_new(0);
	struct template t = {.id = (char *)"large",
			     .limits = {.timeout_ms = 500, .cpu_ms = 1 << 30}};
	struct json_object *all, *o;

	t.runtime = RUNTIME_PROGRAM;
	t.limits.memory_bytes = TEMPLATE_UNSAID;
	section.max_memory_bytes = 4096;
	all = limits_preview(&t, &alice, c);
	is_int(json_object_object_length(all), LIMITS, "each limit is shown");
	is_str(
	    json_text(json_member(all, "maxTimeoutMs"), NULL),
	    "{\"allowed\":500,\"unit\":\"ms\",\"setBy\":\"manifest\","
	    "\"whoCanRaise\":\"the template's author: limits.maxTimeoutMs, up "
	    "to the server's max_run_timeout_ms, or the operator: "
	    "max_run_timeout_ms in [template \\\"large\\\"]\"}",
	    "how much, and who can raise it");
	o = json_member(all, "maxMemoryBytes");
	is_str(json_member_str(o, "setBy"),
	       "requestor \"alice\": max_memory_bytes",
	       "the requestor's section");
	o = json_member(all, "maxCpuMs");
	is_str(json_member_str(o, "setBy"), "server: max_cpu_ms",
	       "the server's own bound");
	json_object_put(all);
	t.runtime = RUNTIME_LUA;
	t.limits.timeout_ms = TEMPLATE_UNSAID;
	all = limits_preview(&t, &alice, c);
	ok(json_member(all, "maxProcesses") == NULL, "Lua has no processes");
	is_str(json_member_str(json_member(all, "maxTimeoutMs"), "setBy"),
	       "server: default_timeout_ms", "the server's default");
	json_object_put(all);
	section = (struct config_requestor){0};
	config_free(c);
}

/*
 * Every limit has a default, a maximum, a name, a unit and a person who can change the
 * limit.
 */
static void all(void)
{
	struct config *c = config_new(0);
	struct template t;
	struct run r = {.requestor = &alice, .template = &t};

	memset(&t, 0, sizeof(t));
	memset(&t.limits, 0xFF, sizeof(t.limits)); /* no limit is set */
	limits_set(&r, c, 0);
	for (int b = 0; b < LIMITS; b++) {
		struct json_object *d = limits_details(&r, (enum limit)b, 7);
		const char *name = json_member_str(d, "limit");

		ok(json_object_get_int64(json_member(d, "allowed")) > 0,
		   "%s has a default", name);
		ok(strstr(json_member_str(d, "whoCanRaise"), "limits.max") &&
		       strstr(json_member_str(d, "whoCanRaise"), " max_"),
		   "%s: %s", name, json_member_str(d, "whoCanRaise"));
		json_object_put(d);
	}
	config_free(c);
}

static int64_t number(struct json_object *o, const char *key)
{
	return json_object_get_int64(json_member(o, key));
}

/* The manifest's schema has each limit, with bounds and default. */
static void schema(void)
{
	size_t len;
	const char *text = manifest_schema_text(&len), *suggest;
	struct json_object *doc = NULL, *all;

	json_parse(&doc, text, len, NULL);
	all = json_member(json_member(json_member(doc, "properties"), "limits"),
			  "properties");
	is_int(json_object_object_length(all), LIMITS + 2,
	       "all limits, cancelGraceMs and maxConcurrency");
	for (int b = 0; b < LIMITS; b++) {
		const struct limit_info *k = &limit_info[b];
		struct json_object *o = json_member(all, k->manifest);
		const struct config_key *max =
		    config_key_find("limits", k->max_key, &suggest);
		const struct config_key *usual =
		    config_key_find("limits", k->default_key, &suggest);

		ok(max != NULL && usual != NULL && o != NULL,
		   "%s is a limit of manifests, with two keys", k->manifest);
		is_int(number(o, "minimum"), max->min,
		       "the minimum of a manifest's limit");
		ok(number(o, "maximum") >= max->max,
		   "the maximum of a manifest's limit");
		is_int(number(o, "default"), usual->def,
		       "the default of a manifest's limit");
	}
	json_object_put(doc);
}

static void corrects(void)
{
	struct config *c = config_new(0);
	struct template t = {.id = (char *)"large", .limits = {.cpu_ms = 500}};
	struct run r = {.requestor = &alice, .template = &t};
	struct json_object *d;

	limits_set(&r, c, 0);
	json_parse(&d,
		   "{\"limit\":\"cpu\",\"used\":501,\"allowed\":1e9,"
		   "\"unit\":\"years\",\"whoCanRaise\":\"you\"}",
		   strlen("{\"limit\":\"cpu\",\"used\":501,\"allowed\":1e9,"
			  "\"unit\":\"years\",\"whoCanRaise\":\"you\"}"),
		   NULL);
	limits_correct(&r, d);
	is_str(
	    json_text(d, NULL),
	    "{\"limit\":\"cpu\",\"used\":501,\"allowed\":500,\"unit\":\"ms\","
	    "\"whoCanRaise\":\"the template's author: limits.maxCpuMs, up to "
	    "the server's max_cpu_ms, or the operator: max_cpu_ms in "
	    "[template \\\"large\\\"]\"}",
	    "what a worker says of a limit is put right");
	json_object_object_add(d, "limit", json_object_new_string("patience"));
	json_object_object_add(d, "unit", json_object_new_string("days"));
	limits_correct(&r, d);
	is_str(json_member_str(d, "unit"), "days", "of ours alone");
	limits_correct(&r, NULL);
	json_object_put(d);
	config_free(c);
}

static void meets(void)
{
	struct config *c = config_new(0);
	struct template t = {.id = (char *)"large", .limits = {.cpu_ms = 500}};
	struct run r = {.requestor = &alice, .template = &t};
	struct json_object *list;

	limits_set(&r, c, 0);
	ok(limits_hit_details(&r) == NULL, "no limit is met yet");
	limits_hit(&r, LIMIT_CPU, 501);
	limits_hit(&r, LIMIT_CPU, 700);
	limits_hit(&r, LIMIT_CPU, 600);
	list = limits_hit_details(&r);
	is_int(json_object_array_length(list), 1, "one limit is met");
	is_int(json_object_get_int64(
		   json_member(json_object_array_get_idx(list, 0), "used")),
	       700, "a met limit has the largest amount wanted");
	json_object_put(list);
	config_free(c);
}

int main(void)
{
	effective();
	said_by_operator();
	views();
	meets();
	all();
	schema();
	corrects();
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas which are refused, and the cost of validation. */
#include "proto/schema/schema.h"

#include "tests/unit/proto/schema/schema_fixture.h"

TEST(refusals)
{
	static const struct {
		const char *schema, *pointer, *part;
	} rows[] = {
	    {"5", "", "neither an object nor true or false"},
	    {"{\"type\":\"strin\"}", "/type", "\"strin\"; it must be array"},
	    {"{\"type\":[\"string\",\"string\"]}", "/type", "different"},
	    {"{\"properties\":{\"a\":{\"minLength\":-1}}}",
	     "/properties/a/minLength", "at least 0"},
	    {"{\"properties\":{\"a/b\":{\"maxItems\":1.5}}}",
	     "/properties/a~1b/maxItems", "at least 0"},
	    {"{\"allOf\":[{},{\"not\":5}]}", "/allOf/1/not", "a schema"},
	    {"{\"allOf\":[true,7]}", "/allOf/1", "is no schema"},
	    {"{\"anyOf\":[]}", "/anyOf", "non-empty"},
	    {"{\"required\":[\"a\",\"a\"]}", "/required", "different"},
	    {"{\"multipleOf\":0}", "/multipleOf", "above 0"},
	    {"{\"items\":[{}]}", "/items", "prefixItems"},
	    {"{\"$id\":\"a#b\"}", "/$id", "fragment"},
	    {"{\"$anchor\":\"1a\"}", "/$anchor", "a name"},
	    {"{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":"
	     "\"x\"}}}",
	     "/$defs/b/$anchor", "used twice"},
	    {"{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"x\"}}}",
	     "/$defs/b/$id", "another schema"},
	    {"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/no\"}}}",
	     "/properties/a/$ref", "leads nowhere"},
	    {"{\"$ref\":\"#no\"}", "/$ref", "leads nowhere"},
	    {"{\"$ref\":\"https://example.com/none\"}", "/$ref",
	     "nothing is fetched"},
	    {"{\"$ref\":\"#\"}", "", "without end"},
	    {"{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"}]}}}",
	     "/$defs/a", "without end"},
	    {"{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}",
	     "/$schema", "draft-04 is not supported"},
	    {"{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\"}",
	     "/$schema", "2019-09 is not supported"},
	    {"{\"$schema\":\"https://example.com/none\"}", "/$schema",
	     "https://example.com/none is not supported"},
	    {"{\"$schema\":\"https://example.com/strange\"}", "/$schema",
	     "vocabulary https://example.com/vocab"},
	    {"{\"$schema\":\"https://example.com/ping\"}", "/$schema",
	     "above it"},
	    {META "\"title\":\"too long\"}", "/title",
	     "a string of at most 5 characters"},
	    {"{\"properties\":{\"a\":{\"$schema\":"
	     "\"http://json-schema.org/draft-07/schema#\"}}}",
	     "/properties/a/$schema", "own $id"},
	    {"{\"x\":{\"y\":{\"type\":1}},\"$ref\":\"#/x/y\"}", "/x/y/type",
	     "it must be array"},
	    {D7 "\"dependencies\":{\"a\":[1]}}", "/dependencies",
	     "different strings"},
	    {D7 "\"items\":[1]}", "/items/0", "is no schema"},
	    {"{\"pattern\":\"a(\"}", "/pattern", "a ( is not closed"},
	    {"{\"patternProperties\":{\"[b-a]\":{}}}", "/patternProperties",
	     "wrong way round"},
	    {"{\"pattern\":\"(?i)a\"}", "/pattern", "flags"},
	};
	struct schema_error err;
	struct schema *s;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		is_int(compile(&s, rows[i].schema, &err), -EINVAL,
		       "no schema: %s", rows[i].schema);
		is_str(err.pointer, rows[i].pointer,
		       "the error of a refused schema has the pointer");
		if (!ok(strstr(err.text, rows[i].part) != NULL,
			"the text of the error says %s", rows[i].part))
			printf("# %s\n", err.text);
	}
	ok(schema_compile(&s, NULL, NULL, NULL) == -EINVAL && s == NULL,
	   "null is no schema, and nobody has to ask why");
}

/* A remote reference needs a resolver. */
TEST(no_resolver)
{
	struct json_object *doc =
	    parse("{\"$ref\":\"https://example.com/int\"}");
	struct schema_error err;
	struct schema *s;

	is_int(schema_compile(&s, doc, NULL, &err), -EINVAL,
	       "without a resolver a remote $ref is refused");
	is_str(err.keyword, "$ref", "the error without a resolver names $ref");
	json_object_put(doc);
}

/* N times OPEN, then MIDDLE, then N times CLOSE. */
static char *nested(size_t n, const char *open, const char *middle,
		    const char *close)
{
	char *s = xcalloc(
		 n * (strlen(open) + strlen(close)) + strlen(middle) + 1, 1),
	     *p = s;

	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, open);
	p = stpcpy(p, middle);
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, close);
	return s;
}

/* An array of N references to V; takes over V. */
static struct json_object *array_of(size_t n, struct json_object *v)
{
	struct json_object *a = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(a, i == 0 ? v : json_object_get(v));
	return a;
}

/* N arrays in each other. */
static struct json_object *deep_array(size_t n)
{
	struct json_object *v = json_object_new_array();

	for (size_t i = 1; i < n; i++)
		v = array_of(1, v);
	return v;
}

static void bound(const char *schema, struct json_object *v, const char *part,
		  const char *name)
{
	struct schema_error err = {0}, errs[2];
	struct schema *s;

	if (compile(&s, schema, &err) != 0) {
		ok(false, "%s: %s", name, err.text);
		return;
	}
	is_int(schema_validate(s, v, &err), -E2BIG, "%s", name);
	ok(strstr(err.text, part) != NULL,
	   "the error of a costly instance has the text: %s", err.text);
	is_int(schema_validate(s, v, NULL), -E2BIG,
	       "a costly instance is refused without a place for the error");
	is_int(schema_validate_all(s, v, errs, 2), 1,
	       "a costly instance has one error");
	schema_free(s);
}

TEST(time_bounds)
{
	char *as = nested(50, "a", "b", ""),
	     *spaces = nested(100000, " ", "x", "");
	struct json_object *v = json_object_new_string(as);
	struct json_object *w = json_object_new_string(spaces);
	struct json_object *list;

	bound("{\"pattern\":\"^(a+)+$\"}", v, "too long to match",
	      "a regular expression that backtracks for ever is stopped");
	bound("{\"pattern\":\"\\\\s+$\"}", w, "too long to match",
	      "a quadratic regular expression is stopped");
	bound(
	    "{\"pattern\":\"(?:(?=\\\\s*)\\\\s)*y\"}", w, "too long to match",
	    "backtracking in a lookahead is stopped, where PCRE2 does not count");
	bound("{\"pattern\":\"(\\\\s*)\\\\1y\"}", w, "too long to match",
	      "backtracking in a backreference is stopped");
	bound("{\"patternProperties\":{\"^(\\\\w+)+$\":true}}",
	      (list = parse("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}")),
	      "too long to match",
	      "backtracking in a member's name is stopped");
	json_object_put(list);
	json_object_put(v);
	json_object_put(w);
	free(as);
	free(spaces);
}

TEST(size_bounds)
{
	struct json_object *cube =
	    array_of(250, array_of(250, array_of(250, json_object_new_int(1))));
	struct json_object *one = json_object_new_int(1);
	struct json_object *deep = deep_array(3000);
	struct json_object *twins = array_of(2, json_object_get(deep));

	bound("{\"items\":{\"items\":{\"items\":{\"type\":\"integer\"}}}}",
	      cube, "steps", "a check of too many steps is stopped");
	bound("{\"$id\":\"https://example.com/a\",\"$dynamicAnchor\":\"x\","
	      "\"$ref\":\"b\",\"$defs\":{\"b\":{\"$id\":\"b\","
	      "\"$dynamicRef\":\"#x\",\"$defs\":{\"x\":{\"$dynamicAnchor\":"
	      "\"x\"}}}}}",
	      one, "in each other", "a $dynamicRef that goes round is stopped");
	bound("{\"items\":{\"$ref\":\"#\"}}", deep, "in each other",
	      "a value that is too deep is stopped");
	bound("{\"not\":{\"items\":{\"$ref\":\"#\"}}}", deep, "in each other",
	      "a negated value that is too deep does not pass");
	bound("{\"uniqueItems\":true}", twins, "deeper than",
	      "values too deep to compare are not compared");
	json_object_put(cube);
	json_object_put(one);
	json_object_put(deep);
	json_object_put(twins);
}

static void refuse_large(struct json_object *doc, const char *part,
			 const char *name)
{
	struct schema_error err = {0};
	struct schema *s;

	is_int(schema_compile(&s, doc, NULL, &err), -EINVAL, "%s", name);
	ok(strstr(err.text, part) != NULL,
	   "the error of a large schema has the text: %s", err.text);
	json_object_put(doc);
}

TEST(schema_bounds)
{
	struct json_object *wide = json_object_new_object();
	struct json_object *deep = json_object_new_object(), *up;
	struct json_object *chain = json_object_new_object(), *defs;
	char key[32], ref[48];

	for (int i = 0; i < SCHEMA_NODES_MAX; i++) {
		snprintf(key, sizeof(key), "p%d", i);
		json_object_object_add(wide, key, json_object_new_object());
	}
	up = json_object_new_object();
	json_object_object_add(up, "properties", wide);
	refuse_large(up, "more than 10000 subschemas", "no schema: too wide");

	for (int i = 0; i <= SCHEMA_DEPTH_MAX; i++) {
		up = json_object_new_object();
		json_object_object_add(up, "not", deep);
		deep = up;
	}
	refuse_large(deep, "64 deep", "no schema: too deep");

	defs = json_object_new_object();
	for (int i = 0; i < SCHEMA_INLINE_MAX + 2; i++) {
		snprintf(key, sizeof(key), "d%d", i);
		snprintf(ref, sizeof(ref), "#/$defs/d%d", i + 1);
		up = json_object_new_object();
		if (i < SCHEMA_INLINE_MAX + 1)
			json_object_object_add(up, "$ref",
					       json_object_new_string(ref));
		json_object_object_add(defs, key, up);
	}
	json_object_object_add(chain, "$defs", defs);
	json_object_object_add(chain, "$ref",
			       json_object_new_string("#/$defs/d0"));
	refuse_large(chain, "in a row", "no schema: too long a chain of $ref");
}

/* A large array of different values must be accepted. */
TEST(large_sets)
{
	struct json_object *v = json_object_new_array();
	struct schema_error err;
	struct schema *s;

	for (int i = 0; i < 200000; i++)
		json_object_array_add(v, json_object_new_int(i));
	compile(&s, "{\"uniqueItems\":true}", &err);
	is_int(schema_validate(s, v, &err), 0, "200000 items that differ");
	json_object_array_add(v, json_object_new_double(77.0));
	is_int(schema_validate(s, v, &err), -EINVAL,
	       "an item equal to one of 200000 others is refused");
	ok(strstr(err.text, "items 77 and 200000 equal") != NULL,
	   "  is named: %s", err.text);
	schema_free(s);
	json_object_put(v);
}

/* ---- the cost of a check ---- */

#define RECURSIVE                                                              \
	"{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"anyOf\":["                \
	"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"not\":{}},"        \
	"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"not\":{}},"        \
	"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"not\":{}}"         \
	"]}}}"

/* An array of N integers, all different. */
static struct json_object *numbers(size_t n)
{
	struct json_object *a = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(a, json_object_new_int((int)i));
	return a;
}

static struct json_object *members(size_t n)
{
	struct json_object *o = json_object_new_object();
	char key[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "key%zu", i);
		json_object_object_add(o, key, json_object_new_int(1));
	}
	return o;
}

static struct json_object *nested_objects(size_t n)
{
	char *text = nested(n, "{\"a\":", "{}", "}");
	struct json_object *v = parse(text);

	free(text);
	return v;
}

static struct json_object *string_of(size_t n)
{
	char *text = nested(n, "a", "!", "");
	struct json_object *v = json_object_new_string(text);

	free(text);
	return v;
}

static struct json_object *digits(size_t n)
{
	char *zeros = nested(n, "0", "5", ""), *text = xasprintf("1.%s", zeros);
	struct json_object *v = parse(text);

	free(zeros);
	free(text);
	return v;
}

/* A charge comes before the charged work, and is at most as large as the work. */
#define AT_ONCE(bytes) (2 * (uint64_t)(bytes))

/*
 * The expensive steps of a check are charged: each of the following checks must stop at
 * the budget, name the place in the schema, and not begin work beyond the budget.
 */
TEST(budget)
{
	const struct {
		const char *schema, *place;
		struct json_object *v; /* taken */
		size_t bytes;	       /* of the longest string or number */
	} rows[] = {
	    {RECURSIVE, "/$defs/n/anyOf", nested_objects(20), 0},
	    {"{\"items\":{\"type\":\"integer\"}}", "/items", numbers(200000),
	     0},
	    {"{\"items\":{}}", "/items", numbers(200000), 0},
	    {"{\"contains\":{\"type\":\"string\"}}", "/contains",
	     numbers(200000), 0},
	    {"{\"uniqueItems\":true}", "/uniqueItems", numbers(200000), 0},
	    {"{\"unevaluatedItems\":{\"type\":\"integer\"}}",
	     "/unevaluatedItems", numbers(200000), 0},
	    {"{\"items\":{\"multipleOf\":0.1}}", "/items", numbers(200000), 0},
	    {"{\"items\":{\"enum\":[1,2,{\"a\":3}]}}", "/items",
	     array_of(50000, parse("{\"a\":3}")), 0},
	    {"{\"additionalProperties\":{\"type\":\"integer\"}}", "/properties",
	     members(100000), 0},
	    {"{\"propertyNames\":{\"maxLength\":50}}", "/propertyNames",
	     members(100000), 0},
	    {"{\"unevaluatedProperties\":{\"type\":\"integer\"}}",
	     "/unevaluatedProperties", members(100000), 0},
	    {"{\"patternProperties\":{\"^k.*\":{}}}", "/properties",
	     members(100000), 0},
	    {"{\"pattern\":\"^(a+)+$\"}", "/pattern", string_of(50), 50},
	    {"{\"pattern\":\"a+b\"}", "/pattern", string_of(1000000), 1000000},
	    {"{\"format\":\"uri-reference\"}", "/format", string_of(1000000),
	     1000000},
	    {"{\"format\":\"regex\"}", "/format", string_of(100000), 600000},
	    {"{\"minLength\":3000000,\"maxLength\":1}", "/minLength",
	     string_of(5000000), 5000000},
	    {"{\"type\":\"integer\"}", "/type", digits(1000000), 1000000},
	    {"{\"multipleOf\":0.25}", "/multipleOf", digits(1000000), 1000000},
	    {"{\"minimum\":1}", "/minimum", digits(1000000), 1000000},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct schema_budget b = {.allowed = SCHEMA_STEPS_INLINE};
		struct schema_error err = {0};
		struct schema *s;

		compile(&s, rows[i].schema, &err);
		is_int(schema_check(s, rows[i].v, &b, &err), -E2BIG,
		       "too much for a loop: %.60s", rows[i].schema);
		is_str(err.schema, rows[i].place,
		       "the error beyond the budget names the place");
		ok(b.used <= b.allowed + AT_ONCE(1000 + rows[i].bytes),
		   "a check beyond the budget ends at %llu steps",
		   (unsigned long long)b.used);
		ok(rows[i].place[0] == '\0' ||
		       strstr(err.text, rows[i].place) != NULL,
		   "the text beyond the budget names the place: %s", err.text);
		schema_free(s);
		json_object_put(rows[i].v);
	}
}

/* Checks for one request share a budget. */
TEST(shared_budget)
{
	struct schema_budget b = {.allowed = SCHEMA_STEPS_MAX};
	struct json_object *v = nested_objects(8);
	struct json_object *list = numbers(10000);
	struct schema_error err;
	uint64_t once;
	struct schema *s;

	compile(&s, RECURSIVE, &err);
	is_int(schema_check(s, v, &b, NULL), -EINVAL,
	       "a check without a reason fails within the budget");
	once = b.used;
	b.used = 0;
	is_int(schema_check(s, v, &b, &err), -EINVAL,
	       "a check with a reason fails within the budget");
	ok(strstr(err.text, "under not refuses") != NULL,
	   "the reason is told within the budget: %s", err.text);
	ok(b.used > once, "a check with a reason takes more steps");
	b = (struct schema_budget){.allowed = once + 100};
	is_int(schema_check(s, v, &b, &err), -EINVAL,
	       "a check fails though no steps are left for the reason");
	ok(strstr(err.text, "to say where takes more") != NULL,
	   "the text says that no steps are left for the reason: %s", err.text);
	ok(b.used <= once + 100 + AT_ONCE(100),
	   "the search for a reason ends at the budget");
	schema_free(s);
	json_object_put(v);

	compile(&s, "{\"items\":{\"type\":\"integer\"}}", &err);
	b = (struct schema_budget){.allowed = 30000};
	is_int(schema_check(s, list, &b, &err), 0, "one check is possible");
	is_int(schema_check(s, list, &b, &err), -E2BIG,
	       "two checks by the same budget are refused");
	is_int(schema_check(s, list, &b, &err), -E2BIG,
	       "a further check by an exhausted budget is refused");
	schema_free(s);
	json_object_put(list);
}

static bool not_for_long(void *arg)
{
	return --*(int *)arg > 0;
}

TEST(time)
{
	int asks = 3;
	struct schema_budget b = {
	    .allowed = SCHEMA_STEPS_MAX, .goes_on = not_for_long, .arg = &asks};
	struct json_object *v = numbers(200000);
	struct schema_options opt = {.budget = &b};
	struct schema_error err;
	struct schema *s;

	compile(&s, "{\"items\":{\"type\":\"integer\"}}", &err);
	is_int(schema_check(s, v, &b, &err), -ETIME,
	       "a check stops when the clock says so");
	is_int(asks, 0, "a check asks the clock");
	ok(b.used <= 3 * SCHEMA_ASK_STEPS,
	   "a check asks the clock often enough: %llu",
	   (unsigned long long)b.used);
	is_str(err.schema, "/items",
	       "a check stopped by the clock names the place");
	schema_free(s);
	json_object_put(v);
	asks = 1;
	v = parse("{\"properties\":{\"a\":{},\"b\":{}}}");
	is_int(schema_compile(&s, v, &opt, &err), -EINVAL,
	       "compiling stops when the clock says so");
	ok(strstr(err.text, "longer to compile") != NULL,
	   "the text about compiling names the time: %s", err.text);
	json_object_put(v);
}

/* {KEYWORD: [MEMBER, ...]} with N members, or an object of members named "mI". */
static struct json_object *repeated(const char *keyword, size_t n, bool object,
				    const char *fmt)
{
	struct json_object *all =
	    object ? json_object_new_object() : json_object_new_array();
	struct json_object *doc = json_object_new_object();
	char key[32], text[256];

	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "m%zu", i);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), fmt, i);
#pragma GCC diagnostic pop
		if (object)
			json_object_object_add(all, key, parse(text));
		else
			json_object_array_add(all, parse(text));
	}
	json_object_object_add(doc, keyword, all);
	return doc;
}

TEST(compile_bounds)
{
	struct schema_budget b = {.allowed = 20000};
	struct schema_options opt = {.budget = &b};
	struct json_object *doc =
	    repeated("enum", 100000, false, "\"value %zu\"");
	struct schema_error err;
	struct schema *s;

	is_int(schema_compile(&s, doc, &opt, &err), -EINVAL,
	       "compiling has a budget, too");
	is_str(err.pointer, "/enum",
	       "compiling beyond the budget names the place");
	ok(b.used <= b.allowed + 1000, "compiling stops at the budget");
	is_int(schema_compile(&s, doc, NULL, &err), 0,
	       "an enum of 100000 can be had, though");
	schema_free(s);
	json_object_put(doc);
	refuse_large(repeated("allOf", 9000, false,
			      "{\"pattern\":\"^(?:[a-z]{1,50}){1,50}$\"}"),
		     "bytes of memory", "no schema: patterns that take memory");
	refuse_large(repeated("$defs", 2000, true, "{\"$anchor\":\"a%zu\"}"),
		     "more than 1000 anchors", "no schema: too many anchors");
	refuse_large(repeated("$defs", 2000, true, "{\"$id\":\"a%zu\"}"),
		     "more than 500 schemas", "no schema: too many $id");
}

int main(void)
{
	tap_run();
	return done();
}

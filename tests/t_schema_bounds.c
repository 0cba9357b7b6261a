/* Schemas that are refused, and what validating may cost. */
#include "proto/schema.h"

#include "tests/schema_help.h"

static void test_refusals(void)
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
		is_str(err.pointer, rows[i].pointer, "  its pointer");
		if (!ok(strstr(err.text, rows[i].part) != NULL,
			"  its text says %s", rows[i].part))
			printf("# %s\n", err.text);
	}
	ok(schema_compile(&s, NULL, NULL, NULL) == -EINVAL && s == NULL,
	   "null is no schema, and nobody has to ask why");
}

/* A remote reference needs a resolver. */
static void test_no_resolver(void)
{
	struct json_object *doc =
	    parse("{\"$ref\":\"https://example.com/int\"}");
	struct schema_error err;
	struct schema *s;

	is_int(schema_compile(&s, doc, NULL, &err), -EINVAL,
	       "without a resolver a remote $ref is refused");
	is_str(err.keyword, "$ref", "  by its keyword");
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

/* An array of N times the same V, which it takes. */
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
	ok(strstr(err.text, part) != NULL, "  and it says so: %s", err.text);
	is_int(schema_validate(s, v, NULL), -E2BIG, "  asked or not");
	is_int(schema_validate_all(s, v, errs, 2), 1, "  once");
	schema_free(s);
}

static void test_time_bounds(void)
{
	char *as = nested(50, "a", "b", ""),
	     *spaces = nested(100000, " ", "x", "");
	struct json_object *v = json_object_new_string(as);
	struct json_object *w = json_object_new_string(spaces);
	struct json_object *list;

	bound("{\"pattern\":\"^(a+)+$\"}", v, "too long to match",
	      "a regular expression that backtracks for ever is stopped");
	bound("{\"pattern\":\"\\\\s+$\"}", w, "too long to match",
	      "so is one that is quadratic");
	bound("{\"pattern\":\"(?:(?=\\\\s*)\\\\s)*y\"}", w, "too long to match",
	      "also in a lookahead, where PCRE2 does not count");
	bound("{\"pattern\":\"(\\\\s*)\\\\1y\"}", w, "too long to match",
	      "or in a backreference");
	bound("{\"patternProperties\":{\"^(\\\\w+)+$\":true}}",
	      (list = parse("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}")),
	      "too long to match", "and for a member's name");
	json_object_put(list);
	json_object_put(v);
	json_object_put(w);
	free(as);
	free(spaces);
}

static void test_size_bounds(void)
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
	      "and does not pass for not passing");
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
	ok(strstr(err.text, part) != NULL, "  and it says so: %s", err.text);
	json_object_put(doc);
}

static void test_schema_bounds(void)
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

/* A large array of different values is no reason to refuse it. */
static void test_large_sets(void)
{
	struct json_object *v = json_object_new_array();
	struct schema_error err;
	struct schema *s;

	for (int i = 0; i < 200000; i++)
		json_object_array_add(v, json_object_new_int(i));
	compile(&s, "{\"uniqueItems\":true}", &err);
	is_int(schema_validate(s, v, &err), 0, "200000 items that differ");
	json_object_array_add(v, json_object_new_double(77.0));
	is_int(schema_validate(s, v, &err), -EINVAL, "and one that does not");
	ok(strstr(err.text, "items 77 and 200000 equal") != NULL,
	   "  is named: %s", err.text);
	schema_free(s);
	json_object_put(v);
}

int main(void)
{
	test_refusals();
	test_no_resolver();
	test_time_bounds();
	test_size_bounds();
	test_schema_bounds();
	test_large_sets();
	return done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_json_cost.c - what a tree is said to cost, beside what malloc(3) says of it. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "proto/json/json.h"
#include "tests/unit/tap.h"

#define TIMES 20000

static size_t allocated(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* "[PIECE,PIECE...]", with a number for each '#', in BRACKETS. */
static void put(struct buf *text, const char *piece, const char *brackets)
{
	buf_add(text, brackets, 1);
	for (int i = 0; i < TIMES; i++) {
		if (i > 0)
			buf_add(text, ",", 1);
		for (const char *p = piece; *p != '\0'; p++)
			if (*p == '#')
				buf_printf(text, "%d", i);
			else
				buf_add(text, p, 1);
	}
	buf_add(text, brackets + 1, 1);
}

TEST(costs)
{
	static const char *const pieces[] = {
	    "0",
	    "1.5",
	    "\"\"",
	    "\"a text that is as long as many texts are, say, a sentence\"",
	    "[]",
	    "{}",
	    "null",
	    "{\"a\":1}",
	    "{\"a\":1,\"b\":2,\"c\":3}",
	    "{\"a\":{\"b\":[true,1,\"x\"]},\"name\":\"value\",\"n\":[[]]}",
	    "[1,2,3,4,5]",
	    ("{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,"
	     "\"i\":9,\"j\":10,\"k\":11,\"l\":12,\"m\":13}"),
	};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct json_object *tree;
		struct buf text = {0};
		size_t before, is, cost;

		put(&text, pieces[i], "[]");
		before = allocated();
		json_parse_cost(&tree, buf_data(&text), buf_len(&text),
				JSON_VALUES_MAX, &cost, NULL);
		is = allocated() - before;
		ok(cost >= is - is / 20 && cost <= is + is / 2,
		   "%s: %zu bytes are told of %zu", pieces[i], cost, is);
		ok(json_cost_most(buf_data(&text), buf_len(&text)) >= cost,
		   "%s: and no more than is feared", pieces[i]);
		json_object_put(tree);
		buf_fini(&text);
	}
}

TEST(one_object)
{
	struct json_object *tree;
	struct buf text = {0};
	size_t before, is, cost;

	put(&text, "\"#\":0", "{}");
	before = allocated();
	json_parse_cost(&tree, buf_data(&text), buf_len(&text), JSON_VALUES_MAX,
			&cost, NULL);
	is = allocated() - before;
	ok(cost >= is - is / 20 && cost <= is + is / 2,
	   "one object of many names: %zu bytes are told of %zu", cost, is);
	ok(json_cost_most(buf_data(&text), buf_len(&text)) >= cost,
	   "the cost of an object is within the bound from the text");
	json_object_put(tree);
	buf_fini(&text);
}

TEST(skim)
{
	static const char text[] =
	    "{\"id\":7,\"method\":\"m\",\"params\":{\"a\":[1,{\"b\":\"c\"}],\"a\":2}}";
	struct json_object *tree;
	struct buf deep = {0};
	struct json_error err;
	size_t before;

	is_int((int64_t)json_cost_most("[\",,[{,\\\",,\",1]", 16),
	       (int64_t)json_cost_most("[\"xxxxxxxxxx\",1]", 16),
	       "commas and brackets within a string are no values");
	is_int(json_skim(&tree, text, strlen(text), &err), 0,
	       "a text can be skimmed");
	is_str(json_text(tree, NULL),
	       "{\"id\":7,\"method\":\"m\",\"params\":{}}",
	       "a skimmed message has the members without contents");
	json_object_put(tree);
	ok(json_skim(&tree, "{\"a\":[1,{\"b\":[}]}", 17, &err) != 0 &&
	       tree == NULL,
	   "malformed JSON within a skimmed member is refused");
	for (int i = 0; i < JSON_DEPTH_MAX + 1; i++)
		buf_add(&deep, "[", 1);
	ok(json_skim(&tree, buf_data(&deep), buf_len(&deep), &err) != 0,
	   "JSON nested too deeply is refused by a skim");
	buf_fini(&deep);
	put(&deep, "[0,{\"a\":1}]", "[]");
	before = allocated();
	json_skim(&tree, buf_data(&deep), buf_len(&deep), &err);
	ok(allocated() - before < 4096 + TIMES * 200,
	   "%zu bytes are all that a large one takes", allocated() - before);
	json_object_put(tree);
	buf_fini(&deep);
}

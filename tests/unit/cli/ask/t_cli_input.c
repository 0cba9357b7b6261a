/* SPDX-License-Identifier: Apache-2.0 */
/* t_cli_input.c - -i KEY=VALUE, typed by the inputsSchema. */
#include "cli/ask/input.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/tap_json.h"

static const char schema_text[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"$defs\":{\"port\":"
    "{\"type\":\"integer\"},\"file\":{\"anyOf\":[{\"type\":\"string\"},"
    "{\"type\":\"object\",\"properties\":{\"$artifact\":{}}}]}},"
    "\"properties\":{"
    "\"n\":{\"type\":\"integer\"},\"x\":{\"type\":\"number\"},"
    "\"s\":{\"type\":\"string\"},\"b\":{\"type\":\"boolean\"},"
    "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"ports\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/port\"}},"
    "\"o\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":"
    "{\"deep\":{\"type\":\"integer\"},\"p\":{\"type\":\"object\",\"properties\":"
    "{\"q\":{\"type\":\"string\"}}}}},"
    "\"a.b\":{\"type\":\"string\"},"
    "\"either\":{\"type\":[\"integer\",\"string\"]},"
    "\"branch\":{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"integer\"}]},"
    "\"mode\":{\"enum\":[\"fast\",\"slow\"]},\"level\":{\"enum\":[1,2]},"
    "\"port\":{\"$ref\":\"#/$defs/port\"},\"any\":{},"
    "\"file\":{\"$ref\":\"#/$defs/file\"},\"files\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$ref\":\"#/$defs/file\"}},"
    "\"pile\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/file\"}}}}";

static const struct {
	const char *words[4];
	const char *want;   /* the inputs as JSON; NULL: refused */
	const char *errmsg; /* part of the sentence */
	const char *name;
} cases[] = {
    {{"n=5"}, "{\"n\":5}", NULL, "an integer is a number"},
    {{"x=1.50"}, "{\"x\":1.50}", NULL, "a number keeps its text"},
    {{"x=5"}, "{\"x\":5}", NULL, "an integer passes as a number"},
    {{"s=5"}, "{\"s\":\"5\"}", NULL, "what looks like a number stays a text"},
    {{"s="}, "{\"s\":\"\"}", NULL, "a text may be empty"},
    {{"s=a=b"}, "{\"s\":\"a=b\"}", NULL, "the first = parts key and value"},
    {{"s=\"q\""}, "{\"s\":\"\\\"q\\\"\"}", NULL, "quotes are part of a text"},
    {{"s=@@home"}, "{\"s\":\"@home\"}", NULL, "@@ begins a text with @"},
    {{"s=env:T_SECRET"},
     "{\"s\":\"@/etc/env:x\"}",
     NULL,
     "env: is a variable, taken as it is"},
    {{"n=env:T_NUMBER"}, "{\"n\":7}", NULL, "... by the type of the input"},
    {{"any:=env:T_NUMBER"}, "{\"any\":7}", NULL, "... or as JSON"},
    {{"list=env:T_NUMBER", "list=b"},
     "{\"list\":[\"7\",\"b\"]}",
     NULL,
     "... or as an element"},
    {{"s=env::T_NUMBER"},
     "{\"s\":\"env:T_NUMBER\"}",
     NULL,
     "env:: begins a text with env:"},
    {{"file=text"}, "{\"file\":\"text\"}", NULL, "a file may be its text"},
    {{"file={\"a\":1}"},
     "{\"file\":\"{\\\"a\\\":1}\"}",
     NULL,
     "...whatever that looks like"},
    {{"file={\"$artifact\":\"x\"}"},
     "{\"file\":{\"$artifact\":\"x\"}}",
     NULL,
     "...or name an artifact"},
    {{"file=@tests/unit/cli/ask/t_file.txt"},
     "{\"file\":{\"text\":\"a,b\\n\",\"name\":\"t_file.txt\"}}",
     NULL,
     "one that is read has its name"},
    {{"file=@tests/unit/cli/ask/t_file.bin"},
     "{\"file\":{\"base64\":\"/wA=\",\"name\":\"t_file.bin\"}}",
     NULL,
     "...and is in base64 where it is no text"},
    {{"files.a.csv=x"},
     "{\"files\":{\"a.csv\":\"x\"}}",
     NULL,
     "a file among others"},
    {{"file=@@/no/such"},
     "{\"file\":{}}",
     NULL,
     "one that is uploaded comes later"},
    {{"pile=@@a", "pile=b"}, "{\"pile\":[{},\"b\"]}", NULL, "a list of files"},
    {{"s=@@env:x"}, "{\"s\":\"@env:x\"}", NULL, "one escape a text"},
    {{"s=env:T_UNSET"},
     NULL,
     "no variable \"T_UNSET\"",
     "a variable that is not set"},
    {{"n=env:T_SECRET"},
     NULL,
     "n has to be an integer",
     "a variable of the wrong type, without its words"},
    {{"b=true"}, "{\"b\":true}", NULL, "true is a boolean"},
    {{"list=[\"a\",\"b\"]"},
     "{\"list\":[\"a\",\"b\"]}",
     NULL,
     "a list as JSON"},
    {{"list=a", "list=b"},
     "{\"list\":[\"a\",\"b\"]}",
     NULL,
     "a list element by element"},
    {{"ports=80", "ports=443"},
     "{\"ports\":[80,443]}",
     NULL,
     "elements are typed, through a $ref"},
    {{"o={\"deep\":1}"}, "{\"o\":{\"deep\":1}}", NULL, "an object as JSON"},
    {{"o.deep=1"}, "{\"o\":{\"deep\":1}}", NULL, "dots lead into an object"},
    {{"o.p.q=1"}, "{\"o\":{\"p\":{\"q\":\"1\"}}}", NULL, "and on"},
    {{"a.b=1"}, "{\"a.b\":\"1\"}", NULL, "unless the key itself has a dot"},
    {{"either=1"}, "{\"either\":1}", NULL, "the number wins over the text"},
    {{"either=one"}, "{\"either\":\"one\"}", NULL, "else it is a text"},
    {{"either=1.5"},
     "{\"either\":\"1.5\"}",
     NULL,
     "a number of the wrong kind is a text where that may be"},
    {{"branch=3"}, "{\"branch\":3}", NULL, "anyOf's types count together"},
    {{"branch=null"}, "{\"branch\":null}", NULL, "null as well"},
    {{"mode=fast"},
     "{\"mode\":\"fast\"}",
     NULL,
     "an enum's values say its type"},
    {{"level=2"}, "{\"level\":2}", NULL, "also where they are numbers"},
    {{"port=8080"}, "{\"port\":8080}", NULL, "a $ref is followed"},
    {{"any=5"}, "{\"any\":5}", NULL, "JSON where the schema does not say"},
    {{"any=x y"}, "{\"any\":\"x y\"}", NULL, "else a text"},
    {{"s:=[1]"}, "{\"s\":[1]}", NULL, ":= is JSON, whatever the schema says"},
    {{"n=1", "n=2"}, "{\"n\":2}", NULL, "the last one counts"},
    {{"n=five"}, NULL, "n has to be an integer", "no integer"},
    {{"n=1.5"}, NULL, "n has to be an integer", "a fraction is no integer"},
    {{"n=1.0"}, "{\"n\":1.0}", NULL, "but 1.0 is one"},
    {{"b=yes"}, NULL, "b has to be true or false", "yes is no boolean"},
    {{"b=1"}, NULL, "b has to be true or false", "nor is 1"},
    {{"x=1e999"}, NULL, "x has to be a number", "a number out of range"},
    {{"o=[]"}, NULL, "o has to be a JSON object", "a list is no object"},
    {{"ports=http"},
     NULL,
     "ports is a list, and each element has to be an integer",
     "a wrong element"},
    {{"ports=1,2"}, NULL, "ports is a list", "nor are two with a comma one"},
    {{"ports=[1,"}, NULL, "ports is not JSON", "a list that has no end"},
    {{"any:=nope"}, NULL, "any is not JSON", ":= refuses what is not JSON"},
    {{"any:={\n  x}"},
     NULL,
     "any is not JSON: line 2, column 3: expected a member's name",
     "and says where"},
    {{"o={\"deep\":1,}"},
     NULL,
     "o has to be a JSON object, and this is not JSON: line 1, column 11: ",
     "an object with a comma too many"},
    {{"n=[1"},
     NULL,
     "n has to be an integer, and this is not JSON: line 1, column 3",
     "nor is an open list an integer"},
    {{"lsit=a"}, NULL, "did you mean \"list\"?", "a mistyped key"},
    {{"zzzzzz=a"}, NULL, "takes no input \"zzzzzz\"", "an unknown key"},
    {{"o.deeep=1"}, NULL, "did you mean \"deep\"?", "a mistyped key within"},
    {{"n"}, NULL, "key=value", "a key alone"},
    {{"=5"}, NULL, "key=value", "a value alone"},
    {{":=5"}, NULL, "key=value", "a JSON value alone"},
    {{"s=@/does/not/exist"},
     NULL,
     "/does/not/exist: No such file",
     "a file that is not there"},
};

TEST(cases)
{
	struct json_object *schema = parse(schema_text);

	setenv("T_SECRET", "@/etc/env:x", 1);
	setenv("T_NUMBER", "7", 1);
	unsetenv("T_UNSET");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *o = json_object_new_object();
		char errmsg[512] = "";
		int rc = 0;

		for (size_t j = 0; rc == 0 && cases[i].words[j] != NULL; j++)
			rc = input_put(o, schema, cases[i].words[j], errmsg,
				       sizeof(errmsg));
		if (cases[i].want != NULL) {
			is_str(rc == 0 ? json_text(o, NULL) : errmsg,
			       cases[i].want, "%s", cases[i].name);
		} else if (!ok(rc < 0 &&
				   strstr(errmsg, cases[i].errmsg) != NULL,
			       "refused: %s", cases[i].name)) {
			printf("# %s\n", rc < 0 ? errmsg : json_text(o, NULL));
		}
		json_object_put(o);
	}
	json_object_put(schema);
}

TEST(no_schema)
{
	struct json_object *o = json_object_new_object();
	char errmsg[512];

	is_int(input_put(o, NULL, "a=1", errmsg, sizeof(errmsg)), 0,
	       "without a schema a value is taken");
	is_int(input_put(o, NULL, "b=x", errmsg, sizeof(errmsg)), 0,
	       "without a schema any text is taken");
	is_int(input_put(o, NULL, "c.d=x", errmsg, sizeof(errmsg)), 0,
	       "under any key");
	is_str(json_text(o, NULL), "{\"a\":1,\"b\":\"x\",\"c.d\":\"x\"}",
	       "JSON where it is JSON");
	json_object_put(o);
}

TEST(files)
{
	struct json_object *schema = parse(schema_text);
	struct json_object *o = json_object_new_object();
	char path[] = "/tmp/t_cli_input-XXXXXX", word[64], errmsg[512];
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, "7\n", 2) != 2)
		abort();
	snprintf(word, sizeof(word), "s=@%s", path);
	is_int(input_put(o, schema, word, errmsg, sizeof(errmsg)), 0,
	       "a file's text");
	snprintf(word, sizeof(word), "n=@%s", path);
	is_int(input_put(o, schema, word, errmsg, sizeof(errmsg)), 0,
	       "a file's number");
	snprintf(word, sizeof(word), "any:=@%s", path);
	is_int(input_put(o, schema, word, errmsg, sizeof(errmsg)), 0,
	       "a file with JSON is read");
	is_str(json_text(o, NULL), "{\"s\":\"7\\n\",\"n\":7,\"any\":7}",
	       "a file as text keeps the last newline");
	if (pwrite(fd, "\xFF", 1, 0) != 1)
		abort();
	snprintf(word, sizeof(word), "s=@%s", path);
	ok(input_put(o, schema, word, errmsg, sizeof(errmsg)) < 0 &&
	       strstr(errmsg, "UTF-8") != NULL,
	   "a file that is no text is refused");
	close(fd);
	unlink(path);
	json_object_put(o);
	json_object_put(schema);
}

TEST(merge)
{
	struct json_object *into = parse("{\"a\":1,\"o\":{\"x\":1,\"y\":[1]}}");
	struct json_object *from = parse("{\"b\":2,\"o\":{\"y\":[2],\"z\":3}}");

	input_merge(into, from);
	is_str(json_text(into, NULL),
	       "{\"a\":1,\"o\":{\"x\":1,\"y\":[2],\"z\":3},\"b\":2}",
	       "objects are merged, lists replaced");
	json_object_put(into);
	json_object_put(from);
}

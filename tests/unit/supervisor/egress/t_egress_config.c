/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_egress_config.c - paddock-egress is started with the files of the configuration's
 * secrets and no others, and programs get placeholders.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/egress/egress.h"
#include "tests/unit/tap.h"

static const char text[] =
    "[secret \"one\"]\nfile = /keys/one\nhosts = a.test\nbasic = me\n"
    "variable = ONE\n"
    "[secret \"two\"]\nfile = /keys/two\nhosts = a.test\nbasic = me\n"
    "variable = TWO\nplaceholder = ghu_twotwotwo\n"
    "[secret \"three\"]\nfile = /keys/three\nhosts = a.test\nbasic = me\n";

static void starts(const struct config *c)
{
	static const struct {
		const char *argv[5];
		bool may;
		const char *name;
	} cases[] = {
	    {{"paddock-egress"}, true, "no file"},
	    {{"x", "--secret-file", "/keys/one"}, true, "a secret's file"},
	    {{"x", "--secret-file", "/keys/one", "--secret-file"},
	     false,
	     "a flag without a file"},
	    {{"x", "--secret-file", "/etc/shadow"}, false, "another file"},
	    {{"x", "--secret-file", "/keys/one/../x"}, false, "a way around"},
	    {{"x", "--log-level", "debug"}, false, "another flag"},
	    {{"x", "/keys/one"}, false, "a file without the flag"},
	    {{NULL}, false, "nothing"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_int(egress_may_start(c, (char *const *)cases[i].argv),
		       cases[i].may, "paddock-egress with %s %s started",
		       cases[i].name, cases[i].may ? "is" : "is not");
}

static void variables(const struct config *c)
{
	static const char want[] =
	    "ONE=paddock-placeholder-one\0TWO=ghu_twotwotwo";
	struct json_object *names =
	    json_tokener_parse("[\"one\", \"two\", \"three\", \"none\"]");
	size_t len;
	char *got = egress_variables(c, names, &len);

	ok(len == sizeof(want) && memcmp(got, want, len) == 0,
	   "secrets with a variable have a placeholder");
	free(got);
	got = egress_variables(c, NULL, &len);
	is_int(len, 0, "without secrets there is no variable");
	free(got);
	json_object_put(names);
}

int main(void)
{
	struct config *c = config_new(0);
	char errmsg[512] = "";

	is_int(config_read_text(c, "f", text, strlen(text), errmsg,
				sizeof(errmsg)),
	       0, "the secrets are read: %s", errmsg);
	starts(c);
	variables(c);
	config_free(c);
	return tap_done();
}

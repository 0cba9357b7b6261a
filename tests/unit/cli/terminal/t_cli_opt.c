/* SPDX-License-Identifier: Apache-2.0 */
/* t_cli_opt.c - flags by table. */
#include "cli/terminal/opt.h"

#include <errno.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static struct {
	bool json, quiet;
	const char *mode;
	struct opt_list set;
} got;

static const struct opt own[] = {
    {"mode", 'm', OPT_TEXT, &got.mode, "MODE", "how"},
    {"set", 'i', OPT_LIST, &got.set, "KEY=VALUE", "what"},
};
static const struct opt all[] = {
    {"json", 0, OPT_FLAG, &got.json, NULL, "JSON"},
    {"quiet", 'q', OPT_FLAG, &got.quiet, NULL, "nothing"},
};

static char errmsg[256];

static int parse(struct opt_list *rest, const char *const *argv)
{
	const struct opt_set sets[] = {{own, ARRAY_LEN(own)},
				       {all, ARRAY_LEN(all)}};
	int argc = 0;

	while (argv[argc] != NULL)
		argc++;
	opt_list_free(&got.set);
	got.json = got.quiet = false;
	got.mode = NULL;
	errmsg[0] = '\0';
	return opt_parse(sets, 2, rest, argc, argv, errmsg, sizeof(errmsg));
}

static void test_good(void)
{
	struct opt_list rest = {0};

	is_int(
	    parse(&rest, (const char *[]){"a", "--json", "--mode", "sync", "-i",
					  "x=1", "b", "-iy=2", "-", "--set=z=3",
					  "-q", "--", "--json", NULL}),
	    0, "flags and operands may be mixed");
	ok(got.json && got.quiet, "flags are set");
	is_str(got.mode, "sync", "a value is the next word");
	is_int(got.set.n, 3, "a list grows");
	is_str(got.set.item[1], "y=2", "a letter's value may be attached");
	is_str(got.set.item[2], "z=3", "a name's follows the first =");
	is_int(rest.n, 4, "operands are kept");
	is_str(rest.item[2], "-", "a dash alone is an operand");
	is_str(rest.item[3], "--json", "words after -- are operands");
	opt_list_free(&rest);
}

static void test_bad(void)
{
	static const struct {
		const char *argv[4];
		const char *errmsg;
	} cases[] = {
	    {{"--jsn"}, "there is no flag --jsn; did you mean --json?"},
	    {{"--zzzzzzzz"}, "there is no flag --zzzzzzzz"},
	    {{"-x"}, "there is no flag -x"},
	    {{"-qx"}, "there is no flag -x"},
	    {{"--mode"}, "--mode needs a value: MODE"},
	    {{"-m"}, "--mode needs a value: MODE"},
	    {{"--json=1"}, "--json takes no value"},
	    {{"--mod=sync"}, "there is no flag --mod; did you mean --mode?"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct opt_list rest = {0};

		is_int(parse(&rest, cases[i].argv), -EINVAL, "%s is refused",
		       cases[i].argv[0]);
		is_str(errmsg, cases[i].errmsg,
		       "the refusal has the right message");
		opt_list_free(&rest);
	}
}

int main(void)
{
	test_good();
	test_bad();
	opt_list_free(&got.set);
	return tap_done();
}

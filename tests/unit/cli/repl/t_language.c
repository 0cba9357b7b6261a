/* SPDX-License-Identifier: Apache-2.0 */
/* t_language.c - tests where the cells of each language may end. */
#include "cli/repl/language.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static const struct {
	const char *language, *code;
	bool more;
} typed[] = {
    {"python", "x = 1\n", false},
    {"python", "f(1,\n", true},
    {"python", "f(1,\n  2)\n", true}, /* as in a block: the line is indented */
    {"python", "f(1,\n2)\n", false},
    {"python", "def f():\n", true},
    {"python", "if x:  # why\n", true},
    {"python", "if x:\n    y\n", true},
    {"python", "if x:\n    y\n\n", false},
    {"python", "if x:\n    y\nelse:\n", true},
    {"python", "@cache\n", true},
    {"python", "x = {1: 2}\n", false},
    {"python", "x[1:\n", true},
    {"python", "s = \"a(\"\n", false},
    {"python", "s = 'it\\'s ('\n", false},
    {"python", "s = \"\"\"a\n", true},
    {"python", "s = \"\"\"a\n\nb\n", true},
    {"python", "s = \"\"\"a\n\"\"\"\n", false},
    {"python", "s = '''\\'''\n", true},
    {"python", "x = 1 + \\\n", true},
    {"python", "# (\n", false},
    {"python", "s = 'never closed\n", false},
    {"python", ")\n", false},
    {"node", "f(() => {\n", true},
    {"node", "f(() => {\n})\n", false},
    {"node", "`a\n", true},
    {"node", "`a\n(`\n", false},
    {"node", "x = /[(/]/.test(y)\n", false},
    {"node", "x = (a / b) / c\n", false},
    {"node", "/* a\n", true},
    {"node", "// {\n", false},
    {"node", "  x\n", false},
    {"bash", "echo 'a\n", true},
    {"bash", "echo \"a\n", true},
    {"bash", "echo \"it's\"\n", false},
    {"bash", "for i in 1 2; do\n", true},
    {"bash", "for i in 1 2; do echo $i; done\n", false},
    {"bash", "if true\n", true},
    {"bash", "if true; then echo a; fi\n", false},
    {"bash", "case $x in\na) echo;;\nesac\n", false},
    {"bash", "echo do if case\n", false},
    {"bash", "echo $# ${#x}\n", false},
    {"bash", "echo a \\\n", true},
    {"bash", "echo $((1\n", true},
    {"bash", "cat <<EOF\n", true},
    {"bash", "cat <<'EOF' | wc\n(\n", true},
    {"bash", "cat <<EOF\n(\nEOF\n", false},
    {"bash", "cat <<-EOF\n\t'\n\tEOF\n", false},
    {"bash", "cat <<<EOF\n", false},
    {"bash", "echo $((1 << 2))\n", false},
    {"bash", "f() {\n", true},
    {"lua", "function f()\n", true},
    {"lua", "function f() return 1 end\n", false},
    {"lua", "if a then b() elseif c then d() end\n", false},
    {"lua", "for i = 1, 2 do\n", true},
    {"lua", "repeat x()\n", true},
    {"lua", "repeat x() until y\n", false},
    {"lua", "s = [[a\n", true},
    {"lua", "--[[ a\n", true},
    {"lua", "-- (\n", false},
    {"lua", "x = 'end'\n", false},
};

/* Return CODE on a line, for the name of a test; the caller's. */
static char *on_a_line(const char *code)
{
	char *copy = xstrndup(code, strlen(code) - 1);

	for (char *at = copy; *at != '\0'; at++)
		if (*at == '\n')
			*at = '|';
	return copy;
}

TEST(typed_code)
{
	for (size_t i = 0; i < ARRAY_LEN(typed); i++) {
		const char *code = typed[i].code;
		char *name = on_a_line(code);

		is_int(language_goes_on(language_find(typed[i].language), code,
					strlen(code)),
		       typed[i].more, "%s: a line %s after %s",
		       typed[i].language,
		       typed[i].more ? "comes" : "need not come", name);
		free(name);
	}
}

static const struct {
	const char *line;
	bool python, bash;
} after_empty[] = {
    {"    x\n", true, false},	  {"else:\n", true, false},
    {"except E:\n", true, false}, {"elsewhere = 1\n", false, false},
    {"x\n", false, false},
};

TEST(code_after_an_empty_line)
{
	for (size_t i = 0; i < ARRAY_LEN(after_empty); i++) {
		const char *line = after_empty[i].line;
		size_t n = strlen(line);

		is_int(language_continues(language_find("python"), line, n),
		       after_empty[i].python, "python: %s the block: %.4s",
		       after_empty[i].python ? "in" : "after", line);
		is_int(language_continues(language_find("bash"), line, n),
		       after_empty[i].bash, "bash: after the cell: %.4s", line);
	}
}

TEST(any_bytes)
{
	char code[256];

	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (char)i;
	for (size_t i = 0; language_name(i) != NULL; i++) {
		const struct language *l = language_find(language_name(i));

		for (size_t n = 0; n <= sizeof(code); n++) {
			char *copy = xstrndup(code, n);

			(void)language_goes_on(l, copy, n);
			(void)language_is_open(l, copy, n);
			free(copy);
		}
		ok(true, "%s: any bytes are looked at", l->name);
	}
	ok(language_find("perl") == NULL, "another language is none");
}

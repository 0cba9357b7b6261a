/* SPDX-License-Identifier: Apache-2.0 */
/* Imports that failed, as Python and Node.js write them. */
#include "base/text/missing_module.h"

#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define PYTHON "ModuleNotFoundError: No module named '"
#define NODE "Error: Cannot find module '"
#define END "\n\nNode.js v20.20.2\n"

static const struct {
	const char *text, *name, *debian; /* NULL: none */
} texts[] = {
    {"Traceback (most recent call last):\n  File \"/template/main.py\", line 2, "
     "in <module>\n    import numpy\nModuleNotFoundError: No module named "
     "'numpy'\n",
     "numpy", "python3-numpy"},
    {PYTHON "Xlib_x'", "Xlib_x", "python3-xlib-x"},
    {PYTHON "numpy.none'", NULL, NULL},
    {PYTHON "'", NULL, NULL},
    {PYTHON "a\x1b[1m'", NULL, NULL},
    {PYTHON "cut", NULL, NULL},
    {PYTHON "a'\nKeyError: 'b'\n", NULL, NULL},
    {PYTHON "a'\n" PYTHON "a.b'", NULL, NULL},
    {"node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\n" NODE
     "left-pad'\nRequire stack:\n- /template/main.cjs\n    at "
     "Module._resolveFilename\n  code: 'MODULE_NOT_FOUND',\n}" END,
     "left-pad", NULL},
    {"Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from "
     "/template/main.mjs" END,
     "@a/b", NULL},
    {NODE "@a/b/c/d'" END, "@a/b", NULL},
    {NODE "a/b.js'" END, "a", NULL},
    {NODE "a'", NULL, NULL},
    {NODE "a'\nand then\n", NULL, NULL},
    {NODE "./a'" END, NULL, NULL},
    {NODE "/template/a'" END, NULL, NULL},
    {NODE "/'" END, NULL, NULL},
    {NODE "@'" END, "@", NULL},
    {NODE "node:none'" END, NULL, NULL},
    {PYTHON "a'\n" NODE "b'" END, "b", NULL},
    {NODE "b'\n" PYTHON "a'", "a", NULL},
    {"KeyError: 'numpy'", NULL, NULL},
    {"", NULL, NULL},
};

TEST(found)
{
	struct missing_module m;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		bool found = missing_module_find(texts[i].text,
						 strlen(texts[i].text), &m);

		is_str(found ? m.name : "", texts[i].name ? texts[i].name : "",
		       "%s", texts[i].text);
		if (texts[i].debian != NULL)
			is_str(
			    m.debian, texts[i].debian,
			    "the Debian package of the missing module is named");
	}
}

TEST(long_names)
{
	char text[256] = PYTHON;
	size_t n = strlen(text);
	struct missing_module m;

	memset(text + n, 'a', MISSING_MODULE_NAME_MAX + 1);
	text[n + MISSING_MODULE_NAME_MAX] = '\'';
	ok(missing_module_find(text, strlen(text), &m),
	   "a name as long as may be");
	text[n + MISSING_MODULE_NAME_MAX] = 'a';
	text[n + MISSING_MODULE_NAME_MAX + 1] = '\'';
	ok(!missing_module_find(text, strlen(text), &m), "a longer one");
}

TEST(cures)
{
	static const char cv2[] =
	    "ModuleNotFoundError: No module named 'cv2'\n";
	char cure[MISSING_MODULE_CURE_MAX];
	struct missing_module m;

	ok(missing_module_find(texts[0].text, strlen(texts[0].text), &m),
	   "a missing module of Python is found");
	missing_module_cure(&m, cure);
	ok(strstr(cure, "such as python3-numpy;") != NULL &&
	       strstr(cure, "requirements.txt") != NULL,
	   "a Python module's cure names the Debian package and requirements.txt");
	ok(missing_module_find(cv2, strlen(cv2), &m),
	   "a module with another package name is found");
	missing_module_cure(&m, cure);
	ok(strstr(cure, "such as python3-opencv;") != NULL,
	   "a module's cure names the other Debian name");
	ok(missing_module_find(texts[9].text, strlen(texts[9].text), &m),
	   "a missing package of Node.js is found");
	missing_module_cure(&m, cure);
	ok(strstr(cure, "package-lock.json") != NULL,
	   "a Node.js package's cure names package-lock.json");
}

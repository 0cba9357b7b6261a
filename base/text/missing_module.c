/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing_module.c - finds the error of a failed import at the end of a
 * program's output, for the shim, which adds the module to the run's error.
 * Text forged to look like such an error only yields a harmless sentence with a
 * name.
 */
#include "base/text/missing_module.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	const char *before; /* the text before the name; a quotation mark
			       ends the name */
	enum missing_module_of of;
} errors[] = {
    {"ModuleNotFoundError: No module named '", MISSING_MODULE_PYTHON},
    {"Cannot find module '", MISSING_MODULE_NODE},
    {"Cannot find package '", MISSING_MODULE_NODE},
};

static bool are_of(const char *p, size_t n, const char *more)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] == '\0' || (!isalnum((unsigned char)p[i]) &&
				     strchr(more, p[i]) == NULL))
			return false;
	return n > 0;
}

/*
 * Return the length of the package's name: of Python in "a", not in "a.x", a part missing
 * in an installed package; of Node.js in "a/b" or "@a/b/c". 0: no package.
 */
static size_t package_length(enum missing_module_of of, const char *p, size_t n)
{
	const char *slash = memchr(p, '/', n);

	if (of == MISSING_MODULE_PYTHON)
		return are_of(p, n, "_") ? n : 0;
	if (slash != NULL && p[0] == '@')
		slash = memchr(slash + 1, '/', n - (size_t)(slash + 1 - p));
	if (slash != NULL)
		n = (size_t)(slash - p);
	return n > 0 && p[0] != '.' && p[0] != '/' && are_of(p, n, "_.@/-") ? n
									    : 0;
}

/*
 * Debian packages not named after their module; run_python has the same list.
 */
static const struct {
	const char *module, *package;
} packages[] = {
    {"Bio", "biopython"},      {"Cryptodome", "pycryptodome"},
    {"cv2", "opencv"},	       {"dns", "dnspython"},
    {"google", "protobuf"},    {"mpl_toolkits", "matplotlib"},
    {"osgeo", "gdal"},	       {"pylab", "matplotlib"},
    {"ruamel", "ruamel.yaml"}, {"tkinter", "tk"},
    {"wx", "wxgtk4.0"},
};

/*
 * Name the likely Debian package: the module's name, lower case, with - for _.
 */
static void name_debian(struct missing_module *m)
{
	const char *name = m->name;

	for (size_t i = 0; i < ARRAY_LEN(packages); i++)
		if (strcmp(packages[i].module, name) == 0)
			name = packages[i].package;
	snprintf(m->debian, sizeof(m->debian), "python3-%s", name);
	for (char *p = m->debian; *p != '\0'; p++)
		*p = (char)(*p == '_' ? '-' : tolower((unsigned char)*p));
}

/*
 * Did the program end for this error: is [AFTER, END) the rest of its report?
 */
static bool is_the_end(enum missing_module_of of, const char *after,
		       const char *end)
{
	static const char version[] = "Node.js v";
	const char *line;

	while (end > after && end[-1] == '\n')
		end--;
	line = end > after ? memrchr(after, '\n', (size_t)(end - after)) : NULL;
	if (of == MISSING_MODULE_PYTHON)
		return line == NULL;
	return line != NULL && (size_t)(end - line - 1) > strlen(version) &&
	       memcmp(line + 1, version, strlen(version)) == 0;
}

bool missing_module_find(const char *text, size_t len, struct missing_module *m)
{
	const char *end = text + len, *best = NULL;
	enum missing_module_of of = MISSING_MODULE_PYTHON;
	size_t length = 0;
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
		size_t n = strlen(errors[i].before);
		const char *at = text, *quote;

		while ((at = memmem(at, (size_t)(end - at), errors[i].before,
				    n)) != NULL) {
			at += n;
			quote = memchr(at, '\'', (size_t)(end - at));
			if (quote == NULL)
				break;
			if (best != NULL && at < best)
				continue;
			best = at;
			length = package_length(errors[i].of, at,
						(size_t)(quote - at));
			found = length > 0 &&
				length <= MISSING_MODULE_NAME_MAX &&
				is_the_end(errors[i].of, quote, end);
			of = errors[i].of;
		}
	}
	if (!found)
		return false;
	m->of = of;
	memcpy(m->name, best, length);
	m->name[length] = '\0';
	name_debian(m);
	return true;
}

void missing_module_cure(const struct missing_module *m,
			 char out[MISSING_MODULE_CURE_MAX])
{
	if (m->of == MISSING_MODULE_PYTHON)
		snprintf(out, MISSING_MODULE_CURE_MAX,
			 "%s is not installed where this runs: the server's "
			 "operator can install a Debian package that has it, "
			 "such as %s; or the template's author lists it in "
			 "requirements.txt, with its hashes, and \"paddock "
			 "template build\" puts it into the package",
			 m->name, m->debian);
	else
		snprintf(out, MISSING_MODULE_CURE_MAX,
			 "%s is not in the package: its author adds it to "
			 "package-lock.json (npm install --package-lock-only "
			 "%s), and \"paddock template build\" puts it into "
			 "node_modules",
			 m->name, m->name);
}

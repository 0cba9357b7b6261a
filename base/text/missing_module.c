/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing_module.c - finds the error of an import that failed in the end of
 * what a program wrote, for the shim, which tells it in the run's error. Text
 * that is made up so as to look like one gets a harmless sentence with a name.
 */
#include "base/text/missing_module.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	const char *before; /* the name, which ends with a quotation mark */
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

/* "numpy", and not "numpy.x": that is missing in what is there. */
static bool is_python(const char *p, size_t n)
{
	return are_of(p, n, "_");
}

/* The package of "a/b" or "@a/b/c": how much of it; 0: it is none. */
static size_t node_package(const char *p, size_t n)
{
	const char *slash = memchr(p, '/', n);

	if (slash != NULL && p[0] == '@')
		slash = memchr(slash + 1, '/', n - (size_t)(slash + 1 - p));
	if (slash != NULL)
		n = (size_t)(slash - p);
	return n > 0 && p[0] != '.' && p[0] != '/' && are_of(p, n, "_.@/-") ? n
									    : 0;
}

static bool take(enum missing_module_of of, const char *p, size_t n,
		 struct missing_module *m)
{
	if (of == MISSING_MODULE_NODE)
		n = node_package(p, n);
	else if (!is_python(p, n))
		n = 0;
	if (n == 0 || n > MISSING_MODULE_NAME_MAX)
		return false;
	m->of = of;
	memcpy(m->name, p, n);
	m->name[n] = '\0';
	return true;
}

/* Debian calls it by the name that is imported, but for the case and _. */
static void name_debian(struct missing_module *m)
{
	snprintf(m->debian, sizeof(m->debian), "python3-%s", m->name);
	for (char *p = m->debian; *p != '\0'; p++)
		*p = (char)(*p == '_' ? '-' : tolower((unsigned char)*p));
}

/* Is it what the program ended for: is AFTER, to END, what follows then? */
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
			found = is_the_end(errors[i].of, quote, end) &&
				take(errors[i].of, at, (size_t)(quote - at), m);
		}
	}
	if (found)
		name_debian(m);
	return found;
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing_module.h - the module that a program of Python or Node.js did not
 * find, by the program's last output.
 */
#ifndef BASE_TEXT_MISSING_MODULE_H
#define BASE_TEXT_MISSING_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#define MISSING_MODULE_NAME_MAX 100

enum missing_module_of { MISSING_MODULE_PYTHON, MISSING_MODULE_NODE };

struct missing_module {
	enum missing_module_of of;
	char name[MISSING_MODULE_NAME_MAX + 1]; /* letters, digits, _ . @ / - */
	char debian[MISSING_MODULE_NAME_MAX +
		    16]; /* Python: the likely package */
};

/*
 * Find the failed import in the error at the end of TEXT (LEN untrusted bytes).
 * False: another error, or a missing part of the program itself: a path, or a
 * module in an installed package.
 */
bool missing_module_find(const char *text, size_t len,
			 struct missing_module *m);

/* Write a clause on who can mend the error and how, as snprintf(3) does. */
#define MISSING_MODULE_CURE_MAX 512
void missing_module_cure(const struct missing_module *m,
			 char out[MISSING_MODULE_CURE_MAX]);

#endif

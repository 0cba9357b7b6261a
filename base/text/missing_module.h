/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing_module.h - which module a program of Python or Node.js did not find,
 * by what it wrote when it ended.
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
 * Of the error that TEXT (LEN bytes of anybody's) ends with. False: it is
 * another, or of a part of the program itself: a path, or a module in a package
 * that is there.
 */
bool missing_module_find(const char *text, size_t len,
			 struct missing_module *m);

/* Who can mend that, and how: a clause for a message, as printf(3) has it. */
#define MISSING_MODULE_CURE_MAX 512
void missing_module_cure(const struct missing_module *m,
			 char out[MISSING_MODULE_CURE_MAX]);

#endif

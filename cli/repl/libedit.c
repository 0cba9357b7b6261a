/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libedit.c - loads libedit and finds its functions, for lines.c. Without the
 * library, or with one that lacks a function, there are none.
 */
#include "cli/repl/libedit.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define LIBRARY "libedit.so.2"

static const struct {
	const char *name;
	size_t at; /* in struct libedit */
} functions[] = {
#define LIBEDIT_ROW(name) {#name, offsetof(struct libedit, name)},
    LIBEDIT_FUNCTIONS(LIBEDIT_ROW)
#undef LIBEDIT_ROW
};

const struct libedit *libedit_load(void)
{
	static struct libedit libedit;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		void *function = dlsym(library, functions[i].name);

		if (function == NULL)
			return NULL;
		memcpy((char *)&libedit + functions[i].at, &function,
		       sizeof(function));
	}
	return &libedit;
}

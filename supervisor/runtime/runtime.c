/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.c - the table of runtimes, made from ipc/runtime.def. Every rule of the
 * server for templates of a single runtime asks the table, by template->runtime
 * or by a zygote's kind. Nothing here can fail.
 */
#include "supervisor/runtime/runtime.h"

#include <string.h>

#define RUNTIME(id, name) extern const struct runtime runtime_##name;
#include "ipc/runtime.def"

const struct runtime *const runtimes[RUNTIMES] = {
#define RUNTIME(id, name) [RUNTIME_##id] = &runtime_##name,
#include "ipc/runtime.def"
};

const char *const runtime_names[RUNTIMES] = {
#define RUNTIME(id, name) [RUNTIME_##id] = #name,
#include "ipc/runtime.def"
};

bool runtime_find(const char *name, enum runtime_kind *kind)
{
	for (size_t i = 0; name != NULL && i < RUNTIMES; i++) {
		if (strcmp(name, runtime_names[i]) != 0)
			continue;
		*kind = (enum runtime_kind)i;
		return true;
	}
	return false;
}

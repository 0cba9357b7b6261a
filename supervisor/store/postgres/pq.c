/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq.c - loads libpq and finds the functions of libpq, once. pq_link.c calls it
 * on the first thread with a URL of PostgreSQL; without the library each call
 * returns NULL.
 */
#include "supervisor/store/postgres/pq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define LIBRARY "libpq.so.5"

static struct pq pq;
static bool loaded;

static const struct {
	const char *name;
	size_t at; /* in struct pq */
} functions[] = {
#define PQ_NAME(name) {"PQ" #name, offsetof(struct pq, name)},
    PQ_FUNCTIONS(PQ_NAME)
#undef PQ_NAME
};

static void load_libpq(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return;
	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		void *function = dlsym(library, functions[i].name);

		if (function == NULL)
			return;
		memcpy((char *)&pq + functions[i].at, &function,
		       sizeof(function));
	}
	loaded = true;
}

const struct pq *pq_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_libpq);
	return loaded ? &pq : NULL;
}

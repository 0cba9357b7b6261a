/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - paddock-worker: the zygote of the supervisor's workers, with arguments from
 * paddockd that choose the runtime; or the build of a package for "paddock template
 * build". Any other start gets a message and status 2.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/fdpass.h"
#include "ipc/zygote_proto.h"
#include "worker/fetch/build.h"
#include "worker/zygote.h"

#define EXIT_USAGE 2

static int refuse_argument(const char *argument)
{
	fprintf(stderr,
		"paddock-worker: unknown argument '%s': --version is for "
		"people, the rest for paddockd\n",
		argument);
	return EXIT_USAGE;
}

static const struct {
	const char *name;
	const struct zygote_runtime *runtime;
} runtimes[] = {
#define RUNTIME(id, name) {#name, &zygote_##name},
#include "ipc/runtime.def"
};

/* The runtime NAME; for NAME NULL the first runtime. NULL: unknown. */
static const struct zygote_runtime *find_runtime(const char *name)
{
	for (size_t i = 0; i < RUNTIMES; i++)
		if (name == NULL || strcmp(name, runtimes[i].name) == 0)
			return runtimes[i].runtime;
	return NULL;
}

/* "ids=FIRST": the ids of the host that root reserves for workers. */
static unsigned int take_ids(int *argc, char ***argv)
{
	static const char ids[] = "ids=";
	unsigned int first = 0;
	char *arg = *argc > 1 ? (*argv)[1] : NULL;

	if (arg == NULL || strncmp(arg, ids, strlen(ids)) != 0)
		return 0;
	first = (unsigned int)strtoul(arg + strlen(ids), NULL, 10);
	memset(arg, 0, strlen(arg));
	--*argc;
	++*argv;
	return first;
}

int main(int argc, char **argv)
{
	unsigned int ids = take_ids(&argc, &argv);
	const struct zygote_runtime *runtime =
	    find_runtime(argc > 1 ? argv[1] : NULL);

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("paddock-worker " PADDOCK_VERSION);
		return EXIT_SUCCESS;
	}
	if (argc > 1 && strcmp(argv[1], "build") == 0)
		return build_run(argc - 2, argv + 2);
	if (runtime == NULL)
		return refuse_argument(argv[1]);
	if (!fdpass_is_control(ZYGOTE_PROTO_CONTROL_FD)) {
		fprintf(
		    stderr,
		    "paddock-worker: descriptor %d is not a control socket: "
		    "only paddockd starts this program\n",
		    ZYGOTE_PROTO_CONTROL_FD);
		return EXIT_USAGE;
	}
	/* workers inherit the memory and must not read arguments and environment */
	for (int i = 2; i < argc; i++) {
		if (runtime->take_argument == NULL ||
		    !runtime->take_argument(argv[i]))
			return refuse_argument(argv[i]);
		memset(argv[i], 0, strlen(argv[i]));
	}
	for (char **e = environ; e != NULL && *e != NULL; e++)
		memset(*e, 0, strlen(*e));
	clearenv();
	/* without flushing stdio and without finalizers */
	_exit(zygote_run(runtime, ids));
}

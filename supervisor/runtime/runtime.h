/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - the facts and functions of a runtime of templates, by which the
 * server's rules about templates, zygotes, workers and runs differ.
 *
 * A file of supervisor/start/ fills the struct of each runtime.
 */
#ifndef SUPERVISOR_RUNTIME_RUNTIME_H
#define SUPERVISOR_RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#include "ipc/runtime.h"

struct context;
struct diagnostics;
struct isolation;
struct json_object;
struct template;
struct zygote_proto_event;

struct runtime {
	const char *title; /* in sentences: "a template of TITLE" */
	const char *group; /* the cgroup of the zygotes */
	/* of a manifest without an entry; NULL: a manifest must name one */
	const char *entry;
	/* most different cages for which workers wait at a time */
	unsigned kept_max;
	/*
	 * The first zygote starts with the server, and no run of the runtime
	 * starts without a zygote. Else a zygote starts with the first template.
	 */
	bool always;
	/*
	 * Workers see programs of the host, the package, and what is granted of
	 * the host; the package is looked at before a run. Else the root is
	 * empty, and the worker is sent the entry's text and all files.
	 */
	bool sees_host;
	/*
	 * The worker is a shim, which speaks for the processes of a program: a
	 * run has a cgroup and the limits of programs, a worker waits for one
	 * template, and a bad result is no fault of the worker's.
	 */
	bool has_shim;

	/*
	 * Load T's entry from the package FD; OTHERS: workers run as other
	 * users. 0, or negative: ERRMSG or F has the fault.
	 */
	int (*load)(struct template *t, int fd, bool others,
		    struct diagnostics *f, char *errmsg, size_t size);
	/*
	 * Add to F or SAID what an author wants to know of T's entry; LOADED:
	 * load() found no fault.
	 */
	void (*check)(const struct template *t, int fd, bool loaded,
		      struct json_object *said, struct diagnostics *f);
	/*
	 * A zygote reports its cage. 0, or the exit status of a server that
	 * cannot serve with such a cage; REQUIRE is an enum isolation_level.
	 */
	int (*measured)(const struct context *ctx, int require,
			const struct zygote_proto_event *report);
	/* There is no zygote, as ERRMSG says. 0, or the exit status. */
	int (*broken)(const struct context *ctx, const char *errmsg);
	/* Is it known whether runs can be caged? */
	bool (*is_measured)(const struct isolation *iso);
};

extern const struct runtime *const runtimes[RUNTIMES];
/* The word in manifests, for each runtime. */
extern const char *const runtime_names[RUNTIMES];

/* Is NAME a runtime's? Then *KIND is that. NULL is no name. */
bool runtime_find(const char *name, enum runtime_kind *kind);

#endif

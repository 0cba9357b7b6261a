/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_uri.h - paddock's own resources:
 *
 *   paddock://isolation                            how well runs are caged
 *   paddock://runs/{runId}                         a run, as get_task_run
 *   paddock://runs/{runId}/log                     what a run has logged
 *   paddock://runs/{runId}/result                  what it gave, alone
 *   paddock://runs/{runId}/artifacts/{artifactId}  an artifact's bytes
 *
 * Of a run and what it has, ?offset=N&limit=N is a part, in bytes.
 */
#ifndef SUPERVISOR_RUN_RESOURCE_URI_H
#define SUPERVISOR_RUN_RESOURCE_URI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

#define RESOURCE_URI_ISOLATION "paddock://isolation"
#define RESOURCE_URI_RUNS "paddock://runs/"

enum resource_uri_kind {
	RESOURCE_URI_NONE, /* it is no such one */
	RESOURCE_URI_IS_ISOLATION,
	RESOURCE_URI_IS_RUN,
	RESOURCE_URI_IS_LOG,
	RESOURCE_URI_IS_RESULT,
	RESOURCE_URI_IS_ARTIFACT,
};

/* Of something's bytes. */
struct resource_uri_range {
	bool asked;	       /* else all is meant */
	int64_t offset, limit; /* 0: as many as may be */
};

/* So much text goes into a message of MAX bytes, whatever JSON makes of it. */
#define RESOURCE_URI_RANGE_BYTES(max)                                          \
	((max) > 131072 ? ((max)-65536) / 2 : 32768)

struct resource_uri {
	enum resource_uri_kind kind;
	struct resource_uri_range piece;
	char run_id[ID_SIZE];
	char artifact_id[ID_SIZE];
};

/* The ids of TEXT are well-formed; whether there are such is not looked at. */
struct resource_uri resource_uri_parse(const char *text);

#endif

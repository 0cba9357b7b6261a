/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_uri.h - paddock's own resources:
 *
 *   paddock://isolation                            how well runs are caged
 *   paddock://runs/{runId}                         a run, as get_task_run
 *   paddock://runs/{runId}/log                     a run's log
 *   paddock://runs/{runId}/result                  a run's result alone
 *   paddock://runs/{runId}/artifacts/{artifactId}  an artifact's bytes
 *
 * To a run's URI, ?offset=N&limit=N selects a part, in bytes.
 */
#ifndef SUPERVISOR_RESULT_RESOURCE_URI_H
#define SUPERVISOR_RESULT_RESOURCE_URI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

#define RESOURCE_URI_ISOLATION "paddock://isolation"
#define RESOURCE_URI_RUNS "paddock://runs/"

enum resource_uri_kind {
	RESOURCE_URI_NONE, /* not a URI of these */
	RESOURCE_URI_IS_ISOLATION,
	RESOURCE_URI_IS_RUN,
	RESOURCE_URI_IS_LOG,
	RESOURCE_URI_IS_RESULT,
	RESOURCE_URI_IS_ARTIFACT,
};

/* A part of a resource's bytes. */
struct resource_uri_range {
	bool asked;	       /* false: the whole resource */
	int64_t offset, limit; /* limit 0: as many bytes as fit */
};

/*
 * Bytes of text that fit into a message of MAX bytes, however JSON escapes
 * them.
 */
#define RESOURCE_URI_RANGE_BYTES(max)                                          \
	((max) > 131072 ? ((max)-65536) / 2 : 32768)

struct resource_uri {
	enum resource_uri_kind kind;
	struct resource_uri_range piece;
	char run_id[ID_SIZE];
	char artifact_id[ID_SIZE];
};

/* Parse TEXT. The ids are well-formed, but may name nothing. */
struct resource_uri resource_uri_parse(const char *text);

#endif

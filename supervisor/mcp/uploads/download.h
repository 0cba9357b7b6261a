/* SPDX-License-Identifier: Apache-2.0 */
/*
 * download.h - artifacts being sent to clients: how many are open at a time, of
 * a requestor and in all.
 */
#ifndef SUPERVISOR_UPLOADS_DOWNLOAD_H
#define SUPERVISOR_UPLOADS_DOWNLOAD_H

#include <stdint.h>

#include "proto/mcp/tool_error.h"
#include "supervisor/run/artifacts/artifact_source.h"
#include "supervisor/context.h"
#include "supervisor/requestor/requestor.h"

/*
 * As artifact_source_open(), for Q: -EMFILE if Q has as many open as the server
 * allows now. The caller closes the source by artifact_source_close().
 */
struct artifact_source *download_open(struct context *ctx, struct requestor *q,
				      const struct store_artifact *a,
				      int64_t at, int64_t n, int *rc);
/* Set ERR to the refusal for -EMFILE. */
void download_refuse(const struct requestor *q, struct tool_error *err);

#endif

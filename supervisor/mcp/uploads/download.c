/* SPDX-License-Identifier: Apache-2.0 */
/*
 * download.c - opens an artifact to send to a client, within the requestor's
 * bound, for upload_method.c (lines) and http_artifacts_get.c. An open artifact
 * costs a descriptor beside the connection's, or a part of the artifact in
 * memory.
 */
#include "supervisor/mcp/uploads/download.h"

#include <errno.h>

#include "proto/json/json_pack.h"

#define AGAIN_MS 1000

struct artifact_source *download_open(struct context *ctx, struct requestor *q,
				      const struct store_artifact *a,
				      int64_t at, int64_t n, int *rc)
{
	struct artifact_source *src;

	if (!artifact_source_allows(q->downloads, ctx->downloads)) {
		*rc = -EMFILE;
		return NULL;
	}
	src = artifact_source_open(ctx->store, ctx->thread_pool, ctx->config, a,
				   at, n, rc);
	if (src != NULL)
		artifact_source_count(src, &q->downloads, &ctx->downloads);
	return src;
}

void download_refuse(const struct requestor *q, struct tool_error *err)
{
	tool_error_set(err, "QUOTA_EXCEEDED",
		       json_pack("retryAfterMs:i", AGAIN_MS),
		       "%zu artifacts are being sent to you, and this server "
		       "sends you no more at once now; await one, and try "
		       "again",
		       q->downloads);
}

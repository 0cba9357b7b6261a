/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_delete.c - deletes an upload of a requestor, for HTTP. A deletion is
 * written to the audit log, and the requestor's usage is counted again; a
 * failure is reported to the caller.
 */
#include "supervisor/mcp/uploads/upload.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "supervisor/run/exec/artifact_save.h"
#include "supervisor/run/audit.h"

struct going {
	struct context *ctx;
	struct requestor *requestor;
	char id[ID_SIZE];
	store_done done;
	void *arg;
};

static void on_deleted(void *arg, const struct store_result *res)
{
	struct going *g = arg;

	if (res->rc == 0) {
		audit_uploads_deleted(g->requestor, g->id, 0, 1);
		artifact_save_count(g->ctx->store, g->requestor);
	}
	g->done(g->arg, res);
	free(g);
}

void upload_delete(struct context *ctx, struct requestor *q, const char *id,
		   store_done done, void *arg)
{
	struct going *g = xcalloc(1, sizeof(*g));

	*g = (struct going){
	    .ctx = ctx, .requestor = q, .done = done, .arg = arg};
	snprintf(g->id, sizeof(g->id), "%s", id);
	store_delete_upload(ctx->store, q->name, id, on_deleted, g);
}

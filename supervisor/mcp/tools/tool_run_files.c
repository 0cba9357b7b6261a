/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_files.c - the files in a call's inputs, for tool_run.c: each
 * artifact is looked up among the requestor's. A refusal is as get_artifact's,
 * with the place of the file.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"

static void look_up_files(struct request *req);

/* Return the client's prefix of pointers into the inputs. */
static const char *prefix_of(const struct tool_run_args *ask)
{
	return ask->form == STORE_TASK_VIEW ? "/inputs" : "";
}

static void refuse_file_artifact(struct request *req, const struct run_file *f,
				 int rc)
{
	const struct tool_run_args *ask = req->state;
	struct json_object *d;
	struct tool_error r = {0};
	char *pointer = xasprintf("%s%s", prefix_of(ask), f->pointer);

	if (rc == -ENOENT)
		requestor_missed(req->session->requestor);
	d = json_pack("pointer:s", pointer);
	if (rc == -ENOENT)
		tool_error_set(&r, "ARTIFACT_NOT_FOUND", d,
			       "you have no artifact \"%s\", which %s names",
			       f->artifact, pointer);
	else if (rc == -ESTALE)
		tool_error_set(
		    &r, "ARTIFACT_EXPIRED", d,
		    "the artifact %s, which %s names, has passed its "
		    "time and is gone",
		    f->artifact, pointer);
	else
		tool_error_set(&r, "STORE_UNAVAILABLE", d,
			       "the artifact %s cannot be read now: %s",
			       f->artifact, store_says(rc));
	free(pointer);
	request_tool_error(req, &r);
}

static void on_found(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct tool_run_args *ask;
	struct run_file *f;

	if (!request_unref(req))
		return;
	ask = req->state;
	f = &ask->files->v[ask->n_found];
	if (res->rc != 0) {
		refuse_file_artifact(req, f, res->rc);
		return;
	}
	run_files_found(f, res->artifact->run_id, res->artifact->name,
			res->artifact->size, res->artifact->expires_ms);
	ask->n_found++;
	look_up_files(req);
}

/* Look up the next artifact; after the last, make the run. */
static void look_up_files(struct request *req)
{
	struct tool_run_args *ask = req->state;
	struct run_files *all = ask->files;

	while (ask->n_found < all->n && all->v[ask->n_found].bytes != NULL)
		ask->n_found++;
	if (ask->n_found == all->n) {
		run_files_settle(all, ask->inputs);
		ask->wish.files = all;
		tool_run_create(req);
		return;
	}
	request_ref(req);
	store_read_artifact(req->ctx->store, req->requestor->name,
			    all->v[ask->n_found].artifact, 0, 0, on_found, req);
}

bool tool_run_files(struct request *req)
{
	struct tool_run_args *ask = req->state;
	struct run_files_error e;
	struct schema_error err = {.keyword = "format"};
	struct tool_error r = {0};

	if (ask->template->file_spots == NULL || ask->wish.files != NULL)
		return false;
	ask->files =
	    run_files_collect(ask->template->file_spots, ask->inputs, &e);
	if (ask->files == NULL && e.text[0] == '\0')
		return false;
	if (ask->files != NULL) {
		look_up_files(req);
		return true;
	}
	snprintf(err.pointer, sizeof(err.pointer), "%s", e.pointer);
	snprintf(err.expected, sizeof(err.expected), "%s", e.expected);
	snprintf(err.text, sizeof(err.text), "%s", e.text);
	contract_tools_invalid(&r, prefix_of(ask), &err);
	request_tool_error(req, &r);
	return true;
}

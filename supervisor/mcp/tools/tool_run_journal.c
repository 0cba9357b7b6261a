/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_journal.c - a call by a run that is run again: answered with the child that had
 * succeeded, if the store has the child. tool_run.c calls tool_run_journal() before a run is
 * made. When the store cannot be read no child is made, since the child may have succeeded.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <errno.h>

#include "base/clock.h"
#include "proto/json/json_pack.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/run.h"
#include "supervisor/session/request_backlog.h"

#define SOON_MS 10000 /* far above the time until the child's row is read */

bool tool_run_is_journaled(const struct run *parent, const struct template *t,
			   struct json_object *inputs)
{
	/* a digest of a secret helps guesses; the state of a notebook is no result */
	return parent != NULL && !t->secret &&
	       (t->notebook == NULL ||
		json_member(inputs, t->notebook) == NULL);
}

static void on_child(void *arg, const struct store_result *res)
{
	const struct store_run *row = res->runs;
	struct request *req = arg;
	struct tool_error e = {0};
	struct run *parent;

	if (!request_unref(req))
		return;
	parent = req->session->caller;
	if (res->rc == 0) {
		audit_reused(parent, row);
		run_family_find(parent, row);
		((struct tool_run_args *)req->state)->caller = NULL;
		request_backlog_present(req, row->id);
	} else if (res->rc == -ENOENT) {
		tool_run_create(req);
	} else {
		tool_error_set(&e, "STORE_UNAVAILABLE",
			       admission_store_details(),
			       "no run can be started now, since the server "
			       "cannot read which there are: %s",
			       store_says(res->rc));
		request_tool_error(req, &e);
	}
}

void tool_run_leave_journal(struct tool_run_args *ask)
{
	if (ask->caller != NULL)
		run_journal_leave(ask->caller, &ask->call_key);
	ask->caller = NULL;
}

bool tool_run_journal(struct request *req)
{
	struct tool_run_args *ask = req->state;
	struct run *parent = req->session->caller;

	if (!ask->journaled || ask->wish.journal != NULL)
		return false;
	run_journal_enter(parent, ask->template, ask->digest, &ask->call_key);
	ask->caller = parent;
	if (ask->call_key.key[0] == '\0')
		return false;
	ask->wish.journal = ask->call_key.key;
	if (!run_journal_resumes(parent))
		return false;
	request_ref(req);
	store_find_child(req->ctx->store, req->requestor->name,
			 ask->wish.journal, clock_wall_ms() + SOON_MS, on_child,
			 req);
	return true;
}

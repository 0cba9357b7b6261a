/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_search.c - search_task_templates: the best templates for a query, of the
 * templates which the requestor may run here. A thread ranks, tool_listing.c prints
 * the entries. A template not to be run leaves no trace.
 */
#include "supervisor/mcp/tools/contract_tools.h"

#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/mcp/tools/tool_listing.h"
#include "supervisor/mcp/tools/tools.h"
#include "supervisor/packages/templates/template_index.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/threads/template_search.h"

#define LIMIT 8 /* the schema's default */

/* request.state during a search */
struct searching {
	struct request *request;
	struct template_search *search; /* NULL: done */
	bool whole;
	size_t limit;
};

static void searching_free(void *state)
{
	struct searching *s = state;

	if (s->search != NULL)
		template_search_cancel(s->search);
	free(s);
}

static const struct request_ops searching_ops = {.free = searching_free};

static struct json_object *view(const struct request *req,
				const struct template *t, bool whole)
{
	struct tool_error no = {0};
	bool may = tool_templates_may_run(req->ctx, t, &no);

	tool_error_fini(&no);
	return may ? template_index_view(t, whole) : NULL;
}

/* Answer with the templates of IDS; a reload may have removed some. */
static void on_found(void *arg, const char *const *ids, size_t n)
{
	struct searching *s = arg;
	struct request *req = s->request;
	struct tool_listing l = {.all =
				     xcalloc(n + 1, sizeof(struct template *)),
				 .most = s->limit,
				 .view = view,
				 .whole = s->whole};

	for (size_t i = 0; i < n; i++) {
		struct template *t =
		    catalogue_newest(req->ctx->catalogue, ids[i]);

		if (t != NULL && tools_offers(req->session, t))
			tool_listing_add(&l, t);
	}
	s->search = NULL;
	searching_free(request_take_state(req));
	tool_listing_answer(req, &l);
}

static void refuse_busy(struct request *req)
{
	struct tool_error r = {0};

	tool_error_set(
	    &r, "QUOTA_EXCEEDED",
	    admission_details("searches under way", THREAD_POOL_JOBS_MAX,
			      THREAD_POOL_JOBS_MAX, "searches",
			      "nobody: they end by themselves",
			      ADMISSION_RETRY_MS),
	    "%d searches and checks of yours wait for a thread "
	    "already; this one is taken when some of them have ended",
	    THREAD_POOL_JOBS_MAX);
	request_tool_error(req, &r);
}

void tool_search(struct request *req, struct json_object *args)
{
	struct searching *s = xcalloc(1, sizeof(*s));
	int64_t limit = json_member_int(args, "limit");

	*s =
	    (struct searching){.request = req,
			       .limit = limit > 0 ? (size_t)limit : LIMIT,
			       .whole = json_member_is(args, "detail", "full")};
	request_set_state(req, &searching_ops, s);
	s->search = template_search_begin(
	    req->ctx->thread_pool, req->requestor, req->ctx->catalogue,
	    session_trust(req->session), json_member_str(args, "query"),
	    on_found, s);
	if (s->search == NULL)
		refuse_busy(req);
}

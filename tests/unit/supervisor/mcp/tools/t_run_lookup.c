/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_run_lookup.c - a cancel of a run in the common queue, at the moment of this
 * instance's claim: the row belongs to this instance, but this instance has not read
 * the answer yet.
 */
#include "base/os/log.h"
#include "supervisor/cluster/cluster_table.h"
#include "supervisor/run/exec/runs_private.h"
#include "supervisor/session/request.h"
#include "supervisor/session/session.h"
#include "supervisor/mcp/tools/run_lookup.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static struct sessions sessions;
static struct requestors requestors;
static struct config config;
static struct template template = {.id = (char *)"t", .users = 100};
static struct context ctx = {.config = &config,
			     .requestors = &requestors,
			     .sessions = &sessions,
			     .quiet = true, /* there is no spawner */
			     .instance = "inst_one"};
static struct session session;
static size_t found;
static bool cancelling; /* as in the found view */

static void on_found(struct request *req, const struct run_found *f)
{
	(void)req;
	found++;
	cancelling = f->res != NULL && f->res->runs[0].cancelling;
}

/* Wait until the store has answered all requests so far. */
static void answered(void)
{
	struct answer a = {0};

	help_get(ctx.store, &a, "nobody", "run_none");
	help_clear(&a);
}

static struct request *call(void)
{
	static const char text[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}";
	struct rpc_msg m;
	struct request *req;

	rpc_parse(&m, text, strlen(text));
	req = request_new(&session, NULL, &m, NULL);
	request_begin(req);
	return req;
}

/* ROW's run, which we have put into the queue of all, and claim. */
static void known(struct store_run *row)
{
	struct run *r = run_new(session.requestor, &template);

	memcpy(r->id, row->id, sizeof(r->id));
	r->remote.place = RUN_QUEUE;
	HASH_ADD_STR(ctx.runs->by_id, id, r);
	row->requestor = session.requestor->name;
	help_put(ctx.store, row, STORE_SYNC);
}

TEST(cancelled_while_claimed)
{
	static const struct session_ops ops;
	static const struct runs_ops runs_ops;
	struct store_run row = help_run("", STORE_RUNNING);
	char *dir = help_dir();

	log_set_level(LOG_LEVEL_ERROR);
	config.state_dir = dir;
	ctx.base = event_base_new();
	ctx.store = help_start(dir, "inst_one");
	ctx.cluster = &cluster_table;
	ctx.runs = runs_new(&ctx, &runs_ops);
	sessions_init(&sessions);
	session_init(&session, &ctx, requestors_of_uid(&requestors, 7), &ops,
		     NULL);
	known(&row);
	run_lookup(call(), &(struct run_query){.want = RUN_LOOKUP_CANCEL,
					       .id = row.id,
					       .found = on_found});
	answered();
	is_int((long long)found, 0,
	       "a row that is ours says nothing yet of a run that we asked to "
	       "cancel in the queue");
	row.cancelling = true;
	help_put(ctx.store, &row, STORE_SYNC);
	while (found == 0) {
		event_base_loop(ctx.base, EVLOOP_ONCE);
		answered();
	}
	ok(cancelling, "a cancelled run is cancelling once the claim is read");
	session_fini(&session);
	store_stop(ctx.store, 10000);
	runs_free(ctx.runs);
	sessions_fini(&sessions);
	event_base_free(ctx.base);
	requestors_fini(&requestors);
	help_remove(dir);
}

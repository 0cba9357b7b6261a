/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session_fixture.c - what sessions over HTTP have of a server, for tests:
 * no listener, no runs, and a store only for those that ask for one.
 */
#include "tests/unit/supervisor/clients/streamable_http/http_session_fixture.h"

struct context ctx;
struct http_sessions all;
static struct requestors requestors;
static struct sessions sessions;
static struct config *config;

void server_begin(const char *dir)
{
	pool_begin();
	config = config_new(0);
	ctx = (struct context){.base = base,
			       .config = config,
			       .requestors = &requestors,
			       .sessions = &sessions,
			       .methods = &methods};
	sessions_init(&sessions);
	requestors_apply(&requestors, config);
	if (dir != NULL)
		ctx.store = store_start(dir, "inst_t");
	http_mcp_init(&all, &ctx, &pool.held);
}

void server_end(void)
{
	http_mcp_fini(&all);
	http_pool_fini(&pool, 0);
	if (ctx.store != NULL)
		store_stop(ctx.store, 10000);
	requestors_fini(&requestors);
	config_free(config);
	event_base_free(base);
}

struct requestor *user(uid_t uid)
{
	return requestors_of_uid(&requestors, uid);
}

struct http_session *session(struct requestor *q)
{
	struct http_session *s = http_session_new(&all, q);

	s->session.terms.revision = MCP_2025_11_25;
	s->session.greeted = s->told_id = true;
	return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_alike.c - many calls that wait for one run: the row of the ended run is read once
 * for as many calls as are answered in a turn.
 */
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define CALLS 100
#define AT_ONCE 32 /* answers of a requestor in a turn */

static int reads;

/* The linker has calls of store_get_run() come here. */
void __real_store_get_run(struct store *s, const char *requestor,
			  const char *id, store_done done, void *arg);
void __wrap_store_get_run(struct store *s, const char *requestor,
			  const char *id, store_done done, void *arg);

void __wrap_store_get_run(struct store *s, const char *requestor,
			  const char *id, store_done done, void *arg)
{
	reads++;
	__real_store_get_run(s, requestor, id, done, arg);
}

static void test_many(size_t clients)
{
	struct client c[CALLS];
	unsigned ids[CALLS];
	int good = 0;

	server_begin(NULL);
	server_package("sum", "1.0.0", NULL);
	server_load();
	for (size_t i = 0; i < clients; i++)
		client_begin(&c[i], 7, MCP_2025_11_25);
	for (size_t i = 0; i < CALLS; i++)
		ids[i] = client_send(
		    &c[i % clients], "tools/call",
		    "{\"name\":\"run_task_template\",\"arguments\":"
		    "{\"templateId\":\"sum\",\"inputs\":{},\"options\":"
		    "{\"idempotencyKey\":\"K\",\"mode\":\"sync\"}}}");
	server_settle();
	server_run_start(server_run());
	reads = 0;
	server_run_end(server_run(), "{\"n\":1}");
	for (size_t i = 0; i < CALLS; i++)
		good += strcmp(tool_at(client_wait(&c[i % clients], ids[i]),
				       "/status"),
			       "succeeded") == 0;
	is_int(good, CALLS, "calls on %zu sessions are told the end", clients);
	ok(reads <= CALLS / AT_ONCE + 1,
	   "the row is read for many calls at a time (%d)", reads);
	for (size_t i = 0; i < clients; i++)
		client_end(&c[i]);
	server_end();
}

TEST(one_session)
{
	test_many(1);
}

TEST(sessions)
{
	test_many(10);
}

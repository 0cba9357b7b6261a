/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_http_store_wait.c - waits for the store: an answer until the session is kept, a
 * request until the session is read. The test alone makes the store report results, so
 * the order is certain.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "supervisor/clients/streamable_http/http_session_store.h"
#include "supervisor/clients/streamable_http/http_store_wait.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/supervisor/clients/http/http_fixture.h"
#include "tests/unit/supervisor/clients/streamable_http/http_session_fixture.h"

#define HELLO "{\"hello\":1}"

static struct requestor *ada, *bob;
static char *dir;

static void begin(void)
{
	dir = help_dir();
	server_begin(dir);
	ada = user(1);
	bob = user(2);
}

static void end(void)
{
	server_end();
	help_remove(dir);
}

/* The status of the response on FD; 0: no response. */
static int status(int fd)
{
	const char *line = first_line(fd);

	return *line != '\0' ? (int)strtol(line + strlen("HTTP/1.1 "), NULL, 10)
			     : 0;
}

/* Wait until the store has done and reported all requests so far. */
static void store_works(void)
{
	struct answer a = {0};

	store_usage(ctx.store, "nobody", help_done, &a);
	help_wait(ctx.store, &a);
}

static bool is_kept(const char *id)
{
	struct answer a = {0};
	char key[HTTP_SESSION_KEY_SIZE];

	http_session_store_key(key, id);
	store_get_session(ctx.store, key, clock_wall_ms(), help_done, &a);
	help_wait(ctx.store, &a);
	return a.rc == 0;
}

/* Drop the session as a server's end does: only the store still has the session. */
static void let_go(struct http_session *s)
{
	all.closing = true;
	http_session_end(s, "a test");
	all.closing = false;
}

TEST(begun)
{
	struct http_conn *c;
	struct http_session *s;
	int fd;

	begin();
	fd = come(&c);
	s = session(ada);
	http_store_wait_created(s, c, HELLO, strlen(HELLO));
	is_int(status(fd), 0,
	       "the first answer waits until the session is kept");
	s->looked_ms = 0;
	ok(!s->recorded, "a session of an open write has no known row");
	store_works();
	is_int(status(fd), 200, "the answer is sent once the session is kept");
	ok(is_kept(s->id), "the session is kept in the store");
	ok(s->recorded && s->looked_ms > 0,
	   "a kept session has a known row, which need not be looked at");
	close(fd);

	fd = come(&c);
	s = session(ada);
	http_store_wait_created(s, c, HELLO, strlen(HELLO));
	http_store_waits_tick(&all, clock_mono_ms());
	is_int(status(fd), 0, "the answer waits for a slow disk");
	http_store_waits_tick(&all, clock_mono_ms() + HTTP_STORE_WAIT_SAVE_MS);
	is_int(status(fd), 200,
	       "the answer does not wait longer than the bound");
	store_works();
	is_int(status(fd), 0, "the answer is sent once");
	ok(!s->recorded, "a session answered too late has no known row");
	close(fd);

	fd = come(&c);
	http_store_wait_created(session(ada), c, HELLO, strlen(HELLO));
	http_mcp_fini(&all);
	is_int(status(fd), 200, "the answer is sent at the end of the server");
	http_mcp_init(&all, &ctx, &pool.held);
	close(fd);
	end();
}

TEST(gone)
{
	char id[HTTP_SESSION_ID_SIZE];
	struct http_conn *c;
	struct http_session *s;
	int fd;

	begin();
	fd = come(&c);
	s = session(ada);
	memcpy(id, s->id, sizeof(id));
	http_store_wait_created(s, c, HELLO, strlen(HELLO));
	shutdown(fd, SHUT_RDWR);
	close(fd);
	http_pool_fini(&pool, 0); /* the session's connection is closed */
	is_int((long long)all.n, 0,
	       "a session whose id was not delivered ends");
	store_works();
	ok(!is_kept(id), "a session whose id was not delivered is not kept");
	pool_open();
	end();
}

TEST(large)
{
	char *text = xcalloc(1, HTTP_SESSION_STORE_TEXT + 1);
	struct http_conn *c;
	struct http_session *s;
	int fd;

	begin();
	fd = come(&c);
	s = session(ada);
	memset(text, 'x', HTTP_SESSION_STORE_TEXT);
	s->session.terms.capabilities = json_object_new_string(text);
	http_store_wait_created(s, c, HELLO, strlen(HELLO));
	is_int(status(fd), 200, "a session with too much to keep works");
	ok(!s->has_row && !is_kept(s->id),
	   "a session with too large a state is not kept");
	close(fd);
	free(text);
	end();
}

TEST(lookup)
{
	char id[HTTP_SESSION_ID_SIZE];
	struct http_conn *c[3];
	struct http_session *s;
	int fd[3], before;

	begin();
	s = session(ada);
	s->session.terms.log_level = 3;
	memcpy(id, s->id, sizeof(id));
	http_session_store(s, STORE_SYNC, NULL, NULL);
	let_go(s);
	for (int i = 0; i < 3; i++)
		fd[i] = come(&c[i]);
	before = told;
	http_store_wait(&all, ada, c[0], id);
	http_store_wait(&all, ada, c[1], id);
	http_store_wait(&all, bob, c[2], id);
	is_int(status(fd[0]), 0, "a request waits for its session");
	store_works();
	loop();
	is_int(told - before, 2,
	       "each waiting request is handled once the session is read");
	is_int((long long)all.n, 1, "the requests share one restored session");
	s = http_session_find(&all, ada, id);
	ok(s != NULL && s->session.terms.log_level == 3 && s->has_row,
	   "a restored session has its state");
	is_int(status(fd[2]), 404,
	       "another requestor gets 404 for the session");
	is_int((long long)(ada->http_store_waits + bob->http_store_waits +
			   all.n_store_waits),
	       0, "no request waits for the store at the end");
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	end();
}

TEST(none)
{
	static const char id[HTTP_SESSION_ID_SIZE] =
	    "0123456789012345678901234567890123456789";
	struct http_conn *c;
	int fd;

	begin();
	fd = come(&c);
	http_store_wait(&all, ada, c, id);
	store_works();
	is_int(status(fd), 404, "a request for an unknown session gets 404");
	is_int((long long)ada->lookups_failed, 1,
	       "a failed look-up is counted");
	close(fd);
	fd = come(&c);
	http_store_wait(&all, ada, c, id);
	http_store_waits_tick(&all, clock_mono_ms() + HTTP_STORE_WAIT_MS);
	is_int(status(fd), 503,
	       "when the store takes too long, it may be asked later");
	close(fd);
	ok(!http_store_wait_may(&all, "x") && !http_store_wait_may(&all, "") &&
	       http_store_wait_may(&all, id),
	   "a malformed session id is not looked up");
	end();
}

TEST(ended)
{
	char id[HTTP_SESSION_ID_SIZE];
	struct http_session *s;
	struct http_conn *c;
	int fd;

	begin();
	s = session(ada);
	memcpy(id, s->id, sizeof(id));
	http_session_store(s, STORE_SYNC, NULL, NULL);
	fd = come(&c);
	http_store_wait_deleted(s, c);
	is_int((long long)all.n, 0, "a session that is to end ends");
	is_int(status(fd), 0, "the answer to DELETE waits for the store");
	store_works();
	is_int(status(fd), 204, "DELETE is answered once the row is deleted");
	ok(!is_kept(id), "a deleted session is not in the store");
	close(fd);
	end();
}

static int64_t expires_ms;
static int level;

static void on_row(void *arg, const struct store_result *res)
{
	expires_ms = res->session != NULL ? res->session->expires_ms : 0;
	level = res->session != NULL ? res->session->log_level : -1;
	help_done(arg, res);
}

/* The expiry of the row of S; 0: no row. */
static int64_t lasts(const struct http_session *s)
{
	struct answer a = {0};
	char key[HTTP_SESSION_KEY_SIZE];

	http_session_store_key(key, s->id);
	store_get_session(ctx.store, key, 0, on_row, &a);
	help_wait(ctx.store, &a);
	return expires_ms;
}

/* A row lasts as long as the session is used. */
TEST(touched)
{
	struct http_session *used, *idle;
	int64_t then[2];

	begin();
	used = session(ada);
	idle = session(ada);
	used->used_ms = idle->used_ms = clock_mono_ms() - 60000;
	http_session_store(used, STORE_SYNC, NULL, NULL);
	http_session_store(idle, STORE_SYNC, NULL, NULL);
	then[0] = lasts(used);
	then[1] = lasts(idle);
	http_session_used(used);
	http_session_store_tick(&all);
	ok(lasts(used) == then[0], "a row is not written at each use");
	used->row_ms = idle->row_ms =
	    clock_mono_ms() - ctx.config->session_idle_ms / 4;
	idle->used_ms = idle->row_ms - 1;
	http_session_store_tick(&all);
	ok(lasts(used) >= then[0] + 60000,
	   "the row of a used session is renewed now and then");
	ok(lasts(idle) == then[1], "without a use it does not");
	end();
}

/*
 * A client's settings are stored soon, and at the latest at the end of the server.
 */
TEST(changed)
{
	char id[HTTP_SESSION_ID_SIZE];
	struct http_session *s, copy;

	begin();
	s = session(ada);
	http_session_store(s, STORE_SYNC, NULL, NULL);
	memcpy(id, s->id, sizeof(id));
	s->session.terms.log_level = 2;
	session_changed(&s->session);
	session_changed(&s->session);
	lasts(s);
	is_int(level, MCP_LEVEL_INFO, "a change is not written at once");
	while (s->changed)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	lasts(s);
	is_int(level, 2, "changed settings are stored together");
	s->session.terms.log_level = 5;
	session_changed(&s->session);
	copy = *s;
	http_mcp_fini(&all);
	ok(lasts(&copy) > 0 && level == 5,
	   "changed settings are stored before the end of the server");
	http_mcp_init(&all, &ctx, &pool.held);
	end();
}

/*
 * Delete as many sessions as possible at once; no deletion is done before loop().
 */
static int drop_many(struct requestor *q, int from)
{
	char key[HTTP_SESSION_KEY_SIZE];
	int n = -1;

	do
		snprintf(key, sizeof(key), "%064x", (unsigned)(from + ++n));
	while (n <= HTTP_SESSION_DELETES_MAX &&
	       http_session_delete(&all, q, key, NULL, NULL));
	return n;
}

/* On a full disk no row is deleted while no room is made. */
TEST(dropped)
{
	char id[HTTP_SESSION_ID_SIZE], key[HTTP_SESSION_KEY_SIZE];
	struct http_conn *c;
	struct http_session *s;
	int fd, before, n;

	begin();
	s = session(ada);
	memcpy(id, s->id, sizeof(id));
	http_session_store_key(key, id);
	http_session_store(s, STORE_SYNC, NULL, NULL);
	store_works();
	fd = come(&c);
	before = told;
	http_session_end(s, "a test");
	ok(http_session_delete_pending(&all, key),
	   "a session that ends is over");
	http_store_wait(&all, ada, c, id);
	is_int((long long)all.n_store_waits, 0,
	       "a session being deleted is not looked up");
	is_int(status(fd), 404,
	       "a request for a session being deleted gets 404");
	is_int(told - before, 0, "a session being deleted is not restored");
	store_works();
	ok(!http_session_delete_pending(&all, key) && !is_kept(id),
	   "the row of a deleted session is gone");
	close(fd);

	n = drop_many(ada, 0);
	ok(n > 0 && n < HTTP_SESSION_DELETES_MAX,
	   "a requestor's pending deletions have a bound");
	ok(drop_many(bob, 10000) > 0,
	   "another requestor may still delete sessions");
	store_works();
	loop();
	is_int(
	    (long long)(ada->http_session_deletes + bob->http_session_deletes),
	    0, "finished deletions are not counted");
	ok(drop_many(ada, 0) == n,
	   "finished deletions make room for further deletions");
	http_mcp_fini(&all);
	store_works();
	loop();
	is_int((long long)ada->http_session_deletes, 0,
	       "a server may end meanwhile");
	http_mcp_init(&all, &ctx, &pool.held);
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tap_run();
	return tap_done();
}

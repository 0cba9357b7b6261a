/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_sessions.c - rows of sessions: kept, changed, dropped, expired, bounded; also
 * in a file of an older paddock.
 */
#include <sqlite3.h>
#include <string.h>

#include "supervisor/store/store_impl.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define NOW 1000000

static struct {
	struct answer told;
	char text[256]; /* the fields of the found session */
	int log_level;
	int64_t used_ms, expires_ms;
} got;

static void on_session(void *arg, const struct store_result *res)
{
	const struct store_session *f = res->session;

	(void)arg;
	help_done(&got.told, res);
	if (f == NULL)
		return;
	snprintf(got.text, sizeof(got.text), "%s %s %s %s %s %s", f->key,
		 f->requestor, f->credential, f->revision, f->client, f->uris);
	got.log_level = f->log_level;
	got.used_ms = f->used_ms;
	got.expires_ms = f->expires_ms;
}

static int get(struct store *s, const char *key, int64_t now_ms)
{
	memset(&got, 0, sizeof(got));
	store_get_session(s, key, now_ms, on_session, NULL);
	help_wait(s, &got.told);
	return got.told.rc;
}

static struct store_session session(const char *key, const char *requestor)
{
	return (struct store_session){.key = key,
				      .requestor = requestor,
				      .credential = "c",
				      .revision = "2025-11-25",
				      .client = "{}",
				      .uris = "[\"a\"]",
				      .log_level = 6,
				      .used_ms = NOW,
				      .expires_ms = NOW + 100};
}

static int put(struct store *s, const struct store_session *row)
{
	struct answer a = {0};

	store_put_session(s, row, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	return a.rc;
}

static void test_row(struct store *s)
{
	struct store_session one = session("k1", "ada");
	struct answer a = {0};

	is_int(get(s, "k1", NOW), -ENOENT, "an unknown key is not found");
	is_int(put(s, &one), 0, "a session is kept");
	is_int(get(s, "k1", NOW), 0, "a stored session is found");
	is_str(got.text, "k1 ada c 2025-11-25 {} [\"a\"]",
	       "a stored session has all fields");
	is_int(got.log_level, 6, "a stored session has the log level");
	ok(got.used_ms == NOW && got.expires_ms == NOW + 100,
	   "a stored session has the times");
	one.log_level = 2;
	one.uris = "[]";
	one.expires_ms = NOW + 200;
	is_int(put(s, &one), 0, "a session is replaced");
	is_int(get(s, "k1", NOW + 150), 0,
	       "a replaced session has the later expiry");
	is_str(got.text, "k1 ada c 2025-11-25 {} []",
	       "a replaced session has the new fields");
	is_int(get(s, "k1", NOW + 200), -ENOENT,
	       "an expired session is not found");
	store_drop_session(s, "k1", STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	is_int(a.rc, 0, "a session is dropped");
	is_int(get(s, "k1", NOW), -ENOENT, "a dropped session is not found");
}

static void test_gone(struct store *s)
{
	struct store_session one = session("k1", "ada"),
			     two = session("k2", "ada"),
			     bob = session("k3", "bob");

	put(s, &one);
	put(s, &two);
	put(s, &bob);
	store_drop_sessions(s, "ada");
	is_int(get(s, "k1", NOW), -ENOENT,
	       "a requestor's first session is dropped");
	is_int(get(s, "k2", NOW), -ENOENT,
	       "a requestor's second session is dropped");
	is_int(get(s, "k3", NOW), 0, "another requestor's session stays");
	store_sweep(s, NOW + 99);
	is_int(get(s, "k3", 0), 0,
	       "a sweep leaves a session before the expiry");
	store_sweep(s, NOW + 100);
	is_int(get(s, "k3", 0), -ENOENT, "a sweep removes an expired session");
}

static void fill(struct store *s, const char *requestor, int n)
{
	for (int i = 0; i < n; i++) {
		char key[64];
		struct store_session one = session(key, requestor);

		snprintf(key, sizeof(key), "%s-%d", requestor, i);
		one.used_ms = NOW + i;
		store_put_session(s, &one, STORE_DEFERRED, NULL, NULL);
	}
}

static void test_bounds(struct store *s)
{
	char name[16];

	fill(s, "ada", STORE_SESSIONS_EACH);
	is_int(get(s, "ada-0", NOW), 0,
	       "a requestor has sessions up to the bound");
	fill(s, "ada", STORE_SESSIONS_EACH + 1);
	is_int(get(s, "ada-0", NOW), -ENOENT,
	       "a session beyond the bound displaces the longest unused");
	is_int(get(s, "ada-1", NOW), 0, "one session is displaced");
	for (int i = 0; i < STORE_SESSIONS_MAX / STORE_SESSIONS_EACH; i++) {
		snprintf(name, sizeof(name), "q%d", i);
		fill(s, name, STORE_SESSIONS_EACH);
	}
	is_int(get(s, "ada-1", NOW), -ENOENT,
	       "the total bound displaces the longest unused sessions");
	is_int(get(s, "q0-2047", NOW), 0, "sessions used later stay");
}

/* The tables added since version 4. */
static const char version_4[] = HELP_VERSION_7
    "DROP TABLE sessions;"
    "DROP TRIGGER used_run; DROP TRIGGER used_more; DROP TRIGGER used_less;"
    "DROP TRIGGER used_artifact; DROP TRIGGER used_gone;"
    "DROP TRIGGER used_removed; DROP TABLE used;"
    "ALTER TABLE runs DROP COLUMN cpu_ms;"
    "ALTER TABLE runs DROP COLUMN retried_from;"
    "ALTER TABLE runs DROP COLUMN inputs_lack;"
    "PRAGMA user_version=4";

/* A file of an older paddock, without sessions. */
static void test_version_4(void)
{
	char *dir = help_dir(), *path = xasprintf("%s/paddock.db", dir);
	struct store *s = store_start(dir, "inst_a");
	struct store_run run = help_run("ada", STORE_SUCCEEDED);
	struct store_session one = session("k1", "ada");
	struct answer a = {0};
	sqlite3 *db;

	help_put(s, &run, STORE_SYNC);
	store_stop(s, 10000);
	sqlite3_open(path, &db);
	is_int(sqlite3_exec(db, version_4, NULL, NULL, NULL), SQLITE_OK,
	       "a file of version 4");
	sqlite3_close(db);
	s = store_start(dir, "inst_b");
	is_int(put(s, &one), 0, "a migrated file keeps sessions");
	is_int(get(s, "k1", NOW), 0, "a migrated file finds sessions");
	is_int(help_get(s, &a, "ada", run.id), 0,
	       "a migrated file still has the runs");
	store_stop(s, 10000);
	help_clear(&a);
	free(path);
	help_remove(dir);
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_t");

	test_row(s);
	test_gone(s);
	if (help_is_postgres())
		skip("it takes too long there", "how many there may be");
	else
		test_bounds(s);
	store_stop(s, 10000);
	help_remove(dir);
	if (help_is_postgres())
		skip("that is SQLite's", "an older file");
	else
		test_version_4();
	return tap_done();
}

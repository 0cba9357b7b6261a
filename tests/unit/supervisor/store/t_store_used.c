/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of use by the hour: the requestor, the time, kept and removed runs, and a file
 * of an older paddock.
 */
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

enum { SIZE = 10, USES = 8 };
#define HOUR STORE_USE_HOUR_MS
#define NOW (1000 * HOUR + 5)

struct used {
	int rc, calls;
	size_t n;
	char of[USES][32]; /* "requestor template" */
	int64_t runs[USES], cpu_ms[USES], bytes[USES];
};

static void on_used(void *arg, const struct store_result *res)
{
	struct used *u = arg;

	u->rc = res->rc;
	u->calls++;
	u->n = res->n_uses;
	for (size_t i = 0; i < res->n_uses && i < USES; i++) {
		const struct store_use *one = &res->uses[i];

		snprintf(u->of[i], sizeof(u->of[i]), "%s %s", one->requestor,
			 one->template_id);
		u->runs[i] = one->runs;
		u->cpu_ms[i] = one->cpu_ms;
		u->bytes[i] = one->bytes;
	}
}

static struct used used_by(struct store *s, const char *requestor,
			   int64_t since_ms)
{
	struct used u = {.n = 0};
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};

	store_used(s, requestor, since_ms, on_used, &u);
	while (u.calls == 0 && poll(&p, 1, HELP_WAIT_MS) > 0)
		store_dispatch(s);
	is_int(u.rc, 0, "the use is read");
	return u;
}

static void is_used(const struct used *u, size_t i, const char *of,
		    int64_t runs, int64_t cpu_ms, int64_t bytes)
{
	is_str(i < u->n ? u->of[i] : "none", of, "the use is of %s", of);
	is_int(u->runs[i], runs, "the number of runs is right");
	is_int(u->cpu_ms[i], cpu_ms, "the CPU time is right");
	is_int(u->bytes[i], bytes, "of which so many bytes are kept");
}

static struct store_run a_run(const char *requestor, const char *template_id,
			      int64_t created_ms, int64_t cpu_ms)
{
	struct store_run run = help_run(requestor, STORE_SUCCEEDED);

	run.template_id = template_id;
	run.created_ms = created_ms;
	run.finished_ms = created_ms + 1;
	run.expires_ms = INT64_MAX;
	run.inputs = run.options = run.view = run.log = NULL;
	run.cpu_ms = cpu_ms;
	return run;
}

static void put_one(struct store *s, const char *requestor,
		    const char *template_id, int64_t created_ms, int64_t cpu_ms)
{
	struct store_run run =
	    a_run(requestor, template_id, created_ms, cpu_ms);

	help_put(s, &run, STORE_SYNC);
}

static void test_sums(struct store *s)
{
	const int64_t row = STORE_ROW_BYTES;
	struct used u = used_by(s, "ada", 0);

	is_int((int64_t)u.n, 0, "a requestor without runs has no use");
	put_one(s, "ada", "t", NOW, 7);
	put_one(s, "ada", "t", NOW + 2 * HOUR, 5);
	put_one(s, "ada", "more", NOW + 2 * HOUR, 100);
	put_one(s, "bob", "t", NOW, 50);
	u = used_by(s, "ada", 0);
	is_int((int64_t)u.n, 2, "each template for itself");
	is_used(&u, 0, "ada more", 1, 100, row);
	is_used(&u, 1, "ada t", 2, 12, 2 * row);
	u = used_by(s, "ada", NOW + HOUR);
	is_used(&u, 1, "ada t", 1, 5, row);
	u = used_by(s, "ada", NOW + 3 * HOUR);
	is_int((int64_t)u.n, 0, "the last hours have no use");
	u = used_by(s, NULL, 0);
	is_int((int64_t)u.n, 3, "the use of all requestors is read");
	is_used(&u, 1, "bob t", 1, 50, row);
	u = used_by(s, NULL, NOW + HOUR);
	is_int((int64_t)u.n, 2, "all since then");
}

/* A run which grows, ends, gets an artifact, and is removed. */
static void test_life(const char *dir, struct store *s)
{
	struct store_run run = a_run("eve", "t", NOW, 0);
	struct store_artifact art = help_artifact(&run, SIZE);
	struct answer a = {0};
	char *tmp = help_file(dir, "blob", "0123456789");
	struct used u;

	run.status = STORE_RUNNING;
	run.inputs = "12345";
	help_put(s, &run, STORE_SYNC);
	store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	u = used_by(s, "eve", 0);
	is_used(&u, 0, "eve t", 1, 0, STORE_ROW_BYTES + 5 + SIZE);
	run.cpu_ms = 40;
	help_put(s, &run, STORE_SYNC);
	run.status = STORE_SUCCEEDED;
	run.inputs = NULL;
	/* an unknown CPU time must not replace the known time */
	run.cpu_ms = 0;
	run.view = "{}";
	help_put(s, &run, STORE_SYNC);
	u = used_by(s, "eve", 0);
	is_used(&u, 0, "eve t", 1, 40, STORE_ROW_BYTES + 2 + SIZE);
	run.cpu_ms = 30;
	run.corrects = true;
	help_put(s, &run, STORE_SYNC);
	u = used_by(s, "eve", 0);
	is_used(&u, 0, "eve t", 1, 30, STORE_ROW_BYTES + 2 + SIZE);
	help_clear(&a);
	store_delete_run(s, "eve", run.id, help_done, &a);
	help_wait(s, &a);
	u = used_by(s, "eve", 0);
	is_used(&u, 0, "eve t", 1, 30, 0);
	help_clear(&a);
	free(tmp);
}

/* An upload belongs to no run, and has a line of its own. */
static void test_uploads(const char *dir, struct store *s)
{
	struct store_run run = a_run("ann", "t", NOW, 0);
	struct store_artifact art = help_artifact(&run, SIZE);
	struct answer a = {0};
	char *tmp = help_file(dir, "blob", "0123456789");
	struct used u;

	art.created_ms = NOW;
	art.expires_ms = INT64_MAX;
	memcpy(art.run_id, art.id, sizeof(art.run_id));
	store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	u = used_by(s, "ann", 0);
	is_used(&u, 0, "ann ", 1, 0, SIZE);
	help_clear(&a);
	store_delete_upload(s, "ann", art.id, help_done, &a);
	help_wait(s, &a);
	u = used_by(s, "ann", 0);
	is_used(&u, 0, "ann ", 1, 0, 0);
	help_clear(&a);
	free(tmp);
}

static void test_forgotten(struct store *s)
{
	struct used u;

	store_sweep(s, NOW - 5 + STORE_USE_KEPT_MS);
	u = used_by(s, "bob", 0);
	is_int((int64_t)u.n, 1, "an hour is kept for a year");
	store_sweep(s, NOW - 5 + HOUR + STORE_USE_KEPT_MS);
	u = used_by(s, "bob", 0);
	is_int((int64_t)u.n, 0, "an hour is forgotten after a year");
	u = used_by(s, "ada", 0);
	is_used(&u, 1, "ada t", 1, 5, STORE_ROW_BYTES);
}

static const char version_5[] = HELP_VERSION_7
    "DROP TRIGGER used_run; DROP TRIGGER used_more; DROP TRIGGER used_less;"
    "DROP TRIGGER used_artifact; DROP TRIGGER used_gone;"
    "DROP TRIGGER used_removed; DROP TABLE used;"
    "ALTER TABLE runs DROP COLUMN cpu_ms;"
    "ALTER TABLE runs DROP COLUMN retried_from;"
    "ALTER TABLE runs DROP COLUMN inputs_lack;"
    "PRAGMA user_version=5";

/*
 * The use is computed during the migration, with the CPU time of the runs' views.
 */
static void test_version_5(void)
{
	char *dir = help_dir(), *path = xasprintf("%s/paddock.db", dir);
	struct store *s = store_start(dir, "inst_a");
	struct store_run run = a_run("ada", "t", NOW, 0);
	struct store_artifact art = help_artifact(&run, SIZE);
	struct answer a = {0};
	char *tmp = help_file(dir, "blob", "0123456789");
	struct used u;
	sqlite3 *db;

	run.view = "{\"metrics\":{\"cpuMs\":33}}";
	help_put(s, &run, STORE_SYNC);
	store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	put_one(s, "ada", "t", NOW + 1, 0);
	store_stop(s, 10000);
	sqlite3_open(path, &db);
	is_int(sqlite3_exec(db, version_5, NULL, NULL, NULL), SQLITE_OK,
	       "a file of version 5");
	sqlite3_close(db);
	s = store_start(dir, "inst_b");
	u = used_by(s, "ada", 0);
	is_used(&u, 0, "ada t", 2, 33,
		2 * STORE_ROW_BYTES + (int64_t)strlen(run.view) + SIZE);
	store_stop(s, 10000);
	help_clear(&a);
	free(tmp);
	free(path);
	help_remove(dir);
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");

	test_sums(s);
	test_life(dir, s);
	test_uploads(dir, s);
	test_forgotten(s);
	store_stop(s, 10000);
	help_remove(dir);
	if (help_is_postgres())
		skip("that is SQLite's", "an older file");
	else
		test_version_5();
	return tap_done();
}

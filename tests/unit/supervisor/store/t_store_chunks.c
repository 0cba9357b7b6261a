/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts with bytes in rows of PostgreSQL: large, interrupted, swept. */
#include "supervisor/store/state/artifact_file.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define PART ((int64_t)STORE_CHUNK_BYTES)
#define LARGE (19 * PART + 5) /* of three batches */

static char byte_at(int64_t at)
{
	return (char)(at * 31 + at / 4096);
}

static char *make_file(const char *dir, int64_t size)
{
	struct artifact_file *b = artifact_file_new(dir, "inst_a");
	char block[65536], hex[65];

	for (int64_t at = 0; at < size;) {
		size_t n = 0;

		for (; n < sizeof(block) && at < size; n++, at++)
			block[n] = byte_at(at);
		artifact_file_write(b, block, n);
	}
	return artifact_file_finish(b, hex);
}

static struct store *start(const char *dir, const char *instance)
{
	struct store *s = store_start(dir, instance);

	store_set_artifacts(s, NULL);
	return s;
}

static int put(struct store *s, const char *dir,
	       const struct store_artifact *art, struct answer *a)
{
	char *tmp = make_file(dir, art->size);

	help_clear(a);
	store_put_artifact(s, art, tmp, STORE_SYNC, help_done, a);
	help_wait(s, a);
	ok(access(tmp, F_OK) != 0,
	   "the temporary file of a stored artifact is removed");
	free(tmp);
	return a->rc;
}

/* The number returned by SQL. */
static long long count(const char *dir, const char *sql)
{
	struct help_db *db = help_open(dir);
	long long n = help_number(db, sql);

	help_close(db);
	return n;
}

static void change(const char *dir, const char *sql)
{
	struct help_db *db = help_open(dir);

	help_sql(db, sql);
	help_close(db);
}

#define PARTS "SELECT count(*) FROM artifact_chunk"
#define LITTER "SELECT count(*) FROM artifact_litter"

static void test_ranges(struct store *s, const struct store_artifact *art)
{
	static const struct {
		int64_t offset, limit;
	} ranges[] = {{0, 10},		 {PART - 3, 10},  {PART, 1},
		      {2 * PART - 1, 1}, {LARGE - 2, 99}, {LARGE, 1}};
	struct answer a = {0};

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		int64_t left = LARGE - ranges[i].offset;
		size_t wrong = 0;

		help_read(s, &a, "alice", art->id, ranges[i].offset,
			  ranges[i].limit);
		is_int((long long)a.len,
		       left < ranges[i].limit ? left : ranges[i].limit,
		       "%lld bytes from %lld", (long long)ranges[i].limit,
		       (long long)ranges[i].offset);
		for (size_t j = 0; j < a.len; j++)
			wrong +=
			    a.data[j] != byte_at(ranges[i].offset + (int64_t)j);
		is_int((long long)wrong, 0, "the bytes of the range are right");
	}
	is_int(help_read(s, &a, "bob", art->id, 0, 1), -ENOENT,
	       "another requestor's artifact is unknown");
	help_clear(&a);
}

struct seen {
	size_t len, wrong;
	int64_t from;
	int calls, rc;
};

static void on_whole(void *arg, const struct store_result *res)
{
	struct seen *v = arg;

	v->calls++;
	v->rc = res->rc;
	v->len = res->len;
	for (size_t i = 0; i < res->len; i++)
		v->wrong += ((const char *)res->data)[i] != byte_at((int64_t)i);
}

static void is_whole(struct store *s, const struct store_artifact *art,
		     const char *what)
{
	struct seen v = {0};
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};

	store_read_artifact(s, "alice", art->id, 0, INT64_MAX, on_whole, &v);
	while (v.calls == 0 && poll(&p, 1, HELP_WAIT_MS) > 0)
		store_dispatch(s);
	ok(v.rc == 0 && v.len == (size_t)art->size && v.wrong == 0, "%s", what);
}

/* Other requests are served during the write of a large artifact. */
static void test_large(const char *dir, struct store *s,
		       const struct store_run *run)
{
	struct store_artifact art = help_artifact(run, LARGE);
	char *tmp = make_file(dir, LARGE);
	struct store_run other = help_run("bob", STORE_RUNNING);
	struct answer large = {0}, small = {0};

	store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &large);
	store_put_run(s, &other, STORE_SYNC, help_done, &small);
	help_wait(s, &large);
	is_int(large.rc, 0, "a large artifact is kept");
	ok(small.order < large.order,
	   "a request after a large artifact is answered first");
	is_int(count(dir, PARTS), 20,
	       "a large artifact is stored in parts of 1 MiB");
	is_int(count(dir, LITTER), 0, "no part of a stored artifact is litter");
	ok(access(tmp, F_OK) != 0,
	   "the temporary file of a large artifact is removed");
	free(tmp);
	test_ranges(s, &art);
	is_whole(s, &art, "all of it is there");
	store_delete_run(s, "alice", run->id, help_done, &small);
	small.calls = 0;
	help_wait(s, &small);
	is_int(small.rc, -EBUSY, "while its run goes on, it stays");
	help_clear(&large);
	help_clear(&small);
}

static void test_small(const char *dir, struct store *s,
		       const struct store_run *run)
{
	struct store_artifact empty = help_artifact(run, 0);
	struct store_artifact one = help_artifact(run, PART);
	struct answer a = {0};
	long long before = count(dir, PARTS);

	is_int(put(s, dir, &empty, &a), 0, "an empty artifact is stored");
	is_whole(s, &empty, "an empty artifact is read");
	is_int(put(s, dir, &one, &a), 0, "an artifact of 1 MiB is stored");
	is_whole(s, &one, "an artifact of 1 MiB is read");
	is_int(count(dir, PARTS), before + 1,
	       "an artifact of 1 MiB has one part");
	change(dir, "DELETE FROM artifact_chunk WHERE part = 0 AND"
		    " octet_length(data) = 1048576 AND id ="
		    " (SELECT max(id) FROM artifact_chunk)");
	is_int(help_read(s, &a, "alice", one.id, 0, 4), -ENOMEDIUM,
	       "an artifact without its part is an error");
	ok(strstr(a.errmsg, one.id) != NULL &&
	       strstr(a.errmsg, "not there") != NULL,
	   "the error names the artifact");
	help_clear(&a);
}

/* End all other connections, as an operator or a crash does. */
static void cut(const char *dir)
{
	change(dir, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
		    " WHERE pid <> pg_backend_pid() AND application_name ="
		    " current_setting('application_name')");
}

static void test_cut(const char *dir, struct store *s,
		     const struct store_run *run)
{
	struct store_artifact art = help_artifact(run, LARGE);
	char *tmp = make_file(dir, LARGE);
	struct answer a = {0};

	store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &a);
	while (count(dir, LITTER) == 0)
		sched_yield();
	cut(dir);
	help_wait(s, &a);
	is_int(a.rc, 0, "an artifact is stored in spite of a cut connection");
	is_whole(s, &art, "an artifact stored over a cut connection is whole");
	is_int(count(dir, LITTER), 0, "a cut connection leaves no litter");
	free(tmp);
	help_clear(&a);
}

/* A sweep takes a slow writer for dead, between two batches of the writer. */
static void test_swept(const char *dir, struct store *s,
		       const struct store_run *run)
{
	struct store_artifact art = help_artifact(run, LARGE);
	struct answer a = {0};

	change(dir, "CREATE TABLE once(n int); CREATE FUNCTION sweeps() RETURNS"
		    " trigger LANGUAGE plpgsql AS $$BEGIN"
		    " IF NOT EXISTS (SELECT 1 FROM once) THEN"
		    " INSERT INTO once VALUES(1);"
		    " DELETE FROM artifact_chunk WHERE id = new.id;"
		    " UPDATE artifact_litter SET instance = ''"
		    "  WHERE id = new.id; END IF; RETURN NULL; END$$;"
		    " CREATE TRIGGER sweeps AFTER INSERT ON artifact_chunk"
		    " FOR EACH ROW WHEN (new.part = 7)"
		    " EXECUTE FUNCTION sweeps()");
	is_int(put(s, dir, &art, &a), 0,
	       "an artifact swept during the write is stored");
	is_int(count(dir, "SELECT count(*) FROM once"), 1,
	       "the first parts of the artifact were swept once");
	is_whole(s, &art, "an artifact swept during the write is whole");
	is_int(count(dir, LITTER), 0,
	       "an artifact swept during the write leaves no litter");
	change(dir, "DROP TRIGGER sweeps ON artifact_chunk; DROP TABLE once");
	help_clear(&a);
}

static void test_full(const char *dir, struct store *s,
		      const struct store_run *run)
{
	struct store_artifact art = help_artifact(run, LARGE);
	long long before = count(dir, PARTS);
	struct answer a = {0};

	change(dir, "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE"
		    " plpgsql AS $$BEGIN IF new.part >= 12 THEN RAISE EXCEPTION"
		    " 'could not extend file' USING ERRCODE = '53100'; END IF;"
		    " RETURN new; END$$; CREATE TRIGGER full_disk BEFORE INSERT"
		    " ON artifact_chunk FOR EACH ROW EXECUTE FUNCTION"
		    " full_disk()");
	is_int(put(s, dir, &art, &a), -ENOSPC,
	       "an artifact on a full disk is refused");
	ok(strstr(a.errmsg, "could not extend file") != NULL &&
	       strstr(a.errmsg, "free space") != NULL,
	   "the error of a full disk has the cause and the remedy");
	is_int(help_read(s, &a, "alice", art.id, 0, 1), -ENOENT,
	       "an artifact refused for a full disk is unknown");
	is_int(count(dir, LITTER), 1, "the written parts are known as litter");
	change(dir, "DROP TRIGGER full_disk ON artifact_chunk;"
		    " UPDATE artifact_litter SET since_ms = 0");
	store_sweep(s, clock_wall_ms());
	is_int(help_put(s, run, STORE_SYNC), 0,
	       "other writes go on after the full disk");
	help_swept(s);
	is_int(count(dir, PARTS), before,
	       "the sweep removes the written parts");
	is_int(count(dir, LITTER), 0, "the sweep leaves no litter");
	help_clear(&a);
}

/* Parts which another node began to write, with the node alive and dead. */
static void test_strays(const char *dir, struct store *s)
{
	long long before = count(dir, PARTS);

	change(dir, "INSERT INTO node(id, heartbeat_ms)"
		    " VALUES('inst_lives', paddock_now() + 3600000);"
		    "INSERT INTO artifact_litter VALUES"
		    " ('art_lives', 'inst_lives', paddock_now()),"
		    " ('art_dead', 'inst_dead', paddock_now());"
		    "INSERT INTO artifact_chunk SELECT a, n, 'x'::bytea FROM"
		    " unnest(ARRAY['art_lives', 'art_dead']) AS a,"
		    " generate_series(0, 69) AS n");
	store_sweep(s, clock_wall_ms());
	help_swept(s);
	is_int(count(dir, PARTS), before + 70,
	       "parts that a dead node left are swept");
	is_int(count(dir, PARTS " WHERE id = 'art_lives'"), 70,
	       "parts of a living node stay");
	change(dir, "DELETE FROM node WHERE id = 'inst_lives'");
	store_sweep(s, clock_wall_ms());
	help_swept(s);
	is_int(count(dir, PARTS), before,
	       "parts of a node which died later are swept");
}

static void test_end(const char *dir, struct store *s, struct store_run *run)
{
	struct answer a = {0};

	run->status = STORE_SUCCEEDED;
	run->finished_ms = 5;
	is_int(help_put(s, run, STORE_SYNC), 0, "the artifacts' run ends");
	store_delete_run(s, "alice", run->id, help_done, &a);
	help_wait(s, &a);
	is_int(a.rc, 0, "the artifacts' run is deleted");
	is_int(help_read(s, &a, "alice", run->id, 0, 1), -ENOENT,
	       "the deleted run's artifacts are unknown");
	store_sweep(s, clock_wall_ms());
	help_swept(s);
	is_int(count(dir, PARTS), 0, "all parts are swept");
	store_usage(s, "alice", help_done, &a);
	a.calls = 0;
	help_wait(s, &a);
	is_int(a.artifact_bytes, 0, "no bytes of artifacts are counted");
	help_clear(&a);
}

/* The server stops during the write of an artifact. */
static void test_stop(const char *dir, const struct store_run *run)
{
	struct store *s = start(dir, "inst_b");
	struct store_artifact art = help_artifact(run, LARGE);
	char *tmp = make_file(dir, LARGE);
	struct answer a = {0};

	store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &a);
	store_stop(s, HELP_WAIT_MS);
	is_int(a.rc, 0, "a stop waits for the artifact being written");
	s = start(dir, "inst_c");
	is_whole(s, &art,
		 "an artifact written during the stop is there afterwards");
	store_stop(s, HELP_WAIT_MS);
	free(tmp);
	help_clear(&a);
}

int main(void)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store *s;
	char *dir;

	if (!help_is_postgres()) {
		printf("1..0 # SKIP without PostgreSQL\n");
		return 0;
	}
	dir = help_dir();
	s = start(dir, "inst_a");
	is_int(help_put(s, &run, STORE_SYNC), 0,
	       "a run for the artifacts is stored");
	test_large(dir, s, &run);
	test_small(dir, s, &run);
	test_cut(dir, s, &run);
	test_swept(dir, s, &run);
	test_full(dir, s, &run);
	test_strays(dir, s);
	test_end(dir, s, &run);
	store_stop(s, HELP_WAIT_MS);
	run.status = STORE_RUNNING;
	test_stop(dir, &run);
	help_remove(dir);
	return tap_done();
}

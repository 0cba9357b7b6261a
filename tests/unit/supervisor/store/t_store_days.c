/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In PostgreSQL, runs are partitioned by day: an expired day is dropped as a whole, the
 * rest of a day is deleted row by row, and queries read few partitions, by an index.
 */
#include "supervisor/store/postgres/store_postgres_schema.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define DAY_MS STORE_POSTGRES_DAY_MS
#define HOUR_MS (DAY_MS / 24)
#define PLAN_SIZE 262144

#define IS_THERE                                                               \
	"SELECT count(*) FROM day AS d JOIN pg_class AS c ON c.relname = "     \
	"d.name AND c.relnamespace = current_schema()::regnamespace"           \
	" WHERE d.from_id = (SELECT min(from_id) FROM day)"                    \
	" AND d.from_id <= paddock_id(paddock_now())"                          \
	" AND d.to_id > paddock_id(paddock_now())"

/* An ended run of REQUESTOR, with the expiry IN_MS from now. */
static struct store_run ended(const char *requestor, int64_t in_ms)
{
	struct store_run run = help_run(requestor, STORE_SUCCEEDED);

	run.created_ms = run.finished_ms = clock_wall_ms();
	run.expires_ms = clock_wall_ms() + in_ms;
	run.view = "{\"a\":1}";
	return run;
}

static void put(struct store *s, struct store_run run)
{
	is_int(help_put(s, &run, STORE_SYNC), 0, "a run is put");
}

static void sweep(struct store *s, int64_t in_ms)
{
	store_sweep(s, clock_wall_ms() + in_ms);
	help_swept(s);
}

static int64_t total_of(struct store *s, const char *requestor)
{
	struct answer a = {0};
	int64_t total;

	help_list(s, &a,
		  &(struct store_filter){
		      .requestor = requestor, .status = -1, .limit = 9});
	total = a.total;
	help_clear(&a);
	return total;
}

static void test_whole(const char *dir)
{
	struct store *s = help_start(dir, "inst_a");
	struct store_run run = ended("alice", 1000);
	struct help_db *db = help_open(dir);
	struct answer a = {0};

	run.idem_key = "k";
	run.idem_digest = "d";
	put(s, run);
	put(s, ended("alice", 2000));
	put(s, ended("bob", 3000));
	is_int(help_number(db, IS_THERE), 1, "a day has a part of the table");
	is_int(total_of(s, "alice"), 2, "the runs are there");
	help_sql(db, "INSERT INTO artifacts(id, run_id, requestor, name,"
		     " mime_type, sha256, size, created_ms, expires_ms, gone)"
		     " SELECT 'art_gone', max(id), 'alice', 'n', 'a/b', '', 0,"
		     " 1, 1, 1 FROM runs");
	sweep(s, 3 * DAY_MS);
	is_int(help_number(db, IS_THERE), 0,
	       "the partition of a day is dropped once all runs have expired");
	is_int(help_number(db, "SELECT count(*) FROM runs"), 0,
	       "no run is left after the drop");
	is_int(help_number(db, "SELECT count(*) FROM artifacts"), 0,
	       "no artifact's row is left after the drop");
	is_int(total_of(s, "alice"), 0, "dropped runs are not counted");
	store_usage(s, "alice", help_done, &a);
	help_wait(s, &a);
	is_int(a.row_bytes, 0, "dropped runs use no bytes");
	is_int(help_number(db, "SELECT sum(runs) FROM used"), 3,
	       "the number of used runs stays");
	is_int(help_number(db, "SELECT sum(bytes) FROM used"), 0,
	       "the bytes of used runs are freed");
	run = ended("alice", 4 * DAY_MS);
	run.idem_key = "k";
	run.idem_digest = "d";
	put(s, run);
	is_int(
	    help_get(s, &a, "alice", run.id), 0,
	    "a dropped run's key is free, and a run of the day can be stored");
	is_int(help_number(db, "SELECT count(*) FROM runs_rest"), 1,
	       "among the rest");
	sweep(s, 5 * DAY_MS);
	is_int(help_number(db, "SELECT count(*) FROM runs"), 0,
	       "a run outside of partitions is deleted by itself");
	is_int(help_number(db, "SELECT count(*) FROM idem"), 0,
	       "the key of a deleted run is deleted");
	help_close(db);
	store_stop(s, 10000);
	help_clear(&a);
}

static void test_waits(const char *dir)
{
	struct store *s = help_start(dir, "inst_a");
	struct help_db *db = help_open(dir);

	put(s, ended("alice", 2 * DAY_MS));
	put(s, ended("alice", 2 * DAY_MS + 12 * HOUR_MS));
	sweep(s, 2 * DAY_MS + HOUR_MS);
	is_int(total_of(s, "alice"), 2,
	       "a run waits for the last of its day, for a day at most");
	sweep(s, 2 * DAY_MS + 13 * HOUR_MS);
	is_int(total_of(s, "alice"), 0,
	       "a run goes with the last run of the day");
	is_int(help_number(db, IS_THERE), 0,
	       "the partition is dropped with the last run");
	help_close(db);
	store_stop(s, 10000);
}

static void test_rows(const char *dir)
{
	struct store *s = help_start(dir, "inst_a");
	struct help_db *db = help_open(dir);
	struct store_run open = help_run("alice", STORE_RUNNING);

	is_int(help_put(s, &open, STORE_SYNC), 0, "a run goes on");
	put(s, ended("alice", 1000));
	put(s, ended("alice", 9 * DAY_MS));
	sweep(s, 3 * DAY_MS);
	is_int(total_of(s, "alice"), 2,
	       "of a day that has others what expires goes by itself");
	is_int(help_number(db, IS_THERE), 1,
	       "runs without expiry stay in the partition");
	sweep(s, 10 * DAY_MS);
	is_int(total_of(s, "alice"), 1, "a run that goes on stays for good");
	help_close(db);
	store_stop(s, 10000);
}

/* ---- plans ---- */

/* Fill thirty days with runs, without the steps which make single runs slow. */
static void fill(struct help_db *db)
{
	static const char runs[] =
	    "INSERT INTO runs(id, requestor, template_id, version, digest,"
	    " instance, status, created_ms, started_ms, updated_ms,"
	    " finished_ms, expires_ms, ended, bytes)"
	    " SELECT paddock_id(ms) || lpad(i::text, 16, '2'), 'alice',"
	    " (ARRAY['a', 'b', 'c'])[i % 3 + 1], '1', 'd', 'inst_x',"
	    " CASE WHEN i % 16 = 0 THEN 3 ELSE 2 END, ms, ms, ms, ms,"
	    " ms + 86400000 * 30::bigint, 1, 512 FROM (SELECT i,"
	    " paddock_now() - i * 86000::bigint AS ms"
	    " FROM generate_series(1, 30000) AS i) AS r";
	static const char counts[] =
	    "INSERT INTO counts(requestor, template_id, status, n)"
	    " SELECT requestor, template_id, status, count(*) FROM runs"
	    " GROUP BY 1, 2, 3";
	static const char *const steps[] = {
	    "SET statement_timeout = 0", /* a busy machine needs time */
	    "UPDATE day SET to_ms = 0",
	    "SELECT paddock_make_days(paddock_now() - 28 * 86400000::bigint)",
	    "SELECT paddock_make_days(paddock_now() - 24 * 86400000::bigint)",
	    "SELECT paddock_make_days(paddock_now() - 20 * 86400000::bigint)",
	    "SELECT paddock_make_days(paddock_now() - 16 * 86400000::bigint)",
	    "SELECT paddock_make_days(paddock_now() - 12 * 86400000::bigint)",
	    "SELECT paddock_make_days(paddock_now() - 8 * 86400000::bigint)",
	    "SELECT paddock_make_days(paddock_now() - 4 * 86400000::bigint)",
	    "ALTER TABLE runs DISABLE TRIGGER USER",
	    runs,
	    "ALTER TABLE runs ENABLE TRIGGER USER",
	    counts,
	    "ANALYZE runs"};

	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		help_sql(db, steps[i]);
}

/* SQL with VALUES, literals, for ?1 and so on; the caller's. */
static char *with_values(const char *sql, const char *const *values)
{
	char *text = xcalloc(1, 16384), *to = text;

	while (*sql != '\0') {
		char *end;
		long n = *sql == '?' ? strtol(sql + 1, &end, 10) : 0;

		if (n == 0) {
			*to++ = *sql++;
			continue;
		}
		to = stpcpy(to, values[n - 1]);
		sql = end;
	}
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

static void test_plans(const char *dir)
{
	static char plan[PLAN_SIZE], since[ID_SIZE + 2];
	/* with ?6 as in the first query of a list */
	static const char *const list[] = {"'alice'", "'a'", "20", "0",
					   "3",	      since, "'~'"};
	static const char *const tasks[] = {"'alice'", "'~'", "1", "20", since};
	static const char *const one[] = {"'alice'", since, "NULL"};
	static const char *const drop[] = {since, "'alice'"};
	static const char *const claim[] = {"'inst_x'", "'inst_y'", "1", "2",
					    "NULL"};
	static const struct {
		enum store_stmt which;
		const char *name;
		const char *const *values;
		size_t parts; /* at most */
		bool few;     /* few rows, so a sort is allowed */
	} asked[] = {
	    {STMT_LIST_ANY, "a page", list, 6, false},
	    {STMT_LIST_ENDED, "a page of a status", list, 6, false},
	    {STMT_LIST_OPEN, "a page of what goes on", list, 6, true},
	    {STMT_LIST_TEMPLATE, "a page of a template", list, 6, false},
	    {STMT_LIST_TEMPLATE_ENDED, "of both", list, 6, false},
	    {STMT_LIST_TEMPLATE_OPEN, "of both, that go on", list, 6, true},
	    {STMT_LIST_TASKS, "a page of tasks", tasks, 6, true},
	    {STMT_GET_RUN, "a view", one, 1, false},
	    {STMT_GET_INPUTS, "what a run was given", one, 1, false},
	    {STMT_STATUS_OF, "its status", one, 1, false},
	    {STMT_SHOWN, "what is shown of it", one, 1, false},
	    {STMT_DROP_RUN, "its end", drop, 2, false},
	    {STMT_CLAIM_QUEUED, "a claim of what the dead had", claim, 99,
	     false},
	    {STMT_CLAIM_RUNNING, "a claim of what it ran", claim, 99, false},
	};
	struct store *s = help_start(dir, "inst_a");
	struct help_db *db = help_open(dir);
	char id[ID_SIZE];

	is_int(total_of(s, "alice"), 0, "there is no run at first");
	fill(db);
	is_int(total_of(s, "alice"), 30000,
	       "there are 30,000 runs in thirty days");
	id_since(id, "run", clock_wall_ms() - DAY_MS);
	snprintf(since, sizeof(since), "'%s'", id);
	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		char *sql = with_values(
		    store_postgres_statements[asked[i].which], asked[i].values);
		char *explain = xasprintf("EXPLAIN (FORMAT JSON) %s", sql);
		size_t parts;

		plan[0] = '\0';
		help_text(db, explain, plan, sizeof(plan));
		parts = count(plan, "\"Relation Name\": \"runs_");
		ok(plan[0] != '\0' && strstr(plan, "\"Seq Scan\"") == NULL &&
		       (strstr(plan, "\"Node Type\": \"Sort\"") == NULL ||
			asked[i].few) &&
		       strstr(plan, "Index Name") != NULL,
		   "%s is found by an index", asked[i].name);
		ok(parts > 0 && parts <= asked[i].parts,
		   "%s looks at so many parts at most: %zu of %zu",
		   asked[i].name, asked[i].parts, parts);
		free(explain);
		free(sql);
	}
	help_close(db);
	store_stop(s, 10000);
}

int main(void)
{
	static void (*const tests[])(const char *) = {test_whole, test_waits,
						      test_rows, test_plans};
	char *dir;

	if (!help_is_postgres()) {
		printf("1..0 # SKIP tests/tools/with-postgres is not beside\n");
		return 0;
	}
	dir = help_dir();
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		char *sub = xasprintf("%s/%zu", dir, i);

		mkdir(sub, 0700);
		tests[i](sub);
		free(sub);
	}
	help_remove(dir);
	return tap_done();
}

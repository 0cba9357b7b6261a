/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_fill.c - see kept_fill.h, for kept.c. Rows of SQLite go by the store's interface;
 * rows of PostgreSQL by statements, since the day in the ids chooses the partition, and
 * a server makes only the coming days' partitions.
 */
#include "bench/kept_fill.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/measure.h"
#include "supervisor/store/store.h"

#define AT_ONCE 1000 /* rows of a commit */
#define DAY_MS INT64_C(86400000)

/* A view of the length of a short run's view. */
#define VIEW                                                                   \
	"{\"runId\":\"%s\",\"templateId\":\"word_count\",\"templateVersion\":" \
	"\"1.0.0\",\"status\":\"succeeded\",\"progress\":{\"totalSteps\":0,"   \
	"\"doneSteps\":0},\"metrics\":{\"elapsedMs\":2,\"queuedMs\":0,"        \
	"\"cpuMs\":1,\"cpuUserMs\":1,\"cpuSystemMs\":0,\"maxRssBytes\":"       \
	"1671168,\"readBytes\":0,\"writtenBytes\":0,\"messages\":1},"          \
	"\"artifacts\":[],\"result\":{\"words\":9}}"
#define DIGEST                                                                 \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

void kept_requestor(char *name, size_t size)
{
	snprintf(name, size, "uid:%u", (unsigned)geteuid());
}

/* ---- answers of a store ---- */

static size_t done;

void kept_done(void *arg, const struct store_result *res)
{
	size_t *n_runs = arg;

	done++;
	if (n_runs != NULL)
		*n_runs = res->n_runs;
	if (res->rc != 0) {
		fprintf(stderr, "bench: %s\n", res->errmsg);
		exit(1);
	}
}

void kept_wait(struct store *s, size_t want)
{
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};

	while (done < want) {
		poll(&p, 1, -1);
		store_dispatch(s);
	}
	done -= want;
}

/* ---- SQLite ---- */

static void put_row(struct store *s, struct kept *k, size_t i)
{
	static const char *const names[] = {"csv_profile", "text_stats",
					    "word_count", "convert"};
	int64_t now = clock_wall_ms();
	char requestor[32], view[sizeof(VIEW) + ID_SIZE];
	size_t step = k->rows / KEPT_LOOKED_AT;
	struct store_run run = {.requestor = requestor,
				.template_id = names[i % ARRAY_LEN(names)],
				.version = "1.0.0",
				.digest = DIGEST,
				.status = i % 16 == 0 ? STORE_FAILED
						      : STORE_SUCCEEDED,
				.view = view,
				.cpu_ms = 1,
				.expires_ms = now + KEPT_SPAN_MS};

	id_new(run.id, "run");
	kept_requestor(requestor, sizeof(requestor));
	snprintf(view, sizeof(view), VIEW, run.id);
	run.created_ms = now - KEPT_SPAN_MS +
			 (int64_t)((double)i / (double)k->rows * KEPT_SPAN_MS);
	run.started_ms = run.updated_ms = run.finished_ms = run.created_ms;
	if (i % 4 == 1) {
		run.task = STORE_TASK_VIEW;
		run.task_ttl_ms = 2 * KEPT_SPAN_MS;
		run.task_expires_ms = run.expires_ms;
	}
	if (i % step == 0 && i / step < KEPT_LOOKED_AT)
		memcpy(k->ids[i / step], run.id, ID_SIZE);
	store_put_run(s, &run, STORE_SYNC, kept_done, NULL);
}

static void fill_sqlite(struct kept *k)
{
	struct store *s = store_start(k->state, "inst_bench");
	size_t asked = 0;

	for (size_t i = 0; i < k->rows; i++) {
		put_row(s, k, i);
		if (++asked == AT_ONCE + AT_ONCE / 2) {
			kept_wait(s, AT_ONCE);
			asked -= AT_ONCE;
		}
	}
	kept_wait(s, asked);
	store_stop(s, 60000);
}

/* ---- PostgreSQL ---- */

/*
 * Run SQL, with psql's output in TO (SIZE bytes, or NULL): a statement may take longer
 * than in a server.
 */
static void run(const struct kept *k, const char *sql, char *to, size_t size)
{
	char *command = xasprintf("PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin"
				  " | tail -n 1) psql -XAtq -v ON_ERROR_STOP=1"
				  " '%s' <<'SQL'\n%s;\nSQL\n",
				  k->url, sql);
	FILE *said = popen(command, "r"); // NOLINT: a command of our own
	size_t n = 0;
	char rest;

	if (said == NULL)
		die("psql");
	if (size > 0)
		n = fread(to, 1, size - 1, said);
	while (fread(&rest, 1, 1, said) > 0)
		;
	if (pclose(said) != 0)
		exit(1); /* the reason is printed */
	if (size > 0)
		to[n] = '\0';
	free(command);
}

/* Row i, of each STEP, is of the time ms. */
#define TIMES                                                                  \
	"(SELECT i, %" PRId64 " + i * %" PRId64 "::bigint / %zu AS ms FROM "   \
	"generate_series(0::bigint, %zu, %zu) AS i) AS t"
#define ID_OF                                                                  \
	"paddock_id(ms) || translate(lpad(i::text, 16, '0'), '0189', 'wxyz')"

static char *times(const struct kept *k, int64_t since_ms, size_t step)
{
	return xasprintf(TIMES, since_ms, KEPT_SPAN_MS, k->rows, k->rows - 1,
			 step);
}

/* The partitions of a server that had run all the time. */
static void make_days(const struct kept *k, int64_t since_ms)
{
	run(k, "UPDATE day SET to_ms = 0", NULL, 0);
	for (int64_t ms = since_ms; ms < since_ms + KEPT_SPAN_MS;
	     ms += 4 * DAY_MS) {
		char *sql = xasprintf(
		    "DO $$BEGIN PERFORM paddock_make_days(%" PRId64 "); END$$",
		    ms);

		run(k, sql, NULL, 0);
		free(sql);
	}
	run(k,
	    "UPDATE day SET to_ms = 1000 * (86400 + extract(epoch FROM"
	    " to_date(substr(name, 6), 'YYYYMMDD')))",
	    NULL, 0);
}

/* Insert without triggers, which slow single rows; the sums are made for all rows later. */
static void fill_rows(const struct kept *k, int64_t since_ms)
{
	char requestor[32], *from = times(k, since_ms, 1), *view, *sql;

	kept_requestor(requestor, sizeof(requestor));
	view = xasprintf(VIEW, "' || id || '");
	sql = xasprintf(
	    "ALTER TABLE runs DISABLE TRIGGER USER;"
	    "INSERT INTO runs(id, requestor, template_id, version, digest,"
	    " instance, status, created_ms, started_ms, updated_ms,"
	    " finished_ms, expires_ms, ended, task, task_ttl_ms,"
	    " task_expires_ms, cpu_ms, bytes, view)"
	    " SELECT id, '%s', (ARRAY['csv_profile', 'text_stats',"
	    " 'word_count', 'convert'])[i %% 4 + 1], '1.0.0', '" DIGEST "',"
	    " 'inst_bench', CASE i %% 16 WHEN 0 THEN 3 ELSE 2 END,"
	    " ms, ms, ms, ms, ms + 2 * %" PRId64 ", 1,"
	    " (i %% 4 = 1)::int, 2 * %" PRId64 ","
	    " CASE i %% 4 WHEN 1 THEN ms + 2 * %" PRId64 " ELSE 0 END,"
	    " 1, 900, '%s' FROM (SELECT *, " ID_OF " AS id FROM %s) AS r;"
	    "ALTER TABLE runs ENABLE TRIGGER USER;",
	    requestor, KEPT_SPAN_MS, KEPT_SPAN_MS, KEPT_SPAN_MS, view, from);
	run(k, sql, NULL, 0);
	free(sql);
	free(view);
	free(from);
}

static void fill_sums(const struct kept *k)
{
	run(k,
	    "INSERT INTO counts(requestor, template_id, status, n) SELECT"
	    " requestor, template_id, status, count(*) FROM runs"
	    " GROUP BY 1, 2, 3;"
	    "INSERT INTO usage(requestor, artifact_bytes, row_bytes) SELECT"
	    " requestor, 0, sum(bytes) FROM runs GROUP BY 1;"
	    "INSERT INTO used(requestor, template_id, hour, runs, cpu_ms,"
	    " bytes) SELECT requestor, template_id, created_ms / 3600000,"
	    " count(*), sum(cpu_ms), sum(bytes) FROM runs GROUP BY 1, 2, 3;"
	    "VACUUM ANALYZE runs, counts, usage, used",
	    NULL, 0);
}

static void note_ids(struct kept *k, int64_t since_ms)
{
	char *from = times(k, since_ms, k->rows / KEPT_LOOKED_AT);
	char *sql = xasprintf(
	    "SELECT string_agg(" ID_OF ", '' ORDER BY i) FROM %s", from);
	size_t each = ID_TEXT("run"), size = 2 * KEPT_LOOKED_AT * each;
	char *all = xcalloc(1, size);

	run(k, sql, all, size);
	if (strlen(all) < KEPT_LOOKED_AT * each) {
		fprintf(stderr, "bench: no ids: %.80s\n", all);
		exit(1);
	}
	for (size_t i = 0; i < KEPT_LOOKED_AT; i++)
		memcpy(k->ids[i], all + i * each, each);
	free(all);
	free(sql);
	free(from);
}

static void fill_postgres(struct kept *k)
{
	int64_t since_ms = clock_wall_ms() - KEPT_SPAN_MS;

	make_days(k, since_ms);
	fill_rows(k, since_ms);
	fill_sums(k);
	note_ids(k, since_ms);
}

void kept_fill(struct kept *k)
{
	if (k->url != NULL)
		fill_postgres(k);
	else
		fill_sqlite(k);
}

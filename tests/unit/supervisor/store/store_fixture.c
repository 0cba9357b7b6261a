/* SPDX-License-Identifier: Apache-2.0 */
/* store_fixture.c - see store_fixture.h. */
#include "tests/unit/supervisor/store/store_fixture.h"

#include "supervisor/store/postgres/pq_link.h"

#undef store_start

int help_order;

bool help_is_postgres(void)
{
	const char *engine = getenv("PADDOCK_TEST_STORE");

	return engine != NULL && strcmp(engine, "postgres") == 0;
}

char *help_url(const char *state_dir)
{
	const char *url = getenv("PADDOCK_TEST_POSTGRES");
	struct pq_link link = {0};
	uint64_t hash = 14695981039346656037U;
	char *sql;

	for (const char *p = state_dir; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211U;
	sql = xasprintf("CREATE SCHEMA IF NOT EXISTS s%016" PRIx64, hash);
	if (url == NULL || pq_link_open(&link, url) != 0 ||
	    pq_link_run(&link, sql) != 0) {
		printf("Bail out! no PostgreSQL: %s\n", link.words);
		exit(1);
	}
	pq_link_close(&link);
	free(sql);
	return xasprintf("%s&options=-csearch_path%%3Ds%016" PRIx64
			 "&application_name=s%016" PRIx64,
			 url, hash, hash);
}

struct store *help_start_beside(const char *state_dir, const char *other,
				const char *instance)
{
	struct store *s = store_start(state_dir, instance);
	char *url;

	if (s == NULL || !help_is_postgres())
		return s;
	url = help_url(other);
	store_set_url(s, url);
	free(url);
	return s;
}

struct store *help_start(const char *state_dir, const char *instance)
{
	return help_start_beside(state_dir, state_dir, instance);
}

static void help_row(struct answer *a, const struct store_run *run)
{
	free(a->inputs);
	free(a->view);
	a->inputs = run->inputs != NULL ? xstrdup(run->inputs) : NULL;
	a->view = run->view != NULL ? xstrdup(run->view) : NULL;
	a->bulk = run->inputs != NULL || run->options != NULL ||
		  run->view != NULL || run->log != NULL;
	a->updated_ms = run->updated_ms;
	a->finished_ms = run->finished_ms;
	a->expires_ms = run->expires_ms;
	snprintf(a->idem_key, sizeof(a->idem_key), "%s",
		 run->idem_key != NULL ? run->idem_key : "");
}

void help_done(void *arg, const struct store_result *res)
{
	struct answer *a = arg;

	a->calls++;
	a->order = ++help_order;
	a->rc = res->rc;
	snprintf(a->errmsg, sizeof(a->errmsg), "%s", res->errmsg);
	a->n = res->n_runs;
	for (size_t i = 0; i < res->n_runs && i < HELP_PAGE; i++) {
		memcpy(a->ids[i], res->runs[i].id, ID_SIZE);
		a->status[i] = res->runs[i].status;
		help_row(a, &res->runs[i]);
	}
	a->total = res->total;
	a->artifact_bytes = res->artifact_bytes;
	a->row_bytes = res->row_bytes;
	a->interrupted = res->interrupted;
	if (res->artifact != NULL) {
		a->size = res->artifact->size;
		a->artifact_expires_ms = res->artifact->expires_ms;
	}
	a->len = res->len;
	if (res->len > 0 && res->len <= HELP_DATA)
		memcpy(a->data, res->data, res->len);
}

void help_wait(struct store *s, const struct answer *a)
{
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};

	while (a->calls == 0) {
		if (poll(&p, 1, HELP_WAIT_MS) == 0) {
			printf("Bail out! the store does not answer\n");
			exit(1);
		}
		store_dispatch(s);
	}
}

void help_clear(struct answer *a)
{
	free(a->inputs);
	free(a->view);
	*a = (struct answer){0};
}

char *help_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/t_store.XXXXXX", tmp != NULL ? tmp : "/tmp");

	if (mkdtemp(dir) == NULL) {
		printf("Bail out! %s: %s\n", dir, strerror(errno));
		exit(1);
	}
	return dir;
}

void help_remove(char *dir)
{
	char *cmd = xasprintf("rm -rf '%s'", dir);

	if (system(cmd) != 0)
		printf("# %s is left behind\n", dir);
	free(cmd);
	free(dir);
}

bool help_exists(const char *dir, const char *below)
{
	char *path = xasprintf("%s/%s", dir, below);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

char *help_file(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "we");

	if (f != NULL) {
		fputs(text, f);
		fclose(f);
	}
	return path;
}

struct store_run help_run(const char *requestor, enum store_status status)
{
	struct store_run run = {
	    .requestor = requestor,
	    .template_id = "word_count",
	    .version = "1.2.3",
	    .digest = "d1",
	    .status = status,
	    .created_ms = 1000,
	    .started_ms = status == STORE_QUEUED ? 0 : 1001,
	    .updated_ms = 1002,
	    .inputs = "{\"text\":\"a b\"}",
	    .options = status == STORE_QUEUED ? "{}" : NULL,
	};

	id_new(run.id, "run");
	return run;
}

void help_claim(struct store *s, struct answer *a)
{
	size_t interrupted = a->interrupted;
	int rc = a->rc;

	if (rc != 0 || !store_is_shared(s))
		return;
	help_clear(a);
	store_serve(s, "template d1\nrequestor alice\nrequestor bob", help_done,
		    a);
	help_wait(s, a);
	help_clear(a);
	store_claim(s,
		    &(struct store_claim){HELP_PAGE, .except = "", .busy = ""},
		    help_done, a);
	help_wait(s, a);
	a->interrupted = interrupted;
}

int help_put(struct store *s, const struct store_run *run,
	     enum store_urgency urgency)
{
	struct answer a = {0};

	store_put_run(s, run, urgency, help_done, &a);
	help_wait(s, &a);
	return a.rc;
}

struct store_run help_ended(const char *requestor)
{
	struct store_run run = help_run(requestor, STORE_SUCCEEDED);

	run.finished_ms = 1002;
	run.expires_ms = INT64_MAX;
	run.view = "{\"v\":1}";
	return run;
}

struct store_run help_put_ended(struct store *s)
{
	struct store_run run = help_ended("alice");

	help_put(s, &run, STORE_RETRY);
	return run;
}

int help_get(struct store *s, struct answer *a, const char *requestor,
	     const char *id)
{
	help_clear(a);
	store_get_run(s, requestor, id, help_done, a);
	help_wait(s, a);
	return a->rc;
}

int help_list(struct store *s, struct answer *a, const struct store_filter *f)
{
	help_clear(a);
	store_list_runs(s, f, help_done, a);
	help_wait(s, a);
	return a->rc;
}

int help_read(struct store *s, struct answer *a, const char *requestor,
	      const char *id, int64_t offset, int64_t limit)
{
	help_clear(a);
	store_read_artifact(s, requestor, id, offset, limit, help_done, a);
	help_wait(s, a);
	return a->rc;
}

static uint32_t commits_of_postgres(const struct store *s)
{
	struct pq_link link = {0};
	char n[32] = "";

	if (pq_link_open(&link, s->url) != 0 ||
	    pq_link_ask(&link, "SELECT sum(batch) FROM epoch", n, sizeof(n)) !=
		0)
		abort();
	pq_link_close(&link);
	return (uint32_t)strtoul(n, NULL, 10);
}

uint32_t help_commits(const struct store *s)
{
	char *path;
	int fd;
	uint32_t n = 0;

	if (help_is_postgres())
		return commits_of_postgres(s);
	path = xasprintf("%s-shm", s->db_path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &n, sizeof(n), 8) != sizeof(n))
		abort();
	close(fd);
	free(path);
	return n;
}

struct help_db {
	sqlite3 *sqlite;
	struct pq_link link; /* or this one */
};

void help_sql(struct help_db *db, const char *sql)
{
	if (db->sqlite != NULL)
		sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL);
	else if (pq_link_run(&db->link, sql) != 0)
		printf("# %.60s: %s\n", sql, db->link.words);
}

/* Of PostgreSQL's alone. */
long long help_number(struct help_db *db, const char *sql)
{
	char text[32] = "";

	if (pq_link_ask(&db->link, sql, text, sizeof(text)) != 0)
		printf("# %s: %s\n", sql, db->link.words);
	return strtoll(text, NULL, 10);
}

void help_text(struct help_db *db, const char *sql, char *to, size_t size)
{
	if (pq_link_ask(&db->link, sql, to, size) != 0)
		printf("# %s: %s\n", sql, db->link.words);
}

/* A sweep that was asked for is over, with what it has to do again. */
void help_swept(struct store *s)
{
	bool busy;

	do {
		struct answer a = {0};

		store_usage(s, "nobody", help_done, &a);
		help_wait(s, &a);
		pthread_mutex_lock(&s->lock);
		busy = s->busy || !STAILQ_EMPTY(&s->queue);
		pthread_mutex_unlock(&s->lock);
	} while (busy);
}

struct help_db *help_open(const char *dir)
{
	struct help_db *db = xcalloc(1, sizeof(*db));
	char *path = help_is_postgres() ? help_url(dir)
					: xasprintf("%s/paddock.db", dir);

	if (help_is_postgres())
		(void)pq_link_open(&db->link, path);
	else
		sqlite3_open(path, &db->sqlite);
	free(path);
	return db;
}

void help_close(struct help_db *db)
{
	sqlite3_close(db->sqlite);
	if (db->link.pq != NULL)
		pq_link_close(&db->link);
	free(db);
}

struct store *help_start_still(const char *dir, const char *instance)
{
	struct store *s = help_start(dir, instance);

	s->unstage_ms = STORE_FOREVER;
	return s;
}

int64_t help_count(const char *dir, const char *sql)
{
	struct help_db *db = help_open(dir);
	sqlite3_stmt *st = NULL;
	int64_t n = -1;

	sqlite3_busy_timeout(db->sqlite, HELP_WAIT_MS);
	sqlite3_prepare_v2(db->sqlite, sql, -1, &st, NULL);
	if (sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	else
		printf("# %s: %s\n", sql, sqlite3_errmsg(db->sqlite));
	sqlite3_finalize(st);
	help_close(db);
	return n;
}

int64_t help_staged(const char *dir)
{
	return help_count(dir, "SELECT count(*) FROM staged");
}

int64_t help_moved(const char *dir)
{
	return help_count(dir, "SELECT count(*) FROM runs WHERE ended = 1");
}

struct help_db *help_lock(const char *dir)
{
	struct help_db *db = help_open(dir);

	help_sql(db, db->sqlite != NULL
			 ? "BEGIN IMMEDIATE"
			 : "BEGIN; LOCK TABLE runs IN EXCLUSIVE MODE");
	return db;
}

void help_unlock(struct help_db *db)
{
	help_sql(db, "ROLLBACK");
	help_close(db);
}

struct help_db *help_hold(const char *dir, struct store *s)
{
	struct help_db *db = help_lock(dir);
	struct store_run run = help_run("hold", STORE_RUNNING);
	bool held = false;

	store_put_run(s, &run, STORE_SYNC, NULL, NULL);
	while (!held) {
		pthread_mutex_lock(&s->lock);
		held = s->busy && STAILQ_EMPTY(&s->queue);
		pthread_mutex_unlock(&s->lock);
		sched_yield();
	}
	return db;
}

struct store_artifact help_artifact(const struct store_run *run, int64_t size)
{
	struct store_artifact art = {
	    .requestor = run->requestor,
	    .name = "out.csv",
	    .mime_type = "text/csv",
	    .sha256 = "ab",
	    .size = size,
	    .created_ms = 5,
	};

	id_new(art.id, "art");
	memcpy(art.run_id, run->id, ID_SIZE);
	return art;
}

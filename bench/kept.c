/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.c - the cost of a page of runs, of a view, and of the usage among many kept
 * runs, beside few. The servers are asked in turn.
 *
 *   kept PADDOCKD TEMPLATES DIR CONFIG [MANY]
 *
 * MANY is 1,000,000, which fills 870 MB in DIR and takes a minute or two. Below
 * tests/tools/with-postgres the runs are in PostgreSQL, and the cost of a claim is
 * measured, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/client.h"
#include "bench/kept_fill.h"
#include "bench/measure.h"
#include "bench/target.h"
#include "supervisor/store/postgres/pq_link.h"
#include "supervisor/store/store.h"

#define FEW 1000
#define TIMES KEPT_LOOKED_AT /* askings of a question */
#define MOST 1.5	     /* times the cost among few */
#define USED_MOST_MS 100
#define REQUEST_MAX 256
#define CLAIMED 10 /* runs at once */

/* A server with a number of runs. */
struct subject {
	struct kept kept;
	char *state, *url, *config;
	struct client client;
};

/* ---- questions ---- */

#define CALL(method, params)                                                   \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method                   \
	"\",\"params\":" params "}\n"
#define TOOL(name, arguments)                                                  \
	CALL("tools/call",                                                     \
	     "{\"name\":\"" name "\",\"arguments\":" arguments "}")
#define PAGE(filter) TOOL("list_task_runs", "{\"limit\":20" filter "}")

static const struct question {
	const char *name, *says; /* a text of a right answer */
	const char *asks; /* %s: an id; or, with SINCE, %lld: the first time */
	bool since;	  /* a question with a time */
} questions[] = {
    {"a page of 20 runs", "runId", PAGE(""), false},
    {"a page from within", "runId", PAGE(",\"offset\":400"), false},
    {"a page of a template", "runId", PAGE(",\"templateId\":\"convert\""),
     false},
    {"a page of a status", "runId", PAGE(",\"status\":\"failed\""), false},
    {"a page of both", "runId",
     PAGE(",\"templateId\":\"convert\",\"status\":\"succeeded\""), false},
    {"a page of tasks", "taskId", CALL("tasks/list", "{}"), false},
    {"the view of one", "words", TOOL("get_task_run", "{\"runId\":\"%s\"}"),
     false},
    {"what was used in 30 days", "word_count",
     CALL("paddock/usage", "{\"since\":%lld}"), true},
};

static void put(char *out, const struct question *q, const char *id)
{
	/* questions have at most the given arguments */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (q->since)
		snprintf(out, REQUEST_MAX, q->asks,
			 (long long)(clock_wall_ms() - KEPT_SPAN_MS));
	else
		snprintf(out, REQUEST_MAX, q->asks, id);
#pragma GCC diagnostic pop
}

static int64_t ask(struct subject *s, const struct question *q, size_t i)
{
	char text[REQUEST_MAX];
	int64_t start;
	char *line;

	put(text, q, s->kept.ids[i]);
	start = now_ns();
	client_send(&s->client, text, strlen(text));
	line = client_line(&s->client);
	if (strstr(line, q->says) == NULL || strstr(line, "\"error") != NULL) {
		fprintf(stderr, "bench: %s: %.400s\n", q->name, line);
		exit(1);
	}
	return now_ns() - start;
}

/* ---- few beside many ---- */

static void start(struct subject *s, char *const argv[])
{
	client_start(&s->client, argv);
	client_hello(&s->client);
}

/* Make a schema of S's own in the given database, and a CONFIG with its name. */
static void prepare_postgres(struct subject *s, const char *dir,
			     const char *config)
{
	const char *base = getenv("PADDOCK_TEST_POSTGRES");
	struct pq_link l = {0};
	char *sql, *cat;

	s->config = xstrdup(config);
	if (base == NULL)
		return;
	sql = xasprintf("CREATE SCHEMA kept_%zu", s->kept.rows);
	s->url = xasprintf("%s&options=-csearch_path%%3Dkept_%zu", base,
			   s->kept.rows);
	if (pq_link_open(&l, base) != 0 || pq_link_run(&l, sql) != 0) {
		fprintf(stderr, "bench: %s\n", l.words);
		exit(1);
	}
	pq_link_close(&l);
	free(sql);
	free(s->config);
	s->config = xasprintf("%s/kept.%zu.conf", dir, s->kept.rows);
	cat = xasprintf("{ cat '%s'; printf '[store]\\nurl = %%s\\n' '%s'; } "
			">'%s'",
			config, s->url, s->config);
	if (system(cat) != 0)
		exit(1);
	free(cat);
}

/* A server makes the folder, perhaps as another user. */
static void prepare(struct subject *s, const char *dir, char *argv[])
{
	static const char list[] = TOOL("list_task_runs", "{}");

	prepare_postgres(s, dir, argv[9]);
	s->state = xasprintf("%s/kept.%zu", dir, s->kept.rows);
	s->kept.state = argv[7] = s->state;
	s->kept.url = s->url;
	s->kept.ids = xcalloc(TIMES, ID_SIZE);
	argv[9] = s->config;
	start(s, argv);
	client_send(&s->client, list, sizeof(list) - 1);
	client_line(&s->client);
	client_stop(&s->client);
	kept_fill(&s->kept);
	start(s, argv);
}

static void tell(const char *name, const struct subject s[2],
		 int64_t took[2][TIMES], size_t n)
{
	double us[2];

	for (size_t k = 0; k < 2; k++)
		us[k] = (double)quantile(took[k], n, 0.5) / 1e3;
	printf("%-28s %9.0f us among %zu, %9.0f us among %zu: %.2f\n", name,
	       us[0], s[0].kept.rows, us[1], s[1].kept.rows, us[1] / us[0]);
	if (strcmp(name, "what was used in 30 days") == 0)
		target(us[1] / 1e3, AT_MOST, USED_MOST_MS, "ms: %s, among %zu",
		       name, s[1].kept.rows);
	else
		target(us[1] / us[0], AT_MOST, MOST,
		       "times that of %d: %s of %zu%s", FEW, name,
		       s[1].kept.rows, s->url != NULL ? " (PostgreSQL)" : "");
}

static void compare(struct subject s[2], const struct question *q)
{
	static int64_t took[2][TIMES];

	for (size_t i = 0; i < TIMES; i++)
		for (size_t k = 0; k < 2; k++)
			took[k][i] = ask(&s[k], q, i);
	tell(q->name, s, took, TIMES);
}

/* ---- claims ---- */

static void put_all(struct store *s, struct store_run runs[CLAIMED],
		    enum store_status status)
{
	for (size_t i = 0; i < CLAIMED; i++) {
		struct store_run *r = &runs[i];

		if (status == STORE_QUEUED)
			id_new(r->id, "run");
		r->status = status;
		r->created_ms = r->updated_ms = clock_wall_ms();
		r->finished_ms = status == STORE_QUEUED ? 0 : r->updated_ms;
		store_put_run(s, r, STORE_SYNC, kept_done, NULL);
	}
	kept_wait(s, CLAIMED);
}

/* Claim ten waiting runs, and end the runs. */
static int64_t claim(struct store *s)
{
	struct store_run runs[CLAIMED];
	size_t claimed = 0;
	int64_t start;

	for (size_t i = 0; i < CLAIMED; i++)
		runs[i] = (struct store_run){.requestor = "uid:7",
					     .template_id = "convert",
					     .version = "1.0.0",
					     .digest = "d1gest",
					     .inputs = "{\"n\":1}",
					     .options = "{}",
					     .waits = STORE_WAITS_ANYWHERE,
					     .weight = 1};
	put_all(s, runs, STORE_QUEUED);
	start = now_ns();
	store_claim(s, CLAIMED, "", "", kept_done, &claimed);
	kept_wait(s, 1);
	start = now_ns() - start;
	if (claimed != CLAIMED) {
		fprintf(stderr, "bench: %zu claimed\n", claimed);
		exit(1);
	}
	put_all(s, runs, STORE_SUCCEEDED);
	return start;
}

static void compare_claims(struct subject s[2])
{
	static int64_t took[2][TIMES];
	struct store *store[2];

	for (size_t k = 0; k < 2; k++) {
		char *dir = xasprintf("%s.claims", s[k].state);

		store[k] = store_start(dir, "inst_claims");
		store_set_url(store[k], s[k].url);
		store_serve(store[k], "template d1gest\nuids", kept_done, NULL);
		kept_wait(store[k], 1);
		free(dir);
	}
	for (size_t i = 0; i < TIMES / 2; i++)
		for (size_t k = 0; k < 2; k++)
			took[k][i] = claim(store[k]);
	for (size_t k = 0; k < 2; k++)
		store_stop(store[k], 60000);
	tell("a claim of ten", s, took, TIMES / 2);
}

/* ---- */

static void compare_memory(const struct subject s[2])
{
	long kb[2];

	for (size_t k = 0; k < 2; k++)
		kb[k] = family_kb(s[k].client.pid);
	printf("%-28s %9ld KB among %zu, %9ld KB among %zu\n",
	       "memory of all processes", kb[0], s[0].kept.rows, kb[1],
	       s[1].kept.rows);
	target((double)kb[1] / (double)kb[0], AT_MOST, MOST,
	       "times the memory with %d: with %zu runs kept", FEW,
	       s[1].kept.rows);
}

int main(int argc, char **argv)
{
	struct subject s[2] = {{.kept.rows = FEW}, {.kept.rows = 1000000}};
	char *server[] = {NULL,
			  (char *)"--stdio",
			  (char *)"--log-level",
			  (char *)"error",
			  (char *)"--templates",
			  NULL,
			  (char *)"--state-dir",
			  NULL,
			  (char *)"--config",
			  NULL,
			  NULL};

	if (argc < 5) {
		fputs("usage: kept PADDOCKD TEMPLATES DIR CONFIG [MANY]\n",
		      stderr);
		return 2;
	}
	if (argc > 5)
		s[1].kept.rows = strtoul(argv[5], NULL, 10);
	server[0] = argv[1];
	server[5] = argv[2];
	for (size_t k = 0; k < 2; k++) {
		server[9] = argv[4];
		prepare(&s[k], argv[3], server);
	}
	printf("\nruns that are kept in %s: %d beside %zu\n",
	       s->url != NULL ? "PostgreSQL" : "SQLite", FEW, s[1].kept.rows);
	for (size_t i = 0; i < ARRAY_LEN(questions); i++)
		compare(s, &questions[i]);
	compare_memory(s);
	for (size_t k = 0; k < 2; k++)
		client_stop(&s[k].client);
	if (s->url != NULL)
		compare_claims(s);
	for (size_t k = 0; k < 2; k++) {
		free(s[k].state);
		free(s[k].url);
		free(s[k].config);
		free(s[k].kept.ids);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.c - what a page of runs, the view of one, and what was used cost among
 * many runs that are kept, beside few. Both servers are asked in turn.
 *
 *   kept PADDOCKD TEMPLATES DIR CONFIG [MANY]
 *
 * MANY is 1,000,000, which fills 750 MB in DIR and takes a minute or two.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/client.h"
#include "bench/measure.h"
#include "bench/target.h"
#include "supervisor/store/store.h"

#define FEW 1000
#define SPAN_MS (30 * INT64_C(86400000)) /* in which they were created */
#define AT_ONCE 1000			 /* rows of a commit */
#define TIMES 400			 /* each question is asked */
#define REQUEST_MAX 256

/* A view as long as that of a short run. */
#define VIEW                                                                   \
	"{\"runId\":\"%s\",\"templateId\":\"word_count\",\"templateVersion\":" \
	"\"1.0.0\",\"status\":\"succeeded\",\"progress\":{\"totalSteps\":0,"   \
	"\"doneSteps\":0},\"metrics\":{\"elapsedMs\":2,\"queuedMs\":0,"        \
	"\"cpuMs\":1,\"cpuUserMs\":1,\"cpuSystemMs\":0,\"maxRssBytes\":"       \
	"1671168,\"readBytes\":0,\"writtenBytes\":0,\"messages\":1},"          \
	"\"artifacts\":[],\"result\":{\"words\":9}}"

/* A server with so many runs. */
struct subject {
	size_t rows;
	char *state;
	char (*ids)[ID_SIZE]; /* those that are looked at */
	struct client client;
};

/* ---- runs that have ended ---- */

static size_t done;

static void on_done(void *arg, const struct store_result *res)
{
	(void)arg;
	done++;
	if (res->rc != 0) {
		fprintf(stderr, "bench: %s\n", res->errmsg);
		exit(1);
	}
}

static void wait_for(struct store *s, size_t want)
{
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};

	while (done < want) {
		poll(&p, 1, -1);
		store_dispatch(s);
	}
}

static void put_row(struct store *s, struct subject *of, size_t i)
{
	static const char *const names[] = {"csv_profile", "text_stats",
					    "word_count", "convert"};
	int64_t now = clock_wall_ms();
	char requestor[32], view[sizeof(VIEW) + ID_SIZE];
	struct store_run run = {.requestor = requestor,
				.template_id = names[i % ARRAY_LEN(names)],
				.version = "1.0.0",
				.digest = "0123456789abcdef0123456789abcdef"
					  "0123456789abcdef0123456789abcdef",
				.status = i % 16 == 0 ? STORE_FAILED
						      : STORE_SUCCEEDED,
				.view = view,
				.cpu_ms = 1,
				.expires_ms = now + SPAN_MS};

	id_new(run.id, "run");
	snprintf(requestor, sizeof(requestor), "uid:%u", (unsigned)geteuid());
	snprintf(view, sizeof(view), VIEW, run.id);
	run.created_ms =
	    now - SPAN_MS + (int64_t)((double)i / (double)of->rows * SPAN_MS);
	run.started_ms = run.updated_ms = run.finished_ms = run.created_ms;
	if (i % (of->rows / TIMES) == 0 && i / (of->rows / TIMES) < TIMES)
		memcpy(of->ids[i / (of->rows / TIMES)], run.id, ID_SIZE);
	store_put_run(s, &run, STORE_SYNC, on_done, NULL);
}

static void fill(struct subject *of)
{
	struct store *s = store_start(of->state, "inst_bench");

	done = 0;
	for (size_t i = 0; i < of->rows; i++) {
		put_row(s, of, i);
		if (i % AT_ONCE == AT_ONCE - 1)
			wait_for(s, i + 1 - AT_ONCE / 2);
	}
	wait_for(s, of->rows);
	store_stop(s, 60000);
}

/* ---- questions ---- */

static void ask_page(char *out, const char *id)
{
	(void)id;
	snprintf(out, REQUEST_MAX,
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
		 "\"params\":{\"name\":\"list_task_runs\",\"arguments\":{"
		 "\"limit\":20}}}\n");
}

static void ask_view(char *out, const char *id)
{
	snprintf(out, REQUEST_MAX,
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
		 "\"params\":{\"name\":\"get_task_run\",\"arguments\":{"
		 "\"runId\":\"%s\"}}}\n",
		 id);
}

static void ask_used(char *out, const char *id)
{
	(void)id;
	snprintf(out, REQUEST_MAX,
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"paddock/usage\","
		 "\"params\":{\"since\":%lld}}\n",
		 (long long)(clock_wall_ms() - SPAN_MS));
}

static const struct question {
	const char *name, *says; /* a right answer has */
	void (*put)(char *out, const char *id);
} questions[] = {
    {"a page of 20 runs", "runId", ask_page},
    {"the view of one", "words", ask_view},
    {"what was used in 30 days", "word_count", ask_used},
};

static int64_t ask(struct subject *s, const struct question *q, size_t i)
{
	char text[REQUEST_MAX];
	int64_t start;
	char *line;

	q->put(text, s->ids[i]);
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

/* The folder is made by a server, which may be another user than we are. */
static void prepare(struct subject *s, const char *dir, char *argv[])
{
	static const char list[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\""
	    ":{\"name\":\"list_task_runs\",\"arguments\":{}}}\n";

	s->state = argv[7] = xasprintf("%s/kept.%zu", dir, s->rows);
	s->ids = xcalloc(TIMES, ID_SIZE);
	start(s, argv);
	client_send(&s->client, list, sizeof(list) - 1);
	client_line(&s->client);
	client_stop(&s->client);
	fill(s);
	start(s, argv);
}

static void compare(struct subject s[2], const struct question *q)
{
	static int64_t took[2][TIMES];
	double us[2];

	for (size_t i = 0; i < TIMES; i++)
		for (size_t k = 0; k < 2; k++)
			took[k][i] = ask(&s[k], q, i);
	for (size_t k = 0; k < 2; k++)
		us[k] = (double)quantile(took[k], TIMES, 0.5) / 1e3;
	printf("%-28s %9.0f us among %zu, %9.0f us among %zu: %.2f\n", q->name,
	       us[0], s[0].rows, us[1], s[1].rows, us[1] / us[0]);
	if (q->put == ask_used)
		target(us[1] / 1e3, AT_MOST, 100, "ms: %s, among %zu", q->name,
		       s[1].rows);
	else
		target(us[1] / us[0], AT_MOST, 1.5,
		       "times that of %d: %s of %zu", FEW, q->name, s[1].rows);
}

int main(int argc, char **argv)
{
	struct subject s[2] = {{.rows = FEW}, {.rows = 1000000}};
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
	long kb[2];

	if (argc < 5) {
		fputs("usage: kept PADDOCKD TEMPLATES DIR CONFIG [MANY]\n",
		      stderr);
		return 2;
	}
	if (argc > 5)
		s[1].rows = strtoul(argv[5], NULL, 10);
	server[0] = argv[1];
	server[5] = argv[2];
	server[9] = argv[4];
	for (size_t k = 0; k < 2; k++)
		prepare(&s[k], argv[3], server);
	printf("\nruns that are kept: %d beside %zu\n", FEW, s[1].rows);
	for (size_t i = 0; i < ARRAY_LEN(questions); i++)
		compare(s, &questions[i]);
	for (size_t k = 0; k < 2; k++)
		kb[k] = family_kb(s[k].client.pid);
	printf("%-28s %9ld KB among %zu, %9ld KB among %zu\n",
	       "memory of all processes", kb[0], s[0].rows, kb[1], s[1].rows);
	target((double)kb[1] / (double)kb[0], AT_MOST, 1.5,
	       "times the memory with %d: with %zu runs kept", FEW, s[1].rows);
	for (size_t k = 0; k < 2; k++) {
		client_stop(&s[k].client);
		free(s[k].state);
		free(s[k].ids);
	}
	return 0;
}

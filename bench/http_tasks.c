/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_tasks.c - how long a job of 13 ms takes from the call to the result at the
 * client: as a plain call, and as a task by each way to wait for a task. http.c
 * calls the functions; an unexpected answer ends the program.
 */
#include "bench/http_tasks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "bench/measure.h"

#define JOB_MS 13 /* of both templates in bench/run */
#define ROUNDS 4
#define EACH 50 /* jobs a round */
#define WARM 5
#define IN_SESSIONS NULL
#define WITH_TASKS "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"
#define DONE "\"status\":\"completed\""

enum { CALLS, WAITS }; /* the uses of the two connections */

struct way {
	const char *name, *tool;
	const char *capabilities; /* or IN_SESSIONS */
	const char *more;	  /* of the params of the call */
	int (*wait)(struct http *h,
		    const char *created); /* the number of requests */
};

static _Noreturn void fail(const char *what, const char *text)
{
	fprintf(stderr, "bench: %s: %.400s\n", what, text);
	exit(1);
}

/* ---- a task ---- */

static const char *id_of(const char *created, char id[128])
{
	const char *p = strstr(created, "\"taskId\":\"");

	if (p == NULL || sscanf(p + 10, "%127[^\"]", id) != 1)
		fail("no task", created);
	return id;
}

void http_ask_task(struct http *h, int i, const char *method,
		   const char *created)
{
	char params[160], id[128];

	snprintf(params, sizeof(params), "\"taskId\":\"%s\"",
		 id_of(created, id));
	http_ask(h, i, method, id, params);
}

/* ---- the ways to wait for a task ---- */

static int not_at_all(struct http *h, const char *answer)
{
	(void)h;
	if (strstr(answer, "\"structuredContent\":{}") == NULL)
		fail("no result", answer);
	return 0;
}

static int by_result(struct http *h, const char *created)
{
	const char *body;

	http_ask_task(h, CALLS, "tasks/result", created);
	http_next(h, &body);
	not_at_all(h, body);
	return 1;
}

static int by_listen(struct http *h, const char *created)
{
	char params[192], id[128];

	snprintf(params, sizeof(params),
		 "\"notifications\":{\"taskIds\":[\"%s\"]}",
		 id_of(created, id));
	http_ask(h, WAITS, "subscriptions/listen", NULL, params);
	http_wait(h, WAITS, DONE);
	return 1;
}

static void sleep_as_told(const char *task)
{
	const char *p = strstr(task, "\"pollIntervalMs\":");
	long ms = p != NULL ? strtol(p + 17, NULL, 10) : 0;
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	if (ms <= 0)
		fail("no pollIntervalMs", task);
	nanosleep(&t, NULL);
}

static int by_polls(struct http *h, const char *created)
{
	const char *task =
	    created; /* kept: the answer of the other connection */
	int polls = 0;

	do {
		sleep_as_told(task);
		http_ask_task(h, WAITS, "tasks/get", created);
		http_next(h, &task);
		polls++;
	} while (strstr(task, DONE) == NULL);
	return polls;
}

static const struct way ways[] = {
    {"a stateless call", "nap", WITH_TASKS, "", not_at_all},
    {"a call in a session", "nap", IN_SESSIONS, "", not_at_all},
    {"a task, tasks/result", "nap_task", IN_SESSIONS,
     ",\"task\":{\"ttl\":60000}", by_result},
    {"a task, subscriptions/listen", "nap_task", WITH_TASKS, "", by_listen},
    {"a task, polled as told", "nap_task", WITH_TASKS, "", by_polls},
};

/* ---- the table ---- */

struct figures {
	struct http *http;
	int64_t took_ns[ROUNDS * EACH];
	size_t n;
	int requests;
};

/* Run a job; return the number of waiting requests. */
static int work(const struct way *w, struct http *h)
{
	const char *body;
	char params[128];

	snprintf(params, sizeof(params), "\"name\":\"%s\",\"arguments\":{}%s",
		 w->tool, w->more);
	http_ask(h, CALLS, "tools/call", w->tool, params);
	http_next(h, &body);
	return w->wait(h, body);
}

/* The server has ended the listening request, and has taken the new connection, before
 * the next job. */
static void leave(struct http *h)
{
	const char *body;

	http_leave(h, WAITS);
	http_ask(h, WAITS, "server/discover", NULL, "");
	http_next(h, &body);
}

static void drive(const struct way *w, struct figures *f, int n)
{
	while (n-- > 0) {
		int64_t began = now_ns();

		f->requests += work(w, f->http);
		f->took_ns[f->n++] =
		    now_ns() - began - JOB_MS * INT64_C(1000000);
		if (w->wait == by_listen)
			leave(f->http);
	}
}

static void report(const struct way *w, struct figures *f, double p50_first)
{
	double p50 = (double)quantile(f->took_ns, f->n, 0.5) / 1e6;

	printf("%-30s %8.2f %8.2f %8.2f %8.1f\n", w->name, p50,
	       (double)quantile(f->took_ns, f->n, 0.99) / 1e6, p50 - p50_first,
	       (double)f->requests / (double)f->n);
}

void http_tasks(const char *paddock)
{
	static struct figures f[ARRAY_LEN(ways)];
	double p50_first;

	for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
		const char *caps = ways[k].capabilities;

		f[k].http = caps == IN_SESSIONS
				? http_open(paddock, 2)
				: http_open_stateless(paddock, 2, caps);
		drive(&ways[k], &f[k], WARM);
		f[k].n = 0;
		f[k].requests = 0;
	}
	for (size_t i = 0; i < ROUNDS * ARRAY_LEN(ways); i++)
		drive(&ways[i % ARRAY_LEN(ways)], &f[i % ARRAY_LEN(ways)],
		      EACH);
	printf("%-30s %8s %8s %8s %8s\n", "a job of 13 ms", "p50 ms", "p99 ms",
	       "more ms", "requests");
	p50_first = (double)quantile(f[0].took_ns, f[0].n, 0.5) / 1e6;
	for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
		report(&ways[k], &f[k], p50_first);
		http_close(f[k].http);
	}
	puts("(one at a time; ms: from the call to the result, less the 13 of "
	     "the job; more:\nof p50, than the table's first; requests: that "
	     "waited for it, tasks/get each as\nlong after the last answer as "
	     "that says)");
}

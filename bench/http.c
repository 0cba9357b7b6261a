/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - calls over HTTP: paddock, each run in a cage of its own, beside the
 * official SDK's server, which calls a function in its own process, and which
 * starts programs by bubblewrap.
 *
 *   http PADDOCK SDK-JSON SDK-SSE PADDOCK-PID SDK-PID
 *   http adopt COMMAND...
 *
 * The first three are each 127.0.0.1:PORT/PATH. All are driven in turn, by the
 * same client, over kept connections; the ratios are the point. An SDK-PID is
 * that of an "adopt", which has the server as its child.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/http_client.h"
#include "bench/measure.h"

#define WARM_NS 200000000
#define CALLS_MAX (1 << 20)
#define BODY_MAX 512

#define WORDS                                                                  \
	"\"name\":\"word_count\",\"arguments\":{\"text\":\"the quick brown "   \
	"fox jumps over the lazy dog\"}"
#define NINE "\"words\":9"
#define SHELL "\"name\":\"empty_sh\",\"arguments\":{}"
#define PYTHON "\"name\":\"empty_python\",\"arguments\":{}"
#define EMPTY "\"structuredContent\":{}"

enum { PADDOCK = 1, SDK_JSON, SDK_SSE, PADDOCK_PID, SDK_PID, ARGS };

struct subject {
	const char *name;
	const char *call;
	const char *says; /* what a right answer has */
	int at, pid;	  /* which argument has the endpoint, and its server */
	bool tasks;	  /* a call is two requests: a task, and its result */
};

static const struct subject words[] = {
    {"SDK, JSON answers", WORDS, NINE, SDK_JSON, SDK_PID, false},
    {"SDK, event streams", WORDS, NINE, SDK_SSE, SDK_PID, false},
    {"paddock, caged runs", WORDS, NINE, PADDOCK, PADDOCK_PID, false},
    {"paddock, tasks", WORDS, NINE, PADDOCK, PADDOCK_PID, true},
};
static const struct subject shell[] = {
    {"SDK, bwrap sh", SHELL, EMPTY, SDK_JSON, SDK_PID, false},
    {"paddock, sh", SHELL, EMPTY, PADDOCK, PADDOCK_PID, false},
};
static const struct subject python[] = {
    {"SDK, bwrap python3", PYTHON, EMPTY, SDK_JSON, SDK_PID, false},
    {"paddock, python3", PYTHON, EMPTY, PADDOCK, PADDOCK_PID, false},
};

#define SUBJECTS_MAX 4
#define WINDOWS 3

/* What is held against each other: all against the first. */
struct table {
	const char *title;
	const struct subject *all;
	size_t n;
	int windows[WINDOWS];
	int rounds;
	int64_t round_ns; /* no call begins later */
};

static const struct table tables[] = {
    {"a function", words, ARRAY_LEN(words), {1, 8, 64}, 3, 800000000},
    {"a shell program", shell, ARRAY_LEN(shell), {1, 8, 32}, 2, 1000000000},
    {"a Python program", python, ARRAY_LEN(python), {1, 8, 32}, 2, 1000000000},
};

/* What has been measured of one subject, at one number in flight. */
struct figures {
	int64_t *took_ns;
	size_t n;
	double secs;
	int64_t cpu_us;
};

static int last_id;

static void ask(struct http *h, int i, const struct subject *s)
{
	char body[BODY_MAX];
	int n = snprintf(
	    body, sizeof(body),
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
	    "\"params\":{%s%s}}",
	    ++last_id, s->call, s->tasks ? ",\"task\":{\"ttl\":60000}" : "");

	http_post(h, i, body, (size_t)n);
}

static void ask_result(struct http *h, int i, const char *created)
{
	char body[BODY_MAX], id[128];
	const char *p = strstr(created, "\"taskId\":\"");
	int n;

	if (p == NULL || sscanf(p + 10, "%127[^\"]", id) != 1) {
		fprintf(stderr, "bench: no task: %.400s\n", created);
		exit(1);
	}
	n = snprintf(
	    body, sizeof(body),
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tasks/result\","
	    "\"params\":{\"taskId\":\"%s\"}}",
	    ++last_id, id);
	http_post(h, i, body, (size_t)n);
}

static void check(const struct subject *s, const char *body)
{
	if (strstr(body, s->says) != NULL && strstr(body, "isError") == NULL)
		return;
	fprintf(stderr, "bench: %s: %.400s\n", s->name, body);
	exit(1);
}

/* Calls of S for NS, WINDOW of them under way, into F (NULL: a warm-up). */
static void drive(struct http *h, const struct subject *s, int window,
		  int64_t ns, struct figures *f)
{
	int64_t start = now_ns(), began[HTTP_CONNS_MAX];
	bool has_task[HTTP_CONNS_MAX] = {false};
	int under_way = window;

	for (int i = 0; i < window; i++) {
		began[i] = now_ns();
		ask(h, i, s);
	}
	while (under_way > 0) {
		const char *body;
		int i = http_next(h, &body);

		if (s->tasks && !has_task[i]) {
			has_task[i] = true;
			ask_result(h, i, body);
			continue;
		}
		check(s, body);
		has_task[i] = false;
		if (f != NULL && f->n < CALLS_MAX)
			f->took_ns[f->n++] = now_ns() - began[i];
		if (now_ns() - start < ns) {
			began[i] = now_ns();
			ask(h, i, s);
		} else {
			under_way--;
		}
	}
	if (f != NULL)
		f->secs += (double)(now_ns() - start) / 1e9;
}

static double rate(const struct figures *f)
{
	return (double)f->n / f->secs;
}

static double cpu_each(const struct figures *f)
{
	return (double)f->cpu_us / (double)f->n;
}

static void report(const struct table *t, int window, struct figures *f)
{
	double p50[SUBJECTS_MAX], p99[SUBJECTS_MAX];

	for (size_t k = 0; k < t->n; k++) {
		p50[k] = (double)quantile(f[k].took_ns, f[k].n, 0.5) / 1e3;
		p99[k] = (double)quantile(f[k].took_ns, f[k].n, 0.99) / 1e3;
		printf("%-9d %-20s %8.0f %8.0f %8.0f %8.0f", window,
		       t->all[k].name, rate(&f[k]), p50[k], p99[k],
		       cpu_each(&f[k]));
		if (k > 0)
			printf("  %6.2f %6.2f %6.2f %6.2f",
			       rate(&f[k]) / rate(&f[0]), p50[k] / p50[0],
			       p99[k] / p99[0],
			       cpu_each(&f[k]) / cpu_each(&f[0]));
		putchar('\n');
	}
	fflush(stdout);
}

/* All of T at WINDOW, in turn. */
static void measure(const struct table *t, struct http **conns, int window,
		    struct figures *f, char **argv)
{
	for (size_t k = 0; k < t->n; k++)
		f[k] = (struct figures){.took_ns = f[k].took_ns};
	for (size_t i = 0; i < (size_t)t->rounds * t->n; i++) {
		size_t k = i % t->n;
		pid_t pid = atoi(argv[t->all[k].pid]);

		f[k].cpu_us -= server_cpu_us(pid);
		drive(conns[k], &t->all[k], window, t->round_ns, &f[k]);
		f[k].cpu_us += server_cpu_us(pid);
	}
}

static void run_table(const struct table *t, struct figures *f, char **argv)
{
	struct http *conns[SUBJECTS_MAX];

	for (size_t k = 0; k < t->n; k++) {
		conns[k] = http_open(argv[t->all[k].at], HTTP_CONNS_MAX);
		drive(conns[k], &t->all[k], 8, WARM_NS, NULL);
	}
	printf("\n%-9s %-20s %8s %8s %8s %8s  %6s %6s %6s %6s\n", "in flight",
	       t->title, "calls/s", "p50 us", "p99 us", "CPU us", "rate", "p50",
	       "p99", "CPU");
	for (size_t w = 0; w < WINDOWS; w++) {
		measure(t, conns, t->windows[w], f, argv);
		report(t, t->windows[w], f);
	}
	for (size_t k = 0; k < t->n; k++)
		http_close(conns[k]);
}

int main(int argc, char **argv)
{
	static struct figures f[SUBJECTS_MAX];

	if (argc > 2 && strcmp(argv[1], "adopt") == 0)
		return adopt_main(argv + 2);
	if (argc != ARGS) {
		fputs("usage: http PADDOCK SDK-JSON SDK-SSE PADDOCK-PID "
		      "SDK-PID\n       http adopt COMMAND...\n",
		      stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	for (size_t k = 0; k < SUBJECTS_MAX; k++)
		f[k].took_ns = xcalloc(CALLS_MAX, sizeof(int64_t));
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		run_table(&tables[i], f, argv);
	puts("(over HTTP; the last four columns: ratios to the table's first "
	     "subject\nCPU: of all processes of the server, a call; a task is "
	     "two requests: the call\nthat makes it, and tasks/result)");
	for (size_t k = 0; k < SUBJECTS_MAX; k++)
		free(f[k].took_ns);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - calls over HTTP: paddock, with a cage for each run, beside the official
 * SDK's server, which calls a function in the server's process or starts programs by
 * bubblewrap; and beside the least possible server (least.c).
 *
 *   http PADDOCK SDK-JSON SDK-SSE SDK-STATELESS LEAST
 *        PADDOCK-PID SDK-PID LEAST-PID TEMPLATES
 *   http adopt COMMAND...
 *
 * The first five are endpoints 127.0.0.1:PORT/PATH. The same client drives the servers
 * in turn, a server when the last server rests, over kept connections; the ratios are
 * the point. An SDK-PID is the pid of an "adopt", the parent of the server.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/http_client.h"
#include "bench/http_tasks.h"
#include "bench/measure.h"
#include "bench/own_work.h"
#include "bench/target.h"

#define WARM_NS 200000000
#define CALLS_MAX (1 << 20)
#define PARAMS_MAX 256
#define OWN_WORK_TIMES 4 /* a round */

#define WORDS                                                                  \
	"word_count", "\"text\":\"the quick brown fox jumps over the lazy dog\""
#define NINE "\"words\":9"
#define SHELL "empty_sh", ""
#define PYTHON "empty_python", ""
#define NUMPY "empty_numpy_cold", ""
#define NUMPY_WARM "empty_numpy_warm", ""
#define EMPTY "\"structuredContent\":{}"

enum {
	PADDOCK = 1,
	SDK_JSON,
	SDK_SSE,
	SDK_STATELESS,
	LEAST,
	PADDOCK_PID,
	SDK_PID,
	LEAST_PID,
	TEMPLATES,
	ARGS
};

enum way {
	IN_SESSION,
	AS_TASK,  /* two requests in a session: a task, and its result */
	STATELESS /* by 2026-07-28: requests without a session */
};

struct subject {
	const char *name;
	const char *tool, *arguments;
	const char *says; /* a text of a right answer */
	int at, pid;	  /* the arguments with the endpoint and the server */
	enum way way;
};

#define CAGED "paddock, caged runs"
#define STARTED_AHEAD "paddock, prestart"

static const struct subject words[] = {
    {"SDK, JSON answers", WORDS, NINE, SDK_JSON, SDK_PID, IN_SESSION},
    {"SDK, event streams", WORDS, NINE, SDK_SSE, SDK_PID, IN_SESSION},
    {"a process, a row", WORDS, NINE, LEAST, LEAST_PID, IN_SESSION},
    {CAGED, WORDS, NINE, PADDOCK, PADDOCK_PID, IN_SESSION},
    {"paddock, tasks", WORDS, NINE, PADDOCK, PADDOCK_PID, AS_TASK},
};
static const struct subject eras[] = {
    {"paddock, in sessions", WORDS, NINE, PADDOCK, PADDOCK_PID, IN_SESSION},
    {"paddock, stateless", WORDS, NINE, PADDOCK, PADDOCK_PID, STATELESS},
    {"SDK 2.4.0, stateless", WORDS, NINE, SDK_STATELESS, SDK_PID, STATELESS},
};
static const struct subject shell[] = {
    {"SDK, bwrap sh", SHELL, EMPTY, SDK_JSON, SDK_PID, IN_SESSION},
    {"paddock, sh", SHELL, EMPTY, PADDOCK, PADDOCK_PID, IN_SESSION},
};
static const struct subject python[] = {
    {"SDK, bwrap python3", PYTHON, EMPTY, SDK_JSON, SDK_PID, IN_SESSION},
    {"paddock, python3", PYTHON, EMPTY, PADDOCK, PADDOCK_PID, IN_SESSION},
};
static const struct subject numpy[] = {
    {"SDK, bwrap python3", NUMPY, EMPTY, SDK_JSON, SDK_PID, IN_SESSION},
    {"paddock, python3", NUMPY, EMPTY, PADDOCK, PADDOCK_PID, IN_SESSION},
    {STARTED_AHEAD, NUMPY_WARM, EMPTY, PADDOCK, PADDOCK_PID, IN_SESSION},
};

#define SUBJECTS_MAX 5
#define WINDOWS 3

/* Compared subjects: the first is the base. */
struct table {
	const char *title;
	const struct subject *all;
	size_t n;
	int windows[WINDOWS];
	int rounds;
	int64_t round_ns;  /* no call begins later */
	unsigned pause_us; /* before a call, for workers started ahead */
	const char
	    *own; /* the program whose own work is measured beside the calls */
};

#define MS INT64_C(1000000)

static const struct table tables[] = {
    {"a function", words, ARRAY_LEN(words), {1, 8, 64}, 8, 800 * MS, 0, NULL},
    {"either era", eras, ARRAY_LEN(eras), {1, 8, 64}, 12, 400 * MS, 0, NULL},
    {"a shell program",
     shell,
     ARRAY_LEN(shell),
     {1, 8, 32},
     2,
     1000 * MS,
     0,
     NULL},
    {"python3", python, ARRAY_LEN(python), {1, 8, 32}, 2, 1000 * MS, 0, NULL},
    {"import numpy",
     numpy,
     ARRAY_LEN(numpy),
     {1},
     2,
     8000 * MS,
     700000,
     "empty_numpy_warm/main.py"},
};

/* Figures of a subject, at a number in flight. */
struct figures {
	int64_t *took_ns;
	size_t n;
	double secs;
	int64_t cpu_us;
};

static void ask(struct http *h, int i, const struct subject *s)
{
	char params[PARAMS_MAX];

	snprintf(params, sizeof(params), "\"name\":\"%s\",\"arguments\":{%s}%s",
		 s->tool, s->arguments,
		 s->way == AS_TASK ? ",\"task\":{\"ttl\":60000}" : "");
	http_ask(h, i, "tools/call", s->tool, params);
}

static void check(const struct subject *s, const char *body)
{
	if (strstr(body, s->says) != NULL && strstr(body, "isError") == NULL)
		return;
	fprintf(stderr, "bench: %s: %.400s\n", s->name, body);
	exit(1);
}

/* usleep(0) sleeps for the timer's slack. */
static void pause_for(unsigned us)
{
	if (us > 0)
		usleep(us);
}

/* Calls of S for NS, WINDOW of them under way, into F (NULL: a warm-up). */
static void drive(struct http *h, const struct subject *s, int window,
		  int64_t ns, unsigned pause_us, struct figures *f)
{
	int64_t start = now_ns(), began[HTTP_CONNS_MAX];
	bool has_task[HTTP_CONNS_MAX] = {false};
	int under_way = window;

	for (int i = 0; i < window; i++) {
		pause_for(pause_us);
		began[i] = now_ns();
		ask(h, i, s);
	}
	while (under_way > 0) {
		const char *body;
		int i = http_next(h, &body);

		if (s->way == AS_TASK && !has_task[i]) {
			has_task[i] = true;
			http_ask_task(h, i, "tasks/result", body);
			continue;
		}
		check(s, body);
		has_task[i] = false;
		if (f != NULL && f->n < CALLS_MAX)
			f->took_ns[f->n++] = now_ns() - began[i];
		if (now_ns() - start < ns) {
			pause_for(pause_us);
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

/* Target: a caged run is no slower than a function in the SDK's process. */
static void hold_to_target(const struct subject *s, int window, double rates,
			   double p50s)
{
	if (strcmp(s->name, CAGED) != 0)
		return;
	target(rates, AT_LEAST, 1,
	       "times the SDK's calls/s over HTTP, %d in flight", window);
	if (window == 1)
		target(p50s, AT_MOST, 1.3, "times the SDK's p50, 1 in flight");
}

/*
 * Return paddock's part of P50_US: the time beyond the program's own time to its end,
 * because an answer waits for the program's end.
 */
static void report_share(double p50_us, struct own_work *own)
{
	double result_us = (double)quantile(own->result_ns, own->n, 0.5) / 1e3;
	double end_us = (double)quantile(own->end_ns, own->n, 0.5) / 1e3;

	printf(
	    "%-9s %-20s %8s %8.0f   (%.0f us to its result; ours: %.0f us)\n",
	    "", "  by itself", "", end_us, result_us, p50_us - end_us);
	target((p50_us - end_us) / 1e3, AT_MOST, 3,
	       "ms: call to answer of a program that imports numpy and was "
	       "started ahead, beyond its own %.1f ms",
	       end_us / 1e3);
}

static void report(const struct table *t, int window, struct figures *f,
		   struct own_work *own)
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
		hold_to_target(&t->all[k], window, rate(&f[k]) / rate(&f[0]),
			       p50[k] / p50[0]);
		if (strcmp(t->all[k].name, STARTED_AHEAD) == 0)
			report_share(p50[k], own);
	}
	fflush(stdout);
}

/*
 * Drive all subjects of T at WINDOW, in turn. Work of a server after its last answer
 * counts as the server's CPU, and ends before the next server's turn.
 */
static void measure(const struct table *t, struct http **conns, int window,
		    struct figures *f, struct own_work *own, char **argv)
{
	char *program =
	    xasprintf("%s/%s", argv[TEMPLATES], t->own != NULL ? t->own : "");

	for (size_t k = 0; k < t->n; k++)
		f[k] = (struct figures){.took_ns = f[k].took_ns};
	for (size_t i = 0; i < (size_t)t->rounds * t->n; i++) {
		size_t k = i % t->n;
		pid_t pid = atoi(argv[t->all[k].pid]);

		f[k].cpu_us -= server_cpu_us(pid);
		drive(conns[k], &t->all[k], window, t->round_ns, t->pause_us,
		      &f[k]);
		f[k].cpu_us += server_cpu_us(pid);
		if (t->own != NULL)
			own_work_measure(own, program, OWN_WORK_TIMES,
					 t->pause_us);
	}
	free(program);
}

static struct http *open_all(const struct subject *s, char **argv)
{
	return s->way == STATELESS
		   ? http_open_stateless(argv[s->at], HTTP_CONNS_MAX, "{}")
		   : http_open(argv[s->at], HTTP_CONNS_MAX);
}

static void run_table(const struct table *t, struct figures *f, char **argv)
{
	struct own_work own = {.n = 0};
	struct http *conns[SUBJECTS_MAX];

	for (size_t k = 0; k < t->n; k++) {
		conns[k] = open_all(&t->all[k], argv);
		drive(conns[k], &t->all[k], 8, WARM_NS, 0, NULL);
	}
	printf("\n%-9s %-20s %8s %8s %8s %8s  %6s %6s %6s %6s\n", "in flight",
	       t->title, "calls/s", "p50 us", "p99 us", "CPU us", "rate", "p50",
	       "p99", "CPU");
	for (size_t w = 0; w < WINDOWS && t->windows[w] > 0; w++) {
		measure(t, conns, t->windows[w], f, &own, argv);
		report(t, t->windows[w], f, &own);
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
		fputs("usage: http PADDOCK SDK-JSON SDK-SSE SDK-STATELESS "
		      "LEAST PADDOCK-PID SDK-PID LEAST-PID TEMPLATES\n"
		      "       http adopt COMMAND...\n",
		      stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	for (size_t k = 0; k < SUBJECTS_MAX; k++)
		f[k].took_ns = xcalloc(CALLS_MAX, sizeof(int64_t));
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		run_table(&tables[i], f, argv);
	puts(
	    "(over HTTP; the last four columns: ratios to the table's first "
	    "subject\nCPU: of all processes of the server, a call; a task is "
	    "two requests: the call\nthat makes it, and tasks/result; a process, a "
	    "row: an empty process a call, forked\nahead, and an fdatasync, "
	    "without cage, protocol or limits; stateless: as MCP\n2026-07-28 has "
	    "it)\n");
	http_tasks(argv[PADDOCK]);
	for (size_t k = 0; k < SUBJECTS_MAX; k++)
		free(f[k].took_ns);
	return 0;
}

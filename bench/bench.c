/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.c - the cost of a run, against a bare fork on the same machine.
 *
 *   bench PADDOCKD WORKER TEMPLATES STATE
 *
 * Absolute times drift from machine to machine; the ratios are the point.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/cage.h"
#include "bench/client.h"
#include "bench/measure.h"
#include "bench/target.h"

#define STARTS 20
#define DEATHS 50
#define WAITING 1 /* a worker started ahead of the run */

/* ---- calls ---- */

static int64_t sent_ns[1 << 20];
static int64_t took_ns[1 << 20];

static void call(struct client *c, int id)
{
	char line[256];
	int n =
	    snprintf(line, sizeof(line),
		     "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
		     "\"params\":{\"name\":\"word_count\",\"arguments\":{"
		     "\"text\":\"the quick brown fox jumps over the lazy "
		     "dog\"}}}\n",
		     id);

	sent_ns[id] = now_ns();
	client_send(c, line, (size_t)n);
}

/* Make N calls, WINDOW calls at a time; return the time. */
static double calls(struct client *c, int n, int window)
{
	int64_t start = now_ns();
	int sent = 0;

	while (sent < window)
		call(c, ++sent);
	for (int got = 0; got < n; got++) {
		char *line = client_line(c);
		const char *id = strstr(line, "\"id\":");

		if (strstr(line, "isError") != NULL || id == NULL) {
			fprintf(stderr, "bench: %.400s\n", line);
			exit(1);
		}
		took_ns[got] = now_ns() - sent_ns[atoi(id + 5)];
		if (sent < n)
			call(c, ++sent);
	}
	return (double)(now_ns() - start) / 1e9;
}
/* ---- where CPU time goes ---- */

struct spent {
	int64_t all, main, zygote, workers;
};

static struct spent spent_by(const struct client *c, pid_t zygote)
{
	char tid[16];

	snprintf(tid, sizeof(tid), "%d", (int)c->pid);
	return (struct spent){.all = clock_of(c->pid),
			      .main = thread_us(c->pid, tid),
			      .zygote = clock_of(zygote),
			      .workers = reaped_us(c->pid)};
}
/* ---- the report ---- */

/* The floor is measured on both sides of each round: the machine drifts. */
static void bench_calls(struct client *c, double cage_us)
{
	static const struct {
		int n, window;
		double floors; /* of CPU a run, at most */
	} rounds[] = {{2000, 1, 2.5}, {5000, 8, 2.0}, {10000, 64, 1.6}};
	pid_t zygote = zygote_of(c->pid);

	calls(c, WARM_RUNS, 8);
	printf("\n%-9s %7s %7s %7s %7s %7s %7s   CPU us per run by stage\n",
	       "in flight", "runs/s", "p50 us", "p99 us", "CPU us", "floor",
	       "/floor");
	for (size_t i = 0; i < ARRAY_LEN(rounds); i++) {
		int n = rounds[i].n;
		double floor_us = measure_floor();
		struct spent a = spent_by(c, zygote), b;
		double secs = calls(c, n, rounds[i].window);
		double each;
		int64_t p50, p99;

		b = spent_by(c, zygote);
		floor_us = (floor_us + measure_floor()) / 2;
		p50 = quantile(took_ns, (size_t)n, 0.5);
		p99 = quantile(took_ns, (size_t)n, 0.99);
		each = (double)(b.all - a.all + b.zygote - a.zygote +
				b.workers - a.workers) /
		       n;
		printf(
		    "%-9d %7.0f %7.0f %7.0f %7.0f %7.0f %7.2f   protocol %.0f, "
		    "store %.0f, spawn %.0f, cage %.0f, template %.0f\n",
		    rounds[i].window, n / secs, (double)p50 / 1e3,
		    (double)p99 / 1e3, each, floor_us, each / floor_us,
		    (double)(b.main - a.main) / n,
		    (double)(b.all - a.all - (b.main - a.main)) / n,
		    (double)(b.zygote - a.zygote) / n, cage_us,
		    (double)(b.workers - a.workers) / n - cage_us);
		target(each / floor_us, AT_MOST, rounds[i].floors,
		       "floors: CPU of a run, %d in flight", rounds[i].window);
	}
	puts("(floor: fork, a round trip over a socketpair, exit, wait, in us "
	     "of "
	     "CPU)");
	puts(
	    "(cage: a worker that is spawned, caged, waiting and gone, measured "
	    "apart; template: the rest of a worker's time)");
}

static void bench_memory(struct client *c)
{
	pid_t zygote = zygote_of(c->pid);
	long before, after;

	calls(c, 2000, 8);
	before = rss_kb(c->pid);
	calls(c, 10000, 8);
	after = rss_kb(c->pid);
	printf(
	    "\nmemory (PSS): supervisor %ld KB, zygote %ld KB; the supervisor "
	    "grew by %ld KB over 10000 runs\n",
	    after, rss_kb(zygote), after - before);
}
/* Measure the time from the kill of a worker to the answer of the call. */
static void bench_death(struct client *c)
{
	static const char idle[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
	    "call\",\"params\":"
	    "{\"name\":\"idle\",\"arguments\":{},\"_meta\":{\"progressToken\":"
	    "1}}}\n";
	int64_t took[DEATHS];

	for (int i = 0; i < DEATHS; i++) {
		pid_t worker;
		int64_t start;

		client_send(c, idle, sizeof(idle) - 1);
		client_line(c); /* a message of progress: the run has begun */
		worker = worker_of(c->pid);
		start = now_ns();
		kill(worker, SIGKILL);
		if (strstr(client_line(c), "WORKER_CRASHED") == NULL) {
			fputs("bench: a dead worker was not told\n", stderr);
			exit(1);
		}
		took[i] = now_ns() - start;
		/* a crash brings a new zygote: wait for a single zygote */
		while (workers_of(c->pid) > 1 + WAITING)
			usleep(1000);
	}
	printf("a worker's death to the answer: median %.1f ms, worst %.1f ms "
	       "(of %d)\n",
	       (double)quantile(took, DEATHS, 0.5) / 1e6,
	       (double)quantile(took, DEATHS, 1) / 1e6, DEATHS);
}

static void bench_start(char *const argv[])
{
	static const char ping[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
	int64_t took[STARTS];
	long idle = 0;

	for (int i = 0; i < STARTS; i++) {
		struct client c;
		int64_t start = now_ns();

		client_start(&c, argv);
		client_hello(&c);
		took[i] = now_ns() - start;
		if (i == STARTS - 1) {
			/* the answer comes once the zygote is ready */
			client_send(&c, ping, sizeof(ping) - 1);
			client_line(&c);
			idle = family_kb(c.pid);
		}
		client_stop(&c);
	}
	printf("start to the first initialize answer: %.1f ms (median of %d); "
	       "idle memory of all processes %ld KB\n",
	       (double)quantile(took, STARTS, 0.5) / 1e6, STARTS, idle);
	target((double)quantile(took, STARTS, 0.5) / 1e6, AT_MOST, 15,
	       "ms: start to the first initialize");
	target((double)idle / 1024, AT_MOST, 15,
	       "MiB: idle memory of all processes");
}

int main(int argc, char **argv)
{
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
	struct client c;
	double cage_us;

	if (argc == 2 && strcmp(argv[1], "floor") == 0)
		return floor_main();
	if (argc != 6) {
		fputs("usage: bench PADDOCKD WORKER TEMPLATES STATE CONFIG\n",
		      stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	server[0] = argv[1];
	server[5] = argv[3];
	server[7] = argv[4];
	server[9] = argv[5];
	cage_us = measure_cage(argv[2]);
	bench_start(server);
	client_start(&c, server);
	client_hello(&c);
	bench_calls(&c, cage_us);
	bench_memory(&c);
	bench_death(&c);
	client_stop(&c);
	return 0;
}

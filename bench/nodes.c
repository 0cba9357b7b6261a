/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c - runs that sleep 100 ms on one, two and four servers that share a
 * database: does throughput grow as they do? Each server is driven by a process of
 * its own, which keeps as many calls under way as the server has places.
 *
 *   nodes PLACES ENDPOINT ENDPOINT ENDPOINT ENDPOINT
 *
 * An ENDPOINT is 127.0.0.1:PORT/PATH. bench/cluster starts them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/http_client.h"
#include "bench/measure.h"
#include "bench/target.h"

#define JOB "\"name\":\"nap_100\",\"arguments\":{}"
#define SAYS "\"structuredContent\":{}"
#define WARM_NS INT64_C(500000000)
#define ROUND_NS INT64_C(3000000000)
#define ROUNDS 3
#define LINEAR 0.95
#define BUSY 0.9 /* of all cores: then they end it, and no target is judged */

static const int sizes[] = {1, 2, 4};

struct figures {
	double done, busy_s, all_s;
};

/* Seconds of all cores since the start, and how many of them were not idle. */
static void cpu_seconds(double *busy, double *all)
{
	unsigned long long v[8] = {0}, sum = 0;
	FILE *f = fopen("/proc/stat", "re");
	char name[8];
	double tick = (double)sysconf(_SC_CLK_TCK);

	if (f == NULL || fscanf(f, "%7s", name) != 1)
		die("/proc/stat");
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		if (fscanf(f, "%llu", &v[i]) != 1)
			die("/proc/stat");
		sum += v[i];
	}
	fclose(f);
	*all = (double)sum / tick;
	*busy = (double)(sum - v[3] - v[4]) / tick;
}

static void ask(struct http *h, int i)
{
	http_ask(h, i, "tools/call", "nap_100", JOB);
}

/* Calls that ended from BEGIN to END, of those that keep PLACES busy at AT. */
static long drive(const char *at, int places, int64_t begin, int64_t end)
{
	struct http *h = http_open_stateless(at, places, "{}");
	long n = 0;

	for (int i = 0; i < places; i++)
		ask(h, i);
	for (int left = places; left > 0;) {
		const char *body;
		int i = http_next(h, &body);
		int64_t now = now_ns();

		if (strstr(body, SAYS) == NULL) {
			fprintf(stderr, "bench: no result: %.300s\n", body);
			_exit(1);
		}
		n += now >= begin && now < end;
		if (now < end)
			ask(h, i);
		else
			left--;
	}
	http_close(h);
	return n;
}

static int begin_driver(const char *at, int places, int64_t begin, int64_t end)
{
	int fds[2];
	pid_t pid;
	long n;

	if (pipe(fds) != 0 || (pid = fork()) < 0)
		die("fork");
	if (pid != 0) {
		close(fds[1]);
		return fds[0];
	}
	n = drive(at, places, begin, end);
	if (write(fds[1], &n, sizeof(n)) != sizeof(n))
		_exit(1);
	_exit(0);
}

static void sleep_until(int64_t ns)
{
	int64_t left = ns - now_ns();
	struct timespec t = {left / 1000000000, left % 1000000000};

	if (left > 0)
		nanosleep(&t, NULL);
}

static void run_round(char *const at[], int servers, int places,
		      struct figures *f)
{
	int64_t begin = now_ns() + WARM_NS, end = begin + ROUND_NS;
	double busy[2], all[2];
	int from[4];
	long n;

	for (int i = 0; i < servers; i++)
		from[i] = begin_driver(at[i], places, begin, end);
	sleep_until(begin);
	cpu_seconds(&busy[0], &all[0]);
	sleep_until(end);
	cpu_seconds(&busy[1], &all[1]);
	for (int i = 0; i < servers; i++) {
		if (read(from[i], &n, sizeof(n)) != sizeof(n))
			exit(1); /* it has said why */
		close(from[i]);
		f->done += (double)n;
	}
	while (wait(NULL) > 0)
		;
	f->busy_s += busy[1] - busy[0];
	f->all_s += all[1] - all[0];
}

int main(int argc, char *argv[])
{
	struct figures f[ARRAY_LEN(sizes)] = {0};
	int places = argc == 6 ? atoi(argv[1]) : 0;

	if (places < 1 || places > HTTP_CONNS_MAX) {
		fputs("usage: nodes PLACES ENDPOINT ENDPOINT ENDPOINT "
		      "ENDPOINT\n",
		      stderr);
		return 2;
	}
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
			run_round(argv + 2, sizes[i], places, &f[i]);
	printf("%2d places a node %9s %9s %9s\n", places, "runs/s", "of linear",
	       "CPU busy");
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		double of = f[i].done / f[0].done / sizes[i];
		double busy = f[i].busy_s / f[i].all_s;

		printf("%d node%-11s %9.0f %9.3f %8.0f%%%s\n", sizes[i],
		       i == 0 ? "" : "s", f[i].done / ROUNDS / (ROUND_NS / 1e9),
		       of, busy * 100,
		       busy > BUSY ? "  where the cores end" : "");
		if (i > 0 && busy <= BUSY)
			target(of, AT_LEAST, LINEAR,
			       "of linear: %d nodes of %d places, runs of 100 "
			       "ms",
			       sizes[i], places);
	}
	return 0;
}

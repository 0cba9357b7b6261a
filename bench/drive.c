/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drive.c - servers under load: a process for each server keeps the given number of
 * calls under way. nodes.c and engines.c use it.
 */
#include "bench/drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/http_client.h"
#include "bench/measure.h"

#define WARM_NS INT64_C(500000000)

/* Read the seconds of all cores since the start, and the seconds that were not idle. */
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

/* Count calls that ended from BEGIN to END, with PLACES busy calls at AT. */
static long drive(const char *at, const struct drive_job *job, int places,
		  int64_t begin, int64_t end)
{
	struct http *h = http_open_stateless(at, places, "{}");
	long n = 0;

	for (int i = 0; i < places; i++)
		http_ask(h, i, "tools/call", job->name, job->params);
	for (int left = places; left > 0;) {
		const char *body;
		int i = http_next(h, &body);
		int64_t now = now_ns();

		if (strstr(body, job->says) == NULL) {
			fprintf(stderr, "bench: no result: %.300s\n", body);
			_exit(1);
		}
		n += now >= begin && now < end;
		if (now < end)
			http_ask(h, i, "tools/call", job->name, job->params);
		else
			left--;
	}
	http_close(h);
	return n;
}

static int begin_driver(const char *at, const struct drive_job *job, int places,
			int64_t begin, int64_t end)
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
	n = drive(at, job, places, begin, end);
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

void drive_round(char *const at[], int servers, const struct drive_job *job,
		 int places, struct drive_figures *f)
{
	int64_t begin = now_ns() + WARM_NS, end = begin + DRIVE_ROUND_NS;
	double busy[2], all[2];
	int from[DRIVE_MAX];
	long n;

	for (int i = 0; i < servers; i++)
		from[i] = begin_driver(at[i], job, places, begin, end);
	sleep_until(begin);
	cpu_seconds(&busy[0], &all[0]);
	sleep_until(end);
	cpu_seconds(&busy[1], &all[1]);
	for (int i = 0; i < servers; i++) {
		if (read(from[i], &n, sizeof(n)) != sizeof(n))
			exit(1); /* the reason is printed */
		close(from[i]);
		f->done += (double)n;
	}
	while (wait(NULL) > 0)
		;
	f->busy_s += busy[1] - busy[0];
	f->all_s += all[1] - all[0];
}

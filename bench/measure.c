/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/measure.h"

#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLOOR_RUNS 4000

void die(const char *what)
{
	perror(what);
	exit(1);
}
int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* CPU time of reaped children, and of the process itself. */
int64_t cpu_us(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static int64_t all_cpu_us(void)
{
	return cpu_us(RUSAGE_SELF) + cpu_us(RUSAGE_CHILDREN);
}

static void floor_once(void)
{
	int ends[2];
	char c = 'x';
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		die("socketpair");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		if (read(ends[1], &c, 1) != 1 || write(ends[1], &c, 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	if (write(ends[0], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
		die("round trip");
	close(ends[0]);
	waitpid(pid, NULL, 0);
}

static double floor_here(void)
{
	int64_t cpu;

	for (int i = 0; i < WARM_RUNS; i++)
		floor_once();
	cpu = all_cpu_us();
	for (int i = 0; i < FLOOR_RUNS; i++)
		floor_once();
	return (double)(all_cpu_us() - cpu) / FLOOR_RUNS;
}

/* Measure in a fresh process: memory of a parent makes forks dearer. */
double measure_floor(void)
{
	double us = 0;
	FILE *f = popen("exec /proc/$PPID/exe floor", "re");

	if (f == NULL || fscanf(f, "%lf", &us) != 1)
		die("floor");
	pclose(f);
	return us;
}
int64_t clock_of(pid_t pid)
{
	struct timespec ts = {0};
	clockid_t id;

	if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &ts) != 0)
		return 0;
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Return the run time of thread TID of PID, from schedstat (proc(5)). */
int64_t thread_us(pid_t pid, const char *tid)
{
	char path[64];
	long long ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid,
		 tid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%lld", &ns) != 1)
		ns = 0;
	fclose(f);
	return ns / 1000;
}

static bool is_called(pid_t pid, const char *want)
{
	char path[64], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fscanf(f, "%31s", name) != 1)
		name[0] = '\0';
	fclose(f);
	return strcmp(name, want) == 0;
}

static bool is_worker(pid_t pid)
{
	return is_called(pid, "paddock-worker");
}

/* The zygote has a session of its own, with its clones. */
static bool is_zygote(pid_t pid)
{
	return is_worker(pid) && getsid(pid) == pid;
}

size_t children_of(pid_t pid, pid_t all[CHILDREN_MAX])
{
	char pattern[64];
	glob_t threads;
	size_t n = 0;
	int child;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/children",
		 (int)pid);
	if (glob(pattern, 0, NULL, &threads) != 0)
		return 0;
	for (size_t i = 0; i < threads.gl_pathc; i++) {
		FILE *f = fopen(threads.gl_pathv[i], "re");

		while (f != NULL && n < CHILDREN_MAX &&
		       fscanf(f, "%d", &child) == 1)
			all[n++] = child;
		if (f != NULL)
			fclose(f);
	}
	globfree(&threads);
	return n;
}

pid_t broker_of(pid_t pid)
{
	pid_t all[CHILDREN_MAX];
	size_t n = children_of(pid, all);

	for (size_t i = 0; i < n; i++)
		if (is_called(all[i], "paddock-browser"))
			return all[i];
	return 0;
}

/* Return the newest zygote: an older zygote may not be gone yet. */
pid_t zygote_of(pid_t pid)
{
	pid_t all[CHILDREN_MAX];

	for (size_t n = children_of(pid, all); n-- > 0;)
		if (is_zygote(all[n]))
			return all[n];
	return 0;
}

pid_t worker_of(pid_t pid)
{
	pid_t all[CHILDREN_MAX], zygote = zygote_of(pid);
	size_t n = children_of(pid, all);

	for (size_t i = 0; i < n; i++)
		if (all[i] != zygote && is_worker(all[i]) &&
		    getsid(all[i]) == zygote)
			return all[i];
	return 0;
}

size_t workers_of(pid_t pid)
{
	pid_t all[CHILDREN_MAX];
	size_t n = children_of(pid, all), workers = 0;

	for (size_t i = 0; i < n; i++)
		workers += is_worker(all[i]);
	return workers;
}

/* Return the time of PID's reaped children, in us: cutime and cstime of /proc/PID/stat. */
int64_t reaped_us(pid_t pid)
{
	char path[64], text[1024];
	long long cutime = 0, cstime = 0;
	const char *p;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	p = strrchr(text, ')');
	if (p == NULL || sscanf(p,
				") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
				"%*u %*u %*u %lld %lld",
				&cutime, &cstime) != 2)
		return 0;
	return (cutime + cstime) * 1000000 / sysconf(_SC_CLK_TCK);
}

int64_t server_cpu_us(pid_t pid)
{
	pid_t all[CHILDREN_MAX];
	size_t n = children_of(pid, all);
	int64_t us = clock_of(pid) + reaped_us(pid);

	for (size_t i = 0; i < n; i++)
		us += server_cpu_us(all[i]);
	return us;
}

void await_rest(pid_t pid)
{
	int64_t before = server_cpu_us(pid);

	for (int looks = 0, still = 0; looks < 100 && still < 3; looks++) {
		int64_t us;

		usleep(20000);
		us = server_cpu_us(pid);
		still = us - before < 1000 ? still + 1 : 0;
		before = us;
	}
}

int adopt_main(char *const command[])
{
	pid_t pid;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		die("subreaper");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv(command[0], command);
		die(command[0]);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

long rss_kb(pid_t pid)
{
	char path[64], line[128];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "Pss: %ld", &kb) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return kb;
}
/* Return a child of PID other than NOT; 0: no child yet. */
long family_kb(pid_t pid)
{
	pid_t all[CHILDREN_MAX];
	size_t n = children_of(pid, all);
	long kb = rss_kb(pid);

	for (size_t i = 0; i < n; i++)
		kb += rss_kb(all[i]);
	return kb;
}
static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int64_t quantile(int64_t *times, size_t n, double q)
{
	qsort(times, n, sizeof(times[0]), by_time);
	return times[(size_t)((double)(n - 1) * q)];
}

int floor_main(void)
{
	printf("%f\n", floor_here());
	return 0;
}

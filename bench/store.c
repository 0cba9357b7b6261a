/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - the cost of a run for the store: microseconds by the clock and of
 * CPU, for a lazy first row and a promised last row, 64 runs at a time.
 *
 *   store [DIR [RUNS [ROWS]]]   in a fresh folder below DIR (.), with ROWS
 *                               finished runs there already
 *   tests/tools/with-postgres store ARGUMENTS   the same in PostgreSQL
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/store/store.h"
#include "supervisor/store/store_impl.h"

#define AT_ONCE 64
#define VIEW_BYTES 1400
#define INPUT_BYTES 600

static char view[VIEW_BYTES + 1], inputs[INPUT_BYTES + 1];
static size_t done, failed;

static void on_done(void *arg, const struct store_result *res)
{
	(void)arg;
	done++;
	if (res->rc != 0 && failed++ == 0)
		fprintf(stderr, "%s\n", res->errmsg);
}

static int64_t cpu_us(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000LL +
	       ru.ru_utime.tv_usec + ru.ru_stime.tv_usec;
}

static void wait_for(struct store *s, size_t want)
{
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};

	while (done < want) {
		poll(&p, 1, -1);
		store_dispatch(s);
	}
}

static struct store_run fresh(size_t n)
{
	static const char *const names[] = {"csv_profile", "text_stats",
					    "word_count", "convert"};
	struct store_run run = {
	    .requestor = n % 10 == 0 ? "bob" : "uid:1000",
	    .template_id = names[n % ARRAY_LEN(names)],
	    .version = "1.0.0",
	    .digest = "0123456789abcdef0123456789abcdef"
		      "0123456789abcdef0123456789abcdef",
	    .status = STORE_RUNNING,
	    .created_ms = clock_wall_ms(),
	    .started_ms = clock_wall_ms(),
	    .updated_ms = clock_wall_ms(),
	    .inputs = inputs,
	    .options = "{\"timeoutMs\":60000}",
	};

	id_new(run.id, "run");
	return run;
}

static void end_run(struct store_run *run)
{
	run->status = STORE_SUCCEEDED;
	run->finished_ms = run->updated_ms = clock_wall_ms();
	run->expires_ms = run->finished_ms + 86400000;
	run->inputs = NULL;
	run->view = view;
}

static void report(const char *what, size_t runs, int64_t us, int64_t cpu,
		   uint32_t commits)
{
	printf("%-40s %7.1f us  %6.1f us CPU a run  %6.1f runs a commit\n",
	       what, (double)us / (double)runs, (double)cpu / (double)runs,
	       commits > 0 ? (double)runs / (double)commits : 0.0);
}

/*
 * Return the number of transactions that have changed the database, by the file that
 * all connections share: https://www.sqlite.org/walformat.html, "iChange".
 */
static uint32_t count_commits(const struct store *s)
{
	char *path = xasprintf("%s-shm", s->db_path);
	int fd = open(path, O_RDONLY | O_CLOEXEC); /* SQLite's alone */
	uint32_t n = 0;

	if (fd >= 0 && pread(fd, &n, sizeof(n), 8) != sizeof(n))
		failed++;
	if (fd >= 0)
		close(fd);
	free(path);
	return n;
}

/* AT_ONCE runs are begun, then ended: two commits, as when work is between. */
static void bench_pairs(struct store *s, size_t runs, bool apart)
{
	int64_t us = clock_mono_us(), cpu = cpu_us();
	uint32_t commits = count_commits(s);
	struct store_run run[AT_ONCE];

	done = 0;
	for (size_t n = 0; n < runs; n += AT_ONCE) {
		for (size_t i = 0; i < AT_ONCE; i++) {
			bool last = apart && i == AT_ONCE - 1;

			run[i] = fresh(n + i);
			store_put_run(s, &run[i],
				      last ? STORE_SYNC : STORE_DEFERRED,
				      last ? on_done : NULL, NULL);
		}
		if (apart)
			wait_for(s, done + 1);
		for (size_t i = 0; i < AT_ONCE; i++) {
			end_run(&run[i]);
			store_put_run(s, &run[i], STORE_RETRY, on_done, NULL);
		}
		wait_for(s, done + AT_ONCE);
	}
	report(apart ? "lazy row, commit, promised row, commit"
		     : "lazy and promised row in one commit",
	       runs, clock_mono_us() - us, cpu_us() - cpu,
	       count_commits(s) - commits);
}

/* AT_ONCE in flight; at the end of a run the next run begins, as with clients. */
static void bench_flight(struct store *s, size_t runs)
{
	int64_t us = clock_mono_us(), cpu = cpu_us();
	uint32_t commits = count_commits(s);
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
	struct store_run run[AT_ONCE];
	size_t begun = 0, ended = 0;

	done = 0;
	while (done < runs) {
		while (begun < runs && begun < done + AT_ONCE) {
			run[begun % AT_ONCE] = fresh(begun);
			store_put_run(s, &run[begun++ % AT_ONCE],
				      STORE_DEFERRED, NULL, NULL);
			/* half of them are still at work at any time */
			if (begun - ended <= AT_ONCE / 2 && begun < runs)
				continue;
			end_run(&run[ended % AT_ONCE]);
			store_put_run(s, &run[ended++ % AT_ONCE], STORE_RETRY,
				      on_done, NULL);
		}
		while (begun == runs && ended < runs) {
			end_run(&run[ended % AT_ONCE]);
			store_put_run(s, &run[ended++ % AT_ONCE], STORE_RETRY,
				      on_done, NULL);
		}
		if (done < ended) {
			poll(&p, 1, -1);
			store_dispatch(s);
		}
	}
	report("64 in flight, one begins as one ends", runs,
	       clock_mono_us() - us, cpu_us() - cpu,
	       count_commits(s) - commits);
}

static void fill(struct store *s, size_t rows)
{
	done = 0;
	for (size_t i = 0; i < rows; i++) {
		struct store_run run = fresh(i);

		end_run(&run);
		if (i % 16 == 0)
			run.status = STORE_FAILED;
		if (i == rows / 100 + 1) /* uid:1000's, and long ago */
			run.template_id = "rare";
		store_put_run(s, &run, STORE_SYNC, on_done, NULL);
		if (i % 1000 == 999)
			wait_for(s, i + 1 - 500);
	}
	wait_for(s, rows);
}

static void bench_list(struct store *s, const char *what, int status,
		       const char *template_id, int64_t offset)
{
	enum { TIMES = 200 };
	int64_t us = clock_mono_us();

	done = 0;
	for (size_t i = 0; i < TIMES; i++) {
		store_list_runs(
		    s,
		    &(struct store_filter){.requestor = "uid:1000",
					   .status = status,
					   .template_id = template_id,
					   .offset = offset,
					   .limit = 20},
		    on_done, NULL);
		wait_for(s, i + 1);
	}
	printf("%-40s %7.1f us\n", what,
	       (double)(clock_mono_us() - us) / TIMES);
}

static void lists(struct store *s)
{
	bench_list(s, "a page of 20", -1, NULL, 0);
	bench_list(s, "of one status", STORE_FAILED, NULL, 0);
	bench_list(s, "that are running (none)", STORE_RUNNING, NULL, 0);
	bench_list(s, "of one template", -1, "csv_profile", 0);
	bench_list(s, "of a rare template", -1, "rare", 0);
	bench_list(s, "of one template and status", STORE_FAILED, "csv_profile",
		   0);
	bench_list(s, "from row 10,000", -1, NULL, 10000);
	bench_list(s, "of one template, from row 10,000", -1, "csv_profile",
		   10000);
}

int main(int argc, char **argv)
{
	const char *under = argc > 1 ? argv[1] : ".";
	size_t runs = argc > 2 ? strtoul(argv[2], NULL, 10) : 20000;
	size_t rows = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	char *dir = xasprintf("%s/bench.XXXXXX", under), *rm;
	struct store *s;

	if (mkdtemp(dir) == NULL) {
		fprintf(stderr, "%s: %s\n", dir, strerror(errno));
		return 1;
	}
	memset(view, 'v', VIEW_BYTES);
	memset(inputs, 'i', INPUT_BYTES);
	runs = (runs + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
	s = store_start(dir, "inst_bench");
	store_set_url(s, getenv("PADDOCK_TEST_POSTGRES"));
	fill(s, rows);
	bench_pairs(s, runs, false);
	bench_pairs(s, runs, true);
	bench_flight(s, runs);
	lists(s);
	store_stop(s, 10000);
	rm = xasprintf("rm -rf '%s'", dir);
	if (system(rm) != 0)
		failed++;
	free(rm);
	free(dir);
	return failed == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_thread_pool.c - jobs on threads: turns, deadlines, cancels, and the charged time.
 */
#include "supervisor/run/threads/thread_pool.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "supervisor/requestor/requestor.h"
#include "tests/unit/base/lock_fixture.h"
#include "tests/unit/tap.h"

#define HASH_A                                                                 \
	"8766b9cb08e6040b704f1e3ee1e186efccf2635b1d2634d6525333007e6aeae1"
#define HASH_B                                                                 \
	"ff492ef788c89b555e6f738b33d2422f57dbb6656af2402155672c5f123a90af"

static struct event_base *base;
static struct requestors all;
static struct config *config;
static struct requestor *a, *b;
static struct thread_pool *o;

/* A job of the test: its behaviour, and its end. */
struct job {
	bool waits; /* waits for GATE before the end */
	bool spins; /* runs until told to stop */
	char name;
	sem_t begun, gate;
	/* jobs of the same requestor at the same time */
	atomic_int works, working_with;
	atomic_int *crowd;
	struct thread_pool_job *handle, *cancels;
	int dones, drops;
	struct thread_pool_result end;
	bool then_again;
};

static char order[1024]; /* names of jobs, in the order of the ends */

static void do_work(struct thread_pool_job *j, void *arg)
{
	struct job *job = arg;

	job->works++;
	sem_post(&job->begun);
	if (job->crowd != NULL && atomic_fetch_add(job->crowd, 1) > 0)
		job->working_with++;
	if (job->waits)
		sem_wait(&job->gate);
	while (job->spins && thread_pool_may_continue(j))
		;
	if (job->crowd != NULL)
		atomic_fetch_sub(job->crowd, 1);
}

static void submit(struct requestor *q, struct job *job);

static void do_done(void *arg, const struct thread_pool_result *end)
{
	struct job *job = arg;
	size_t n = strlen(order);

	job->dones++;
	job->end = *end;
	if (n + 1 < sizeof(order)) {
		order[n] = job->name;
		order[n + 1] = '\0';
	}
	if (job->cancels != NULL)
		thread_pool_cancel(job->cancels);
	if (job->then_again) {
		job->then_again = false;
		submit(a, job);
	}
}

static void do_drop(void *arg)
{
	((struct job *)arg)->drops++;
}

#define DEADLINE_MS 20
static const struct thread_pool_kind kind = {.name = "test",
					     .cpu_ms = 60000,
					     .work = do_work,
					     .done = do_done,
					     .drop = do_drop};
static const struct thread_pool_kind brief = {.name = "brief",
					      .cpu_ms = DEADLINE_MS,
					      .work = do_work,
					      .done = do_done,
					      .drop = do_drop};

static const struct thread_pool_kind owed = {.name = "owed",
					     .cpu_ms = 60000,
					     .owed = true,
					     .work = do_work,
					     .done = do_done,
					     .drop = do_drop};
static const struct thread_pool_kind ahead = {.name = "first",
					      .cpu_ms = 60000,
					      .first = true,
					      .work = do_work,
					      .done = do_done,
					      .drop = do_drop};

static void job_init(struct job *job, char name)
{
	*job = (struct job){.name = name};
	sem_init(&job->begun, 0, 0);
	sem_init(&job->gate, 0, 0);
}

static void submit_as(struct requestor *q, struct job *job,
		      const struct thread_pool_kind *k)
{
	job->handle = thread_pool_submit(o, q, k, job);
}

static void submit(struct requestor *q, struct job *job)
{
	submit_as(q, job, &kind);
}

static void wait_drops(const struct job *job, int n)
{
	while (job->drops < n)
		event_base_loop(base, EVLOOP_ONCE);
}

static size_t jobs_now(void)
{
	struct thread_pool_stats n;

	thread_pool_stats(o, &n);
	return n.jobs;
}

static void begin(size_t threads)
{
	o = thread_pool_new(base, threads);
	order[0] = '\0';
}

static void end(void)
{
	thread_pool_free(o);
	o = NULL;
}

/* ---- tests ---- */

TEST(one)
{
	struct job x;

	begin(2);
	job_init(&x, 'x');
	submit(a, &x);
	ok(x.handle != NULL, "a job is taken");
	sem_wait(&x.begun);
	is_int(x.dones, 0, "a job that was done is told only by the loop");
	wait_drops(&x, 1);
	is_int(x.works, 1, "a job is done once");
	is_int(x.dones, 1, "the end of a job is told once");
	is_int(x.drops, 1, "a job's argument is given back once");
	ok(!x.end.overdue, "a short job is not overdue");
	is_int(jobs_now(), 0, "no job is left");
	x.then_again = true;
	submit(a, &x);
	wait_drops(&x, 3);
	is_int(x.dones, 3, "what is told of a job may ask for another");
	end();
}

/* With one thread, all turns are visible: each requestor's jobs in order. */
TEST(turns)
{
	struct job first, x[8], y[2];

	begin(1);
	job_init(&first, 'f');
	first.waits = true;
	submit(a, &first);
	sem_wait(&first.begun);
	for (int i = 0; i < 8; i++) {
		job_init(&x[i], (char)('0' + i));
		submit(a, &x[i]);
	}
	for (int i = 0; i < 2; i++) {
		job_init(&y[i], (char)('y' + i));
		submit(b, &y[i]);
	}
	sem_post(&first.gate);
	wait_drops(&x[7], 1);
	is_str(
	    order, "fy0z1234567",
	    "another's waits for the one that is done, not for all; then they "
	    "take turns");
	end();
}

TEST(one_each)
{
	atomic_int crowd = 0;
	struct job x[8], y;
	int together = 0;

	begin(2);
	for (int i = 0; i < 8; i++) {
		job_init(&x[i], (char)('0' + i));
		x[i].crowd = &crowd;
		x[i].waits = i == 0;
		submit(a, &x[i]);
	}
	sem_wait(&x[0].begun);
	job_init(&y, 'y');
	submit(b, &y);
	wait_drops(&y, 1);
	is_str(order, "y",
	       "who has a job that takes long holds one thread, not the other");
	is_int(x[1].works, 0, "a requestor's second job waits for the first");
	sem_post(&x[0].gate);
	wait_drops(&x[7], 1);
	for (int i = 0; i < 8; i++)
		together += x[i].working_with;
	is_int(together, 0, "a requestor's are done one at a time");
	is_str(order, "y01234567", "in their order");
	end();
}

TEST(bound)
{
	static struct job x[THREAD_POOL_JOBS_MAX], more, other;
	struct thread_pool_stats n;
	bool taken = true;

	begin(1);
	for (int i = 0; i < THREAD_POOL_JOBS_MAX; i++) {
		job_init(&x[i], 'x');
		x[i].waits = i == 0;
		submit(a, &x[i]);
		taken = taken && x[i].handle != NULL;
	}
	job_init(&more, 'm');
	job_init(&other, 'o');
	submit(a, &more);
	submit(b, &other);
	ok(taken, "%d jobs of one requestor are taken", THREAD_POOL_JOBS_MAX);
	ok(more.handle == NULL, "one more is not");
	ok(other.handle != NULL, "another's is");
	thread_pool_stats(o, &n);
	is_int(n.full, 1, "the refusal for a full queue is counted");
	is_int(n.jobs, THREAD_POOL_JOBS_MAX + 1, "waiting jobs are counted");
	thread_pool_cancel(x[1].handle);
	submit(a, &more);
	ok(more.handle != NULL, "one that is cancelled leaves its place");
	sem_post(&x[0].gate);
	wait_drops(&more, 1);
	end();
	is_int(x[THREAD_POOL_JOBS_MAX - 1].dones, 1, "all are done");
	is_int(x[1].works + x[1].dones, 0, "a cancelled job is not done");
}

/* A job which another bound limits is accepted, and delays no other job. */
TEST(owed)
{
	static struct job x[THREAD_POOL_OWED_MAX], more;
	bool taken = true;

	begin(1);
	for (int i = 0; i < THREAD_POOL_OWED_MAX; i++) {
		job_init(&x[i], 'x');
		x[i].waits = i == 0;
		submit_as(a, &x[i], &owed);
		taken = taken && x[i].handle != NULL;
	}
	job_init(&more, 'm');
	ok(taken, "%d jobs that are owed are taken", THREAD_POOL_OWED_MAX);
	submit_as(a, &more, &owed);
	ok(more.handle == NULL, "one more is not");
	ok(thread_pool_has_room(o, a), "there is room for others meanwhile");
	submit(a, &more);
	ok(more.handle != NULL, "a job is taken beside the jobs that are owed");
	sem_post(&x[0].gate);
	wait_drops(&more, 1);
	end();
}

TEST(first)
{
	struct job run, x, y, z;

	begin(1);
	job_init(&run, 'r');
	job_init(&x, 'x');
	job_init(&y, 'y');
	job_init(&z, 'z');
	run.waits = true;
	submit(a, &run);
	sem_wait(&run.begun);
	submit(a, &x);
	submit_as(a, &y, &ahead);
	submit(b, &z);
	sem_post(&run.gate);
	wait_drops(&x, 1);
	is_str(order, "rzyx",
	       "what gives something back goes before its requestor's others");
	end();
}

/* A long job of the server does not delay jobs of another kind. */
TEST(own_kinds)
{
	struct job load, x, next;

	begin(2);
	job_init(&load, 'l');
	job_init(&x, 'x');
	job_init(&next, 'n');
	load.waits = true;
	submit(NULL, &load);
	sem_wait(&load.begun);
	submit(NULL, &next);
	submit_as(NULL, &x, &brief);
	wait_drops(&x, 1);
	is_str(order, "x", "a job of the server's waits for those of its kind");
	sem_post(&load.gate);
	wait_drops(&next, 1);
	is_str(order, "xln", "jobs of the server are done one at a time");
	end();
}

TEST(deadline)
{
	int64_t before = requestor_cpu_ms(a), others = requestor_cpu_ms(b);
	struct thread_pool_stats n;
	struct job x;

	begin(2);
	job_init(&x, 'x');
	x.spins = true;
	submit_as(a, &x, &brief);
	wait_drops(&x, 1);
	ok(x.end.overdue, "a job hears that its time is up");
	ok(x.end.cpu_us >= DEADLINE_MS * 1000, "not before");
	ok(requestor_cpu_ms(a) - before >= DEADLINE_MS,
	   "the requestor of an overdue job is charged");
	is_int(requestor_cpu_ms(b), others,
	       "another requestor is not charged for the job");
	thread_pool_stats(o, &n);
	is_int(n.overdue, 1, "an overdue job is counted");
	ok(n.cpu_us >= DEADLINE_MS * 1000,
	   "the CPU time of an overdue job is counted");
	submit_as(NULL, &x, &brief);
	wait_drops(&x, 2);
	is_int(x.dones, 2, "the server's own has a deadline, too");
	end();
}

TEST(cancel)
{
	struct job run, wait, over, told;

	begin(1);
	job_init(&run, 'r');
	job_init(&wait, 'w');
	job_init(&over, 'o');
	job_init(&told, 't');
	run.spins = true;
	submit(a, &run);
	submit(a, &wait);
	sem_wait(&run.begun);
	thread_pool_cancel(wait.handle);
	is_int(wait.drops, 1, "one that waits is dropped at once");
	thread_pool_cancel(run.handle);
	is_int(run.drops, 0, "one that is being done keeps its argument");
	wait_drops(&run, 1);
	is_int(run.dones, 0, "a job cancelled while it is done is not told");
	is_int(wait.works + wait.dones, 0,
	       "a job cancelled while it waits is never done");

	/* told comes first, and cancels over, which has been done by then */
	submit(a, &told);
	submit(a, &over);
	told.cancels = over.handle;
	sem_wait(&over.begun);
	wait_drops(&over, 1);
	is_int(told.dones, 1, "of two that are over the first is told");
	is_int(over.dones, 0,
	       "a job cancelled by the first one's end is not told");
	is_int(over.works, 1, "a job cancelled after the work was done");
	is_int(jobs_now(), 0, "none is left");
	end();
}

TEST(cancel_all_waiting)
{
	struct job run, x, y;

	begin(1);
	job_init(&run, 'r');
	job_init(&x, 'x');
	job_init(&y, 'y');
	run.waits = true;
	submit(a, &run);
	sem_wait(&run.begun);
	submit(b, &x);
	thread_pool_cancel(x.handle);
	submit(b, &y);
	sem_post(&run.gate);
	wait_drops(&y, 1);
	is_str(order, "ry", "a requestor whose only job left may come back");
	end();
}

TEST(free)
{
	struct job run, wait, over, other;

	begin(1);
	job_init(&run, 'r');
	job_init(&wait, 'w');
	job_init(&over, 'o');
	job_init(&other, 'x');
	run.spins = true;
	submit(a, &over);
	submit(a, &run);
	submit(a, &wait);
	submit(b, &other);
	sem_wait(&run.begun);
	end();
	is_int(run.drops + wait.drops + over.drops + other.drops, 4,
	       "at the end each is dropped, whatever its state");
	is_int(run.dones + wait.dones + over.dones, 0,
	       "no job is told at the end");
	begin(2);
	end();
	thread_pool_free(NULL);
	is_int(run.drops + wait.drops + over.drops + other.drops, 4,
	       "without a job there is nothing to end");
}

int main(void)
{
	static const char text[] =
	    "[requestor \"a\"]\ntoken_sha256 = " HASH_A "\n"
	    "[requestor \"b\"]\ntoken_sha256 = " HASH_B "\n";
	char errmsg[256];

	base = event_base_new();
	config = config_new(0);
	config_read_text(config, "f", text, strlen(text), errmsg,
			 sizeof(errmsg));
	requestors_apply(&all, config);
	a = requestors_find(&all, "a");
	b = requestors_find(&all, "b");
	tap_run();
	requestors_fini(&all);
	config_free(config);
	event_base_free(base);
	is_int(locks_left_out(), 0, "no thread unlocks what nobody had locked");
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_cpu.c - limits a program's CPU time by the count of its cgroup, which
 * includes children for which no process waits, and which the shim cannot see. The
 * kernel may kill a child of a resident's run for memory while the run goes on; so
 * the run is ended here, too. worker.c begins the watch. Without the kernel's count
 * there is no limit here, and the shim's own count is charged. A resident without a
 * shim is a single process, whose CPU time the kernel counts.
 */
#include "supervisor/run/worker/worker_private.h"

#include <unistd.h>

#include "base/clock.h"
#include "supervisor/run/limits.h"
#include "supervisor/run/outcome.h"
#include "supervisor/spawn/cgroup.h"

#define LOOK_MS 100 /* least time between two looks */

void worker_cpu_charge(const struct worker *w, struct rusage *use)
{
	int64_t all_us = spawned_cpu_us(w->spawned);
	int64_t us = all_us - w->spawned->charged_us;

	if (all_us < 0)
		return; /* the process is gone, and wait4(2) has told */
	w->spawned->charged_us = all_us;
	use->ru_utime =
	    (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
	use->ru_stime = (struct timeval){0};
}

static int64_t processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? n : 1;
}

void worker_cpu_add_unwaited(const struct worker *w, struct rusage *use)
{
	int64_t most, told, known_us, us;

	if (w->spawned->held || w->used_ms == 0)
		return; /* without a look at the processors, which is a file */
	most = (clock_mono_ms() - w->run->started_mono_ms) * processors();
	told = w->used_ms < (uint64_t)most ? (int64_t)w->used_ms : most;
	known_us =
	    (int64_t)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) * 1000000 +
	    use->ru_utime.tv_usec + use->ru_stime.tv_usec;
	us = told * 1000 - known_us;
	if (us <= 0)
		return;
	us += use->ru_utime.tv_usec;
	use->ru_utime.tv_sec += us / 1000000;
	use->ru_utime.tv_usec = us % 1000000;
}

/*
 * Return when to look next at W: before, all processors together could not use
 * LEFT_MS. The memory of a resident is looked at each time.
 */
static int64_t next_ms(const struct worker *w, int64_t left_ms)
{
	int64_t ms = left_ms / processors();

	bool watches = w->spawned->held && w->run->job.resident != NULL;

	return ms > LOOK_MS && !watches ? ms : LOOK_MS;
}

/* The CPU time of W's run so far; negative: unknown. */
static int64_t used_ms(const struct worker *w)
{
	int64_t us;

	if (!worker_stays_alone(w))
		return cgroup_run_cpu_ms(w->spawned->child.slot);
	us = spawned_cpu_us(w->spawned);
	return us < 0 ? us : (us - w->spawned->charged_us) / 1000;
}

static void tell_cpu(struct run *r)
{
	outcome_cpu(r, used_ms(r->job.worker));
}

static void tell_memory(struct run *r)
{
	run_set_error(r, "RESOURCE_LIMIT",
		      limits_details(r, LIMIT_MEMORY, r->limits.memory_bytes),
		      "the kernel ended a process of the run, since all of "
		      "them together needed more memory than they may have");
}

static bool has_lost_process(const struct worker *w)
{
	return w->spawned->held && w->run->job.resident != NULL &&
	       cgroup_run_oom_kills(w->spawned->child.slot) > 0;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;
	int64_t ms;

	(void)fd, (void)what;
	if (!spawned_is_alive(w->spawned) || w->killed ||
	    w->phase == PHASE_DONE)
		return;
	if (has_lost_process(w) && worker_interrupt(w, WHY_MEMORY, tell_memory))
		return;
	ms = used_ms(w);
	if (ms < 0) { /* the next look may tell */
		evtimer_add(w->cpu, CLOCK_TIMEVAL(LOOK_MS));
		return;
	}
	if (ms <= r->limits.cpu_ms) {
		evtimer_add(w->cpu,
			    CLOCK_TIMEVAL(next_ms(w, r->limits.cpu_ms - ms)));
		return;
	}
	if (worker_interrupt(w, WHY_CPU, tell_cpu))
		return;
	if (r->state != RUN_CANCELLING)
		outcome_cpu(r, ms);
	worker_end(r);
}

void worker_cpu_watch(struct worker *w)
{
	if (!w->spawned->held && !worker_stays_alone(w))
		return;
	w->cpu = evtimer_new(w->env->ctx->base, on_look, w);
	evtimer_add(w->cpu, CLOCK_TIMEVAL(next_ms(w, w->run->limits.cpu_ms)));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The watch of a program's CPU time by the kernel's count. */
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

#include "base/clock.h"

/* Without a cgroup no count can be read. */
TEST(count_that_fails)
{
	begin();
	it.w->spawned->held = true;
	it.w->spawned->child.pid = getpid();
	it.r->limits.cpu_ms = 1;
	worker_cpu_watch(it.w);
	for (int look = 1; look <= 3; look++) {
		ok(evtimer_pending(it.w->cpu, NULL) != 0,
		   "an unreadable count is no end of the watch: look %d", look);
		event_base_loop(it.base, EVLOOP_ONCE);
	}
	is_str(run_state_name(it.r->state), "running",
	       "an unreadable count is no end of the run");
	event_free(it.w->cpu);
	end();
}

/* The charge for USED ms by the shim, with 1,500 ms by wait(2). */
static int64_t charged_ms(uint64_t used_ms, bool held)
{
	struct rusage use = {.ru_utime = {1, 200000}, .ru_stime = {0, 300000}};

	it.w->used_ms = used_ms;
	it.w->spawned->held = held;
	worker_cpu_add_unwaited(it.w, &use);
	return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 +
	       (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000;
}

TEST(children_that_nobody_waits_for)
{
	const int64_t processors = sysconf(_SC_NPROCESSORS_ONLN);

	begin();
	it.r->started_mono_ms = clock_mono_ms() - 10000;
	is_int(charged_ms(0, false), 1500,
	       "the time of awaited children is charged");
	is_int(charged_ms(1400, false), 1500,
	       "awaited children above the shim's figure are charged");
	is_int(charged_ms(3750, false), 3750,
	       "a higher figure of the shim is charged");
	is_int(charged_ms(3750, true), 1500,
	       "the shim's figure is not charged beside a cgroup");
	ok(charged_ms(MSG_INT_MAX, false) >= 10000 * processors,
	   "a false figure is charged up to the time of all processors,");
	ok(charged_ms(MSG_INT_MAX, false) < 600000 * processors, "not above");
	end();
}

int main(void)
{
	set_up();
	tap_run();
	return done();
}

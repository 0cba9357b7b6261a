/* SPDX-License-Identifier: Apache-2.0 */
/* The watch of a program's CPU time by the kernel's count. */
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

/* Here no cgroup was made, so that each count is one that cannot be read. */
TEST(count_that_fails)
{
	begin();
	it.w->born->held = true;
	it.w->born->child.pid = getpid();
	it.r->limits.cpu_ms = 1;
	worker_cpu_watch(it.w);
	for (int look = 1; look <= 3; look++) {
		ok(evtimer_pending(it.w->cpu, NULL) != 0,
		   "a count that cannot be read is no end of the watch: look %d",
		   look);
		event_base_loop(it.base, EVLOOP_ONCE);
	}
	is_str(run_state_name(it.r->state), "running", "…nor of the run");
	event_free(it.w->cpu);
	end();
}

int main(void)
{
	set_up();
	tap_run();
	return done();
}

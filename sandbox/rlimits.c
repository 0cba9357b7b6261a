/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rlimits.c - resource limits of zygotes, Lua workers and programs, and the
 * timer that ends a worker at the CPU limit. A limit that cannot be set is
 * -errno; then the layer is reported as missing, or the process exits.
 */
#include "sandbox/rlimits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/no_core.h"

#define WASTE_PART 4
#define PROGRAM_STACK (8u << 20)
#define PROGRAM_MEMLOCK (64u << 10)
#define PROGRAM_DATA_SLACK (256u << 20)
#define PROGRAM_NICE 10 /* below the priority of the supervisor and the shim */
/* the part of the user's pending signals for all workers */
#define SIGNALS_PART 4
#define BARE_GUESS_BYTES (64ull << 20) /* assumed where /proc gives no size */

static const struct {
	int resource;
	rlim_t max;
} shared[] = {
    {RLIMIT_CORE, NO_CORE_BYTES},
    {RLIMIT_FSIZE, 0},
    {RLIMIT_MEMLOCK, 0},
    {RLIMIT_MSGQUEUE, 0},
    {RLIMIT_STACK, RLIMITS_STACK_BYTES},
};

/* Set both limits of RESOURCE to MAX, or to the old hard limit if lower. */
static int lower(int resource, rlim_t max)
{
	struct rlimit old, new = {.rlim_cur = max, .rlim_max = max};

	if (setrlimit(resource, &new) == 0)
		return 0;
	if (errno != EPERM || getrlimit(resource, &old) != 0)
		return -errno;
	if (old.rlim_max > max)
		return -EPERM;
	new.rlim_cur = new.rlim_max = old.rlim_max;
	return setrlimit(resource, &new) == 0 ? 0 : -errno;
}

/* The first number of /proc/self/statm is the size of the address space in pages. */
static uint64_t address_space(void)
{
	char text[128];
	ssize_t n = -1;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	uint64_t pages;

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return BARE_GUESS_BYTES;
	text[n] = '\0';
	pages = strtoull(text, NULL, 10);
	return pages > 0 ? pages * (uint64_t)sysconf(_SC_PAGESIZE)
			 : BARE_GUESS_BYTES;
}

int rlimits_zygote(struct sandbox *sb)
{
	int rc = 0;

	sb->bare_bytes = address_space();
	for (size_t i = 0; i < ARRAY_LEN(shared) && rc == 0; i++)
		rc = lower(shared[i].resource, shared[i].max);
	return sb->err[SANDBOX_RLIMITS] = rc;
}

int rlimits_zygote_program(struct sandbox *sb)
{
	int rc = lower(RLIMIT_CORE, NO_CORE_BYTES);

	if (rc == 0)
		rc = lower(RLIMIT_MSGQUEUE, 0);
	if (rc == 0)
		rc = lower(RLIMIT_MEMLOCK, PROGRAM_MEMLOCK);
	return sb->err[SANDBOX_RLIMITS] = rc;
}

int rlimits_program(const struct sandbox_program *p)
{
	const struct {
		int resource;
		rlim_t max;
	} own[] = {
	    {RLIMIT_FSIZE, p->w.memory_bytes},
	    {RLIMIT_STACK, PROGRAM_STACK},
	    /* thread stacks and reserved memory count in full */
	    {RLIMIT_DATA, 2 * p->w.memory_bytes + PROGRAM_DATA_SLACK},
	    {RLIMIT_CPU, (p->w.cpu_ms + p->start_cpu_ms) / 1000 + 2},
	    {RLIMIT_SIGPENDING, RLIMITS_SIGNALS},
	    /*
	     * 1 for the shim, and 1 so that the cgroup refuses and counts the
	     * excess process
	     */
	    {RLIMIT_NPROC, p->limits.processes + 2},
	};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(own) && rc == 0; i++)
		rc = lower(own[i].resource, own[i].max);
	if (rc == 0 && getpriority(PRIO_PROCESS, 0) < PROGRAM_NICE &&
	    setpriority(PRIO_PROCESS, 0, PROGRAM_NICE) != 0)
		rc = -errno;
	return rc;
}

int rlimits_program_files(const struct sandbox_program *p)
{
	return lower(RLIMIT_NOFILE, p->limits.open_files);
}

int rlimits_addresses(uint64_t bytes)
{
	return lower(RLIMIT_AS, bytes);
}

int rlimits_userns(void)
{
	struct rlimit own;

	if (getrlimit(RLIMIT_SIGPENDING, &own) != 0)
		return -errno;
	return own.rlim_cur == RLIM_INFINITY
		   ? 0
		   : lower(RLIMIT_SIGPENDING, own.rlim_cur / SIGNALS_PART);
}

uint64_t rlimits_address_space(const struct sandbox *sb,
			       const struct sandbox_worker *w)
{
	uint64_t bare = sb->bare_bytes + RLIMITS_SLACK_BYTES;
	uint64_t waste = w->memory_bytes / WASTE_PART;

	if (w->memory_bytes > RLIM_INFINITY - bare - waste)
		return RLIM_INFINITY;
	return w->memory_bytes + waste + bare;
}

/* The timer is exact; the rounded-up second kills a process whose handler hangs. */
static rlim_t cpu_limit(const struct sandbox_worker *w)
{
	return w->cpu_ms / 1000 + (w->cpu_ms % 1000 != 0) + 1;
}

/* Without POSIX timers: ITIMER_PROF, whose SIGPROF gets the handler of SIGXCPU. */
static int arm_itimer(const struct itimerspec *at)
{
	struct itimerval tv = {
	    .it_value = {.tv_sec = at->it_value.tv_sec,
			 .tv_usec = at->it_value.tv_nsec / 1000}};
	struct sigaction sa;

	if (sigaction(SIGXCPU, NULL, &sa) != 0 ||
	    sigaction(SIGPROF, &sa, NULL) != 0 ||
	    setitimer(ITIMER_PROF, &tv, NULL) != 0)
		return -errno;
	return 0;
}

static int arm_cpu_timer(uint64_t ms)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL,
			      .sigev_signo = SIGXCPU};
	struct itimerspec at = {
	    .it_value = {.tv_sec = (time_t)(ms / 1000),
			 .tv_nsec = (long)(ms % 1000) * 1000000}};
	timer_t timer;

	if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &ev, &timer) != 0)
		return arm_itimer(&at);
	return timer_settime(timer, TIMER_ABSTIME, &at, NULL) == 0 ? 0 : -errno;
}

int rlimits_worker(const struct sandbox *sb, const struct sandbox_worker *w)
{
	int rc = arm_cpu_timer(w->cpu_ms);

	if (rc == 0)
		rc = lower(RLIMIT_CPU, cpu_limit(w));
	if (rc == 0)
		rc = lower(RLIMIT_AS, rlimits_address_space(sb, w));
	if (rc == 0)
		rc = lower(RLIMIT_NPROC, 0);
	if (rc == 0)
		rc = lower(RLIMIT_NOFILE, RLIMITS_FILES);
	return rc;
}

static bool is_at_most(int resource, rlim_t max)
{
	struct rlimit now, more;

	if (getrlimit(resource, &now) != 0 || now.rlim_cur > max ||
	    now.rlim_max > max)
		return false;
	if (now.rlim_max == RLIM_INFINITY)
		return true;
	more.rlim_cur = more.rlim_max = now.rlim_max + 1;
	return setrlimit(resource, &more) != 0;
}

bool rlimits_hold(const struct sandbox *sb, const struct sandbox_worker *w)
{
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		if (!is_at_most(shared[i].resource, shared[i].max))
			return false;
	return is_at_most(RLIMIT_CPU, cpu_limit(w)) &&
	       is_at_most(RLIMIT_AS, rlimits_address_space(sb, w)) &&
	       is_at_most(RLIMIT_NPROC, 0) &&
	       is_at_most(RLIMIT_NOFILE, RLIMITS_FILES);
}

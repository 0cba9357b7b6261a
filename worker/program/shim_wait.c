/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_wait.c - a program that was started before a run exists, for shim.c: the program
 * may load modules and then waits for inputs. A program that does anything else is unfit;
 * the shim exits with the reason as status, and the processes die with the namespace. The
 * run then gets another worker.
 */
#include "worker/program/shim_private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/sys.h"
#include "ipc/zygote_proto.h"
#include "worker/channel.h"

#define START_MS 20000	  /* until the program waits, also on a busy machine */
#define ENDING_MS 50	  /* from closing descriptors to the exit */
#define START_LOOK_MS 100 /* between looks before the program waits */
#define LOOK_MS 1000	  /* between looks while the program waits */
#define WAIT_CPU_MS 100	  /* while waiting, and a fiftieth of the time */
#define WAIT_CPU_PART 50
#define GROWTH_PART 4 /* of the memory at the begin of waiting */
#define GROWTH_BYTES (4u << 20)

enum { AT_RUN, AT_LISTENER, AT_IN, AT_OUT, AT_LINES, WATCHED };

void shim_unfit(enum zygote_proto_unfit why)
{
	_exit(ZYGOTE_PROTO_EXIT_UNFIT + (int)why);
}

/* Has the program ended? Reported before any other cause. */
static void reap_children(const struct shim *s)
{
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, NULL)) > 0)
		if (pid == s->pid)
			shim_unfit(UNFIT_ENDED);
}

/* A descriptor was closed, possibly all, since the program is ending. */
_Noreturn static void end_by_close(const struct shim *s)
{
	const struct timespec ts = {.tv_nsec = 1000000};
	sigset_t none;

	sigemptyset(&none);
	for (int i = 0; i < ENDING_MS; i++) {
		reap_children(s);
		(void)ppoll(NULL, 0, &ts, &none);
	}
	shim_unfit(UNFIT_SPOKE);
}

/* Check that the program is alive, has all descriptors, and writes nothing. */
static bool look_at_pipes(struct shim *s, int timeout_ms)
{
	bool ahead = shim_births_are_ahead();
	int ms = ahead && timeout_ms > 0 ? SHIM_BIRTH_MS : timeout_ms;
	struct timespec ts = {.tv_sec = ms / 1000,
			      .tv_nsec = ms % 1000 * 1000000L};
	struct pollfd p[WATCHED] = {
	    [AT_RUN] = {.fd = ZYGOTE_PROTO_RUN_FD, .events = POLLIN},
	    [AT_LISTENER] = {.fd = ahead ? -1 : s->pipes.listener,
			     .events = POLLIN},
	    [AT_IN] = {.fd = s->pipes.in},
	    [AT_OUT] = {.fd = s->pipes.out, .events = POLLIN},
	    [AT_LINES] = {.fd = s->pipes.lines, .events = POLLIN}};
	sigset_t none;
	int n;

	sigemptyset(&none);
	n = ppoll(p, WATCHED, &ts, &none);
	reap_children(s);
	if (n < 0)
		return false;
	if ((p[AT_LISTENER].revents & POLLIN) != 0)
		shim_recv_call(s);
	else if (p[AT_LISTENER].revents != 0)
		sys_drop(&s->pipes.listener);
	if (((p[AT_OUT].revents | p[AT_LINES].revents) & POLLIN) != 0)
		shim_unfit(UNFIT_SPOKE);
	if ((p[AT_IN].revents | p[AT_OUT].revents | p[AT_LINES].revents) != 0)
		end_by_close(s);
	return p[AT_RUN].revents != 0;
}

struct wait {
	int64_t began_ms, settled_ms; /* 0: not waiting yet */
	uint64_t cpu_ms;	      /* at the last look, or when settled */
	uint64_t most_bytes;
};

static void tell_use(const struct shim_use *u)
{
	channel_send(&(struct msg){
	    .type = MSG_WAITING,
	    .waiting = {.cpu_ms = u->cpu_ms, .memory_bytes = u->own_bytes}});
}

static void look_at_program(struct wait *w, const struct shim *s,
			    const struct msg_prepare *p)
{
	struct shim_use u = shim_measure(s, w->most_bytes);
	int64_t now = clock_mono_ms();

	if (u.too_many)
		shim_unfit(UNFIT_CROWD);
	if (u.own_bytes > w->most_bytes)
		shim_unfit(UNFIT_GREW);
	if (w->settled_ms != 0) {
		if (u.cpu_ms >
		    w->cpu_ms + WAIT_CPU_MS +
			(uint64_t)(now - w->settled_ms) / WAIT_CPU_PART)
			shim_unfit(UNFIT_SPINS);
		return;
	}
	if (u.cpu_ms > p->cpu_ms)
		shim_unfit(UNFIT_SPINS);
	if (now - w->began_ms > START_MS)
		shim_unfit(UNFIT_SLOW);
	if (u.cpu_ms == w->cpu_ms) { /* from now on the program waits */
		struct shim_use all = shim_measure(s, 0);
		uint64_t most =
		    all.own_bytes + all.own_bytes / GROWTH_PART + GROWTH_BYTES;

		w->settled_ms = now;
		if (most < w->most_bytes)
			w->most_bytes = most;
		tell_use(&all);
	}
	w->cpu_ms = u.cpu_ms;
}

void shim_wait(struct shim *s, const struct msg_prepare *p)
{
	struct wait w = {.began_ms = clock_mono_ms(),
			 .cpu_ms = UINT64_MAX,
			 .most_bytes = p->memory_bytes};
	int64_t looked_ms = w.began_ms;
	struct shim_use u;

	for (;;) {
		int64_t every = w.settled_ms != 0 ? LOOK_MS : START_LOOK_MS;
		int64_t left = looked_ms + every - clock_mono_ms();

		if (look_at_pipes(s, left > 0 ? (int)left : 0))
			break;
		if (clock_mono_ms() - looked_ms < every)
			continue;
		look_at_program(&w, s, p);
		looked_ms = clock_mono_ms();
	}
	u = shim_measure(s, UINT64_MAX);
	s->start_cpu_ms = u.cpu_ms;
	tell_use(&u);
	channel_send(&(struct msg){.type = MSG_READY});
}

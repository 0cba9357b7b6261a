/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_starter.c - the process that starts Chromium, forked by main.c
 * before main.c gives up the right to. No byte of a page comes here: a request
 * is two numbers. A failed start is reported with the reason, and repeated only
 * on request.
 */
#include "browser/process/chromium_starter.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "browser/process/helper_process.h"
#include "base/os/fdpass.h"

static struct {
	const struct chromium_launch_plan *plan;
	pid_t init; /* PID 1 of the last start; -1: none */
	uint32_t start;
} it = {.init = -1};

static void send_event(enum chromium_starter_event_kind kind, int32_t value,
		       const char *errmsg, int fd)
{
	struct chromium_starter_event n = {
	    .kind = kind, .start = it.start, .value = value};

	snprintf(n.errmsg, sizeof(n.errmsg), "%s", errmsg);
	(void)fdpass_send(HELPER_PROCESS_FD, &n, sizeof(n), fd, 0);
	if (fd >= 0)
		close(fd);
}

static void stop_started(void)
{
	int status;

	if (it.init <= 0)
		return;
	/* the kernel then kills all processes of the namespace */
	kill(it.init, SIGKILL);
	while (waitpid(it.init, &status, 0) < 0 && errno == EINTR)
		;
	it.init = -1;
}

static void start_world(uint32_t number)
{
	struct chromium_launched l;
	char errmsg[CHROMIUM_STARTER_WHY];

	stop_started();
	it.start = number;
	if (chromium_launch(&l, it.plan, errmsg, sizeof(errmsg)) < 0) {
		send_event(CHROMIUM_STARTER_FAILED, 0, errmsg, -1);
		return;
	}
	it.init = l.pid;
	send_event(CHROMIUM_STARTER_TO, 0, "", l.to);
	send_event(CHROMIUM_STARTER_FROM, 0, "", l.from);
	send_event(CHROMIUM_STARTER_LISTENER, 0, "", l.listener);
	send_event(CHROMIUM_STARTER_PID1, l.pid, "", l.watch);
}

static void reap_worlds(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != it.init)
			continue;
		it.init = -1;
		send_event(CHROMIUM_STARTER_ENDED, status, "", -1);
	}
}

static void on_request(const void *request)
{
	const struct chromium_starter_request *o = request;

	if (o->kind == CHROMIUM_STARTER_START)
		start_world(o->start);
	else if (o->kind == CHROMIUM_STARTER_STOP && o->start == it.start)
		stop_started();
}

int chromium_starter_fork(const struct chromium_launch_plan *plan, pid_t *pid)
{
	static const struct helper_process kind = {
	    .order_size = sizeof(struct chromium_starter_request),
	    .on_request = on_request,
	    .reap = reap_worlds,
	    .end = stop_started};
	int sock = helper_process_fork("paddock-starter", pid);

	if (sock < 0 || *pid > 0)
		return sock;
	it.plan = plan;
	helper_process_serve(&kind);
}

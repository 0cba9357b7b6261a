/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawner.c - asks the zygotes for workers, keeps the table of workers by pid,
 * and reaps workers. worker/worker.c asks for a worker, the loop reaps at
 * SIGCHLD. When no worker can be had now the result is -EAGAIN, and runs wait
 * in their queue; when the zygote refuses, the worker's owner gets the errno.
 */
#include "supervisor/spawn/spawner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "base/os/fdpass.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/spawn/spawn_exec.h"
#include "supervisor/spawn/spawner_private.h"
#include "supervisor/runtime/runtime.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables in spawner_stop()'s loops */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define STUCK_MS 5000 /* no zygote takes so long for a clone */
#define SENT_AT_ONCE                                                           \
	UINT64_C(256) /* descriptors: the kernel's SCM_MAX_FD is 253 */

/*
 * Kill unknown children: a zygote that is killed between a clone and the report
 * leaves a child that the supervisor does not know. proc(5),
 * /proc/PID/task/TID/children, lists all children.
 */
static void kill_unknown_children(struct spawner *c)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	struct spawner_child *child;
	pid_t pid;

	if (f == NULL)
		return;
	/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote these numbers */
	while (fscanf(f, "%d", &pid) == 1) {
		HASH_FIND_INT(c->by_pid, &pid, child);
		if (child == NULL && zygote_of_pid(c, pid) == NULL &&
		    pid != privsep_pid() &&
		    (c->stopping || !spawn_exec_is_helper(pid)))
			kill(pid, SIGKILL);
	}
	fclose(f);
}

static void child_unpend(struct zygote *z, struct spawner_child *child)
{
	TAILQ_REMOVE(&z->pending, child, link);
	z->spawner->n_pending--;
}

void spawner_fail_pending(struct zygote *z, int err)
{
	struct spawner_child *child;

	while ((child = TAILQ_FIRST(&z->pending)) != NULL) {
		child_unpend(z, child);
		z->spawner->slots.used[child->slot] = false;
		child->on_spawned(child, err);
	}
}

/* ---- cloned workers ---- */

void spawner_settle(struct spawner *c)
{
	struct early_exit *e;

	if (c->n_pending > 0)
		return;
	if (c->unknown_children)
		kill_unknown_children(c);
	c->unknown_children = false;
	while ((e = SLIST_FIRST(&c->early_exit)) != NULL) {
		SLIST_REMOVE_HEAD(&c->early_exit, link);
		free(e);
	}
}

static void child_report(struct spawner *c, struct spawner_child *child,
			 int status, const struct rusage *use)
{
	const struct zygote_proto_request request = {.type =
							 ZYGOTE_PROTO_RELEASE,
						     .slot = child->slot,
						     .seq = child->seq};
	pid_t holder = child->holder;
	const struct zygote *z;

	c->slots.used[child->slot] = false;
	child->on_exit(child, status, use);
	z = holder != 0 ? zygote_of_pid(c, holder) : NULL;
	if (z != NULL) /* if lost, the slot's next RELEASE does the same */
		(void)fdpass_send(z->control, &request, sizeof(request), -1,
				  MSG_DONTWAIT);
}

void spawner_spawned(struct zygote *z, const struct zygote_proto_event *event)
{
	struct spawner *c = z->spawner;
	struct spawner_child *child;
	struct early_exit *e;

	TAILQ_FOREACH(child, &z->pending, link)
		if (child->seq == event->seq)
			break;
	if (child == NULL)
		return;
	child_unpend(z, child);
	if (event->pid <= 0) {
		c->slots.used[child->slot] = false;
		child->on_spawned(child, event->err > 0 ? event->err : EIO);
		return;
	}
	/* did this worker end already? Pids are used again */
	SLIST_FOREACH(e, &c->early_exit, link)
		if (e->pid == event->pid && (int32_t)(e->seq - event->seq) >= 0)
			break;
	if (e == NULL) {
		child->pid = event->pid;
		HASH_ADD_INT(c->by_pid, pid, child);
		child->on_spawned(child, 0);
		return;
	}
	SLIST_REMOVE(&c->early_exit, e, early_exit, link);
	child->on_spawned(child, 0);
	child_report(c, child, e->status, &e->use);
	free(e);
}

/* ---- exits ---- */

static void child_exited(struct spawner *c, pid_t pid, int status,
			 const struct rusage *use)
{
	struct spawner_child *child;
	struct zygote *z;
	struct early_exit *e;

	HASH_FIND_INT(c->by_pid, &pid, child);
	if (child != NULL) {
		HASH_DEL(c->by_pid, child);
		child_report(c, child, status, use);
		return;
	}
	z = zygote_of_pid(c, pid);
	if (z != NULL) {
		zygote_gone(z, status);
		return;
	}
	spawn_exec_ended(pid);
	if (c->ops.on_other != NULL && c->ops.on_other(c->arg, pid, status))
		return;
	e = xcalloc(1, sizeof(*e));
	*e = (struct early_exit){
	    .pid = pid, .seq = c->seq, .status = status, .use = *use};
	SLIST_INSERT_HEAD(&c->early_exit, e, link);
}

void spawner_reap(struct spawner *c)
{
	struct rusage use;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &use)) > 0)
		child_exited(c, pid, status, &use);
	spawner_settle(c);
}

/* ---- requests ---- */

/*
 * Where runs share the supervisor's uid: fewer files than the supervisor's
 * limit, with room for the descriptors of a message, so that descriptors in
 * flight of runs never block the supervisor's own.
 */
uint64_t spawner_files_below_ours(const struct spawner *c, uint64_t files)
{
	struct rlimit own;
	uint64_t most;

	if (!c->shares_uid || getrlimit(RLIMIT_NOFILE, &own) != 0)
		return files;
	most = own.rlim_cur > 2 * SENT_AT_ONCE ? own.rlim_cur - SENT_AT_ONCE
					       : own.rlim_cur / 2;
	return files < most ? files : most;
}

int spawner_spawn(struct spawner *c, struct spawner_child *child, int fd,
		  const struct spawner_job *job)
{
	struct zygote_pool *p = &c->pool[job->kind];
	struct zygote_proto_spawn s;
	struct zygote_proto_request *request = &s.request;
	int rc = 0;

	*request =
	    (struct zygote_proto_request){.type = ZYGOTE_PROTO_SPAWN,
					  .cpu_ms = job->cpu_ms,
					  .memory_bytes = job->memory_bytes,
					  .network = job->network};

	if (runtimes[job->kind]->sees_host)
		rc = spawner_rootfs_request(c, job, request);
	if (rc < 0)
		return rc;
	if (p->current == NULL || slots_take(&c->slots, &child->slot) < 0)
		return -EAGAIN;
	child->pid = 0;
	request->seq = child->seq = ++c->seq;
	request->slot = child->slot;
	child->asked_ms = clock_mono_ms();
	request->hold = job->quick_end;
	request->grouped = cgroup_version() != CGROUP_NONE;
	request->divided = cgroup_divides_cpu();
	child->holder = job->quick_end ? p->current->pid : 0;
	if (request->n_files > 0)
		memcpy(s.files, job->files,
		       request->n_files * sizeof(s.files[0]));
	rc = fdpass_send(p->current->control, &s,
			 zygote_proto_spawn_len(request), fd, MSG_DONTWAIT);
	if (rc < 0) {
		c->slots.used[child->slot] = false;
		if (rc == -ETOOMANYREFS)
			return rc;
		if (rc == -EPIPE || rc == -ECONNRESET)
			p->current = NULL; /* SIGCHLD reports the rest */
		return -EAGAIN;
	}
	TAILQ_INSERT_TAIL(&p->current->pending, child, link);
	c->n_pending++;
	return 0;
}

/*
 * Milliseconds until the zygote of CHILD counts as stuck. A requestor chooses
 * the duration of a run, but all requestors share the zygote.
 */
int64_t spawner_overdue(struct spawner *c, const struct spawner_child *child)
{
	int64_t left_ms = child->asked_ms + STUCK_MS - clock_mono_ms();
	const struct spawner_child *h;
	const struct zygote *z;

	if (left_ms > 0)
		return left_ms;
	LIST_FOREACH(z, &c->zygotes, link)
		TAILQ_FOREACH(h, &z->pending, link)
			if (h == child)
				kill(z->pid, SIGKILL);
	return 0;
}

pid_t spawner_zygote_pid(const struct spawner *c, enum runtime_kind kind)
{
	const struct zygote *z = c->pool[kind].current;

	return z == NULL ? 0 : z->pid;
}

/* ---- start and stop ---- */

struct spawner *spawner_start(struct event_base *base, const char *path,
			      const struct spawner_ops *ops, void *arg)
{
	struct spawner *c = xcalloc(1, sizeof(*c));
	struct rlimit own;
	int rc = 0;

	c->base = base;
	c->path = xstrdup(path);
	c->ops = *ops;
	c->arg = arg;
	for (size_t i = 0; i < RUNTIMES; i++) {
		c->pool[i].spawner = c;
		c->pool[i].restart =
		    evtimer_new(base, zygote_restart, &c->pool[i]);
	}
	LIST_INIT(&c->zygotes);
	SLIST_INIT(&c->early_exit);
	/* a child of a killed zygote must not outlive the supervisor either */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	/* the kernel bounds a user's descriptors in flight by the limit */
	if (getrlimit(RLIMIT_NOFILE, &own) == 0) {
		own.rlim_cur = own.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &own);
	}
	for (int i = 0; rc == 0 && i < RUNTIMES; i++) {
		c->pool[i].wanted = runtimes[i]->always;
		if (c->pool[i].wanted)
			rc = zygote_start(c, (enum runtime_kind)i);
	}
	if (rc < 0) {
		spawner_stop(c);
		spawner_free(c);
		errno = -rc;
		return NULL;
	}
	return c;
}

void spawner_stop(struct spawner *c)
{
	struct spawner_child *child, *after;
	struct zygote *z;
	struct rusage use;
	int status;
	pid_t pid;

	if (c == NULL)
		return;
	c->stopping = true;
	for (size_t i = 0; i < RUNTIMES; i++)
		c->pool[i].current = NULL;
	LIST_FOREACH(z, &c->zygotes, link)
		kill(z->pid, SIGKILL);
	HASH_ITER(hh, c->by_pid, child, after)
		kill(child->pid, SIGKILL);
	kill_unknown_children(c);
	privsep_release();
	while ((pid = wait4(-1, &status, 0, &use)) > 0 || errno == EINTR)
		if (pid > 0)
			child_exited(c, pid, status, &use);
	spawner_settle(c);
	for (size_t i = 0; i < RUNTIMES; i++)
		evtimer_del(c->pool[i].restart);
}

void spawner_free(struct spawner *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < RUNTIMES; i++)
		event_free(c->pool[i].restart);
	spawner_rootfs_fini(c);
	free(c->path);
	free(c);
}

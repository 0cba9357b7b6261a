/* SPDX-License-Identifier: Apache-2.0 */
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

#include "base/os/log.h"
#include "base/mem.h"
#include "base/os/fdpass.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/spawn/spawner_private.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables in crew_stop()'s loops */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define SENT_AT_ONCE 256 /* descriptors: the kernel's SCM_MAX_FD is 253 */

/*
 * A zygote that is killed between cloning and telling leaves a child that
 * nobody knows. The kernel does: proc(5), /proc/PID/task/TID/children.
 */
static void kill_strangers(struct crew *c)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	struct crew_hand *hand;
	pid_t pid;

	if (f == NULL)
		return;
	/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote these numbers */
	while (fscanf(f, "%d", &pid) == 1) {
		HASH_FIND_INT(c->by_pid, &pid, hand);
		if (hand == NULL && zygote_of_pid(c, pid) == NULL &&
		    pid != keeper_pid())
			kill(pid, SIGKILL);
	}
	fclose(f);
}

static void hand_unpend(struct zygote *z, struct crew_hand *hand)
{
	TAILQ_REMOVE(&z->pending, hand, link);
	z->crew->n_pending--;
}

void crew_fail_pending(struct zygote *z, int err)
{
	struct crew_hand *hand;

	while ((hand = TAILQ_FIRST(&z->pending)) != NULL) {
		hand_unpend(z, hand);
		z->crew->slot_used[hand->slot] = false;
		hand->on_born(hand, err);
	}
}

/* ---- births ---- */

/* Did the worker of order SEQ, born as PID, end already? PIDs come again. */
static struct early *early_find(struct crew *c, pid_t pid, uint32_t seq)
{
	struct early *e;

	SLIST_FOREACH(e, &c->early, link)
		if (e->pid == pid && (int32_t)(e->seq - seq) >= 0)
			return e;
	return NULL;
}

void crew_settle(struct crew *c)
{
	struct early *e;

	if (c->n_pending > 0)
		return;
	if (c->strangers)
		kill_strangers(c);
	c->strangers = false;
	while ((e = SLIST_FIRST(&c->early)) != NULL) {
		SLIST_REMOVE_HEAD(&c->early, link);
		free(e);
	}
}

static void hand_exited(struct crew *c, struct crew_hand *hand, int status,
			const struct rusage *use)
{
	c->slot_used[hand->slot] = false;
	hand->on_exit(hand, status, use);
}

void crew_spawned(struct zygote *z, const struct crew_note *note)
{
	struct crew *c = z->crew;
	struct crew_hand *hand;
	struct early *e;

	TAILQ_FOREACH(hand, &z->pending, link)
		if (hand->seq == note->seq)
			break;
	if (hand == NULL)
		return;
	hand_unpend(z, hand);
	if (note->pid <= 0) {
		c->slot_used[hand->slot] = false;
		hand->on_born(hand, note->err > 0 ? note->err : EIO);
		return;
	}
	e = early_find(c, note->pid, note->seq);
	if (e == NULL) {
		hand->pid = note->pid;
		HASH_ADD_INT(c->by_pid, pid, hand);
		hand->on_born(hand, 0);
		return;
	}
	SLIST_REMOVE(&c->early, e, early, link);
	hand->on_born(hand, 0);
	hand_exited(c, hand, e->status, &e->use);
	free(e);
}

/* ---- ends ---- */

static void child_exited(struct crew *c, pid_t pid, int status,
			 const struct rusage *use)
{
	struct crew_hand *hand;
	struct zygote *z;
	struct early *e;

	HASH_FIND_INT(c->by_pid, &pid, hand);
	if (hand != NULL) {
		HASH_DEL(c->by_pid, hand);
		hand_exited(c, hand, status, use);
		return;
	}
	z = zygote_of_pid(c, pid);
	if (z != NULL) {
		zygote_gone(z, status);
		return;
	}
	if (c->ops.on_other != NULL && c->ops.on_other(c->arg, pid, status))
		return;
	e = xcalloc(1, sizeof(*e));
	*e = (struct early){
	    .pid = pid, .seq = c->seq, .status = status, .use = *use};
	SLIST_INSERT_HEAD(&c->early, e, link);
}

void crew_reap(struct crew *c)
{
	struct rusage use;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &use)) > 0)
		child_exited(c, pid, status, &use);
	crew_settle(c);
}

/* ---- orders ---- */

/* Round the slots, so that a uid rests before it is used again. */
static int take_slot(struct crew *c, uint32_t *slot)
{
	for (uint32_t i = 0; i < CREW_SLOTS; i++) {
		uint32_t s = (c->next_slot + i) % CREW_SLOTS;

		if (!c->slot_used[s]) {
			c->slot_used[s] = true;
			c->next_slot = s + 1;
			*slot = s;
			return 0;
		}
	}
	return -EAGAIN;
}

/*
 * Where runs have our uid: fewer files than we may have, with room for what
 * one message sends at once, so that nothing of theirs comes before our own.
 */
uint64_t crew_files_below_ours(const struct crew *c, uint64_t files)
{
	struct rlimit own;
	uint64_t most;

	if (!c->shares_uid || getrlimit(RLIMIT_NOFILE, &own) != 0)
		return files;
	most = own.rlim_cur > 2 * SENT_AT_ONCE ? own.rlim_cur - SENT_AT_ONCE
					       : own.rlim_cur / 2;
	return files < most ? files : most;
}

int crew_spawn(struct crew *c, struct crew_hand *hand, int fd,
	       const struct crew_job *job)
{
	struct crew_post *p = &c->post[job->kind];
	struct crew_order order = {.type = CREW_SPAWN,
				   .cpu_ms = job->cpu_ms,
				   .memory_bytes = job->memory_bytes};
	int rc = 0;

	if (job->kind == CREW_PROGRAM)
		rc = crew_tree_order(c, job, &order);
	if (rc < 0)
		return rc;
	if (p->current == NULL || take_slot(c, &hand->slot) < 0)
		return -EAGAIN;
	hand->pid = 0;
	order.seq = hand->seq = ++c->seq;
	order.slot = hand->slot;
	rc = pass_send(p->current->control, &order, sizeof(order), fd,
		       MSG_DONTWAIT);
	if (rc < 0) {
		c->slot_used[hand->slot] = false;
		if (rc == -ETOOMANYREFS)
			return rc;
		if (rc == -EPIPE || rc == -ECONNRESET)
			p->current = NULL; /* SIGCHLD tells the rest */
		return -EAGAIN;
	}
	TAILQ_INSERT_TAIL(&p->current->pending, hand, link);
	c->n_pending++;
	return 0;
}

void crew_overdue(struct crew *c, const struct crew_hand *hand)
{
	const struct crew_hand *h;
	const struct zygote *z;

	LIST_FOREACH(z, &c->zygotes, link)
		TAILQ_FOREACH(h, &z->pending, link)
			if (h == hand)
				kill(z->pid, SIGKILL);
}

pid_t crew_zygote_pid(const struct crew *c, enum crew_kind kind)
{
	const struct zygote *z = c->post[kind].current;

	return z == NULL ? 0 : z->pid;
}

/* ---- start and stop ---- */

/* All that we may: orders are refused when more of ours are on their way. */
static void want_files(void)
{
	struct rlimit own;

	if (getrlimit(RLIMIT_NOFILE, &own) != 0 || own.rlim_cur == own.rlim_max)
		return;
	own.rlim_cur = own.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &own);
}

struct crew *crew_start(struct event_base *base, const char *path,
			const struct crew_ops *ops, void *arg)
{
	struct crew *c = xcalloc(1, sizeof(*c));
	int rc;

	c->base = base;
	c->path = xstrdup(path);
	c->ops = *ops;
	c->arg = arg;
	for (size_t i = 0; i < CREW_KINDS; i++) {
		c->post[i].crew = c;
		c->post[i].restart_ms = RESTART_FIRST_MS;
		c->post[i].restart =
		    evtimer_new(base, zygote_restart, &c->post[i]);
	}
	c->post[CREW_LUA].wanted = true;
	LIST_INIT(&c->zygotes);
	SLIST_INIT(&c->early);
	/* what a killed zygote was busy with must not outlive us either */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	want_files();
	rc = zygote_start(c, CREW_LUA);
	if (rc < 0) {
		crew_stop(c);
		crew_free(c);
		errno = -rc;
		return NULL;
	}
	return c;
}

void crew_stop(struct crew *c)
{
	struct crew_hand *hand, *after;
	struct zygote *z;
	struct rusage use;
	int status;
	pid_t pid;

	if (c == NULL)
		return;
	c->stopping = true;
	for (size_t i = 0; i < CREW_KINDS; i++)
		c->post[i].current = NULL;
	LIST_FOREACH(z, &c->zygotes, link)
		kill(z->pid, SIGKILL);
	HASH_ITER(hh, c->by_pid, hand, after)
		kill(hand->pid, SIGKILL);
	kill_strangers(c);
	keeper_release();
	while ((pid = wait4(-1, &status, 0, &use)) > 0 || errno == EINTR)
		if (pid > 0)
			child_exited(c, pid, status, &use);
	crew_settle(c);
	for (size_t i = 0; i < CREW_KINDS; i++)
		evtimer_del(c->post[i].restart);
}

void crew_free(struct crew *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < CREW_KINDS; i++)
		event_free(c->post[i].restart);
	crew_tree_fini(c);
	free(c->path);
	free(c);
}

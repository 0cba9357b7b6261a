/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawned.c - carries events of a worker process between the spawner and the
 * worker's owner, for worker/worker.c and warm.c. An error of the spawner is
 * its errno, and then there is no worker.
 */
#include "supervisor/run/warm/spawned.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "ipc/chan.h"
#include "supervisor/egress/egress.h"

static unsigned count;

static void on_spawned(struct spawner_child *child, int err)
{
	struct spawned *b = CONTAINER(child, struct spawned, child);

	b->ops->on_spawned(b, err);
}

static void on_exit_of(struct spawner_child *child, int status,
		       const struct rusage *use)
{
	struct spawned *b = CONTAINER(child, struct spawned, child);

	b->child.pid = 0;
	b->ops->on_exit(b, status, use);
}

struct spawned *spawned_ask(struct spawner *c, const struct spawner_job *job,
			    const struct spawned_ops *ops, void *owner, int *rc)
{
	struct spawned *b;
	int ends[2];

	*rc = chan_pair(ends);
	if (*rc < 0)
		return NULL;
	b = xcalloc(1, sizeof(*b));
	count++;
	b->child.on_spawned = on_spawned;
	b->child.on_exit = on_exit_of;
	b->fd = ends[0];
	b->ops = ops;
	b->owner = owner;
	*rc = spawner_spawn(c, &b->child, ends[1], job);
	close(ends[1]);
	if (*rc == 0)
		return b;
	spawned_free(b);
	return NULL;
}

int64_t spawned_cpu_us(const struct spawned *b)
{
	struct timespec ts;
	clockid_t clock;
	int rc = spawned_is_alive(b) ? clock_getcpuclockid(b->child.pid, &clock)
				     : ESRCH;

	if (rc != 0)
		return -rc;
	if (clock_gettime(clock, &ts) != 0)
		return -errno;
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

void spawned_signal(const struct spawned *b, int sig)
{
	if (b->child.pid > 0)
		kill(b->child.pid, sig);
}

unsigned spawned_count(void)
{
	return count;
}

void spawned_free(struct spawned *b)
{
	if (b == NULL)
		return;
	count--;
	if (b->readable != NULL)
		event_free(b->readable);
	egress_child_free(b->egress);
	close(b->fd);
	free(b);
}

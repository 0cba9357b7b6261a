/* SPDX-License-Identifier: Apache-2.0 */
/*
 * born.c - carries events of a worker process between the spawner and the
 * worker's owner, for worker/worker.c and warm.c. An error of the spawner is
 * its errno, and then there is no worker.
 */
#include "supervisor/run/warm/born.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "ipc/chan.h"

static unsigned count;

static void on_born(struct spawner_child *child, int err)
{
	struct born *b = CONTAINER(child, struct born, child);

	b->ops->on_born(b, err);
}

static void on_exit_of(struct spawner_child *child, int status,
		       const struct rusage *use)
{
	struct born *b = CONTAINER(child, struct born, child);

	b->child.pid = 0;
	b->ops->on_exit(b, status, use);
}

struct born *born_ask(struct spawner *c, const struct spawner_job *job,
		      const struct born_ops *ops, void *owner, int *rc)
{
	struct born *b;
	int ends[2];

	*rc = chan_pair(ends);
	if (*rc < 0)
		return NULL;
	b = xcalloc(1, sizeof(*b));
	count++;
	b->child.on_born = on_born;
	b->child.on_exit = on_exit_of;
	b->fd = ends[0];
	b->ops = ops;
	b->owner = owner;
	*rc = spawner_spawn(c, &b->child, ends[1], job);
	close(ends[1]);
	if (*rc == 0)
		return b;
	born_free(b);
	return NULL;
}

void born_signal(const struct born *b, int sig)
{
	if (b->child.pid > 0)
		kill(b->child.pid, sig);
}

unsigned born_count(void)
{
	return count;
}

void born_free(struct born *b)
{
	if (b == NULL)
		return;
	count--;
	if (b->readable != NULL)
		event_free(b->readable);
	close(b->fd);
	free(b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* full_pool_fixture.c - jobs that wait on a semaphore. A pool that takes fewer aborts. */
#include "tests/unit/supervisor/run/threads/full_pool_fixture.h"

#include <semaphore.h>
#include <stdlib.h>

static sem_t let_go;

static void hold(struct thread_pool_job *j, void *arg)
{
	(void)j, (void)arg;
	sem_wait(&let_go);
}

static void held(void *arg, const struct thread_pool_result *end)
{
	(void)arg, (void)end;
}

static void drop(void *arg)
{
	(void)arg;
}

static const struct thread_pool_kind kind = {
    .name = "hold", .cpu_ms = 60000, .work = hold, .done = held, .drop = drop};

void full_pool_begin(struct thread_pool *o, struct requestor *q)
{
	sem_init(&let_go, 0, 0);
	for (int i = 0; i < THREAD_POOL_JOBS_MAX; i++)
		if (thread_pool_submit(o, q, &kind, NULL) == NULL)
			abort();
}

void full_pool_end(void)
{
	for (int i = 0; i < THREAD_POOL_JOBS_MAX; i++)
		sem_post(&let_go);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* full_pool_fixture.h - a requestor whose jobs fill the threads, until released. */
#ifndef TESTS_UNIT_SUPERVISOR_THREADS_FULL_POOL_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_THREADS_FULL_POOL_FIXTURE_H

#include "supervisor/run/threads/thread_pool.h"

/*
 * Fill the pool O, which has no job of Q yet, until a further job of Q is refused.
 */
void full_pool_begin(struct thread_pool *o, struct requestor *q);
/* End the jobs in turn. */
void full_pool_end(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* full_pool_fixture.h - a requestor whose jobs fill the threads, until they are let go. */
#ifndef TESTS_UNIT_SUPERVISOR_THREADS_FULL_POOL_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_THREADS_FULL_POOL_FIXTURE_H

#include "supervisor/run/threads/thread_pool.h"

/* O, which has none of Q's yet, takes no more of them. */
void full_pool_begin(struct thread_pool *o, struct requestor *q);
/* They end, one by one. */
void full_pool_end(void);

#endif

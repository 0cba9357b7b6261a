/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_fixture.c - see lock_fixture.h. The functions stand in for the C library's, which
 * do the work; glibc notes the holder in the mutex.
 */
#include "tests/unit/base/lock_fixture.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int left_out;

int locks_left_out(void)
{
	return left_out;
}

static void check(const pthread_mutex_t *m)
{
	if (m->__data.__owner != gettid())
		left_out++;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *);

	check(m);
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	return real(m);
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	static int (*real)(pthread_cond_t *, pthread_mutex_t *);

	check(m);
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_wait");
	return real(c, m);
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
			   const struct timespec *until)
{
	static int (*real)(pthread_cond_t *, pthread_mutex_t *,
			   const struct timespec *);

	check(m);
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	return real(c, m, until);
}

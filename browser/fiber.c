/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fiber.c - stacks for calls, by ucontext(3), for call.c. A failed allocation
 * of a stack aborts the process, as in xcalloc().
 */
#include "browser/fiber.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/mem.h"

struct fiber {
	ucontext_t here;
	ucontext_t loop;
	char *stack; /* the stack with its guard page */
	size_t size;
	void (*fn)(void *arg);
	void *arg;
	bool returned;
};

static struct fiber *running;

static void enter_fiber(void)
{
	struct fiber *f = running;

	f->fn(f->arg);
	f->returned = true;
	swapcontext(&f->here, &f->loop);
	abort(); /* a returned fiber is never resumed */
}

struct fiber *fiber_new(void (*fn)(void *arg), void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct fiber *f = xcalloc(1, sizeof(*f));

	f->size = FIBER_STACK + page;
	f->stack = mmap(NULL, f->size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (f->stack == MAP_FAILED || mprotect(f->stack, page, PROT_NONE) != 0)
		abort(); /* out of memory, as in xcalloc() */
	f->fn = fn;
	f->arg = arg;
	getcontext(&f->here);
	f->here.uc_stack.ss_sp = f->stack + page;
	f->here.uc_stack.ss_size = FIBER_STACK;
	makecontext(&f->here, enter_fiber, 0);
	return f;
}

void fiber_free(struct fiber *f)
{
	if (f == NULL)
		return;
	assert(f != running);
	munmap(f->stack, f->size);
	free(f);
}

bool fiber_resume(struct fiber *f)
{
	assert(running == NULL && !f->returned);
	running = f;
	swapcontext(&f->loop, &f->here);
	running = NULL;
	return f->returned;
}

void fiber_yield(void)
{
	struct fiber *f = running;

	assert(f != NULL);
	swapcontext(&f->here, &f->loop);
}

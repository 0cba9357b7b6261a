/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fiber.h - a call's own stack, so an action reads from top to bottom while the
 * loop does other work.
 */
#ifndef BROWSER_FIBER_H
#define BROWSER_FIBER_H

#define FIBER_STACK (256u << 10) /* bytes; a guard page lies below */

struct fiber;

/* Make a fiber that runs FN(ARG) from its first fiber_resume(). Never NULL. */
struct fiber *fiber_new(void (*fn)(void *arg), void *arg);
void fiber_free(struct fiber *f); /* a fiber that has returned, or NULL */

/* Run F until it yields or returns; only from the loop. True: F returned. */
_Bool fiber_resume(struct fiber *f);
/* Go back to the loop until resumed; only from within a fiber. */
void fiber_yield(void);

#endif

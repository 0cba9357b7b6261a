/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fiber.h - a call's own stack, so that an action reads from top to bottom
 * while the loop does other things.
 */
#ifndef BROWSER_FIBER_H
#define BROWSER_FIBER_H

#define FIBER_STACK (256u << 10) /* bytes; a guard page lies below */

struct fiber;

/* A fiber that will run FN(ARG) at its first fiber_resume(). Never NULL. */
struct fiber *fiber_new(void (*fn)(void *arg), void *arg);
void fiber_free(struct fiber *f); /* one that has returned, or NULL */

/* From the loop alone: run F until it yields or returns. True: it returned. */
_Bool fiber_resume(struct fiber *f);
/* From within a fiber alone: back to the loop, until it is resumed. */
void fiber_yield(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_guard.h - marks for a build that watches the thread of the event loop
 * (tests/tools/loop_guard.c): the begin of the watch, and places where a file
 * call is meant. In every other build these functions do nothing.
 */
#ifndef BASE_LOOP_GUARD_H
#define BASE_LOOP_GUARD_H

/* Begin the watch: the start is over, the calling thread runs the loop. */
void loop_guard_begin(void);
/* End the watch: the loop has ended, and later code may take its time. */
void loop_guard_end(void);

/*
 * Allow file calls and long work in the loop until loop_guard_forbid(). WHY is
 * a literal that names the bound, so no client, template or disk can make other
 * clients wait. Pairs may nest. Calls on other threads do nothing.
 */
void loop_guard_allow(const char *why);
void loop_guard_forbid(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* lock_fixture.h - counts locks of mutexes that are left out. */
#ifndef TESTS_UNIT_BASE_LOCK_FIXTURE_H
#define TESTS_UNIT_BASE_LOCK_FIXTURE_H

/*
 * Return how often a mutex was unlocked, or given up for a condition, by a thread
 * without the lock. Linking the file puts the counting functions in place of the C
 * library's.
 */
int locks_left_out(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_fixture.h - lets a test shift and stop the clocks, to test code after a passage
 * of time.
 */
#ifndef TESTS_UNIT_BASE_CLOCK_FIXTURE_H
#define TESTS_UNIT_BASE_CLOCK_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

/* MS more have passed, for us and for libevent's timers, by every clock. */
void clock_skip(int64_t ms);
/* Stop the clocks, so that clock_skip() alone lets time pass; or let them go on. */
void clock_stop(bool on);

#endif

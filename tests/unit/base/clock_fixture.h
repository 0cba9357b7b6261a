/* SPDX-License-Identifier: Apache-2.0 */
/* clock_fixture.h - clocks that a test may put on, for what happens when time has passed. */
#ifndef TESTS_UNIT_BASE_CLOCK_FIXTURE_H
#define TESTS_UNIT_BASE_CLOCK_FIXTURE_H

#include <stdint.h>

/* MS more have passed, for us and for libevent's timers, by every clock. */
void clock_skip(int64_t ms);

#endif

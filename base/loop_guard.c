/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_guard.c - empty functions, for a build without a watch over the event
 * loop. The build of make check-guard links tests/tools/loop_guard.c in place
 * of these.
 */
#include "base/loop_guard.h"

void loop_guard_begin(void)
{
}

void loop_guard_end(void)
{
}

void loop_guard_allow(const char *why)
{
	(void)why;
}

void loop_guard_forbid(void)
{
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cage_hints.h - what a program's complaints mean in a cage: the kernel answers
 * with an errno, and only the program's own words have it.
 */
#ifndef CLI_CAGE_HINTS_H
#define CLI_CAGE_HINTS_H

struct cage_hints {
	const char *errmsg, *help; /* sentences; static */
};

/* The first meaning of TEXT, the end of a program's standard error; or NULL. */
const struct cage_hints *cage_hints(const char *text);

#endif

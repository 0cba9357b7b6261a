/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libedit.h - libedit's functions, found by the first need: no other command
 * pays for loading the library, and paddock runs without libedit.
 */
#ifndef CLI_LIBEDIT_H
#define CLI_LIBEDIT_H

#include <histedit.h>

/* X(name) for each called function. */
#define LIBEDIT_FUNCTIONS(X)                                                   \
	X(el_init)                                                             \
	X(el_end)                                                              \
	X(el_gets)                                                             \
	X(el_resize)                                                           \
	X(el_set)                                                              \
	X(el_source)                                                           \
	X(el_insertstr)                                                        \
	X(history_init)                                                        \
	X(history_end)                                                         \
	X(history)

struct libedit {
#define LIBEDIT_MEMBER(name) __typeof__(&name) name;
	LIBEDIT_FUNCTIONS(LIBEDIT_MEMBER)
#undef LIBEDIT_MEMBER
};

/* Return the functions; NULL: the library is not installed. */
const struct libedit *libedit_load(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* errmsg.h - one sentence for people, into a bounded buffer of the caller's. */
#ifndef BASE_TEXT_ERRMSG_H
#define BASE_TEXT_ERRMSG_H

#include <stddef.h>

/*
 * Write the sentence to ERRMSG (SIZE bytes with the NUL), cut between characters.
 * It may quote untrusted text: control characters and what is not UTF-8
 * become '?'. Returns -EINVAL, so that a check can end with it.
 */
int errmsg_set(char *errmsg, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif

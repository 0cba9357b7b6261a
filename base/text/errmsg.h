/* SPDX-License-Identifier: Apache-2.0 */
/* errmsg.h - a sentence for people, in a bounded buffer of the caller. */
#ifndef BASE_TEXT_ERRMSG_H
#define BASE_TEXT_ERRMSG_H

#include <stddef.h>

/*
 * Write the sentence to ERRMSG (SIZE bytes with the NUL), cut between
 * characters. It may quote untrusted text: control characters and bytes that
 * are not UTF-8 become '?'. Returns -EINVAL, so a check can end with the call.
 */
int errmsg_set(char *errmsg, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * Write as errmsg_set() does, for a call that failed with ERR. Returns -ERR
 * when ERR passes (errno_passes.h): the check then has no verdict.
 */
int errmsg_of(int err, char *errmsg, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif

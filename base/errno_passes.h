/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errno_passes.h - passing errors of the machine, unrelated to a call's object.
 */
#ifndef BASE_ERRNO_PASSES_H
#define BASE_ERRNO_PASSES_H

#include <errno.h>
#include <stdbool.h>

/* Does ERR (> 0) say: the machine or the process is out of a resource now? */
static inline bool errno_passes(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM ||
	       err == ENOBUFS || err == EINTR;
}

#endif

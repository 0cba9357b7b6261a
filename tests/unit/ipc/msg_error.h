/* SPDX-License-Identifier: Apache-2.0 */
/* msg_error.h - the verdict of msg_get() on a frame, for tests of messages. */
#ifndef TESTS_UNIT_IPC_MSG_ERROR_H
#define TESTS_UNIT_IPC_MSG_ERROR_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ipc/msg.h"

/* A struct str of a literal. */
#define S(text)                                                                \
	{                                                                      \
		(text), sizeof(text) - 1                                       \
	}

/* The error of decoding LEN bytes, or "accepted". */
static inline const char *offence(const void *bytes, size_t len)
{
	/* a copy of exact size, so that sanitizers see the end */
	char *copy = xcalloc(1, len + 1);
	const char *errmsg = NULL;
	struct msg m;
	int rc;

	memcpy(copy + 1, bytes, len);
	rc = msg_get(&m, copy + 1, len, &errmsg);
	free(copy);
	return rc == 0			  ? "accepted"
	       : rc == -EBADMSG && errmsg ? errmsg
					  : "no reason";
}

#endif

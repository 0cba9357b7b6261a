/* SPDX-License-Identifier: Apache-2.0 */
/* full_result.h - what one answer has no room for, read in parts. */
#ifndef CLI_FULL_RESULT_H
#define CLI_FULL_RESULT_H

#include <stddef.h>

#include "base/buf.h"
#include "cli/client.h"

/*
 * The text of the resource URI from byte FROM on, to OUT. 0 and *A, the last
 * answer: good, or the refusal; or -errno, and the server is gone. The caller
 * ends *A.
 */
int full_result_text(struct client *c, const char *uri, size_t from,
		     struct buf *out, struct tool_result *a);

/*
 * A is a run whose result has to be read by its resultUri? Then it gets that,
 * or is the refusal. 0, or -errno, and the server is gone.
 */
int full_result(struct client *c, struct tool_result *a);

#endif

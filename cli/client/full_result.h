/* SPDX-License-Identifier: Apache-2.0 */
/* full_result.h - results too long for one answer, read in parts. */
#ifndef CLI_FULL_RESULT_H
#define CLI_FULL_RESULT_H

#include <stddef.h>

#include "base/buf.h"
#include "cli/client/client.h"

/*
 * Append the text of the resource URI from byte FROM on to OUT. 0 and *A, the
 * last answer: good, or the refusal; or -errno: the server is gone. The caller
 * frees *A.
 */
int full_result_text(struct client *c, const char *uri, size_t from,
		     struct buf *out, struct tool_result *a);

/*
 * If A is a run whose result is only named by a resultUri, read the result and
 * put it into A; on a refusal A becomes the refusal. 0, or -errno: the server
 * is gone.
 */
int full_result(struct client *c, struct tool_result *a);

#endif

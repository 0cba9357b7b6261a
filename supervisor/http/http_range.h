/* SPDX-License-Identifier: Apache-2.0 */
/* http_range.h - which part of a file a request's Range wants (RFC 9110, 14.2). */
#ifndef SUPERVISOR_HTTP_HTTP_RANGE_H
#define SUPERVISOR_HTTP_HTTP_RANGE_H

#include <stdint.h>

/*
 * FIELD is of a file of SIZE bytes, 0 or more. 0: *N of them from *AT on, one or
 * more; -ERANGE: such a part as it has none of (416); -ENOENT: the whole file is
 * the answer, since FIELD is no such list of bytes, or one of several parts.
 */
int http_range(const char *field, int64_t size, int64_t *at, int64_t *n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_range.h - which part of a file the Range field of a request wants (RFC
 * 9110, 14.2).
 */
#ifndef SUPERVISOR_HTTP_HTTP_RANGE_H
#define SUPERVISOR_HTTP_HTTP_RANGE_H

#include <stdint.h>

/*
 * Read FIELD, for a file of SIZE bytes (0 or more). Returns 0: send *N bytes (1
 * or more) from *AT on; -ERANGE: the file has no byte of that part (416);
 * -ENOENT: send the whole file, since FIELD is not a list of byte ranges, or
 * lists several parts.
 */
int http_range(const char *field, int64_t size, int64_t *at, int64_t *n);

#endif

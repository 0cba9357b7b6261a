/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requirements.h - requirements.txt as a lock: each package by its version and
 * the hashes that its file may have.
 */
#ifndef BASE_TEXT_REQUIREMENTS_H
#define BASE_TEXT_REQUIREMENTS_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Is TEXT (LEN bytes) one, in which nothing names a folder, a URL, source to
 * build or another file? 0, and the same without comments is appended to OUT, a
 * line each, of printable ASCII: pip, which reads lines in another way, gets what
 * was checked. Or -EINVAL, *LINE the number of the first line that is wrong, and
 * a sentence in ERRMSG (SIZE bytes).
 */
int requirements_parse(const char *text, size_t len, struct buf *out,
		       size_t *line, char *errmsg, size_t size);

#endif

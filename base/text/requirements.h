/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requirements.h - requirements.txt as a lock: each package with its version
 * and the legal hashes of its file.
 */
#ifndef BASE_TEXT_REQUIREMENTS_H
#define BASE_TEXT_REQUIREMENTS_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Is TEXT (LEN bytes) a lock, without folders, URLs, source to build or
 * references to other files? 0, and the checked text is appended to OUT: no
 * comments, a package a line, printable ASCII. pip, which splits lines in
 * another way, reads OUT. Or -EINVAL, with the number of the first wrong line
 * in *LINE and a sentence in ERRMSG (SIZE bytes).
 */
int requirements_parse(const char *text, size_t len, struct buf *out,
		       size_t *line, char *errmsg, size_t size);

#endif

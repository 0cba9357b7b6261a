/* SPDX-License-Identifier: Apache-2.0 */
/* mime.h - the media type of a file, guessed by the ending of its name. */
#ifndef BASE_TEXT_MIME_H
#define BASE_TEXT_MIME_H

#include <stddef.h>

/* Return the media type for NAME, LEN bytes. Static. */
const char *mime_of(const char *name, size_t len);

#endif

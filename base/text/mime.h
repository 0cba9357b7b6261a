/* SPDX-License-Identifier: Apache-2.0 */
/* mime.h - the type of a file, guessed by the end of its name. */
#ifndef BASE_TEXT_MIME_H
#define BASE_TEXT_MIME_H

#include <stddef.h>

/* Of the LEN bytes of NAME: a media type. Static. */
const char *mime_of(const char *name, size_t len);

#endif

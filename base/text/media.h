/* SPDX-License-Identifier: Apache-2.0 */
/* media.h - pictures and sounds, by the first bytes of a file. */
#ifndef BASE_TEXT_MEDIA_H
#define BASE_TEXT_MEDIA_H

#include <stddef.h>

enum media { MEDIA_NONE, MEDIA_PICTURE, MEDIA_SOUND };

/* Return the kind of a file with MIME_TYPE, or MEDIA_NONE. */
enum media media_claimed(const char *mime_type);

/*
 * Return the media type of N bytes at P, the beginning of a file of KIND; NULL: the
 * file is of another kind. Static.
 */
const char *media_type(enum media kind, const char *p, size_t n);

#endif

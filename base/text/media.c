/* SPDX-License-Identifier: Apache-2.0 */
/*
 * media.c - types of pictures and sounds that clients pass to models, by the first
 * bytes of files: models refuse a conversation with a file of a false type. Other
 * bytes have no type (NULL).
 */
#include "base/text/media.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

struct mark {
	size_t at, n;
	const char *bytes;
};

#define MARK(at, text)                                                         \
	{                                                                      \
		at, sizeof(text) - 1, text                                     \
	}

static const struct {
	enum media kind;
	const char *type;
	struct mark marks[2];
} files[] = {
    {MEDIA_PICTURE, "image/png", {MARK(0, "\x89PNG\r\n\x1a\n")}},
    {MEDIA_PICTURE, "image/jpeg", {MARK(0, "\xff\xd8\xff")}},
    {MEDIA_PICTURE, "image/gif", {MARK(0, "GIF8")}},
    {MEDIA_PICTURE, "image/webp", {MARK(0, "RIFF"), MARK(8, "WEBP")}},
    {MEDIA_SOUND, "audio/wav", {MARK(0, "RIFF"), MARK(8, "WAVE")}},
    {MEDIA_SOUND, "audio/mpeg", {MARK(0, "ID3")}},
    {MEDIA_SOUND, "audio/mpeg", {MARK(0, "\xff\xfb")}},
    {MEDIA_SOUND, "audio/mpeg", {MARK(0, "\xff\xf3")}},
    {MEDIA_SOUND, "audio/mpeg", {MARK(0, "\xff\xf2")}},
    {MEDIA_SOUND, "audio/ogg", {MARK(0, "OggS")}},
    {MEDIA_SOUND, "audio/flac", {MARK(0, "fLaC")}},
    {MEDIA_SOUND, "audio/mp4", {MARK(4, "ftypM4A")}},
};

enum media media_claimed(const char *mime_type)
{
	if (strncmp(mime_type, "audio/", strlen("audio/")) == 0)
		return MEDIA_SOUND;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (strcmp(files[i].type, mime_type) == 0)
			return files[i].kind;
	return MEDIA_NONE;
}

static bool has_mark(const char *p, size_t n, const struct mark *m)
{
	return n >= m->at + m->n && memcmp(p + m->at, m->bytes, m->n) == 0;
}

const char *media_type(enum media kind, const char *p, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const struct mark *m = files[i].marks;

		if (files[i].kind == kind && has_mark(p, n, &m[0]) &&
		    (m[1].n == 0 || has_mark(p, n, &m[1])))
			return files[i].type;
	}
	return NULL;
}

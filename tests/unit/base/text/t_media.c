/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures and sounds, as they claim to be and by their first bytes. */
#include "base/text/media.h"

#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define BYTES(text) text, sizeof(text) - 1

static const struct {
	const char *claimed, *bytes;
	size_t n;
	const char *type; /* NULL: none */
} files[] = {
    {"image/png", BYTES("\x89PNG\r\n\x1a\n\0\0"), "image/png"},
    {"image/png", BYTES("\x89PNG\r\n\x1a"), NULL},
    {"image/png", BYTES("\xff\xd8\xff\xe0"), "image/jpeg"},
    {"image/png", BYTES("ID3"), NULL},
    {"image/jpeg", BYTES("\xff\xd8\xff\xe0"), "image/jpeg"},
    {"image/gif", BYTES("GIF89a"), "image/gif"},
    {"image/webp", BYTES("RIFF\4\0\0\0WEBP"), "image/webp"},
    {"image/webp", BYTES("RIFF\4\0\0\0WAVE"), NULL},
    {"image/webp", BYTES("XXXX\4\0\0\0WEBP"), NULL},
    {"image/svg+xml", BYTES("\x89PNG\r\n\x1a\n"), NULL},
    {"text/plain", BYTES("GIF89a"), NULL},
    {"audio/x-wav", BYTES("RIFF\4\0\0\0WAVE"), "audio/wav"},
    {"audio/mpeg", BYTES("ID3\3"), "audio/mpeg"},
    {"audio/mpeg", BYTES("\xff\xfb\x90"), "audio/mpeg"},
    {"audio/mpeg", BYTES("<html>"), NULL},
    {"audio/ogg", BYTES("OggS"), "audio/ogg"},
    {"audio/flac", BYTES("fLaC"), "audio/flac"},
    {"audio/mp4", BYTES("\0\0\0 ftypM4A "), "audio/mp4"},
    {"audio/ogg", BYTES(""), NULL},
};

TEST(first_bytes)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		is_str(media_type(media_claimed(files[i].claimed),
				  files[i].bytes, files[i].n),
		       files[i].type, "%s, file %zu", files[i].claimed, i);
}

int main(void)
{
	tap_run();
	return tap_done();
}

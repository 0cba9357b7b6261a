/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mime.c - media types of artifacts by the ending of a file's name, for the
 * shim and uploads. An unknown ending is application/octet-stream.
 */
#include "base/text/mime.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

static const struct {
	const char *end, *type;
} types[] = {
    {"csv", "text/csv"},
    {"css", "text/css"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"log", "text/plain"},
    {"m4a", "audio/mp4"},
    {"md", "text/markdown"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"ogg", "audio/ogg"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"wav", "audio/wav"},
    {"webp", "image/webp"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
};

const char *mime_of(const char *name, size_t len)
{
	const char *dot = memrchr(name, '.', len);
	size_t n = dot != NULL ? (size_t)(name + len - dot) - 1 : 0;

	for (size_t i = 0; n > 0 && i < ARRAY_LEN(types); i++)
		if (strlen(types[i].end) == n &&
		    strncasecmp(types[i].end, dot + 1, n) == 0)
			return types[i].type;
	return "application/octet-stream";
}

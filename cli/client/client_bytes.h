/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_bytes.h - files to and from the server, as raw bytes between the
 * lines.
 */
#ifndef CLI_CLIENT_BYTES_H
#define CLI_CLIENT_BYTES_H

#include "cli/client/client.h"

/*
 * Send SIZE bytes of FD as an artifact called NAME of media type MIME (NULL: by
 * the name). 0, and A is {artifactId, ...} or the refusal; else the exit
 * status, the reason printed.
 */
int client_put_bytes(struct client *c, int fd, int64_t size, const char *name,
		     const char *mime, struct tool_result *a);

/* Takes the next N bytes. 0, or -errno, which ends the transfer. */
typedef int (*client_bytes_sink)(void *arg, const void *p, size_t n);

/*
 * Get the artifact ID from byte AT on, and give the bytes to SINK. 0, and A is
 * {artifactId, sha256, ...} or the refusal; -ENOTSUP: the server cannot send
 * raw bytes; the -errno of SINK; or the exit status, the reason printed.
 */
int client_get_bytes(struct client *c, const char *id, int64_t at,
		     client_bytes_sink sink, void *arg, struct tool_result *a);

#endif

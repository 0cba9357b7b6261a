/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_fetch.h - the bytes of an artifact, piece by piece, checked at the
 * end.
 */
#ifndef CLI_ARTIFACT_FETCH_H
#define CLI_ARTIFACT_FETCH_H

#include <json-c/json.h>

#include "cli/client/client.h"

/* Takes N bytes. 0, or -errno, which ends the fetch. */
typedef int (*artifact_fetch_sink)(void *arg, const void *p, size_t n);

/*
 * Give every byte of artifact ID to SINK. TO names the destination in messages.
 * 0, or an exit status, the reason printed, also for an error of SINK.
 */
int artifact_fetch(struct client *c, const char *id, const char *to,
		   artifact_fetch_sink sink, void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.h - a file that a client sends, from its first byte to its row: an
 * artifact of its requestor's and of no run.
 *
 * Bytes are taken into one of two blocks while a thread digests and writes the
 * other; when both are full there is no room, and the client is not read. What
 * is told is on the disk.
 */
#ifndef SUPERVISOR_UPLOADS_UPLOAD_H
#define SUPERVISOR_UPLOADS_UPLOAD_H

#include <json-c/json.h>

#include "proto/mcp/tool_error.h"
#include "supervisor/context.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/store/store.h"

#define UPLOADS_MAX 64	    /* under way at once, of all requestors… */
#define UPLOADS_EACH 16	    /* …and of one */
#define UPLOAD_UNKNOWN (-1) /* its size is not said before */

struct upload;

/* All lent. */
struct upload_ask {
	const char *name;      /* as the client wrote it; NULL: "upload" */
	const char *mime_type; /* NULL: by its name */
	int64_t size;	       /* or UPLOAD_UNKNOWN */
	const char *sha256;    /* 64 hexadecimal digits, or NULL: not said */
};

struct upload_ops {
	/* upload_room() gave none, and has some now. */
	void (*on_room)(void *arg);
	/*
	 * It is over, and freed: ARTIFACT (lent) is what is told of it, or it is
	 * NULL and ERR (lent) says why. Never called from within upload_…().
	 */
	void (*on_done)(void *arg, struct json_object *artifact,
			struct tool_error *err);
};

/*
 * One for Q by ASK, or NULL and ERR: RESOURCE_LIMIT (Q may not keep so much),
 * STORE_UNAVAILABLE (the disk), QUOTA_EXCEEDED (too many are under way),
 * INVALID_PARAMETER. OPS are lent.
 */
struct upload *upload_begin(struct context *ctx, struct requestor *q,
			    const struct upload_ask *ask,
			    const struct upload_ops *ops, void *arg,
			    struct tool_error *err);

#define UPLOAD_ROOM_LEAST 65536 /* bytes, for who reads so many at once */

/*
 * Is there room for so many? If not now on_room() tells; never, when it has failed,
 * which on_done() is about to tell.
 */
bool upload_wants(struct upload *u);
bool upload_failed(const struct upload *u);
/* Where to put *N bytes that come; 0: nowhere now. Then so many were put there. */
char *upload_room(struct upload *u, size_t *n);
void upload_wrote(struct upload *u, size_t n);
/* All of it has come: on_done() follows. */
void upload_end(struct upload *u);
/* Nobody waits for it any more: on_done() is not called. NULL is fine. */
void upload_cancel(struct upload *u);

/* Forget what Q has uploaded as ID. DONE is told as by store_delete_upload(). */
void upload_delete(struct context *ctx, struct requestor *q, const char *id,
		   store_done done, void *arg);

/* How the artifact of a row is told: {artifactId, name, mimeType, …}; the caller's. */
struct json_object *upload_view(const struct store_artifact *a);

#endif

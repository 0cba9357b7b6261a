/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.h - a file from a client, from its first byte to its row: an artifact
 * of the requestor, and of no run.
 *
 * Bytes are put into one of two blocks while a thread digests and writes the
 * other; when both are full there is no room, and the client is not read. A
 * reported artifact is on the disk.
 */
#ifndef SUPERVISOR_UPLOADS_UPLOAD_H
#define SUPERVISOR_UPLOADS_UPLOAD_H

#include <json-c/json.h>

#include "proto/mcp/tool_error.h"
#include "supervisor/context.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/store/store.h"

#define UPLOADS_MAX 64	    /* under way at a time, of all requestors */
#define UPLOADS_EACH 16	    /* under way at a time, of a requestor */
#define UPLOAD_UNKNOWN (-1) /* the size is not announced */

struct upload;

/* The client's description of a file. *Lends* all members. */
struct upload_ask {
	const char *name;      /* as the client wrote it; NULL: "upload" */
	const char *mime_type; /* NULL: by the name */
	int64_t size;	       /* bytes, or UPLOAD_UNKNOWN */
	const char *sha256; /* 64 hexadecimal digits, or NULL: not announced */
};

struct upload_ops {
	/* upload_room() has room again, after it had none. */
	void (*on_room)(void *arg);
	/*
	 * The upload is over, and freed: ARTIFACT (*lent*) describes it, or is
	 * NULL and ERR (*lent*) says why. Never called from within a function
	 * of upload.h.
	 */
	void (*on_done)(void *arg, struct json_object *artifact,
			struct tool_error *err);
};

/*
 * Begin an upload of Q by ASK. NULL with ERR: RESOURCE_LIMIT (Q may not keep so
 * much), STORE_UNAVAILABLE (the disk), QUOTA_EXCEEDED (too many uploads),
 * INVALID_PARAMETER. *Lends* OPS.
 */
struct upload *upload_begin(struct context *ctx, struct requestor *q,
			    const struct upload_ask *ask,
			    const struct upload_ops *ops, void *arg,
			    struct tool_error *err);

#define UPLOAD_ROOM_LEAST 65536 /* bytes, for a reader of so many at a time */

/*
 * Is there room for UPLOAD_ROOM_LEAST bytes? If not, on_room() is called later;
 * not after a failure, which on_done() is about to report.
 */
bool upload_wants(struct upload *u);
bool upload_failed(const struct upload *u);
/*
 * Return where to put *N bytes; *N is 0: no room now. upload_wrote() reports
 * how many bytes were put there.
 */
char *upload_room(struct upload *u, size_t *n);
void upload_wrote(struct upload *u, size_t n);
/* End the upload after its last byte: on_done() follows. */
void upload_end(struct upload *u);
/* Cancel U: on_done() is not called. NULL is fine. */
void upload_cancel(struct upload *u);

/* Delete the upload ID of Q. DONE is called as by store_delete_upload(). */
void upload_delete(struct context *ctx, struct requestor *q, const char *id,
		   store_done done, void *arg);

/*
 * Return the description of an artifact, {artifactId, name, mimeType} and more;
 * the caller owns it.
 */
struct json_object *upload_view(const struct store_artifact *a);

#endif

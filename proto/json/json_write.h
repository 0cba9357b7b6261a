/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_write.h - the text of an object from a list of its members, as in
 * json_pack(), but without a tree: a tenth of the work.
 *
 *	json_open(&b, NULL);
 *	json_write(&b, "runId:s size:i complete?b", id, size, done);
 *	json_open(&b, "metrics");
 *	...
 *	json_close(&b);
 *	json_close(&b);
 *
 * A name that comes twice is not noticed. Texts are UTF-8.
 */
#ifndef PROTO_JSON_JSON_WRITE_H
#define PROTO_JSON_JSON_WRITE_H

#include "base/buf.h"
#include "proto/json/json_pack.h"

/*
 * Begin an object: the member NAME of the open object, or with NULL the
 * outermost object.
 */
void json_open(struct buf *out, const char *name);
void json_close(struct buf *out);

/* Add members to the open object; the kinds are those of json_pack.h. */
#define json_write(out, spec, ...)                                             \
	json_write_args(out, spec, JSON_PACK_LIST(__VA_ARGS__))
/* Add the member NAME, whose value is LEN bytes of JSON. */
void json_write_raw(struct buf *out, const char *name, const char *text,
		    size_t len);

void json_write_args(struct buf *out, const char *spec,
		     const struct json_pack_arg *args);

#endif

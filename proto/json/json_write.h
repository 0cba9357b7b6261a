/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_write.h - the text of an object from a list of its members, as
 * json_pack() has them, without a tree between: a tenth of the work.
 *
 *	json_open(&b, NULL);
 *	json_write(&b, "runId:s size:i complete?b", id, size, done);
 *	json_open(&b, "metrics");
 *	...
 *	json_close(&b);
 *	json_close(&b);
 *
 * Nothing looks whether a name comes twice. Texts are UTF-8.
 */
#ifndef PROTO_JSON_JSON_WRITE_H
#define PROTO_JSON_JSON_WRITE_H

#include "base/buf.h"
#include "proto/json/json_pack.h"

/* An object begins: the member NAME of the one that is open; NULL: the whole. */
void json_open(struct buf *out, const char *name);
void json_close(struct buf *out);

/* Members of the object that is open; kinds are those of json_pack.h. */
#define json_write(out, spec, ...)                                             \
	json_write_args(out, spec, JSON_PACK_LIST(__VA_ARGS__))
/* The member NAME, whose value is LEN bytes of JSON. */
void json_write_raw(struct buf *out, const char *name, const char *text,
		    size_t len);

void json_write_args(struct buf *out, const char *spec,
		     const struct json_pack_arg *args);

#endif

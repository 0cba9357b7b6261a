/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msgpack_scan.h - splits a frame's msgpack, before any other code trusts it.
 *
 * A frame is one flat array of non-negative integers and strings. Every other
 * type of msgpack is refused, and nothing is allocated: a header of five bytes
 * may claim gigabytes.
 */
#ifndef IPC_MSGPACK_SCAN_H
#define IPC_MSGPACK_SCAN_H

#include <stddef.h>
#include <stdint.h>

#define MSGPACK_SCAN_FIELDS_MAX 16u /* elements in a frame's array */

struct msgpack_scan_field {
	const char *p; /* a string's bytes, in the frame; NULL: an integer */
	uint64_t n;    /* a string's length, or the integer */
};

/*
 * Split LEN bytes at FRAME into F (MSGPACK_SCAN_FIELDS_MAX fields) and *COUNT.
 * 0, or -EBADMSG and the offence in *ERRMSG (a static text, for people).
 */
int msgpack_scan_frame(struct msgpack_scan_field *f, size_t *count,
		       const void *frame, size_t len, const char **errmsg);

#endif

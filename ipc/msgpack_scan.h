/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msgpack_scan.h - a frame's msgpack, before anything trusts it.
 *
 * A frame is one flat array of non-negative integers and strings. All else
 * that msgpack knows is refused, and nothing is allocated: a header of five
 * bytes may claim gigabytes.
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
 * Take LEN bytes at FRAME apart into F (MSGPACK_SCAN_FIELDS_MAX of them) and *COUNT.
 * 0, or -EBADMSG and the offence in *ERRMSG (a static text, for people).
 */
int msgpack_scan_frame(struct msgpack_scan_field *f, size_t *count,
		       const void *frame, size_t len, const char **errmsg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.h - the first message of a TLS client, as far as the server's name is in it.
 * Pure.
 */
#ifndef EGRESS_PARSE_HELLO_H
#define EGRESS_PARSE_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELLO_MAX 32768u /* bytes with the heads of records */
#define HELLO_NAME_MAX 256

enum hello_state {
	HELLO_PART, /* not whole yet */
	HELLO_WHOLE,
	HELLO_FOREIGN /* no hello of TLS, or a malformed one */
};

struct hello {
	char name[HELLO_NAME_MAX]; /* in lower case; "": no name is given */
	bool encrypted; /* an encrypted hello is inside, or a sign of one */
};

/*
 * Parse the N bytes at P, records from the first on. A hello that is not whole within
 * HELLO_MAX bytes is foreign. Bytes after the hello are ignored.
 */
enum hello_state hello_parse(struct hello *h, const uint8_t *p, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msgpack_scan.c - the reader of a worker's frames, called by msg_get() alone.
 * One pass reads a flat array without allocating; any other msgpack is -EBADMSG
 * with its offence.
 */
#include "ipc/msgpack_scan.h"

#include <errno.h>
#include <stdbool.h>

enum kind { REFUSED, ARRAY, INT, TEXT };

/* The meaning of an object's first byte. */
struct lead {
	enum kind kind;
	uint8_t mask;	    /* bits of the value or length in the byte itself */
	uint8_t width;	    /* bytes of the value behind, big-endian; 0: none */
	bool two_s;	    /* INT: the value is in two's complement */
	const char *errmsg; /* REFUSED: the offence */
};

static const char negative[] = "a negative integer";
static const char truncated[] = "truncated";

static const struct lead leads[256] = {
    [0x00 ... 0x7f] = {.kind = INT, .mask = 0x7f},
    [0x80 ... 0x8f] = {.errmsg = "a map"},
    [0x90 ... 0x9f] = {.kind = ARRAY, .mask = 0x0f},
    [0xa0 ... 0xbf] = {.kind = TEXT, .mask = 0x1f},
    [0xc0] = {.errmsg = "a nil"},
    [0xc1] = {.errmsg = "not msgpack: the byte 0xc1"},
    [0xc2 ... 0xc3] = {.errmsg = "a boolean"},
    [0xc4 ... 0xc6] = {.errmsg = "a bin"},
    [0xc7 ... 0xc9] = {.errmsg = "an ext"},
    [0xca ... 0xcb] = {.errmsg = "a float"},
    [0xcc] = {.kind = INT, .width = 1},
    [0xcd] = {.kind = INT, .width = 2},
    [0xce] = {.kind = INT, .width = 4},
    [0xcf] = {.kind = INT, .width = 8},
    [0xd0] = {.kind = INT, .width = 1, .two_s = true},
    [0xd1] = {.kind = INT, .width = 2, .two_s = true},
    [0xd2] = {.kind = INT, .width = 4, .two_s = true},
    [0xd3] = {.kind = INT, .width = 8, .two_s = true},
    [0xd4 ... 0xd8] = {.errmsg = "an ext"},
    [0xd9] = {.kind = TEXT, .width = 1},
    [0xda] = {.kind = TEXT, .width = 2},
    [0xdb] = {.kind = TEXT, .width = 4},
    [0xdc] = {.kind = ARRAY, .width = 2},
    [0xdd] = {.kind = ARRAY, .width = 4},
    [0xde ... 0xdf] = {.errmsg = "a map"},
    [0xe0 ... 0xff] = {.errmsg = negative},
};

/* The bytes left to read. */
struct rest {
	const unsigned char *p;
	size_t n;
};

static void advance(struct rest *r, size_t n)
{
	r->p += n;
	r->n -= n;
}

/* Read an object's kind, and its value, length or count. Return the offence, or
 * NULL. */
static const char *head(struct rest *r, enum kind *kind, uint64_t *value)
{
	const struct lead *lead;

	if (r->n == 0)
		return truncated;
	lead = &leads[*r->p];
	if (lead->kind == REFUSED)
		return lead->errmsg;
	if (r->n - 1 < lead->width)
		return truncated;
	if (lead->two_s && (r->p[1] & 0x80) != 0)
		return negative;
	*kind = lead->kind;
	*value = *r->p & lead->mask;
	advance(r, 1);
	for (size_t i = 0; i < lead->width; i++)
		*value = *value << 8 | r->p[i];
	advance(r, lead->width);
	return NULL;
}

/* Read an element of the array. Return the offence, or NULL. */
static const char *element(struct rest *r, struct msgpack_scan_field *f)
{
	enum kind kind = REFUSED;
	const char *errmsg;

	f->p = NULL;
	errmsg = head(r, &kind, &f->n);
	if (errmsg != NULL || kind == INT)
		return errmsg;
	if (kind == ARRAY)
		return "an array in an array";
	if (f->n > r->n)
		return truncated;
	f->p = (const char *)r->p;
	advance(r, (size_t)f->n);
	return NULL;
}

static const char *array(struct msgpack_scan_field *f, size_t *count,
			 struct rest *r)
{
	enum kind kind = REFUSED;
	uint64_t owed = 0;
	const char *errmsg = head(r, &kind, &owed);

	if (errmsg != NULL)
		return errmsg;
	if (kind != ARRAY)
		return "not an array";
	if (owed > r->n)
		return "an array that claims more than the frame holds";
	if (owed > MSGPACK_SCAN_FIELDS_MAX)
		return "more fields than any message has";
	for (*count = 0; owed > 0; owed--, ++*count) {
		errmsg = element(r, &f[*count]);
		if (errmsg != NULL)
			return errmsg;
		if (owed - 1 > r->n)
			return truncated;
	}
	return r->n == 0 ? NULL : "trailing bytes";
}

int msgpack_scan_frame(struct msgpack_scan_field *f, size_t *count,
		       const void *frame, size_t len, const char **errmsg)
{
	struct rest r = {frame, len};

	*count = 0;
	*errmsg = array(f, count, &r);
	return *errmsg == NULL ? 0 : -EBADMSG;
}

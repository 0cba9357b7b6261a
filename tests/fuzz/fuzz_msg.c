/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_msg.c - any frame: a frame that msg_get() accepts must mean the same once
 * encoded again, as msgpack-c reads both frames.
 */
#include <msgpack.h>

#include "tests/fuzz/fuzz.h"
#include "ipc/msg.h"
#include "ipc/msgpack_scan.h"

/*
 * A frame accepted by msgpack_scan_frame() is safe for msgpack-c: no length in the
 * frame exceeds the frame.
 */
static void same_element(const struct msgpack_scan_field *f,
			 const msgpack_object *o)
{
	if (f->p == NULL) {
		assert(o->type == MSGPACK_OBJECT_POSITIVE_INTEGER);
		assert(o->via.u64 == f->n);
		return;
	}
	assert(o->type == MSGPACK_OBJECT_STR);
	assert(o->via.str.size == f->n);
	assert(f->n == 0 || memcmp(o->via.str.ptr, f->p, f->n) == 0);
}

/* The project's reader and msgpack-c must agree on FRAME, a flat array. */
static void agree(const void *frame, size_t len, msgpack_unpacked *u)
{
	struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX];
	const char *errmsg;
	size_t count, off = 0;

	assert(msgpack_scan_frame(f, &count, frame, len, &errmsg) == 0);
	assert(msgpack_unpack_next(u, frame, len, &off) ==
	       MSGPACK_UNPACK_SUCCESS);
	assert(off == len && u->data.type == MSGPACK_OBJECT_ARRAY);
	assert(u->data.via.array.size == count);
	for (size_t i = 0; i < count; i++)
		same_element(&f[i], &u->data.via.array.ptr[i]);
}

static void same_again(const struct msg *m, const msgpack_object *meant)
{
	static unsigned char frame[CHAN_FRAME_MAX];
	size_t len = msg_put(frame, m);
	const char *errmsg = NULL;
	msgpack_unpacked u;
	struct msg back;

	assert(msg_get(&back, frame, len, &errmsg) == 0 && errmsg == NULL);
	assert(back.type == m->type);
	msgpack_unpacked_init(&u);
	agree(frame, len, &u);
	assert(msgpack_object_equal(u.data, *meant));
	msgpack_unpacked_destroy(&u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX];
	const char *errmsg = NULL;
	size_t count;
	msgpack_unpacked u;
	struct msg m;
	int rc;

	if (size > CHAN_FRAME_MAX)
		return 0;
	rc = msg_get(&m, data, size, &errmsg);
	assert((rc == 0) == (errmsg == NULL));
	if (msgpack_scan_frame(f, &count, data, size, &errmsg) < 0) {
		assert(rc < 0);
		return 0;
	}
	msgpack_unpacked_init(&u);
	agree(data, size, &u);
	if (rc == 0)
		same_again(&m, &u.data);
	msgpack_unpacked_destroy(&u);
	return 0;
}

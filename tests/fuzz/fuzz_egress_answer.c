/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_egress_answer.c - any answer of a host, in chunks or not: the same in one part and byte
 * by byte, and with an end of the connection whole or bad.
 */
#include "tests/fuzz/fuzz.h"
#include "egress/parse/forward.h"

static void take(void *arg, const char *p, size_t n)
{
	forward_part(arg, p, n, false);
}

static void parse(struct message *m, struct buf *body, const uint8_t *data,
		  size_t size, size_t part)
{
	const char *p = (const char *)data;

	message_init(m, true, take, body);
	while (size > 0 && m->step != MESSAGE_WHOLE && m->step != MESSAGE_BAD) {
		size_t used = message_add(m, p, size < part ? size : part);

		p += used;
		size -= used;
	}
	if (m->step == MESSAGE_BODY || m->step == MESSAGE_WHOLE) {
		struct buf head = {0};

		forward_answer(&head, m, false, false, m->chunked, NULL);
		assert(buf_len(&head) > 15);
		buf_fini(&head);
	}
	message_end(m);
	assert(m->step == MESSAGE_WHOLE || m->step == MESSAGE_BAD);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct message whole, parts;
	struct buf one = {0}, two = {0};

	parse(&whole, &one, data, size, size);
	parse(&parts, &two, data, size, 1);
	assert(whole.step == parts.step);
	if (whole.step == MESSAGE_WHOLE)
		assert(buf_len(&one) == buf_len(&two) &&
		       (buf_len(&one) == 0 ||
			memcmp(buf_data(&one), buf_data(&two), buf_len(&one)) ==
			    0));
	message_fini(&whole);
	message_fini(&parts);
	buf_fini(&one);
	buf_fini(&two);
	return 0;
}

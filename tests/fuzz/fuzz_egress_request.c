/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_egress_request.c - any request of a program: the same in one part and byte by byte.
 * The head for the host is a well-formed request with the same framing.
 */
#include "tests/fuzz/fuzz.h"
#include "egress/parse/forward.h"

static void take(void *arg, const char *p, size_t n)
{
	buf_add(arg, p, n);
}

static void parse(struct message *m, struct buf *body, const uint8_t *data,
		  size_t size, size_t part)
{
	const char *p = (const char *)data;

	message_init(m, false, take, body);
	while (size > 0 && m->step != MESSAGE_WHOLE && m->step != MESSAGE_BAD) {
		size_t used = message_add(m, p, size < part ? size : part);

		p += used;
		size -= used;
	}
}

/* The head that is written for M is read as M was. */
static void check_forward(const struct message *m)
{
	struct buf out = {0}, body = {0};
	struct message again;

	forward_request(&out, m, "a", (struct span){"/x", 2}, NULL);
	parse(&again, &body, (const uint8_t *)buf_data(&out), buf_len(&out),
	      buf_len(&out));
	assert(again.step == MESSAGE_BODY || again.step == MESSAGE_WHOLE);
	assert(again.chunked == m->chunked &&
	       again.has_length == m->has_length && again.length == m->length);
	assert(strcmp(message_method(&again), message_method(m)) == 0);
	assert(again.n_fields <= m->n_fields + 2);
	message_fini(&again);
	buf_fini(&out);
	buf_fini(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct message whole, parts;
	struct buf one = {0}, two = {0};

	if (size == 0)
		return 0;
	parse(&whole, &one, data, size, size);
	parse(&parts, &two, data, size, 1);
	assert(whole.step == parts.step);
	if (whole.step != MESSAGE_BAD)
		assert(buf_len(&one) == buf_len(&two));
	if ((whole.step == MESSAGE_BODY || whole.step == MESSAGE_WHOLE) &&
	    whole.n_fields < MESSAGE_FIELDS_MAX - 2)
		check_forward(&whole);
	message_fini(&whole);
	message_fini(&parts);
	buf_fini(&one);
	buf_fini(&two);
	return 0;
}

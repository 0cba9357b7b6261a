/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_http_answer.c - any answer to a Lua worker: the same in one part and byte by byte,
 * with the fields of the head, and nothing taken behind the end.
 */
#include "tests/fuzz/fuzz.h"
#include "worker/lua/http/http_answer.h"

/* Parse SIZE bytes in parts of PART; the body goes to TO. Returns the body's length. */
static size_t parse(struct http_answer *a, const char *p, size_t size,
		    size_t part, char *to)
{
	size_t len = 0;

	while (size > 0 && a->step != HTTP_WHOLE && a->step != HTTP_BAD) {
		struct str body;
		size_t n = size < part ? size : part;
		size_t used = http_answer_add(a, p, n, &body);

		assert(used > 0 && used <= n && body.n <= used);
		if (body.n > 0)
			memcpy(to + len, body.p, body.n);
		len += body.n;
		p += used;
		size -= used;
	}
	return len;
}

static size_t count_fields(const struct http_answer *a)
{
	struct str name, value;
	size_t at = 0, n = 0;

	while (http_answer_field(a, &at, &name, &value)) {
		assert(name.n > 0 && at <= a->head_len);
		n++;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct http_answer whole, parts;
	char *one = malloc(size + 1), *two = malloc(size + 1);
	bool to_head = size > 0 && data[0] == '!';
	const char *p = (const char *)data + to_head;
	size_t n = size - to_head, len;

	assert(one != NULL && two != NULL);
	http_answer_begin(&whole, to_head);
	http_answer_begin(&parts, to_head);
	len = parse(&whole, p, n, n, one);
	assert(parse(&parts, p, n, 1, two) == len);
	assert(memcmp(one, two, len) == 0);
	assert(whole.step == parts.step);
	assert(count_fields(&whole) == count_fields(&parts));
	assert(strcmp(whole.refused, parts.refused) == 0);
	free(one);
	free(two);
	return 0;
}

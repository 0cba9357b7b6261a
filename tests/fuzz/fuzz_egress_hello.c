/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_egress_hello.c - any first bytes of a TLS client: a hello that is whole is whole with
 * more bytes behind, and is a part or foreign when cut.
 */
#include "tests/fuzz/fuzz.h"
#include "egress/parse/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hello h, again;
	enum hello_state state = hello_parse(&h, data, size);

	assert(memchr(h.name, '\0', sizeof(h.name)) != NULL);
	if (state == HELLO_FOREIGN || size == 0)
		return 0;
	if (state == HELLO_PART)
		assert(hello_parse(&again, data, size - 1) == HELLO_PART);
	else
		assert(hello_parse(&again, data, size - 1) != HELLO_FOREIGN);
	return 0;
}

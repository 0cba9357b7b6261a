/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a requestState from a client: the server must accept only states that
 * the server sealed.
 */
#include "tests/fuzz/fuzz.h"
#include "proto/mcp/request_state.h"

/*
 * A run, a round and a time, taken from the input, must be the same after sealing and
 * opening.
 */
static void sealed(const unsigned char *key, const uint8_t *data, size_t size)
{
	struct request_state s = {.requestor = "r", .expires_ms = INT64_MAX},
			     got = {.requestor = "r"};
	char text[REQUEST_STATE_SIZE];
	size_t n = size < ID_SIZE - 1 ? size : ID_SIZE - 1;

	memcpy(s.run, data, n);
	s.round = (uint32_t)size;
	request_state_seal(text, key, &s);
	assert(request_state_open(&got, key, text, strlen(text),
				  INT64_MAX - 1) == REQUEST_STATE_OK);
	assert(strcmp(got.run, s.run) == 0 && got.round == s.round);
	text[size % (REQUEST_STATE_SIZE - 1)] ^= 1;
	assert(request_state_open(&got, key, text, strlen(text), 0) <=
		   REQUEST_STATE_FORGED &&
	       request_state_open(&got, key, text, strlen(text), 0) !=
		   REQUEST_STATE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char key[REQUEST_STATE_KEY] = "nobody knows";
	struct request_state s = {.requestor = "r"};
	enum request_state_verdict v =
	    request_state_open(&s, key, (const char *)data, size, 0);

	assert(v == REQUEST_STATE_MALFORMED || v == REQUEST_STATE_FORGED);
	sealed(key, data, size);
	return 0;
}

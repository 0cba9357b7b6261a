/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a message, and the answer to the message: the answer must be one whole
 * line of JSON.
 */
#include "tests/fuzz/fuzz.h"
#include "proto/json/json.h"
#include "proto/mcp/rpc.h"

/*
 * The members of a message must be exactly the members that rpc.h names for the kind.
 */
static void check_shape(const struct rpc_msg *m)
{
	assert((m->kind == RPC_BROKEN) == (m->code != 0));
	assert((m->kind == RPC_BROKEN) == (m->text[0] != '\0'));
	assert(m->params == NULL ||
	       json_object_is_type(m->params, json_type_object));
	switch (m->kind) {
	case RPC_REQUEST:
		assert(m->id_key_len > 0 && m->id_key_len <= RPC_ID_MAX + 1);
		assert(m->id != NULL && m->method != NULL);
		break;
	case RPC_NOTIFICATION:
		assert(m->id == NULL && m->method != NULL);
		break;
	case RPC_RESPONSE:
		assert(m->method == NULL && m->params == NULL);
		assert(m->id != NULL || m->error != NULL);
		break;
	case RPC_BATCH:
		assert(m->id == NULL && m->method == NULL);
		break;
	case RPC_BROKEN:
		break;
	}
}

/* An answer must parse as a response with the same id. */
static void check_answer(const struct rpc_msg *m)
{
	const char *errmsg = m->text[0] != '\0' ? m->text : "unknown";
	struct rpc_msg answer;
	struct buf out = {0};

	assert(rpc_put_error(&out, m->id, RPC_METHOD_NOT_FOUND, errmsg,
			     m->root) == 0);
	assert(memchr(buf_data(&out), '\n', buf_len(&out)) == NULL);
	rpc_parse(&answer, buf_data(&out), buf_len(&out));
	if (answer.kind == RPC_RESPONSE) {
		assert((m->id == NULL) == (answer.id == NULL));
		assert(m->id == NULL || strcmp(m->id, answer.id) == 0);
		/* the message is nested two levels deeper as data of an answer */
	} else {
		assert(answer.code == RPC_PARSE_ERROR &&
		       strstr(answer.text, "deeper") != NULL);
	}
	rpc_fini(&answer);
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct rpc_msg m;

	rpc_parse(&m, text, size);
	check_shape(&m);
	check_answer(&m);
	if (m.kind == RPC_BATCH) {
		assert((m.parts == NULL) == (m.n_parts > RPC_BATCH_MAX));
		for (size_t i = 0; m.parts != NULL && i < m.n_parts; i++) {
			check_shape(&m.parts[i]);
			assert(m.parts[i].kind != RPC_BATCH);
			assert(m.parts[i].code != RPC_PARSE_ERROR);
		}
	}
	rpc_fini(&m);
	return 0;
}

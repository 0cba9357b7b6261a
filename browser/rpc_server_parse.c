/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc_server_parse.c - joins CALLs and their CHUNKs, for rpc_server.c. A frame
 * that breaks the protocol is -EPROTO with the reason.
 */
#include "browser/rpc_server_parse.h"

#include <errno.h>
#include <string.h>

#include "proto/json/json_pack.h"

static const char *take_call_part(struct rpc_server_parse *p,
				  const struct msg *m)
{
	switch (m->type) {
	case MSG_CALL:
		if (p->under_way)
			return "a CALL within another one's body";
		if (m->call.seq <= p->seq)
			return "a CALL whose seq does not rise";
		p->seq = m->call.seq;
		memcpy(p->tool, m->call.tool.p, m->call.tool.n);
		p->tool[m->call.tool.n] = '\0';
		p->total = m->call.total;
		p->under_way = true;
		buf_add(&p->body, m->call.head.p, m->call.head.n);
		return NULL;
	case MSG_CHUNK:
		if (!p->under_way)
			return "a CHUNK of nothing";
		if (m->chunk.data.n > p->total - buf_len(&p->body))
			return "a CHUNK beyond its body's total";
		buf_add(&p->body, m->chunk.data.p, m->chunk.data.n);
		return NULL;
	default:
		return "a message that is none of its";
	}
}

int rpc_server_parse(struct rpc_server_parse *p, const void *frame, size_t len,
		     struct json_object **body, const char **errmsg)
{
	struct msg m;

	*body = NULL;
	if (msg_get(&m, frame, len, errmsg) < 0)
		return -EPROTO;
	*errmsg = take_call_part(p, &m);
	if (*errmsg != NULL)
		return -EPROTO;
	if (buf_len(&p->body) < p->total)
		return 0;
	p->under_way = false;
	if (p->total > 0)
		*body = json_unpack(buf_data(&p->body), p->total);
	buf_drop(&p->body, p->total);
	if (*body != NULL)
		return 1;
	*errmsg = "a CALL whose body is no JSON object";
	return -EPROTO;
}

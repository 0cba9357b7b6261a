/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdp_parse.c - messages from Chromium's debugging pipe, for cdp.c. Text that
 * is no JSON object, or too long, is skipped and counted.
 */
#include "browser/cdp/cdp_parse.h"

#include <string.h>

#include "proto/json/json_pack.h"

static void read_message(struct cdp_message *m, struct json_object *tree)
{
	int64_t id = json_member_int(tree, "id");

	m->tree = tree;
	m->method = json_member_str(tree, "method");
	m->session = json_member_str(tree, "sessionId");
	m->params = json_member(tree, "params");
	if (m->method != NULL)
		return;
	m->id = id > 0 && id <= INT32_MAX ? (uint32_t)id : 0;
	m->result = json_member(tree, "result");
	if (m->result != NULL)
		return;
	m->error = json_member_str(json_member(tree, "error"), "message");
	if (m->error == NULL)
		m->error = "no result";
}

/* Take a message of LEN bytes and its NUL. */
static void take_message_head(struct cdp_parse *p, struct cdp_message *m,
			      size_t len)
{
	struct json_object *tree = NULL;

	if (len <= p->max)
		tree = json_unpack(buf_data(&p->got), len);
	if (tree != NULL)
		read_message(m, tree);
	else
		m->lost = len;
	buf_drop(&p->got, len + 1);
	p->scanned = 0;
}

/* Drop the bytes read so far of a long message. */
static bool drop_long(struct cdp_parse *p, struct cdp_message *m)
{
	bool first = !p->dropping;

	if (p->scanned <= p->max && !p->dropping)
		return false;
	m->lost = p->scanned;
	p->dropping = true;
	buf_drop(&p->got, p->scanned);
	p->scanned = 0;
	return first;
}

bool cdp_parse_next(struct cdp_parse *p, struct cdp_message *m)
{
	size_t n = buf_len(&p->got);
	const char *nul = NULL;

	*m = (struct cdp_message){0};
	if (n > p->scanned)
		nul = memchr(buf_data(&p->got) + p->scanned, '\0',
			     n - p->scanned);
	if (nul == NULL) {
		p->scanned = n;
		return drop_long(p, m);
	}
	if (p->dropping) { /* the dropped message was reported before */
		buf_drop(&p->got, (size_t)(nul - buf_data(&p->got)) + 1);
		p->scanned = 0;
		p->dropping = false;
		return cdp_parse_next(p, m);
	}
	take_message_head(p, m, (size_t)(nul - buf_data(&p->got)));
	return true;
}

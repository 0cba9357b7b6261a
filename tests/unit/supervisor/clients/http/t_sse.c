/* SPDX-License-Identifier: Apache-2.0 */
/* t_sse.c - what a stream keeps, and how its events are written. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/clients/http/sse.h"
#include "tests/unit/tap.h"

/* The texts of the events after SEQ, joined. */
static const char *after(const struct sse *s, uint64_t seq)
{
	static char seen[256];
	const struct sse_event *e;

	seen[0] = '\0';
	while ((e = sse_after(s, seq)) != NULL) {
		snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen),
			 "<%d:%.*s>", (int)e->seq,
			 (int)(e->len > 8 ? 8 : e->len), e->text);
		seq = e->seq;
	}
	return seen;
}

TEST(order)
{
	struct sse s;
	struct buf out = {0};

	sse_init(&s, 7);
	is_str(after(&s, 0), "", "a new stream has no events");
	sse_add(&s, "a", 1, SSE_PASSING);
	sse_add(&s, "b", 1, SSE_ASKED);
	sse_add(&s, "c", 1, SSE_PASSING);
	is_str(after(&s, 0), "<1:a><2:b><3:c>", "events come in order");
	is_str(after(&s, 1), "<2:b><3:c>",
	       "the events after a given event are found");
	is_str(after(&s, 3), "", "no event follows the last event");
	is_str(after(&s, 99), "", "no event follows an unknown number");

	sse_put_head(&out, &s, sse_after(&s, 1));
	buf_add(&out, "", 1);
	is_str(buf_data(&out),
	       "id: 7-2\ndata: ", "MCP 36: an event's id names its stream");
	buf_drop(&out, buf_len(&out));
	sse_put_priming(&out, &s, 500);
	buf_add(&out, "", 1);
	is_str(buf_data(&out), "id: 7-3\nretry: 500\ndata: \n\n",
	       "MCP 32: the first has an id and empty data");
	buf_drop(&out, buf_len(&out));
	s.instance = "inst_22222222222222222222222222";
	sse_put_head(&out, &s, sse_after(&s, 1));
	buf_add(&out, "", 1);
	is_str(buf_data(&out),
	       "id: 7-2-inst_22222222222222222222222222\ndata: ",
	       "the id of an event may name the instance");
	buf_drop(&out, buf_len(&out));
	s.instance = NULL;
	s.push = true;
	sse_put_priming(&out, &s, 500);
	buf_add(&out, "", 1);
	is_str(buf_data(&out), "id: g7-3\nretry: 500\ndata: \n\n",
	       "of no request: that can be told without the stream");
	buf_fini(&out);
	sse_fini(&s);
}

TEST(bounds)
{
	size_t size = SSE_PASSING_MAX / 4;
	char *big = xcalloc(1, size);
	struct sse s;

	memset(big, 'x', size);
	sse_init(&s, 1);
	sse_add(&s, "request", 7, SSE_ASKED);
	for (int i = 0; i < 4; i++)
		sse_add(&s, big, size, SSE_PASSING);
	is_str(after(&s, 0),
	       "<1:request><2:xxxxxxxx><3:xxxxxxxx><4:xxxxxxxx><5:xxxxxxxx>",
	       "up to the bound all are kept");
	sse_add(&s, "progress", 8, SSE_PASSING);
	is_str(after(&s, 0),
	       "<1:request><3:xxxxxxxx><4:xxxxxxxx><5:xxxxxxxx><6:progress>",
	       "over it the oldest that may pass goes");
	for (int i = 0; i < 8; i++)
		sse_add(&s, big, size, SSE_ASKED);
	sse_add(&s, "answer", 6, SSE_LAST);
	is_str(after(&s, 13), "<14:xxxxxxxx><15:answer>",
	       "requests and the answer have bounds of their own");
	is_int(s.bytes, 7 + 3 * size + 8 + 8 * size + 6, "bytes are counted");
	is_int(sse_bytes_after(&s, 13), size + 6,
	       "the bytes after an event are counted");
	sse_fini(&s);
	is_int(s.bytes, 0, "no byte is counted at the end");
	for (size_t i = 0; i < SSE_ASKED_MAX / size + 2; i++)
		sse_add(&s, big, size, SSE_ASKED);
	is_int(s.bytes, SSE_ASKED_MAX,
	       "old requests to the client are dropped beyond the bound");
	for (size_t i = 0; i < SSE_ASKED_MAX / size + 2; i++)
		sse_add(&s, big, size, SSE_LARGE);
	is_int(s.of[SSE_LARGE], SSE_ASKED_MAX + 2 * size,
	       "large requests to the client are kept");
	sse_add(&s, big, size, SSE_LAST);
	sse_trim(&s, size + 1);
	is_int(s.bytes, size, "a trimmed stream keeps the newest event");
	sse_trim(&s, 1);
	is_int(s.bytes, size, "a trimmed stream always keeps one event");
	sse_fini(&s);
	free(big);
}

TEST(ids)
{
	static const struct {
		const char *id;
		bool good;
	} ids[] = {{"7-0", true},
		   {"18446744073709551615-1", true},
		   {"", false},
		   {"-", false},
		   {"7", false},
		   {"7-", false},
		   {"-1", false},
		   {"+7-1", false},
		   {" 7-1", false},
		   {"7-1 ", false},
		   {"7-1-1", false},
		   {"7- 1", false},
		   {"x-1", false},
		   {"g7-1", true},
		   {"g", false},
		   {"gg7-1", false},
		   {"g-7-1", false},
		   {"18446744073709551616-1", false},
		   {"7-1-inst_22222222222222222222222222", true},
		   {"7-1-inst_2222222222222222222222222", false},
		   {"7-1-run_22222222222222222222222222", false},
		   {"7-1-inst_22222222222222222222222222 ", false}};
	struct sse_id id;

	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		ok(sse_read_id(ids[i].id, &id) == ids[i].good,
		   "\"%s\" is %san id of ours", ids[i].id,
		   ids[i].good ? "" : "not ");
	sse_read_id("12-345", &id);
	ok(id.number == 12 && id.seq == 345 && !id.push,
	   "an id is taken apart");
	is_str(id.instance, "", "an id without instance is read");
	sse_read_id("12-345-inst_22222222222222222222222222", &id);
	is_str(id.instance, "inst_22222222222222222222222222",
	       "an id with an instance is read");
	sse_read_id("g12-345", &id);
	ok(id.number == 12 && id.seq == 345 && id.push,
	   "an id of a stream without a request is read");
}

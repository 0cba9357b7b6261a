/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as HTTP requests: read whole, byte by byte, and in uneven pieces, the bytes
 * must give the same requests. The body must belong to one era of MCP or be refused
 * with a sentence.
 */
#include "tests/fuzz/fuzz.h"
#include "base/buf.h"
#include "proto/mcp/rpc.h"
#include "supervisor/clients/http/http_field.h"
#include "supervisor/clients/http/http_parse.h"
#include "supervisor/clients/stateless_http/http_era.h"

#define BODY_MAX 4096
#define REQUESTS_MAX 64

static void note_era(struct buf *out, const struct http_request *r)
{
	bool any = buf_len(&r->body) > 0;
	struct http_fault fault;
	enum http_era era;
	struct rpc_msg m;

	rpc_parse(&m, any ? buf_data(&r->body) : "", buf_len(&r->body));
	era = http_era_of(r, &m, &fault);
	assert((era == HTTP_ERA_NEITHER) == (fault.code != 0));
	assert(fault.code == 0 || fault.text[0] != '\0');
	buf_printf(out, "%d %d %s\n", (int)era, fault.code, fault.text);
	json_object_put(fault.data);
	rpc_fini(&m);
}

static void note_request(struct buf *out, const struct http_request *r)
{
	assert(r->path != NULL && r->field[HTTP_HOST] != NULL);
	assert(buf_len(&r->body) <= BODY_MAX);
	buf_printf(out, "%d %s ? %s %d%d%d\n", (int)r->method, r->path,
		   r->query != NULL ? r->query : "-", r->http_1_0,
		   r->keep_alive, r->wants_continue);
	for (size_t i = 0; i < HTTP_FIELDS; i++)
		buf_printf(out, "%s\n",
			   r->field[i] != NULL ? r->field[i] : "-");
	for (size_t i = 0; i < r->n_params; i++) {
		assert(http_param(r, r->params[i].name) == r->params[i].value);
		buf_printf(out, "%s: %s\n", r->params[i].name,
			   r->params[i].value);
	}
	note_era(out, r);
	if (buf_len(&r->body) > 0)
		buf_add(out, buf_data(&r->body), buf_len(&r->body));
}

/* The requests that come of DATA in pieces of SIZES bytes, in turn. */
static struct buf read_in(const char *data, size_t n, const size_t sizes[3])
{
	struct http_parse *p = http_parse_new(BODY_MAX);
	struct buf out = {0};
	int requests = 0, turn = 0;
	const char *errmsg;

	for (size_t at = 0; at < n && requests < REQUESTS_MAX;) {
		size_t len = sizes[turn++ % 3], used;

		if (len > n - at)
			len = n - at;
		used = http_parse_add(p, data + at, len);
		at += used;
		if (http_parse_step(p) == HTTP_BAD) {
			int status = http_parse_fault(p, &errmsg);

			assert(status >= 400 && status < 600 &&
			       *errmsg != '\0');
			buf_printf(&out, "bad %d %s\n", status, errmsg);
			break;
		}
		if (http_parse_step(p) == HTTP_WHOLE) {
			note_request(&out, http_parse_request(p));
			http_parse_next(p);
			requests++;
		} else {
			assert(used == len);
		}
	}
	buf_printf(&out, "step %d\n", (int)http_parse_step(p));
	http_parse_free(p);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t all[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
	static const size_t cuts[][3] = {{1, 1, 1}, {7, 1, 64}, {3, 1000, 2}};
	const char *text = (const char *)data;
	struct buf whole = read_in(text, size, all);

	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		struct buf cut = read_in(text, size, cuts[i]);

		assert(buf_len(&cut) == buf_len(&whole) &&
		       memcmp(buf_data(&cut), buf_data(&whole),
			      buf_len(&cut)) == 0);
		buf_fini(&cut);
	}
	buf_fini(&whole);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_pagination.c - the pages of a list: ends, cursors, and malformed cursors.
 */
#include "supervisor/session/pagination.h"
#include "base/text/base64.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static struct client ada;

static void begin(void)
{
	server_begin(NULL);
	client_begin(&ada, 7, MCP_2025_11_25);
}

static void end(void)
{
	client_end(&ada);
	server_end();
}

/* Begin a request with PARAMS, whose id is ada.last_id; no method serves the request. */
static struct request *request(const char *params)
{
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":"
			       "\"x/list\",\"params\":%s}",
			       ++ada.last_id, params);
	struct request *req;
	struct rpc_msg m;

	rpc_parse(&m, text, strlen(text));
	req = request_new(&ada.session, NULL, &m, NULL);
	request_begin(req);
	free(text);
	return req;
}

static struct request *after(const char *where)
{
	char cursor[256] = "", params[300];

	base64_encode(cursor, where, strlen(where));
	cursor[BASE64_LEN(strlen(where))] = '\0';
	snprintf(params, sizeof(params), "{\"cursor\":\"%s\"}", cursor);
	return request(params);
}

static struct json_object *answer(void)
{
	return client_answered(&ada, ada.last_id);
}

static const struct {
	const char *owner;
	size_t place;
} entries[] = {{"", 0}, {"", 1}, {"a", 0}, {"a", 1}, {"a", 10}, {"b", 0}};

/* List the entries for REQ in a page of SIZE; return the names as a text. */
static const char *page(struct request *req, size_t size)
{
	static char names[256];
	struct pagination p;

	names[0] = '\0';
	if (!pagination_begin(&p, req, size))
		return "refused";
	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		if (!pagination_wants(&p, entries[i].owner, entries[i].place))
			continue;
		json_object_array_add(p.list, json_object_new_string("x"));
		snprintf(names + strlen(names), sizeof(names) - strlen(names),
			 "%s%zu ", entries[i].owner, entries[i].place);
	}
	pagination_end(&p, "list");
	return names;
}

static struct request *next(void)
{
	char params[200];

	snprintf(params, sizeof(params), "{\"cursor\":\"%s\"}",
		 at(answer(), "/result/nextCursor"));
	return request(params);
}

TEST(pages)
{
	begin();
	is_str(page(request("{}"), 10), "0 1 a0 a1 a10 b0 ",
	       "a page with room has all entries");
	is_str(at(answer(), "/result/nextCursor"), NULL,
	       "a page with all entries has no cursor");
	is_str(page(request("{}"), 6), "0 1 a0 a1 a10 b0 ",
	       "a page that is just full has all entries");
	is_str(at(answer(), "/result/nextCursor"), NULL,
	       "a page that is just full has no cursor");
	is_str(page(request("{}"), 4), "0 1 a0 a1 ",
	       "a page has no more entries than its size");
	is_str(page(next(), 1), "a10 ",
	       "the next page goes on behind the last entry, by numbers");
	is_str(page(next(), 1), "b0 ", "the last page has the rest");
	is_str(at(answer(), "/result/nextCursor"), NULL,
	       "the last page has no cursor");
	is_str(at(answer(), "/result/list"), "[\"x\"]",
	       "a page has its list under its key");
	end();
}

TEST(cursor_outlives_its_entry)
{
	begin();
	is_str(page(after("a 5"), 10), "a10 b0 ",
	       "a cursor of an entry that is gone goes on behind it");
	is_str(page(after("aa 0"), 10), "b0 ",
	       "a cursor of an owner that is gone goes on behind it");
	is_str(page(after("z 0"), 10), "", "a cursor behind all has nothing");
	is_str(at(answer(), "/result/list"), "[]",
	       "a page without entries has an empty list");
	end();
}

TEST(long_entries_end_a_page)
{
	struct pagination p;
	struct request *req;
	char *text = xcalloc(1, 1001);
	int n = 0;

	begin();
	memset(text, 'x', 1000);
	server.config->max_answer_bytes = 40000;
	req = request("{}");
	pagination_begin(&p, req, 1000);
	for (size_t i = 0; i < 100; i++)
		if (pagination_wants(&p, "a", i)) {
			json_object_array_add(p.list,
					      json_object_new_string(text));
			n++;
		}
	is_int(n, 10, "a page ends with a quarter of the longest message");
	pagination_end(&p, "list");
	ok(at(answer(), "/result/nextCursor") != NULL,
	   "a page that ends by its bytes has a cursor");
	free(text);
	end();
}

TEST(wrong_cursors)
{
	static const char *const wrong[] = {"a", "a ", "a x", "a 1x", "a -1"};
	static const char *const raw[] = {"7", "\"\"", "\"a\"", "\"****\"",
					  "[]"};
	char long_one[128];

	begin();
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		is_str(page(after(wrong[i]), 10), "refused",
		       "the cursor \"%s\" is refused", wrong[i]);
		is_str(at(answer(), "/error/code"), "-32602",
		       "the cursor \"%s\" is the client's fault", wrong[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(raw); i++) {
		char params[64];

		snprintf(params, sizeof(params), "{\"cursor\":%s}", raw[i]);
		is_str(page(request(params), 10), "refused",
		       "the cursor %s, which is no text of ours, is refused",
		       raw[i]);
	}
	memset(long_one, 'a', sizeof(long_one));
	strcpy(long_one + PAGINATION_OWNER_MAX, " 0");
	is_str(page(after(long_one), 10), "b0 ",
	       "a cursor of the longest owner is taken");
	strcpy(long_one + PAGINATION_OWNER_MAX, "a 0");
	is_str(page(after(long_one), 10), "refused",
	       "a cursor of a longer owner is refused");
	is_str(page(after("a 99999999999999999999"), 10), "refused",
	       "a cursor of a place beyond all numbers is refused");
	end();
}

TEST(plain_cursor)
{
	char where[PAGINATION_WHERE_MAX + 1];
	struct json_object *result = json_object_new_object();
	char params[200];
	struct request *req;

	begin();
	pagination_write_cursor(result, "run_x");
	snprintf(params, sizeof(params), "{\"cursor\":\"%s\"}",
		 at(result, "/nextCursor"));
	req = request(params);
	ok(pagination_read_cursor(req, where),
	   "a cursor that was written is read");
	is_str(where, "run_x", "a cursor that is read is what was written");
	request_result(req, json_object_new_object());
	req = request("{}");
	ok(pagination_read_cursor(req, where) && where[0] == '\0',
	   "a request without a cursor has an empty one");
	request_result(req, json_object_new_object());
	json_object_put(result);
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_response.c - answers with much text: made at once or on a thread, shortened when too
 * long, and dropped with the client.
 */
#include "supervisor/session/response.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/threads/rpc_async.h"
#include "tests/unit/supervisor/run/threads/full_pool_fixture.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define LARGE ((size_t)RPC_ASYNC_LARGE + 1)

static struct client ada, old, new;
static char *large; /* a text of LARGE bytes */

static void begin(void)
{
	server_begin(NULL);
	server_package("sum", "1.0.0", NULL);
	server_package("sum", "2.0.0",
		       "\"outputsSchema\":{\"type\":\"object\"}");
	server_package("product", "1.0.0", NULL);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&old, 7, MCP_2024_11_05);
	client_begin(&new, 7, MCP_2026_07_28);
	large = xcalloc(1, LARGE + 1);
	memset(large, 'x', LARGE);
}

static void end(void)
{
	client_end(&ada);
	client_end(&old);
	client_end(&new);
	free(large);
	server_end();
}

static struct request *request(struct client *c)
{
	char *text = xasprintf(
	    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"x\"}", ++c->last_id);
	struct request *r;
	struct rpc_msg m;

	rpc_parse(&m, text, strlen(text));
	r = request_new(&c->session, NULL, &m, NULL);
	request_begin(r);
	free(text);
	return r;
}

static struct json_object *answer(struct client *c)
{
	return client_wait(c, c->last_id);
}

/* ---- made by a function of the caller ---- */

static unsigned levels; /* calls of the maker */

/* Make an answer with a text that is shorter at each LEVEL. */
static struct json_object *make_shorter(struct response *m)
{
	levels++;
	return json_pack("text:S level:i", m->text, m->len >> (8 * m->level),
			 m->level);
}

static struct json_object *make_fault(struct response *m)
{
	snprintf(m->fault, sizeof(m->fault), "there is no %s", m->uri);
	return NULL;
}

static struct json_object *make_error(struct response *m)
{
	m->error = json_pack("code:i message:s data:o", -7, "wrong",
			     json_pack("why:S", m->text, m->len));
	return NULL;
}

static void make(struct client *c, const struct response *m)
{
	levels = 0;
	response_send(request(c), m);
}

TEST(at_once)
{
	begin();
	make(&ada, &(struct response){
		       .make = make_shorter, .text = "hello", .len = 5});
	is_str(at(client_answered(&ada, ada.last_id), "/result/text"), "hello",
	       "a short answer is made at once");
	make(&new, &(struct response){
		       .make = make_shorter, .text = "hello", .len = 5});
	is_str(at(answer(&new), "/result/resultType"), "complete",
	       "an answer has what its revision adds");
	make(&ada, &(struct response){.make = make_fault, .uri = "a:b"});
	is_str(at(answer(&ada), "/error/message"), "there is no a:b",
	       "a fault is the client's error");
	is_str(at(answer(&ada), "/error/code"), "-32602",
	       "a fault has the code of wrong params");
	make(&ada,
	     &(struct response){.make = make_error, .text = "so", .len = 2});
	is_str(at(answer(&ada), "/error/code"), "-7",
	       "an error of the maker keeps its code");
	is_str(at(answer(&ada), "/error/data/why"), "so",
	       "an error of the maker keeps its data");
	end();
}

TEST(on_a_thread)
{
	struct requestor *q;

	begin();
	q = ada.session.requestor;
	make(&ada, &(struct response){.make = make_shorter,
				      .text = large,
				      .len = LARGE,
				      .uri = "a:b"});
	ok(client_answered(&ada, ada.last_id) == NULL,
	   "a large answer is not made at once");
	is_int((int64_t)ada.session.n_reads, 1,
	       "a large answer that is made is counted");
	ok(q->memory.held > (int64_t)LARGE,
	   "a large answer that is made counts as memory of its requestor");
	memset(large, 'y', LARGE);
	is_int((int64_t)strlen(at(answer(&ada), "/result/text")),
	       (int64_t)LARGE, "a large answer has all of its text");
	is_int(at(answer(&ada), "/result/text")[0], 'x',
	       "a text that was lent may change while its answer is made");
	is_int((int64_t)ada.session.n_reads, 0,
	       "a large answer that has left counts no more");
	make(&ada, &(struct response){.make = make_fault,
				      .text = large,
				      .len = LARGE,
				      .uri = "a:b"});
	is_str(at(answer(&ada), "/error/message"), "there is no a:b",
	       "a fault that a thread finds is told");
	end();
}

TEST(client_that_goes)
{
	begin();
	make(&ada, &(struct response){
		       .make = make_shorter, .text = large, .len = LARGE});
	client_cancel(&ada, ada.last_id);
	server_until(thread_pool_jobs(server.context.thread_pool) == 0);
	ok(client_answered(&ada, ada.last_id) == NULL,
	   "a large answer that was cancelled is not sent");
	is_int((int64_t)ada.session.n_requests, 0,
	       "a request that was cancelled is gone when its answer is made");
	end();
}

TEST(threads_that_are_busy)
{
	begin();
	full_pool_begin(server.context.thread_pool, ada.session.requestor);
	make(&ada, &(struct response){
		       .make = make_shorter, .text = large, .len = LARGE});
	ok(strstr(at(answer(&ada), "/error/message"), "too many") != NULL,
	   "a large answer is refused when too many are being made");
	is_int((int64_t)ada.session.n_reads, 0,
	       "a large answer that was refused counts no more");
	full_pool_end();
	server_until(thread_pool_jobs(server.context.thread_pool) == 0);
	end();
}

TEST(giving_way)
{
	begin();
	server.config->max_answer_bytes = 8192;
	make(&ada, &(struct response){.make = make_shorter,
				      .gives_way = true,
				      .text = large,
				      .len = 8000});
	is_str(at(answer(&ada), "/result/level"), "0",
	       "an answer that fits is made once, with all");
	make(&ada, &(struct response){.make = make_shorter,
				      .gives_way = true,
				      .text = large,
				      .len = 10000});
	is_str(at(answer(&ada), "/result/level"), "1",
	       "an answer that is too long is made anew, with less");
	is_int(levels, 2, "an answer is made no more often than it has to be");
	make(&ada, &(struct response){
		       .make = make_shorter, .text = large, .len = 10000});
	ok(strstr(at(answer(&ada), "/error/message"), "max_answer_bytes") !=
	       NULL,
	   "an answer that gives no way and is too long is an error");
	make(&ada, &(struct response){
		       .make = make_error, .text = large, .len = 10000});
	is_str(at(answer(&ada), "/error/code"), "-7",
	       "an error that is too long keeps its code");
	is_str(at(answer(&ada), "/error/data"), NULL,
	       "an error that is too long loses its data");
	end();
}

/* ---- results of tools ---- */

TEST(tool_results)
{
	begin();
	response_tool_result(request(&ada), json_pack("a:i", 1), false);
	is_str(at(answer(&ada), "/result/content/0/text"), "{\"a\":1}",
	       "a tool's result is text");
	is_str(at(answer(&ada), "/result/structuredContent"), "{\"a\":1}",
	       "a tool's result is an object as well");
	is_str(at(answer(&ada), "/result/isError"), NULL,
	       "a tool's result is no error");
	response_tool_result(request(&ada), json_pack("a:i", 1), true);
	is_str(at(answer(&ada), "/result/isError"), "true",
	       "a tool's failure is marked");
	response_tool_result(request(&old), json_pack("a:i", 1), false);
	is_str(at(answer(&old), "/result/structuredContent"), NULL,
	       "a revision without structured content gets none");
	response_tool_result_noted(request(&ada), json_pack("a:i", 1), "note");
	is_str(at(answer(&ada), "/result/content/1/text"), "note",
	       "a note follows the result");
	response_tool_result_noted(request(&ada), json_pack("a:i", 1), NULL);
	is_str(at(answer(&ada), "/result/content/1"), NULL,
	       "without a note nothing follows the result");
	response_tool_text(request(&ada), xstrdup("{\"b\":2}"), 7);
	is_str(at(answer(&ada), "/result/structuredContent/b"), "2",
	       "a result may be given as text");
	end();
}

TEST(tool_result_that_is_too_long_twice)
{
	struct json_object *o = json_object_new_object();
	char *text;
	size_t n;

	begin();
	text = xcalloc(1, 3 * LARGE + 1);
	memset(text, 'x', 3 * LARGE);
	json_object_object_add(o, "a", json_object_new_string(text));
	free(text);
	server.config->max_answer_bytes = (int64_t)(5 * LARGE);
	response_tool_result(request(&ada), o, false);
	n = strlen(at(answer(&ada), "/result/content/0/text"));
	ok(n > 0 && n <= LARGE, "a long text is cut where the object has all");
	is_int((int64_t)strlen(at(answer(&ada), "/result/structuredContent/a")),
	       (int64_t)(3 * LARGE),
	       "an object is whole where its text is cut");
	ok(strstr(at(answer(&ada), "/result/content/1/text"), "beginning") !=
	       NULL,
	   "a text that was cut is followed by a word on that");
	end();
}

TEST(trees)
{
	begin();
	response_tree(request(&ada), json_pack("a:i", 1), 1);
	is_str(at(client_answered(&ada, ada.last_id), "/result/a"), "1",
	       "a small tree is written at once");
	response_tree(request(&ada), json_pack("a:i", 2), LARGE);
	ok(client_answered(&ada, ada.last_id) == NULL,
	   "a tree with much text is written on a thread");
	is_str(at(answer(&ada), "/result/a"), "2",
	       "a tree that a thread writes is whole");
	end();
}

/* ---- notifications of tasks ---- */

static int told, left;

static void on_told(struct request *req, void *arg, bool has_left)
{
	(void)req;
	told++;
	left += has_left;
	*(int *)arg = told;
}

#define VIEW "{\"runId\":\"run_a\",\"status\":\"succeeded\",\"result\":1}"

static void tell(struct request *req, const char *view, int *arg)
{
	response_tell_task(
	    req, "notifications/tasks", json_pack("taskId:s", "run_a"),
	    &(struct run_result_source){.id = "run_a",
					.status = STORE_SUCCEEDED,
					.form = STORE_TASK_VIEW,
					.view = view},
	    on_told, arg);
}

TEST(told_of_a_task)
{
	struct request *req;
	int arg = 0;

	begin();
	req = request(&new);
	tell(req, VIEW, &arg);
	is_int(told, 1, "who tells of a task hears that it was told");
	is_int(left, 1, "who tells of a task hears that it has left");
	is_int(arg, 1, "who tells of a task gets its argument");
	is_int(client_told(&new, "notifications/tasks"), 1,
	       "a task is told by the method that is asked for");
	server.config->max_answer_bytes = 100;
	tell(req, VIEW, &arg);
	is_int(left, 2, "a notification that is too long counts as told");
	is_int(client_told(&new, "notifications/tasks"), 0,
	       "a notification that is too long is not sent");
	full_pool_begin(server.context.thread_pool, new.session.requestor);
	large[0] = '{';
	tell(req, large, &arg);
	is_int(told, 3, "who tells of a task hears that the threads are busy");
	is_int(left, 2, "a notification that is not made has not left");
	full_pool_end();
	server_until(thread_pool_jobs(server.context.thread_pool) == 0);
	request_result(req, json_object_new_object());
	end();
}

TEST(schema_of_a_tool)
{
	struct request *req;

	begin();
	req = request(&ada);
	ok(response_has_schema(req, "sum"),
	   "a tool whose newest version promises an object has a schema");
	ok(!response_has_schema(req, "product"),
	   "a tool that promises nothing has no schema");
	ok(!response_has_schema(req, "none"), "an unknown tool has no schema");
	request_result(req, json_object_new_object());
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}

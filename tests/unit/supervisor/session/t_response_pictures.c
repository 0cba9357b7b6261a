/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_response_pictures.c - answers about a run that has made pictures: which pictures an
 * answer has, beside which links, at whose cost, and what becomes of the answer when the
 * artifacts, the room or the client are gone.
 */
#include "supervisor/session/response.h"
#include "tests/unit/supervisor/run/threads/full_pool_fixture.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define PNG "\x89PNG\r\n\x1a\n...."
#define PNG_BASE64 "iVBORw0KGgouLi4u"

static struct client ada, old, new;
static struct buf artifacts; /* of the view */

static void begin(void)
{
	server_begin("[limits]\ninline_image_bytes = 64\n");
	server_package("draw", "1.0.0", NULL);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&old, 7, MCP_2024_11_05);
	client_begin(&new, 7, MCP_2026_07_28);
	client_tool(&ada, "run_task_template",
		    "{\"templateId\":\"draw\",\"inputs\":{},"
		    "\"options\":{\"mode\":\"async\"}}");
}

static void end(void)
{
	server_run_end(server_run(), "1");
	is_int(ada.session.requestor->n_reads, 0,
	       "no answer is read when all is over");
	buf_fini(&artifacts);
	client_end(&ada);
	client_end(&old);
	client_end(&new);
	server_end();
}

/* The view gets an artifact that is ID, and of SIZE bytes. */
static void show(const char *id, const char *type, size_t size)
{
	buf_printf(&artifacts,
		   "%s{\"artifactId\":\"%s\",\"type\":\"image\",\"size\":%zu,"
		   "\"name\":\"n\",\"mimeType\":\"%s\"}",
		   buf_len(&artifacts) > 0 ? "," : "", id, size, type);
}

static void keep(const char *type, const char *data)
{
	show(server_artifact(server_run(), "a", type, data, strlen(data)), type,
	     strlen(data));
}

/* Ask for the result of the run, whose output is OUTPUT. Returns the request's id. */
static unsigned ask(struct client *c, const char *output)
{
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":"
			       "\"x\"}",
			       ++c->last_id);
	char *view;
	struct request *r;
	struct rpc_msg m;

	buf_add(&artifacts, "", 1);
	view = xasprintf("{\"runId\":\"%s\",\"artifacts\":[%s],\"result\":%s}",
			 server_run()->id, buf_data(&artifacts), output);
	rpc_parse(&m, text, strlen(text));
	r = request_new(&c->session, NULL, &m, NULL);
	request_begin(r);
	response_run(r, &(struct run_result_source){.id = server_run()->id,
						    .status = STORE_SUCCEEDED,
						    .form = STORE_TASK_OUTPUT,
						    .view = view});
	free(text);
	free(view);
	return c->last_id;
}

/* Write the kinds of the items of an answer: t, i or l (a link). */
static const char *items(struct json_object *answer)
{
	static char kinds[32];
	char *out = kinds;
	char pointer[64];

	for (int i = 0; i < 30; i++) {
		const char *type;

		snprintf(pointer, sizeof(pointer), "/result/content/%d/type",
			 i);
		type = at(answer, pointer);
		if (type == NULL)
			break;
		*out++ = *(strcmp(type, "resource_link") == 0 ? "l" : type);
	}
	*out = '\0';
	return kinds;
}

static const char *asked(struct client *c)
{
	return items(client_wait(c, ask(c, "1")));
}

TEST(beside_the_links)
{
	struct json_object *answer;

	begin();
	keep("text/plain", "hello");
	keep("image/png", PNG);
	keep("image/gif", "GIF89a");
	answer = client_wait(&ada, ask(&ada, "1"));
	is_str(items(answer), "tllili",
	       "a picture follows the link to the artifact");
	is_str(at(answer, "/result/content/3/data"), PNG_BASE64,
	       "a picture has the artifact's bytes");
	is_str(at(answer, "/result/content/3/mimeType"), "image/png",
	       "a picture has its type");
	is_str(asked(&new), "tllili", "a picture is shown in 2026-07-28");
	is_str(asked(&old), "tiit",
	       "a picture is shown in a revision without links");
	end();
}

TEST(only_pictures)
{
	begin();
	keep("image/png", "no picture");
	keep("image/svg+xml", "<svg/>");
	keep("application/octet-stream", PNG);
	keep("image/png", PNG "12345678901234567890123456789012345678901234567"
			      "890123456789");
	show("art_none", "image/png", 8);
	is_str(asked(&ada), "tlllll",
	       "what is no picture, is too large or has no id is linked to");
	end();
}

TEST(type_by_the_bytes)
{
	begin();
	keep("image/png", "GIF89a");
	is_str(
	    at(client_wait(&ada, ask(&ada, "1")), "/result/content/2/mimeType"),
	    "image/gif", "the bytes of a picture decide its type");
	end();
}

TEST(at_most_four)
{
	begin();
	for (int i = 0; i < 6; i++)
		keep("image/png", PNG);
	is_str(asked(&ada), "tlilililill", "an answer shows four pictures");
	end();
}

TEST(together)
{
	begin();
	server.config->inline_image_bytes = 4 << 20;
	keep("image/png", PNG);
	show("art_22222222222222222222222222", "image/png", (4 << 20) - 11);
	keep("image/png", PNG);
	is_str(asked(&ada), "tlilli",
	       "a picture beyond 4 MiB together is linked to");
	end();
}

TEST(none_wanted)
{
	begin();
	server.config->inline_image_bytes = 0;
	keep("image/png", PNG);
	is_str(asked(&ada), "tl",
	       "a picture is linked to alone with inline_image_bytes 0");
	end();
}

TEST(gone_meanwhile)
{
	begin();
	show("art_22222222222222222222222222", "image/png", 12);
	keep("image/png", PNG);
	is_str(asked(&ada), "tlli",
	       "an artifact that has vanished is linked to alone");
	end();
}

TEST(other_size)
{
	begin();
	show(server_artifact(server_run(), "a", "image/png", PNG, strlen(PNG)),
	     "image/png", strlen(PNG) + 1);
	is_str(asked(&ada), "tl",
	       "an artifact that is shorter than its view says is linked to");
	end();
}

/* A text with backslashes is longer in a message than the view lets expect. */
TEST(giving_way)
{
	struct json_object *answer;
	char text[33001] = {0}, picture[601] = PNG;
	char *output;

	memset(text, '\\', sizeof(text) - 1);
	memset(picture + strlen(PNG), '.', sizeof(picture) - 1 - strlen(PNG));
	output = xasprintf("{\"s\":\"%s\"}", text);
	begin();
	server.config->inline_image_bytes = sizeof(picture);
	server.config->max_answer_bytes = 100000;
	keep("image/png", picture);
	answer = client_wait(&ada, ask(&ada, output));
	is_str(items(answer), "tl", "pictures give way first");
	is_str(at(answer, "/result/content/0/text"), output,
	       "a text is whole where pictures gave way");
	free(output);
	end();
}

TEST(at_the_requestors_cost)
{
	struct memory_account *m;
	int64_t before;

	begin();
	m = &ada.session.requestor->memory;
	keep("image/png", PNG);
	before = m->held;
	ask(&ada, "1");
	ok(m->held - before >= 4 * (int64_t)strlen(PNG),
	   "a picture that is read counts as memory of its requestor");
	is_int((int64_t)ada.session.n_reads, 1,
	       "an answer whose pictures are read is counted");
	ok(client_answered(&ada, ada.last_id) == NULL,
	   "an answer with a picture is not made at once");
	client_wait(&ada, ada.last_id);
	server_until(thread_pool_jobs(server.context.thread_pool) == 0);
	is_int(m->held, before, "a picture that was sent counts no more");
	m->all->most = m->held;
	is_str(asked(&ada), "tl", "without room a picture is linked to alone");
	m->all->most = 0;
	end();
}

TEST(client_that_goes)
{
	int64_t before;

	begin();
	keep("image/png", PNG);
	before = ada.session.requestor->memory.held;
	client_cancel(&ada, ask(&ada, "1"));
	server_settle();
	server_until(thread_pool_jobs(server.context.thread_pool) == 0);
	ok(client_answered(&ada, ada.last_id) == NULL,
	   "a cancelled answer with pictures is not sent");
	is_int(ada.session.requestor->memory.held, before,
	       "a cancelled answer with pictures costs nothing");
	end();
}

TEST(threads_that_are_busy)
{
	begin();
	keep("image/png", PNG);
	full_pool_begin(server.context.thread_pool, ada.session.requestor);
	is_str(asked(&ada), "tl",
	       "a short answer has no pictures when the threads are busy");
	full_pool_end();
	server_until(thread_pool_jobs(server.context.thread_pool) == 0);
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}

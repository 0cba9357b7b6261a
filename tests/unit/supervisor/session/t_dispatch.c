/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_dispatch.c - served messages of a client, and the words for refused messages: methods
 * by revision, ids in use, the bounds of requests, cancelled requests, and batches. The
 * test has a table of methods.
 */
#include "supervisor/session/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/session/client_request.h"
#include "tests/unit/base/log_fixture.h"
#include "tests/unit/tap.h"

static char served[256]; /* the methods that were served, with a blank each */
static struct request *held; /* by the method "hold" */

static void on_serve(struct request *req)
{
	strcat(strcat(served, req->msg.method), " ");
	request_result(req, json_object_new_object());
}

static void on_hold(struct request *req)
{
	strcat(served, "hold ");
	held = req;
}

static const struct method all[] = {
    {.name = "ping", .serve = on_serve, .early = true},
    {.name = "common", .serve = on_serve},
    {.name = "old", .serve = on_serve, .needs = MCP_BATCHES, .slow = true},
    {.name = "new", .serve = on_serve, .needs = MCP_STATELESS},
    {.name = "hold", .serve = on_hold, .slow = true},
    {.name = NULL}};
static const struct methods methods_of_test = {.all = all};

static struct fair_queue turns;
static struct sessions sessions;
static struct config config = {.max_answer_bytes = 1 << 20};
static struct context ctx = {.turns = &turns,
			     .sessions = &sessions,
			     .config = &config,
			     .methods = &methods_of_test};
static struct config_requestor section;
static struct requestor requestor = {.name = (char *)"ada",
				     .section = &section};
static struct session session;
static char answers[4096]; /* since the last message, with a newline each */
static int n_answers, n_unwanted, read_on;
static struct reply_hint hint; /* of the last */

static void on_answer(void *arg, void *stream, const char *text, size_t len,
		      struct reply_hint h)
{
	size_t used = strlen(answers);

	(void)arg, (void)stream;
	n_answers++;
	n_unwanted += text == NULL;
	hint = h;
	snprintf(answers + used, sizeof(answers) - used, "%.*s\n", (int)len,
		 text != NULL ? text : "");
}

static void on_read_done(void *arg)
{
	(void)arg;
	read_on++;
}

static const struct session_ops ops = {.answer = on_answer,
				       .read_done = on_read_done};

static void begin(enum mcp_revision revision)
{
	log_begin();
	ctx.base = event_base_new();
	fair_queue_init(&turns, ctx.base);
	fair_queue_flow_init(&requestor.turns);
	sessions_init(&sessions);
	requestor.rate = requestor.other_rate = (struct quota_rate){0};
	session_init(&session, &ctx, &requestor, &ops, NULL);
	session.terms.revision = revision;
	session.greeted = true;
	served[0] = '\0';
	n_answers = n_unwanted = read_on = 0;
}

static void end(void)
{
	session_fini(&session);
	is_int((int64_t)(requestor.n_requests + requestor.n_reads), 0,
	       "no request is counted after the end of the session");
	is_int((int64_t)requestor.memory.held, 0,
	       "no byte is counted after the end of the session");
	sessions_fini(&sessions);
	fair_queue_fini(&turns);
	event_base_free(ctx.base);
	log_end();
}

/* Let the client send TEXT; is an answer due? */
static bool say(const char *text)
{
	struct rpc_msg m;
	bool due;

	answers[0] = served[0] = '\0';
	n_answers = 0;
	rpc_parse(&m, text, strlen(text));
	due = session_take(&session, NULL, &m);
	while (turns.n_lanes > 0)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	return due;
}

#define CALL(id, method)                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define NOTE(method, params)                                                   \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method              \
	"\",\"params\":" params "}"
#define LATEST                                                                 \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"              \
	"\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define TERMED(id, method)                                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method              \
	"\",\"params\":{" LATEST "}}"

TEST(methods)
{
	begin(MCP_2025_03_26);
	ok(say(CALL("1", "common")), "a request has an answer");
	is_str(served, "common ", "a method of all revisions is served");
	say(CALL("1", "old"));
	is_str(served, "old ", "a method of the revision is served");
	say(CALL("1", "new"));
	ok(served[0] == '\0' &&
	       strstr(answers,
		      "MCP 2025-03-26, which this request is of, has "
		      "no method \\\"new\\\"; other revisions") != NULL,
	   "a method of another revision is refused with its revision");
	say(CALL("1", "none"));
	ok(strstr(answers, "this server has no method \\\"none\\\"") != NULL,
	   "an unknown method is refused");
	say(TERMED("1", "new"));
	is_str(served, "new ", "a request with terms is of their revision");
	ok(method_is_slow(&ctx, "old", MCP_2025_03_26),
	   "a slow method is known as slow");
	ok(!method_is_slow(&ctx, "old", MCP_2025_11_25) &&
	       !method_is_slow(&ctx, "common", MCP_2025_03_26) &&
	       !method_is_slow(&ctx, "none", MCP_2025_03_26),
	   "another method is not known as slow");
	end();
}

TEST(greeting)
{
	begin(MCP_2025_11_25);
	session.greeted = false;
	say(CALL("1", "common"));
	ok(served[0] == '\0' &&
	       strstr(answers, "common came before initialize") != NULL,
	   "a request before the greeting is refused");
	say(CALL("1", "ping"));
	is_str(served, "ping ", "a ping before the greeting is served");
	say(TERMED("1", "common"));
	is_str(served, "common ", "a request with terms needs no greeting");
	say(NOTE("initialized", "{}"));
	ok(!session.initialized, "nobody is initialized before the greeting");
	session.greeted = true;
	say(NOTE("other", "{}"));
	ok(!session.initialized, "another notification initializes nobody");
	ok(!say(NOTE("initialized", "{}")), "a notification has no answer");
	ok(session.initialized, "a greeted client is initialized");
	end();
}

TEST(terms)
{
	begin(MCP_2025_11_25);
	say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"common\",\"params\":"
	    "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"9\"}}}");
	ok(served[0] == '\0' && strstr(answers, "\"error\"") != NULL,
	   "a request with terms of no revision is refused");
	is_int(hint.status, 400, "refused terms are a bad request");
	say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
	    "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"9\"}}}");
	ok(strstr(answers, "no method \\\"initialize\\\"") != NULL,
	   "bad terms of a greeting are left unread");
	say("7");
	ok(strstr(answers, "\"error\"") != NULL && hint.status == 400,
	   "a message of no kind is a bad request");
	end();
}

TEST(requests)
{
	struct session other;

	begin(MCP_2025_11_25);
	say(CALL("1", "hold"));
	is_int(n_answers, 0, "a request that is held has no answer yet");
	say(CALL("1", "common"));
	ok(served[0] == '\0' &&
	       strstr(answers, "the id 1 belongs to a request that is under "
			       "way") != NULL,
	   "an id in use is refused");
	session.n_requests = SESSION_REQUESTS_MAX - 1;
	say(CALL("2", "common"));
	is_str(served, "common ", "the last request of a session is served");
	session.n_requests = SESSION_REQUESTS_MAX;
	say(CALL("2", "common"));
	ok(served[0] == '\0' && strstr(answers, "2048 requests are under way "
						"on this connection") != NULL,
	   "a request too many of a session is refused");
	session.n_requests = 1;
	requestor.n_requests = REQUESTOR_REQUESTS_MAX - 1;
	say(CALL("2", "common"));
	is_str(served, "common ", "the last request of a requestor is served");
	requestor.n_requests = REQUESTOR_REQUESTS_MAX;
	say(CALL("2", "common"));
	ok(served[0] == '\0' &&
	       strstr(answers, "4096 requests of yours are under way on all "
			       "connections together") != NULL,
	   "a request too many of a requestor is refused");
	requestor.n_requests = 1;
	session_init(&other, &ctx, &requestor, &ops, NULL);
	ok(request_find(&other, held->msg.id_key, held->msg.id_key_len) == NULL,
	   "an id is in use in its session alone");
	session_fini(&other);
	request_result(held, json_object_new_object());
	say(CALL("1", "common"));
	is_str(served, "common ", "an id may be used again after the answer");
	end();
}

TEST(progress_token)
{
	char *xs = xcalloc(MCP_TOKEN_MAX + 2, 1), *text;

	begin(MCP_2025_11_25);
	for (int more = 0; more < 2; more++) {
		memset(xs, 'x', (size_t)(MCP_TOKEN_MAX + more));
		text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
				 "\"common\",\"params\":{\"_meta\":"
				 "{\"progressToken\":\"%s\"}}}",
				 xs);
		say(text);
		ok(more ? strstr(answers, "progressToken has more than 1024 "
					  "bytes") != NULL
			: strcmp(served, "common ") == 0,
		   "a progress token %s",
		   more ? "too long" : "of the most bytes");
		free(text);
	}
	free(xs);
	end();
}

TEST(removed)
{
	begin(MCP_2025_11_25);
	requestor.gone = true;
	say(CALL("1", "common"));
	ok(served[0] == '\0' &&
	       strstr(answers, "has removed [requestor \\\"ada\\\"]") != NULL,
	   "a requestor who was removed is served no more");
	is_int(n_answers, 1, "a requestor who was removed has one answer");
	requestor.gone = false;
	end();
}

TEST(cancelled)
{
	begin(MCP_2025_11_25);
	say(CALL("1", "hold"));
	say(NOTE("cancelled", "{\"requestId\":2}"));
	ok(n_answers == 0 && session.n_requests == 1,
	   "another request is not cancelled");
	say(NOTE("cancelled", "{\"requestId\":\"1\"}"));
	ok(session.n_requests == 1, "an id of another type is another id");
	say(NOTE("cancelled", "{}"));
	ok(session.n_requests == 1, "without an id nothing is cancelled");
	log_lines();
	ok(!say(NOTE("cancelled", "{\"requestId\":1,\"reason\":\"late\"}")),
	   "a cancellation has no answer");
	ok(session.n_requests == 0 && n_unwanted == 1,
	   "a cancelled request ends, and its stream too");
	ok(strstr(log_lines(), "requestor=ada method=hold cancelled=yes "
			       "reason=\"late\"") != NULL,
	   "the log has the reason of a cancellation");
	end();
}

TEST(batches)
{
	char *text = xcalloc(1, 128 * 1024);

	begin(MCP_2025_03_26);
	ok(say("[" CALL("1", "ping") "," NOTE("x", "{}") "," CALL("2",
								  "ping") "]"),
	   "a batch with requests has an answer");
	ok(n_answers == 1 && strstr(answers, "\"id\":1") != NULL &&
	       strstr(answers, "\"id\":2") != NULL,
	   "the answers of a batch come together");
	is_str(served, "ping ping ", "the requests of a batch are served");
	is_int(read_on, 1, "after a batch the client is read on");
	is_int((int64_t)session.n_batches, 0, "a batch is over at its end");
	ok(!say("[" NOTE("x", "{}") "," NOTE("y", "{}") "]") && n_answers == 0,
	   "a batch of notifications has no answer");
	ok(say("[7," NOTE("x", "{}") "]") && n_answers == 1,
	   "a batch with a broken message has an answer");
	strcpy(text, "[");
	for (int i = 0; i < RPC_BATCH_MAX; i++)
		strcat(strcat(text, i > 0 ? "," : ""), NOTE("x", "{}"));
	strcat(text, "]");
	say(text);
	is_str(answers, "", "a batch of the most messages is taken");
	text[strlen(text) - 1] = '\0';
	strcat(text, "," NOTE("x", "{}") "]");
	ok(say(text), "a batch of more messages has an answer");
	ok(strstr(answers, "a batch of 129 messages came; at most 128 are "
			   "taken") != NULL,
	   "a batch of more messages is refused");
	ok(say("[" NOTE("x", "{}") "," TERMED("1", "common") "]"),
	   "a batch with terms has an answer");
	ok(served[0] == '\0' && strstr(answers, "has no batches") != NULL,
	   "a batch with terms is refused");
	session.greeted = false;
	say("[" CALL("1", "ping") "]");
	ok(strstr(answers, "batches belong to revision 2025-03-26 alone") !=
	       NULL,
	   "a batch before the greeting is refused");
	session.greeted = true;
	session.terms.revision = MCP_2025_11_25;
	ok(say("[" CALL("1", "ping") "]"), "a refused batch has an answer");
	ok(served[0] == '\0' &&
	       strstr(answers, "batches belong to revision 2025-03-26 alone") !=
		   NULL,
	   "a batch of another revision is refused");
	end();
	free(text);
}

/* A request of a batch that is cancelled leaves the others their answers. */
TEST(cancelled_in_batch)
{
	begin(MCP_2025_03_26);
	say("[" CALL("1", "hold") "," CALL("2", "ping") "]");
	is_int(n_answers, 0, "a batch waits for all of its answers");
	say(NOTE("cancelled", "{\"requestId\":1}"));
	ok(n_answers == 1 && strstr(answers, "\"id\":2") != NULL &&
	       strstr(answers, "\"id\":1") == NULL,
	   "without the cancelled request the others are answered");
	say("[" CALL("1", "hold") "]");
	say(NOTE("cancelled", "{\"requestId\":1}"));
	ok(n_answers == 1 && strcmp(answers, "\n") == 0,
	   "a batch without any answer ends its stream");
	end();
}

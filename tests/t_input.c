/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_input.c - a run's questions: whom they are asked of, when they move, are
 * held, taken back and dropped. Sessions and the worker are us.
 */
#include "tests/worker_help.h"

#include "base/clock.h"
#include "supervisor/call.h"
#include "supervisor/input.h"
#include "supervisor/intake.h"
#include "supervisor/offload.h"
#include "supervisor/runs_int.h"
#include "supervisor/task_feed.h"
#include "supervisor/tasks.h"

#define QUESTION                                                               \
	"{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","         \
	"\"properties\":{}}}"
#define ACCEPT "{\"action\":\"accept\",\"content\":{}}"
#define ACCEPTED "(1 ok {\"content\":{},\"action\":\"accept\"})"

/* A client; its name is what is noted. */
struct client {
	struct session session;
	const char *name;
	bool reachable, behind, deaf; /* deaf: nobody reads its routes */
	struct json_object *asked;    /* the id of what it was asked last */
};

static struct server srv;
static struct config config = {.state_dir = (char *)(uintptr_t)""};
static struct store *no_store;
static bool off;

static const char *where(const void *route)
{
	return route != NULL ? route : "-";
}

/* Noted as NAME.ROUTE:METHOD, or NAME.ROUTE:cancelled(REASON). */
static void on_send(void *arg, void *route, const char *text, size_t len)
{
	struct client *c = arg;
	struct json_object *m = NULL, *params, *id;
	const char *method;

	if (json_parse(&m, text, len, NULL) < 0)
		abort();
	method = json_member_str(m, "method");
	params = json_member(m, "params");
	id = json_member(m, "id");
	if (strcmp(method, "notifications/cancelled") == 0)
		note("{%s.%s: forget: %s}", c->name, where(route),
		     json_member_str(params, "reason"));
	else if (id != NULL)
		note("{%s.%s: %s}", c->name, where(route), method);
	if (id != NULL) {
		json_object_put(c->asked);
		c->asked = json_object_get(id);
	}
	json_object_put(m);
}

static void on_answer(void *arg, void *route, const char *text, size_t len)
{
	struct client *c = arg;

	(void)text, (void)len;
	note("{%s.%s: answered}", c->name, where(route));
}

static bool is_reachable(void *arg)
{
	return ((struct client *)arg)->reachable;
}

static bool is_heard(void *arg, void *route)
{
	(void)route;
	return !((struct client *)arg)->deaf;
}

static bool is_behind(void *arg)
{
	return ((struct client *)arg)->behind;
}

static const struct session_ops ops = {.send = on_send,
				       .answer = on_answer,
				       .reachable = is_reachable,
				       .heard = is_heard,
				       .behind = is_behind};

static void client_begin(struct client *c, const char *name)
{
	*c = (struct client){.name = name};
	session_init(&c->session, &srv, requestors_of_uid(&it.all, 7), &ops, c);
	c->session.greeted = c->session.initialized = true;
	if (json_parse(&c->session.client, "{\"elicitation\":{}}", 18, NULL) < 0)
		abort();
}

static void client_end(struct client *c)
{
	session_fini(&c->session);
	json_object_put(c->asked);
}

/* The client answers what it was asked last. */
static void says(struct client *c, const char *result)
{
	char text[512];

	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}",
		 json_text(c->asked, NULL), result);
	session_receive(&c->session, NULL, text, strlen(text));
}

static void accepts(struct client *c)
{
	says(c, "\"result\":" ACCEPT);
}

/* ---- who waits ---- */

static void present(struct call *c, struct run *r)
{
	(void)r;
	call_result(c, json_object_new_object());
}

static struct call *call_of(struct client *c, const char *route, const char *params)
{
	struct rpc_msg m;
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":"
		 "\"tasks/result\",\"params\":%s}",
		 route, params);
	rpc_parse(&m, text, strlen(text));
	return call_new(&c->session, (void *)(uintptr_t)route, &m, NULL);
}

/* C waits for the run by a plain call that came by ROUTE. */
static struct call *waits(struct client *c, const char *route)
{
	struct call *call = call_of(c, route, "{}");

	call->present = present;
	call_watch(call, it.r);
	return call;
}

/* C waits for the run, a task, by tasks/result. */
static struct call *waits_task(struct client *c, const char *route)
{
	char params[80];
	struct call *call;

	snprintf(params, sizeof(params), "{\"taskId\":\"%s\"}", it.r->id);
	call = call_of(c, route, params);
	tasks_result(call);
	return call;
}

/* ---- the run ---- */

static void start(bool task)
{
	begin();
	it.env.on_ask = input_ask;
	it.env.on_drop = input_drop;
	it.env.ask_arg = &srv;
	it.r->limits.timeout_ms = 600000;
	it.r->durable = true;
	it.r->requestor = requestors_of_uid(&it.all, 7);
	if (task) {
		it.r->task.form = STORE_TASK_OUTPUT;
		it.r->task.expires_ms = clock_wall_ms() + 600000;
	}
	HASH_ADD_STR(srv.runs->by_id, id, it.r);
	/* what is noted of states is told in other tests */
	run_watch_del(&it.watch);
	it.watch.on_news = NULL;
}

static void no_news(struct run_watch *w, struct run *r, enum run_news news)
{
	(void)w, (void)r, (void)news;
}

static void stop(void)
{
	HASH_DEL(srv.runs->by_id, it.r);
	input_forget(it.r);
	it.watch.on_news = no_news; /* end() removes it */
	run_watch_add(it.r, &it.watch);
	end();
}

/* All that the worker was answered is noted. */
static const char *heard(void)
{
	noted();
	read_one();
	return noted();
}

static void expire(struct run *r)
{
	r->task.expires_ms = 1;
}

/* ---- plain calls ---- */

static void plain(void)
{
	struct client a;

	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	ask(1, QUESTION);
	is_str(noted(), "{A.1: elicitation/create}",
	       "a plain call's question goes by its route");
	accepts(&a);
	is_str(heard(), ACCEPTED,
	       "and its answer to the worker");
	accepts(&a);
	is_str(heard(), "(none)", "once");
	ask(2, QUESTION);
	says(&a, "\"error\":{\"code\":-5,\"message\":\"no\"}");
	is_str(heard(),
	       "(2 not {\"code\":\"INPUT_FAILED\",\"message\":\"the client "
	       "answered with an error\",\"details\":{\"code\":-5,\"message\":"
	       "\"no\"}})",
	       "so does an error of the client's");
	a.behind = true;
	ask(3, QUESTION);
	ok(strstr(heard(), "(3 not {\"code\":\"INPUT_FAILED\"") != NULL,
	   "who does not read what it is sent is asked nothing more");
	client_end(&a);
	ask(4, QUESTION);
	ok(strstr(heard(), "(4 not {\"code\":\"ELICITATION_NOT_SUPPORTED\"") !=
	       NULL,
	   "and when nobody waits a plain question has nowhere to go");
	stop();
}

static void dropped(void)
{
	struct client a;
	struct msg drop = {.type = MSG_DROP, .drop = {1}};

	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	ask(1, QUESTION);
	noted();
	hear(&drop);
	is_str(noted(), "{A.1: forget: the template waits for no answer any more}",
	       "a question that is dropped is taken back from its client");
	noted();
	accepts(&a);
	ok(strstr(heard(), "(1 not {\"code\":\"DROPPED\"") != NULL,
	   "whose answer comes too late");
	ask(2, QUESTION);
	ask(3, QUESTION);
	drop.drop.seq = 2;
	noted();
	hear(&drop);
	is_str(noted(), "{A.1: forget: the template waits for no answer any more}",
	       "of several one alone");
	noted();
	input_forget(it.r);
	is_str(noted(), "{A.1: forget: the run has ended}",
	       "and the rest when the run ends");
	client_end(&a);
	stop();
}

static void leaves(void)
{
	struct client a, b;
	struct call *first, *second;

	client_begin(&a, "A");
	client_begin(&b, "B");
	start(false);
	first = waits(&a, "1");
	second = waits(&b, "2");
	ask(1, QUESTION);
	is_str(noted(), "{A.1: elicitation/create}",
	       "who waits longest is asked");
	call_drop(first, false);
	is_str(noted(),
	       "{A.1: forget: the request that it belongs to is over}"
	       "{B.2: elicitation/create}",
	       "when that call is over the next one is asked");
	accepts(&a);
	is_str(heard(), "(none)", "and the first one no more");
	call_drop(second, false);
	ok(strstr(heard(), "(1 not {\"code\":\"INPUT_FAILED\",\"message\":\"the "
			   "client that was asked is gone\"") != NULL,
	   "with nobody left it has failed");
	client_end(&a);
	stop();
	client_end(&b);
}

/* How a run may be over, or as good as that, while it has a question. */
static void killed(void) { it.w->killed = true; }
static void silent(void) { it.w->silent = true; }
static void cancelling(void) { run_apply(it.r, EV_CANCEL); }

static void failed(void)
{
	it.r->worker = NULL;
	run_apply(it.r, EV_FAIL);
}

static void over(void)
{
	static const struct {
		const char *what;
		void (*how)(void);
	} ways[] = {{"whose worker was killed", killed},
		    {"whose worker closed its socket", silent},
		    {"that is being cancelled", cancelling},
		    {"that has ended", failed}};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct client a, b;
		struct call *first;

		client_begin(&a, "A");
		client_begin(&b, "B");
		start(false);
		first = waits(&a, "1");
		waits(&b, "2");
		ask(1, QUESTION);
		noted();
		ways[i].how();
		a.deaf = true;
		input_unheard(it.r, first);
		is_str(noted(), "", "a question of a run %s does not move",
		       ways[i].what);
		call_drop(first, false);
		is_str(noted(),
		       "{A.1: forget: the request that it belongs to is over}",
		       "  nor is it offered to anybody else");
		input_forget(it.r);
		is_str(noted(), "", "  nor is anybody told to forget it");
		client_end(&a);
		client_end(&b);
		it.r->worker = it.w;
		stop();
	}
}

static void too_much(void)
{
	struct client a;
	char *params = xcalloc(1, 3 << 20);
	struct json_object *o = json_object_new_object();
	const struct worker_ask big[] = {
	    {1, WORKER_ASK_ELICIT, NULL, o},
	    {2, WORKER_ASK_ELICIT, NULL, o},
	    {3, WORKER_ASK_ELICIT, NULL, o}};

	memset(params, 'x', (3 << 20) - 1);
	json_object_object_add(o, "message", json_object_new_string(params));
	json_object_object_add(o, "requestedSchema", json_tokener_parse(
		"{\"type\":\"object\",\"properties\":{}}"));
	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	for (uint32_t i = 1; i <= 3; i++)
		ask(i, QUESTION);
	input_forget(it.r); /* its own are ours now */
	noted();
	input_ask(&srv, it.r, &big[0]);
	is_str(noted(), "{A.1: elicitation/create}", "a question of 3 MiB passes");
	input_ask(&srv, it.r, &big[1]);
	ok(strstr(heard(), "(2 not {\"code\":\"INPUT_FAILED\",\"message\":\"over 4 "
			   "MiB") != NULL,
	   "two of them at once do not");
	accepts(&a);
	is_str(heard(), ACCEPTED,
	       "which is no loss of the first");
	input_ask(&srv, it.r, &big[2]);
	is_str(noted(), "{A.1: elicitation/create}",
	       "and when it is answered there is room again");
	client_end(&a);
	stop();
	json_object_put(o);
	free(params);
}

static void in_time(void)
{
	struct client a;

	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	ask(1, "{\"message\":\"m\",\"timeoutMs\":1,\"requestedSchema\":{\"type\":"
	       "\"object\",\"properties\":{}}}");
	noted();
	event_base_loop(it.base, EVLOOP_ONCE);
	is_str(noted(), "{A.1: forget: no answer came in time}",
	       "a question that is not answered in time is taken back");
	read_one();
	ok(strstr(noted(), "(1 not {\"code\":\"INPUT_TIMEOUT\"") != NULL,
	   "and the template told");
	client_end(&a);
	stop();
}

/* ---- tasks ---- */

static void task(void)
{
	struct client a, b;
	struct call *wait;

	client_begin(&a, "A");
	client_begin(&b, "B");
	a.reachable = true;
	start(true);
	ask(1, QUESTION);
	is_str(noted(), "", "a task's question waits until its client knows it");
	task_feed_start(&a.session, it.r, NULL);
	noted();
	session_reached(&a.session);
	is_str(noted(), "", "though it can be reached");
	input_task_known(&srv, it.r);
	is_str(noted(), "{A.-: elicitation/create}",
	       "then its maker is asked, by what belongs to no request");
	wait = waits_task(&b, "1");
	is_str(noted(), "", "and who waits is not, too");
	a.reachable = false;
	session_unheard(&a.session, NULL);
	is_str(noted(),
	       "{A.-: forget: who waits now is asked instead}"
	       "{B.1: elicitation/create}",
	       "until the maker is there no more");
	call_drop(wait, false);
	a.reachable = true;
	session_reached(&a.session);
	noted();
	a.reachable = false;
	session_unheard(&a.session, NULL);
	is_str(noted(), "", "with nobody else there it stays");
	wait = waits_task(&b, "2");
	is_str(noted(),
	       "{A.-: forget: who waits now is asked instead}"
	       "{B.2: elicitation/create}",
	       "who waits and reads gets what nobody reads elsewhere");
	call_drop(wait, false);
	is_str(noted(), "{B.2: forget: the request that it belongs to is over}",
	       "it is held when that one leaves");
	a.reachable = true;
	session_reached(&a.session);
	is_str(noted(), "{A.-: elicitation/create}",
	       "until its maker can be reached again");
	a.reachable = false;
	wait = waits_task(&b, "3");
	noted();
	b.deaf = true;
	session_unheard(&b.session, (void *)(uintptr_t)"3");
	is_str(noted(), "", "nobody reads: it stays where it is");
	a.reachable = true;
	client_end(&b);
	is_str(noted(), "{A.-: elicitation/create}",
	       "whose client is gone is asked nothing, nor told: its maker is");
	accepts(&a);
	is_str(heard(), ACCEPTED,
	       "and answers");
	client_end(&a);
	stop();
}

/* Of two who wait, one is asked; the other when nobody reads there. */
static void moves(void)
{
	struct client a, b;

	client_begin(&a, "A");
	client_begin(&b, "B");
	start(true);
	waits_task(&a, "1");
	ask(1, QUESTION);
	is_str(noted(), "{A.1: elicitation/create}",
	       "without its maker, who waits is asked");
	waits_task(&b, "2");
	b.deaf = true;
	session_unheard(&b.session, (void *)(uintptr_t)"2");
	is_str(noted(), "", "that nobody reads what was not asked is no matter");
	b.deaf = false;
	a.deaf = true;
	session_unheard(&a.session, (void *)(uintptr_t)"1");
	ok(strstr(noted(), "{B.2: elicitation/create}") != NULL,
	   "nobody reads the route that it went by: another is asked");
	run_apply(it.r, EV_CANCEL);
	run_tell(it.r, NEWS_STATE);
	ok(strstr(noted(), "{B.2: forget: the run is being cancelled}") != NULL,
	   "whom a cancel tells to forget it");
	client_end(&a);
	client_end(&b);
	stop();
}

/* What is refused is news, which ends the feeds of tasks that have expired. */
static void crowd(void)
{
	struct client a;

	client_begin(&a, "A");
	start(true);
	task_feed_start(&a.session, it.r, NULL);
	input_task_known(&srv, it.r);
	for (uint32_t i = 1; i <= 3; i++)
		ask(i, QUESTION);
	is_str(noted(), "", "without a stream all are held");
	expire(it.r);
	a.reachable = a.behind = true;
	session_reached(&a.session);
	for (int i = 0; i < 4; i++)
		read_one();
	ok(strstr(noted(), "(none)") != NULL,
	   "refused while they are walked through, each is answered");
	is_int(it.r->state, RUN_RUNNING, "and the run goes on");
	ok(LIST_EMPTY(&a.session.feeds), "which its maker does not hear of");
	client_end(&a);
	stop();
}

static void ended_task(void)
{
	struct client a;

	client_begin(&a, "A");
	start(true);
	it.r->worker = NULL;
	run_apply(it.r, EV_FAIL);
	input_task_told(&srv, it.r);
	ok(it.r->input == NULL, "a task that has ended asks nothing");
	it.r->worker = it.w;
	client_end(&a);
	stop();
}

/* ---- large answers ---- */

/* As says(), in a message that is read on a thread. */
static void says_at_length(struct client *c, const char *result)
{
	struct buf text = {0};

	buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s,\"x\":\"%*s\"}",
		   json_text(c->asked, NULL), result, INTAKE_LARGE, "");
	session_receive(&c->session, NULL, buf_data(&text), buf_len(&text));
	buf_fini(&text);
}

/* All that the threads have under way is over. */
static void await_threads(void)
{
	while (offload_jobs(srv.offload) > 0)
		event_base_loop(it.base, EVLOOP_ONCE);
}

static const char *heard_later(void)
{
	await_threads();
	return heard();
}

static void large(void)
{
	struct client a;

	srv.offload = offload_new(it.base, 1);
	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	ask(1, QUESTION);
	noted();
	says_at_length(&a, "\"result\":" ACCEPT);
	is_int((long)offload_jobs(srv.offload), 1,
	       "a large answer is read on a thread");
	is_str(heard(), "(none)", "and the worker waits for that");
	accepts(&a);
	input_reachable(it.r);
	is_str(heard(), "(none)", "neither is it asked or answered again");
	is_str(heard_later(), ACCEPTED, "what is read goes to the worker");
	ask(2, QUESTION);
	says_at_length(&a, "\"result\":{\"action\":\"maybe\"}");
	ok(strstr(heard_later(), "(2 not {\"code\":\"INPUT_INVALID\"") != NULL,
	   "also why a large one is no answer");
	ask(3, QUESTION);
	says_at_length(&a, "\"error\":{\"code\":-5,\"message\":\"no\"}");
	ok(strstr(heard_later(), "(3 not {\"code\":\"INPUT_FAILED\"") != NULL,
	   "and a large error");
	ask(4, QUESTION);
	noted();
	says_at_length(&a, "\"result\":" ACCEPT);
	client_end(&a);
	is_str(heard_later(), "(4 ok {\"content\":{},\"action\":\"accept\"})",
	       "one that came counts when its client has gone meanwhile");
	stop();
	offload_free(srv.offload);
	srv.offload = NULL;
}

static void dropped_at_1(void)
{
	hear(&(struct msg){.type = MSG_DROP, .drop = {1}});
}

static void cancelled(void)
{
	run_apply(it.r, EV_CANCEL);
	run_tell(it.r, NEWS_STATE);
}

static void forgotten(void) { input_forget(it.r); }

/* A question ends while its answer is read: that is not told. */
static void large_in_vain(void)
{
	static const struct {
		const char *what;
		void (*how)(void);
		const char *told;
	} ways[] = {{"is dropped", dropped_at_1, "(1 not {\"code\":\"DROPPED\""},
		    {"is of a run that is cancelled", cancelled, "(none)"},
		    {"is of a run that ends", forgotten, "(none)"}};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct client a;

		srv.offload = offload_new(it.base, 1);
		client_begin(&a, "A");
		start(false);
		waits(&a, "1");
		ask(1, QUESTION);
		says_at_length(&a, "\"result\":" ACCEPT);
		noted();
		ways[i].how();
		ok(strstr(heard_later(), ways[i].told) != NULL,
		   "what %s while its answer is read has no answer of that",
		   ways[i].what);
		is_str(heard(), "(none)", "  nor later");
		client_end(&a);
		stop();
		offload_free(srv.offload);
		srv.offload = NULL;
	}
}

static void large_refused(void)
{
	struct client a;

	srv.offload = offload_new(it.base, 0);
	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	ask(1, QUESTION);
	noted();
	says_at_length(&a, "\"result\":" ACCEPT);
	ok(strstr(heard(), "(1 not {\"code\":\"INPUT_FAILED\",\"message\":\"too "
			   "many large") != NULL,
	   "when no thread takes a large answer the template hears of it");
	client_end(&a);
	stop();
	offload_free(srv.offload);
	srv.offload = NULL;
}

int main(void)
{
	set_up();
	srv.base = it.base;
	srv.config = &config;
	LIST_INIT(&srv.sessions);
	srv.runs = runs_new(&(struct runs_env){.base = it.base,
					       .config = &config,
					       .store = no_store,
					       .instance = "",
					       .on_ask = input_ask,
					       .quiet = &off,
					       .draining = &off});
	plain();
	dropped();
	leaves();
	over();
	too_much();
	in_time();
	task();
	moves();
	crowd();
	ended_task();
	large();
	large_in_vain();
	large_refused();
	runs_free(srv.runs);
	return done();
}

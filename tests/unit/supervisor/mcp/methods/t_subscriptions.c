/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_subscriptions.c - resources/subscribe and unsubscribe: the resources of a session, the
 * changes told to the session, and the list kept for a restart.
 */
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/mcp/methods/subscriber.h"
#include "supervisor/run/run_log.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define UPDATED "notifications/resources/updated"

static struct client ada, bob;
static int kept; /* how often a setting of ada's session was to be kept */

static void on_changed(void *arg)
{
	(void)arg;
	kept++;
}

static void begin(void)
{
	static struct session_ops ops;

	server_begin(NULL);
	server_package("talk", "1.0.0",
		       "\"resources\":[{\"uri\":\"talk://a\",\"name\":\"a\","
		       "\"text\":\"one\"}]");
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&bob, 8, MCP_2025_11_25);
	ops = *ada.session.ops;
	ops.changed = on_changed;
	ada.session.ops = &ops;
	kept = 0;
}

static void end(void)
{
	client_end(&ada);
	client_end(&bob);
	ok(LIST_EMPTY(&server.sessions.subscribers),
	   "no subscriber is left when its session has ended");
	server_end();
}

static struct json_object *subscribe(struct client *c, const char *uri)
{
	return client_call(c, "resources/subscribe", "{\"uri\":\"%s\"}", uri);
}

static struct json_object *unsubscribe(struct client *c, const char *uri)
{
	return client_call(c, "resources/unsubscribe", "{\"uri\":\"%s\"}", uri);
}

static bool is_done(struct json_object *answer)
{
	return at(answer, "/result") != NULL;
}

/* Start a run of ada's; the URI, with MORE at its end, is lent until the next. */
static const char *started(const char *more)
{
	static char uri[160];
	struct json_object *answer =
	    client_tool(&ada, "run_task_template",
			"{\"templateId\":\"talk\",\"inputs\":{},"
			"\"options\":{\"mode\":\"async\"}}");

	snprintf(uri, sizeof(uri), "paddock://runs/%s%s",
		 tool_at(answer, "/runId"), more);
	return uri;
}

/* How many times ada was told of a change of a run, which comes now. */
static int told_of(enum run_notice_kind kind)
{
	run_tell(server_run(),
		 &(struct run_notice){.kind = kind, .text = "x", .len = 1});
	return client_told(&ada, UPDATED);
}

TEST(run)
{
	const char *uri;

	begin();
	uri = started("");
	ok(is_done(subscribe(&ada, uri)),
	   "a run of one's own is subscribed to");
	is_int(kept, 1, "a session with a new subscription is to be kept");
	is_int(told_of(NOTICE_LOG), 0,
	       "a line of the log is no change of a run");
	is_int(told_of(NOTICE_STATE), 1,
	       "the state of a run is a change of it");
	server_run_end(server_run(), "1");
	server_until(client_told(&ada, UPDATED) > 0);
	ok(true, "the end of a run is told");
	end();
}

TEST(log)
{
	begin();
	ok(is_done(subscribe(&ada, started("/log"))),
	   "a log of one's own is subscribed to");
	is_int(told_of(NOTICE_STATE), 0, "the state of a run changes no log");
	is_int(told_of(NOTICE_LOG), 1, "a line is a change of a log");
	server_run_end(server_run(), "1");
	end();
}

TEST(changes_in_a_row)
{
	int n = 0;

	begin();
	subscribe(&ada, started(""));
	is_int(told_of(NOTICE_PROGRESS), 1, "a first change is told at once");
	for (int i = 0; i < 50; i++)
		n += told_of(NOTICE_PROGRESS);
	ok(n < 50, "changes in a row are not each told");
	if (n == 0)
		server_until((n += client_told(&ada, UPDATED)) > 0);
	ok(n > 0, "the last of changes in a row is told");
	server_run_end(server_run(), "1");
	end();
}

TEST(unsubscribed)
{
	const char *uri;

	begin();
	uri = started("");
	subscribe(&ada, uri);
	kept = 0;
	ok(is_done(unsubscribe(&ada, uri)), "a subscription can be ended");
	is_int(kept, 1, "a session with a subscription less is to be kept");
	is_int(told_of(NOTICE_STATE), 0,
	       "a subscription that was ended tells nothing");
	ok(is_done(unsubscribe(&ada, uri)),
	   "the end of a subscription that is not there does no harm");
	is_int(kept, 1, "a session that has not changed need not be kept");
	is_str(
	    at(client_call(&ada, "resources/unsubscribe", "{}"), "/error/code"),
	    "-32602", "resources/unsubscribe without a URI is refused");
	server_run_end(server_run(), "1");
	end();
}

TEST(resources_that_are_not_there)
{
	const char *uri;

	begin();
	uri = started("");
	is_int(atoi(at(subscribe(&bob, uri), "/error/code")),
	       RPC_RESOURCE_NOT_FOUND, "another requestor's run is not found");
	is_int(atoi(at(subscribe(&ada, "talk://none"), "/error/code")),
	       RPC_RESOURCE_NOT_FOUND, "an unknown resource is not found");
	is_int((int64_t)bob.session.requestor->lookups_failed, 1,
	       "a subscription to what is not there is counted");
	is_str(
	    at(client_call(&ada, "resources/subscribe", "{}"), "/error/code"),
	    "-32602", "resources/subscribe without a URI is refused");
	server_run_end(server_run(), "1");
	ok(is_done(subscribe(&ada, uri)),
	   "a run that has ended is subscribed to");
	is_int(atoi(at(subscribe(&bob, uri), "/error/code")),
	       RPC_RESOURCE_NOT_FOUND,
	       "another requestor's run that has ended is not found");
	end();
}

TEST(artifacts)
{
	char more[80], uri[256];

	begin();
	started("");
	snprintf(more, sizeof(more), "/artifacts/%s",
		 server_artifact(server_run(), "a", "text/plain", "x", 1));
	snprintf(uri, sizeof(uri), "paddock://runs/%s%s", server_run()->id,
		 more);
	ok(is_done(subscribe(&ada, uri)), "an artifact is subscribed to");
	is_int(atoi(at(subscribe(&bob, uri), "/error/code")),
	       RPC_RESOURCE_NOT_FOUND,
	       "another requestor's artifact is not found");
	server_run_end(server_run(), "1");
	snprintf(uri, sizeof(uri), "%s%s", started(""), more);
	is_int(atoi(at(subscribe(&ada, uri), "/error/code")),
	       RPC_RESOURCE_NOT_FOUND,
	       "an artifact of another run is not found");
	ok(is_done(subscribe(&ada, "paddock://isolation")),
	   "the isolation is subscribed to, though it does not change");
	end();
}

TEST(bound)
{
	char uri[64];

	begin();
	server_package("many", "1.0.0",
		       "\"resources\":[{\"uriTemplate\":\"many://{n}\","
		       "\"name\":\"n\",\"text\":\"{n}\"}]");
	server_load();
	for (int i = 0; i < SUBSCRIPTIONS_MAX; i++) {
		snprintf(uri, sizeof(uri), "many://%d", i);
		if (!is_done(subscribe(&ada, uri)))
			ok(false, "subscription %d of a session is made", i);
	}
	is_str(at(subscribe(&ada, "many://more"), "/error/code"), "-32602",
	       "a session has no more subscriptions than it may");
	ok(is_done(subscribe(&ada, "many://0")),
	   "a subscription that is there is made again beyond the bound");
	unsubscribe(&ada, "many://0");
	ok(is_done(subscribe(&ada, "many://more")),
	   "a subscription that was ended makes room");
	ok(ada.session.requestor->memory.held > 0,
	   "subscriptions count as memory of their requestor");
	end();
}

TEST(reload)
{
	begin();
	subscribe(&ada, "talk://a");
	subscribers_reloaded(&server.context);
	is_int(client_told(&ada, UPDATED), 0,
	       "a reload that changes nothing tells nothing");
	server_file("talk", "1.0.0", "more.txt", "new");
	server_load();
	subscribers_reloaded(&server.context);
	is_int(client_told(&ada, UPDATED), 1,
	       "a reload that changes the package of a resource is told");
	end();
}

/* ---- clients without a stream, or who do not read ---- */

TEST(without_a_stream)
{
	begin();
	subscribe(&ada, started(""));
	ada.deaf = true;
	is_int(told_of(NOTICE_STATE), 0,
	       "a change is not told while there is no stream");
	ada.deaf = false;
	session_push_opened(&ada.session);
	is_int(client_told(&ada, UPDATED), 1,
	       "a change that came without a stream is told once there is one");
	session_push_opened(&ada.session);
	server_turn();
	is_int(client_told(&ada, UPDATED), 0,
	       "a change that was missed is told once");
	server_run_end(server_run(), "1");
	end();
}

TEST(who_does_not_read)
{
	begin();
	subscribe(&ada, started(""));
	ada.backlogged = true;
	is_int(told_of(NOTICE_STATE), 0,
	       "a change is not told to who does not read");
	ada.backlogged = false;
	server_until(client_told(&ada, UPDATED) > 0);
	ok(true, "a change is told when its client reads again");
	server_run_end(server_run(), "1");
	end();
}

/* ---- after a restart ---- */

TEST(list_and_restore)
{
	struct json_object *uris;
	char uri[160];

	begin();
	snprintf(uri, sizeof(uri), "%s", started(""));
	uris = subscriptions_list(&ada.session, SIZE_MAX);
	is_int((int64_t)json_length(uris), 0,
	       "a session without subscriptions has an empty list");
	json_object_put(uris);
	subscribe(&ada, uri);
	subscribe(&ada, "talk://a");
	uris = subscriptions_list(&ada.session, strlen("talk://a"));
	is_str(json_text(uris, NULL), "[\"talk://a\"]",
	       "a list of few bytes has the newest subscriptions alone");
	json_object_put(uris);
	uris = subscriptions_list(&ada.session, SIZE_MAX);
	is_int((int64_t)json_length(uris), 2, "a list has all subscriptions");
	bob.deaf = true;
	subscriptions_restore(&bob.session, uris);
	json_object_put(uris);
	uris = subscriptions_list(&bob.session, SIZE_MAX);
	is_int((int64_t)json_length(uris), 2, "a list is restored");
	json_object_put(uris);
	server_settle();
	is_int(client_told(&bob, UPDATED), 0,
	       "a session that is restored is told nothing without a stream");
	bob.deaf = false;
	session_push_opened(&bob.session);
	is_int(client_told(&bob, UPDATED), 2,
	       "a session that is restored is told possible changes");
	run_tell(server_run(), &(struct run_notice){.kind = NOTICE_STATE});
	is_int(client_told(&bob, UPDATED), 0,
	       "another requestor's run is not watched when it is restored");
	server_run_end(server_run(), "1");
	end();
}

TEST(restore_of_a_run)
{
	struct json_object *uris = json_object_new_array();
	char uri[160];

	begin();
	snprintf(uri, sizeof(uri), "%s", started(""));
	json_object_array_add(uris, json_object_new_string(uri));
	json_object_array_add(uris, json_object_new_int(7));
	subscriptions_restore(&ada.session, uris);
	json_object_put(uris);
	uris = subscriptions_list(&ada.session, SIZE_MAX);
	is_int((int64_t)json_length(uris), 1,
	       "what is no text in a list is left out");
	json_object_put(uris);
	server_settle();
	is_int(told_of(NOTICE_STATE), 1,
	       "a run of one's own is watched when it is restored");
	server_run_end(server_run(), "1");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}

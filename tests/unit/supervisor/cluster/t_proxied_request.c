/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_proxied_request.c - a request that waits here for another server's run: the request
 * hears of the run by the rows of the run, once. The test is the request.
 */
#include "base/clock.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/cluster/remote_questions.h"
#include "supervisor/cluster/remote_waiters.h"
#include "supervisor/cluster/proxied_request.h"
#include "supervisor/run/record/run_row.h"
#include "supervisor/session/request.h"
#include "tests/unit/base/clock_fixture.h"
#include "tests/unit/supervisor/run/exec/runs_fixture.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

#define NEVER 12345

static int asked, unheard, why;
static uint32_t asked_round;
static char asked_for[256];

static void on_asked(struct request *req, struct json_object *requests,
		     uint32_t round)
{
	(void)req;
	asked++;
	asked_round = round;
	snprintf(asked_for, sizeof(asked_for), "%s", json_text(requests, NULL));
	json_object_put(requests);
}

static void on_not_heard(struct request *req, int rc)
{
	(void)req;
	unheard++;
	why = rc;
}

static const struct request_ops ops = {.asked_abroad = on_asked,
				       .not_heard = on_not_heard};
static struct client_terms terms;
static struct request request;
static struct run *run;
static struct proxied_request *visit;
static char name[ID_SIZE]; /* of the guest, by the messages */

/* The last message to the run's owner, as TEXT, lent. */
static const char *message(void)
{
	static char text[1024];
	struct help_db *db = help_open(it.dir);

	text[0] = '\0';
	help_text(db, "SELECT body FROM mail ORDER BY ctid DESC LIMIT 1", text,
		  sizeof(text));
	help_close(db);
	return text;
}

static int64_t messages_sent(void)
{
	struct help_db *db = help_open(it.dir);
	int64_t n = help_number(db, "SELECT count(*) FROM mail");

	help_close(db);
	return n;
}

/* A run of another instance. */
static struct run *elsewhere(void)
{
	struct run *r = waiting();
	struct help_db *db;

	runs_record(it.ctx.runs, r);
	answered();
	db = help_open(it.dir);
	help_sql(db, "UPDATE runs SET instance = 'inst_two'");
	help_close(db);
	return r;
}

static void visits(uint32_t round, const char *answers)
{
	struct json_object *o =
	    answers != NULL ? json_tokener_parse(answers) : NULL;
	struct json_object *sent;

	begin_in_cluster();
	asked = unheard = 0;
	why = NEVER;
	terms.capabilities = json_tokener_parse("{\"elicitation\":{}}");
	request =
	    (struct request){.ctx = &it.ctx, .terms = &terms, .ops = &ops};
	run = elsewhere();
	visit = proxied_request_new(&request, run, round, o);
	json_object_put(o);
	answered();
	sent = json_tokener_parse(message());
	snprintf(name, sizeof(name), "%s",
		 json_member_str(sent, "guest") != NULL
		     ? json_member_str(sent, "guest")
		     : "");
	json_object_put(sent);
}

static void over(bool cancel)
{
	proxied_request_leave(visit, cancel);
	answered();
	json_object_put(terms.capabilities);
	end();
}

/* The run's row is read: the owner shows FMT with the guest's name. */
static void shows(enum store_status status, const char *fmt)
{
	struct store_run row = {.status = status};
	char text[512];

	snprintf(text, sizeof(text), fmt, name);
	if (status <= STORE_RUNNING)
		row.asked = text;
	else
		row.options = text;
	proxied_request_shown(run, &row);
}

TEST(messages)
{
	const char *text;

	visits(3, "{\"a\":{\"action\":\"accept\"}}");
	ok(visit != NULL && name[0] != '\0',
	   "a visitor writes a message with its name to the owner");
	text = message();
	ok(strstr(text, "\"round\":3") != NULL &&
	       strstr(text, "\"accept\"") != NULL &&
	       strstr(text, "\"elicitation\"") != NULL,
	   "the message has the round, the answers and the capabilities");
	proxied_request_leave(visit, true);
	visit = NULL;
	answered();
	text = message();
	ok(strstr(text, "\"left\":true") != NULL &&
	       strstr(text, "\"cancels\":true") != NULL &&
	       strstr(text, name) != NULL,
	   "a leaving visitor writes a message with its wish to cancel");
	ok(LIST_EMPTY(&run->remote.proxied), "of which it knows no more");
	over(false);
}

TEST(asked)
{
	visits(0, NULL);
	shows(STORE_RUNNING, "{\"guests\":{}}");
	is_int(asked + unheard, 0,
	       "a visitor unknown to the owner goes on waiting");
	shows(STORE_RUNNING, "{\"guests\":{\"%s\":{\"waits\":true}}}");
	is_int(asked + unheard, 0,
	       "a visitor known as waiting goes on waiting");
	ok(!LIST_EMPTY(&run->remote.proxied), "a waiting visitor is listed");
	shows(
	    STORE_RUNNING,
	    "{\"requests\":{\"a\":{\"x\":1},\"b\":{\"x\":2},\"c\":{}},\"guests\":"
	    "{\"%s\":{\"round\":7,\"keys\":[\"a\",\"c\",\"gone\"]}}}");
	is_int(asked, 1, "a visitor with questions in the view is asked");
	is_str(asked_for, "{\"a\":{\"x\":1},\"c\":{}}",
	       "a visitor is asked the existing questions of its keys");
	is_int(asked_round, 7, "a visitor is asked with the round in the view");
	ok(LIST_EMPTY(&run->remote.proxied),
	   "a visitor's wait ends with the questions");
	shows(STORE_RUNNING, "{\"guests\":{\"%s\":{\"used\":true}}}");
	is_int(asked + unheard, 1, "nothing more is told");
	over(false);
}

/* The owner forgets a guest without messages: see remote_waiters.h. */
TEST(writes_again)
{
	int64_t before;

	visits(0, NULL);
	before = messages_sent();
	for (int i = 0; i < 3; i++) {
		clock_skip(REMOTE_WAITER_MS / 3 - 1000);
		shows(STORE_RUNNING, "{\"guests\":{\"%s\":{\"waits\":true}}}");
		answered();
		is_int(messages_sent(), before + i,
		       "a visitor with a recent message writes no message");
		clock_skip(2000);
		shows(STORE_RUNNING, "{\"guests\":{\"%s\":{\"waits\":true}}}");
		answered();
		is_int(
		    messages_sent(), before + i + 1,
		    "a waiting visitor writes again before the owner removes the guest");
		ok(strstr(message(), name) != NULL,
		   "a repeated message has the visitor's name");
	}
	over(false);
}

TEST(used)
{
	visits(2, NULL);
	shows(STORE_RUNNING, "{\"guests\":{\"%s\":{\"used\":true}}}");
	is_int(unheard, 1, "a visitor whose round was used is told so");
	is_int(why, 0, "a used round is no failure of the store");
	over(false);
	visits(2, NULL);
	proxied_request_shown(run, NULL);
	is_int(unheard, 1,
	       "a visitor whose run must be tried again is told so");
	is_int(why, -EAGAIN, "the reason to try again is EAGAIN");
	over(false);
}

/* Return the message after the run's end to a client that came back with ROUND. */
static int told_of_end(uint32_t round, const char *options)
{
	visits(round, NULL);
	shows(STORE_SUCCEEDED, options);
	ok(LIST_EMPTY(&run->remote.proxied),
	   "the end of the run ends the visit");
	over(false);
	return unheard;
}

TEST(ended)
{
	is_int(told_of_end(2, "{\"roundsUsed\":2,\"heard\":[\"%s\"]}"), 0,
	       "a visitor with accepted answers sees the end");
	is_int(told_of_end(2, "{\"roundsUsed\":2,\"heard\":[\"guest_x\"]}"), 1,
	       "a visitor whose round another guest used is told so");
	is_int(told_of_end(3, "{\"roundsUsed\":2,\"heard\":[]}"), 0,
	       "an unused round is no failure at the end");
	is_int(told_of_end(0, "{\"roundsUsed\":2,\"heard\":[]}"), 0,
	       "a visitor without a round sees the end");
	is_int(told_of_end(2, "no options"), 0,
	       "a broken row is no failure at the end");
}

TEST(known_and_ended)
{
	visits(2, NULL);
	shows(STORE_RUNNING, "{\"guests\":{\"%s\":{\"waits\":true}}}");
	shows(STORE_SUCCEEDED, "{\"roundsUsed\":2,\"heard\":[\"guest_x\"]}");
	is_int(unheard, 0,
	       "a visitor seen among the guests has accepted answers");
	over(false);
}

TEST(too_large)
{
	char *text = xcalloc(1, CLUSTER_ANSWERS_MAX + 1);
	struct json_object *o;

	begin_in_cluster();
	terms.capabilities = NULL;
	request =
	    (struct request){.ctx = &it.ctx, .terms = &terms, .ops = &ops};
	run = waiting();
	memset(text, '1', CLUSTER_ANSWERS_MAX - 5);
	o = json_pack("a:s", text);
	ok(proxied_request_new(&request, run, 1, o) == NULL,
	   "answers that fit are too large with what is beside them");
	ok(LIST_EMPTY(&run->remote.proxied),
	   "without a message no visitor waits");
	json_object_put(o);
	text[CLUSTER_ANSWERS_MAX / 2] = '\0';
	o = json_pack("a:s", text);
	visit = proxied_request_new(&request, run, 1, o);
	ok(visit != NULL, "smaller answers make a visitor");
	json_object_put(o);
	free(text);
	over(false);
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	if (help_is_postgres()) /* SQLite has no other server */
		tap_run();
	else
		skip("needs PostgreSQL",
		     "one server alone is visited by nobody");
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_remote_waiters.c - clients that wait at other servers for a run of this server: a
 * guest is counted while waiting, can be asked by its capabilities, and ends the run when
 * no other client wants the run.
 */
#include "proto/json/json_pack.h"
#include "supervisor/cluster/remote_waiters.h"
#include "supervisor/mcp/input/input_private.h"
#include "tests/unit/base/clock_fixture.h"
#include "tests/unit/supervisor/mcp/input/input_fixture.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

/* A thread frees the rest of a large message, so no reference into the message is kept. */
TEST(message)
{
	struct json_object *message =
	    json_pack("guest:s capabilities:o", "guest_a",
		      json_pack("elicitation:o", json_object_new_object()));

	start(true);
	remote_waiters_hear(&ctx, it.r, message, 100000);
	is_int(it.r->remote.n_waiting, 1,
	       "a message from another instance makes a guest");
	ok(json_member(message, "capabilities") == NULL,
	   "a message's kept members are removed from the message");
	json_object_put(message);
	stop();
}

static void hear_guest(const char *name, int round, const char *more)
{
	struct json_object *message = NULL;
	char text[256];
	int n;

	n = snprintf(text, sizeof(text),
		     "{\"guest\":\"%s\",\"round\":%d,\"capabilities\":"
		     "{\"elicitation\":{}}%s}",
		     name, round, more);
	if (json_parse(&message, text, (size_t)n, NULL) < 0)
		abort();
	remote_waiters_hear(&ctx, it.r, message, (size_t)n);
	json_object_put(message);
}

static bool is_guest(const char *name)
{
	struct json_object *all = remote_waiters_shown(it.r);
	bool is = json_member(all, name) != NULL;

	json_object_put(all);
	return is;
}

#define GUESTS_MOST 256

/* The most guests wait, and another guest brings answers. */
TEST(crowd)
{
	char name[32];

	start(false);
	it.r->rounds.given = 2 * GUESTS_MOST;
	for (int i = 1; i <= GUESTS_MOST; i++) {
		snprintf(name, sizeof(name), "guest_%d", i);
		hear_guest(name, i, "");
	}
	is_int(it.r->remote.n_waiting, GUESTS_MOST, "many may wait elsewhere");
	hear_guest("guest_late", 0, "");
	ok(!is_guest("guest_late"),
	   "a further guest without answers is not listed");
	ask(1, QUESTION);
	hear_guest("guest_more", GUESTS_MOST + 1,
		   ",\"answers\":{\"input-1\":" ACCEPT "}");
	is_str(heard(), ACCEPTED,
	       "the answers of a further guest are accepted");
	ok(is_guest("guest_more"), "a further guest with answers is listed");
	is_int(it.r->remote.n_waiting, GUESTS_MOST,
	       "the number of guests stays at the bound");
	ok(!is_guest("guest_1"), "the guest silent for longest is removed");
	hear_guest("guest_used", 1, "");
	ok(is_guest("guest_used"), "a guest with a used round is told so");
	is_int(it.r->remote.n_waiting, GUESTS_MOST - 1,
	       "a guest with a used round makes room");
	hear_guest("guest_1", 0, "");
	ok(is_guest("guest_1") && !is_guest("guest_used"),
	   "the removed guest is listed again when there is room");
	is_str(run_state_name(it.r->state), "running",
	       "the run goes on with a full list of guests");
	stop();
}

/* An earlier guest may be a guest of the run's new server by now. */
TEST(of_before)
{
	start(false);
	hear_guest("guest_a", 0, "");
	it.r->remote.place = RUN_REMOTE;
	hear_guest("guest_a", 0, ",\"left\":true,\"cancels\":true");
	is_int(it.r->remote.n_waiting, 0,
	       "a guest leaves a run that another has");
	ok(!it.r->remote.cancel,
	   "a guest's leave does not cancel a run moved to another instance");
	it.r->remote.place = RUN_HERE;
	stop();
}

TEST(leaves)
{
	start(false);
	hear_guest("guest_a", 0, "");
	hear_guest("guest_b", 0, "");
	hear_guest("guest_a", 0, ",\"left\":true,\"cancels\":true");
	is_int(it.r->remote.n_waiting, 1, "a guest which leaves is not listed");
	is_str(run_state_name(it.r->state), "running",
	       "the run goes on while a guest waits");
	hear_guest("guest_b", 0, ",\"left\":true");
	is_int(it.r->remote.n_waiting, 0,
	       "no guest is listed after the last leaves");
	is_str(run_state_name(it.r->state), "running",
	       "a leave without a cancel does not end the run");
	hear_guest("guest_c", 0, "");
	hear_guest("guest_c", 0, ",\"left\":true,\"cancels\":true");
	is_str(run_state_name(it.r->state), "cancelling",
	       "the last guest's leave with a cancel ends the run");
	stop();
}

TEST(left_first)
{
	start(false);
	hear_guest("guest_a", 0, ",\"left\":true,\"cancels\":true");
	is_int(it.r->remote.n_waiting, 0,
	       "of messages that come in the wrong order");
	is_str(run_state_name(it.r->state), "running",
	       "a leave before the first message ends nothing");
	hear_guest("guest_a", 0, "");
	is_int(it.r->remote.n_waiting, 0,
	       "a first message after the leave lists no guest");
	stop();
}

/* Return why no guest can be asked by elicitation/create; NULL: a guest can. */
static const char *missing(void)
{
	static const struct input_request q = {.kind = WORKER_QUESTION_ELICIT};

	return remote_waiters_missing(it.r, &q);
}

static void pass(int64_t ms)
{
	clock_skip(ms);
	event_base_loop(it.base, EVLOOP_NONBLOCK);
}

TEST(silent)
{
	start(false);
	hear_guest("guest_a", 0, "");
	pass(REMOTE_WAITER_MS / 2);
	hear_guest("guest_b", 0, "");
	is_int(it.r->remote.n_waiting, 2,
	       "guests with a recent message are listed");
	pass(REMOTE_WAITER_MS / 2 + 1000);
	is_int(it.r->remote.n_waiting, 1, "a silent guest is removed");
	ok(!is_guest("guest_a") && is_guest("guest_b"),
	   "only the silent guest is removed");
	is_str(run_state_name(it.r->state), "running",
	       "the run goes on with a listed guest");
	pass(REMOTE_WAITER_MS);
	is_int(it.r->remote.n_waiting, 0, "the last silent guest is removed");
	is_str(run_state_name(it.r->state), "cancelling",
	       "the run ends with the last silent guest, as by a cancel");
	pass(REMOTE_WAITER_MS);
	stop();
	start(false);
	hear_guest("guest_a", 0, "");
	pass(REMOTE_WAITER_MS + 1000);
	ok(!is_guest("guest_a"),
	   "a silent guest of another run is removed as well");
	hear_guest("guest_b", 0, "");
	pass(REMOTE_WAITER_MS + 1000);
	ok(!is_guest("guest_b"),
	   "a guest is removed after a time without any guest");
	stop();
}

/* A message without news keeps a guest: proxied_request.c. */
TEST(writes_again)
{
	start(false);
	for (int i = 0; i < 3; i++) {
		hear_guest("guest_a", 0, "");
		pass(REMOTE_WAITER_MS / 3 * 2);
	}
	ok(is_guest("guest_a"), "a guest that writes again in time stays");
	is_str(run_state_name(it.r->state), "running",
	       "for however long, and its run goes on");
	pass(REMOTE_WAITER_MS / 3 + 1000);
	ok(!is_guest("guest_a"),
	   "a guest whose last message is too old is none");
	stop();
}

TEST(capabilities)
{
	start(false);
	is_str(missing(), CLUSTER_NO_WAITER,
	       "without a guest no question can be asked");
	hear_guest("guest_a", 0, ",\"left\":true");
	is_str(missing(), CLUSTER_NO_WAITER,
	       "a guest which has left cannot be asked");
	hear_guest("guest_b", 0, "");
	is_str(missing(), NULL,
	       "a waiting guest with the capability can be asked");
	stop();
}

TEST(names)
{
	start(false);
	hear_guest(
	    "guest_that_has_a_name_which_is_longer_than_any_id_of_a_server", 0,
	    "");
	is_int(it.r->remote.n_waiting, 0,
	       "a name that is too long is nobody's");
	stop();
}

TEST(unnamed)
{
	struct json_object *message = json_tokener_parse("{\"round\":1}");

	start(false);
	remote_waiters_hear(&ctx, it.r, message, 20);
	is_int(it.r->remote.n_waiting, 0,
	       "a message without a name is passed over");
	json_object_put(message);
	stop();
}

/* Return the message to GUEST; the caller's. */
static char *told(const char *guest)
{
	struct json_object *all = remote_waiters_shown(it.r);
	struct json_object *one = json_member(all, guest);
	char *text = xstrdup(one != NULL ? json_text(one, NULL) : "(none)");

	json_object_put(all);
	return text;
}

static void is_told(const char *guest, const char *want, const char *what)
{
	char *text = told(guest);

	is_str(text, want, "%s", what);
	free(text);
}

TEST(told)
{
	start(false);
	it.r->rounds.given = 3;
	it.r->rounds.used = 1;
	ok(remote_waiters_shown(it.r) == NULL,
	   "without guests there is no view for guests");
	hear_guest("guest_waits", 0, "");
	hear_guest("guest_used", 1, "");
	hear_guest("guest_late", 4, "");
	is_told("guest_waits", "{\"waits\":true}", "who waits is told so");
	is_told("guest_used", "{\"used\":true}",
		"who comes with a round that was used is told so");
	is_told("guest_late", "{\"used\":true}",
		"a guest with a round that was never asked is told so");
	hear_guest("guest_comes", 2, "");
	is_told("guest_comes", "{\"waits\":true}",
		"one that is next is heard, and waits");
	is_int(it.r->rounds.used, 2, "a guest's answers use the next round");
	hear_guest("guest_again", 2, "");
	is_told("guest_again", "{\"used\":true}", "for who comes after it");
	hear_guest("guest_comes", 2, "");
	is_told("guest_comes", "{\"waits\":true}",
		"a guest that sends a message twice waits");
	is_int(it.r->remote.n_waiting, 2, "a repeated message counts once");
	is_str(json_object_to_json_string_ext(it.r->remote.heard,
					      JSON_C_TO_STRING_PLAIN),
	       "[\"guest_comes\"]",
	       "the run's row lists the guests with accepted answers");
	stop();
}

TEST(heard_last)
{
	char name[32];

	start(false);
	it.r->rounds.given = 40;
	for (int i = 1; i <= 20; i++) {
		snprintf(name, sizeof(name), "guest_%d", i);
		hear_guest(name, i, "");
	}
	is_int((int64_t)json_length(it.r->remote.heard), 16,
	       "of many that were heard the row names the last");
	is_str(json_object_get_string(
		   json_object_array_get_idx(it.r->remote.heard, 15)),
	       "guest_20", "up to the newest");
	stop();
}

int main(void)
{
	char *dir = help_dir();

	set_up_server();
	ctx.store = help_start(dir, "inst_one");
	tap_run();
	store_stop(ctx.store, HELP_WAIT_MS);
	runs_free(ctx.runs);
	help_remove(dir);
	return done();
}

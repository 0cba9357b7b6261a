/* SPDX-License-Identifier: Apache-2.0 */
/* t_requestor.c - requestors by uid and token, and after a reload. */
#include <stdlib.h>

#include "base/os/log.h"
#include "supervisor/requestor/requestor.h"
#include "tests/unit/tap.h"

/* SHA-256 of "secret-a" and of "secret-b" */
#define HASH_A                                                                 \
	"8766b9cb08e6040b704f1e3ee1e186efccf2635b1d2634d6525333007e6aeae1"
#define HASH_B                                                                 \
	"FF492EF788C89B555E6F738B33D2422F57DBB6656AF2402155672C5F123A90AF"

static struct requestors all;
static struct config *config;

/* Set TEXT as the configuration; did the visible part change? */
static bool configure(const char *text)
{
	struct config *old = config;
	char errmsg[256] = "";
	bool changed;

	config = config_new(0);
	if (config_read_text(config, "f", text, strlen(text), errmsg,
			     sizeof(errmsg)) < 0)
		printf("# %s\n", errmsg);
	changed = requestors_apply(&all, config);
	config_free(old);
	return changed;
}

static struct requestor *of_token(const char *token)
{
	return requestors_of_token(&all, token, strlen(token));
}

static const char *name_of(const struct requestor *q)
{
	return q == NULL ? NULL : q->name;
}

TEST(names)
{
	struct requestor *q;

	configure("");
	q = requestors_of_uid(&all, 7);
	is_str(q->name, "uid:7", "a user without a section");
	ok(requestors_of_uid(&all, 7) == q,
	   "a user without a section is the same requestor again");
	ok(requestors_find(&all, "uid:7") == q,
	   "a user without a section is found by the name of the uid");
	is_str(name_of(of_token("secret-a")), NULL, "no token is known");
	is_str(name_of(requestors_anonymous(&all)), "anonymous",
	       "one may come without");
	ok(requestor_trust(q, TRUST_LOCAL) == TRUST_LOCAL &&
	       requestor_trust(q, TRUST_REMOTE) == TRUST_REMOTE,
	   "trust is the connection's");
	configure("[requestor \"eve\"]\nuid = 7\n");
	is_str(requestors_of_uid(&all, 7)->name, "eve",
	       "a section names a uid");
	ok(!requestor_gone(q),
	   "a requestor is kept when a section names the uid");
	ok(requestors_anonymous(&all) != NULL, "a uid is no token");
}

TEST(tokens)
{
	struct requestor *a, *b;
	int guessed = 0;

	configure("[requestor \"a\"]\ntoken_sha256 = " HASH_A "\n"
		  "trust_level = local\n"
		  "[requestor \"b\"]\ntoken_sha256 = " HASH_B "\nuid = 8\n");
	a = of_token("secret-a");
	b = of_token("secret-b");
	is_str(name_of(a), "a", "a token's owner");
	is_str(name_of(b), "b", "another token has another requestor");
	ok(requestors_of_uid(&all, 8) == b, "who may be a user, too");
	is_str(name_of(of_token("secret-")), NULL, "a prefix is no token");
	is_str(name_of(of_token("secret-aa")), NULL,
	       "a longer text is no token");
	is_str(name_of(of_token("")), NULL, "an empty text is no token");
	is_str(name_of(of_token(HASH_A)), NULL,
	       "the digest of a token is no token");
	for (int i = 0; i < 4096; i++) { /* many begin with the same byte */
		char guess[32];

		snprintf(guess, sizeof(guess), "guess-%d", i);
		guessed += of_token(guess) != NULL;
	}
	is_int(guessed, 0,
	       "a guess with a digest of the same first byte is no token");
	is_str(name_of(requestors_anonymous(&all)), NULL,
	       "nobody may come without a token when one is configured");
	ok(requestor_trust(a, TRUST_REMOTE) == TRUST_LOCAL,
	   "a section's trust_level counts");
	ok(requestor_trust(b, TRUST_REMOTE) == TRUST_REMOTE &&
	       requestor_trust(b, TRUST_LOCAL) == TRUST_LOCAL,
	   "without one, how it connects");
}

TEST(reload)
{
	struct requestor *a = of_token("secret-a"), *b = of_token("secret-b");
	int64_t wait;

	requestor_missed(a);
	ok(!configure("[requestor \"a\"]\ntoken_sha256 = " HASH_A "\n"
		      "trust_level = local\nmax_concurrent_runs = 3\n"
		      "weight = 4\nrate_per_second = 1\n"),
	   "limits alone change nothing that is seen");
	ok(of_token("secret-a") == a, "who stays is the same");
	is_int(a->lane.max_running, 3, "a reload sets the new number of runs");
	is_int(a->lane.weight, 4, "all of them");
	is_int(a->lookups_failed, 1,
	       "a reload keeps the counts of a requestor");
	ok(requestor_take(a, &wait) && !requestor_take(a, &wait),
	   "a rate counts at once");
	is_int(a->rate_limited, 1, "who was refused is counted");
	is_str(name_of(of_token("secret-b")), NULL,
	       "a removed section's token is good no more");
	ok(requestor_gone(b), "a requestor without a section is gone");
	is_str(requestors_of_uid(&all, 8)->name, "uid:8",
	       "the user of a removed section is an unnamed user");
	ok(configure("[requestor \"a\"]\ntoken_sha256 = " HASH_B "\n"
		     "templates = echo\n"),
	   "what is seen has changed");
	is_str(name_of(of_token("secret-a")), NULL, "a token is replaced");
	ok(of_token("secret-b") == a, "the new token has the same requestor");
	configure("[requestor \"b\"]\nuid = 8\n");
	ok(!requestor_gone(b) && requestors_of_uid(&all, 8) == b,
	   "who comes back is who was there");
}

TEST(templates)
{
	struct requestor *q;

	configure(
	    "[requestor \"a\"]\nuid = 1\ntemplates = echo  csv_profile\n");
	q = requestors_of_uid(&all, 1);
	ok(requestor_sees(q, "echo") && requestor_sees(q, "csv_profile"),
	   "a requestor sees listed templates");
	ok(!requestor_sees(q, "ech") && !requestor_sees(q, "echo_") &&
	       !requestor_sees(q, "csv") && !requestor_sees(q, ""),
	   "a requestor does not see templates with similar names");
	ok(requestor_sees(requestors_of_uid(&all, 2), "any"),
	   "without a list, all");
}

TEST(browser_tools)
{
	const struct requestor *a, *b, *c;

	configure("[requestor \"a\"]\nuid = 1\ntemplates = echo\n"
		  "[requestor \"b\"]\nuid = 2\ntemplates = echo\n"
		  "browser_tools = all\n"
		  "[requestor \"c\"]\nuid = 3\nbrowser_tools = none\n");
	a = requestors_of_uid(&all, 1);
	b = requestors_of_uid(&all, 2);
	c = requestors_of_uid(&all, 3);
	ok(!requestor_uses(a, "click"), "who has templates has no page");
	ok(requestor_uses(b, "click"),
	   "a requestor with listed browser tools has pages");
	ok(!requestor_uses(c, "click"),
	   "a requestor without listed tools may use no page tool");
	ok(requestor_uses(requestors_of_uid(&all, 4), "click"),
	   "without a word of either, all");
	ok(configure("[requestor \"a\"]\nuid = 1\ntemplates = echo\n"
		     "browser_tools = press_key navigate\n"),
	   "what it sees has changed");
	ok(requestor_uses(a, "press_key") && requestor_uses(a, "navigate"),
	   "a requestor may use listed browser tools");
	ok(!requestor_uses(a, "press") && !requestor_uses(a, "click"),
	   "a requestor may use no browser tool that is not listed");
	ok(requestor_sees(a, "echo") && !requestor_sees(a, "navigate"),
	   "a tool is no template");
}

TEST(usage)
{
	struct requestor *q;
	int64_t last = 0;

	configure("[requestor \"a\"]\nuid = 1\nartifact_bytes = 100\n"
		  "cpu_seconds_per_hour = 2\n");
	q = requestors_of_uid(&all, 1);
	requestor_set_usage(q, 60, 0);
	ok(requestor_has_room(q, 40) && !requestor_has_room(q, 41),
	   "there is room for what is left");
	requestor_keep(q, 30);
	ok(!requestor_has_room(q, 11), "what is on its way counts");
	requestor_set_usage(q, 50, 0);
	is_int(requestor_kept(q), 80,
	       "bytes on the way are not in the count of the store");
	requestor_kept_one(q, 30, true);
	is_int(requestor_kept(q), 80,
	       "bytes count once when the store has them");
	requestor_keep(q, 20);
	requestor_kept_one(q, 20, false);
	is_int(requestor_kept(q), 80, "what failed counts no more");
	is_int(requestor_stored(q), 80 + 8192,
	       "each artifact takes more of the store than its bytes");
	configure("[requestor \"a\"]\nuid = 1\nstore_bytes = 16474\n"
		  "cpu_seconds_per_hour = 2\n");
	ok(requestor_has_room(q, 10) && !requestor_has_room(q, 11),
	   "a requestor has room only if the store's own part fits");
	requestor_asks_usage(q);
	requestor_row(q, 100);
	requestor_set_usage(q, 50, 500);
	is_int(requestor_stored(q), 50 + 500 + 100,
	       "a row written while it is counted counts beside that");
	requestor_asks_usage(q);
	requestor_set_usage(q, 50, 600);
	is_int(requestor_stored(q), 50 + 600,
	       "the sum of the store replaces the own count");
	requestor_set_usage(q, 80, 8192);
	requestor_charge(q, 1998);
	ok(!q->lane.held, "CPU time below the limit");
	requestor_charge(q, 0);
	ok(q->lane.held, "at the limit its queue rests");
	is_int(requestor_cpu_ms(q), 2000, "a begun millisecond counts whole");
	configure("[requestor \"a\"]\nuid = 1\ncpu_seconds_per_hour = 3\n");
	ok(!q->lane.held, "a requestor is not held when the limit is raised");
	configure("[requestor \"a\"]\nuid = 1\ncpu_seconds_per_hour = 2\n"
		  "artifact_bytes = 90\nstore_bytes = 24000\n");
	ok(q->lane.held,
	   "a requestor is held again when the CPU limit is lowered");
	configure("");
	requestor_hold(q);
	ok(requestor_gone(q) && q->lane.held,
	   "who has no section any more is held to what it said");
	ok(requestor_cpu_wait(q) > 0 && requestor_has_room(q, 10) &&
	       !requestor_has_room(q, 11),
	   "a requestor without a section keeps the other limits");
	configure("");
	ok(q->lane.held && !requestor_has_room(q, 11),
	   "a requestor without a section is held after another reload");
	ok(requestors_of_uid(&all, 1) != q,
	   "a requestor without a section is found by no user id");
	configure("[requestor \"a\"]\nuid = 1\ncpu_seconds_per_hour = 3\n");
	ok(!q->lane.held && requestor_has_room(q, 11),
	   "a requestor with a section again is not held");
	requestor_polled(q, &last, 100000);
	requestor_polled(q, &last, 0);
	is_int(q->overpolls, 0, "a first look, and one in time");
	requestor_polled(q, &last, 100000);
	is_int(q->overpolls, 1, "one too early is counted");
}

TEST(left)
{
	struct requestor *q;
	size_t before;

	configure("");
	q = requestors_of_uid(&all, 77);
	before = requestors_left(&all);
	q->uploads = 1;
	memory_add(&q->memory, 10);
	q->lane.running = 2;
	is_int((int)(requestors_left(&all) - before), 3,
	       "each counter that was not brought back to zero is told");
	memory_give(&q->memory, 11);
	q->uploads = q->lane.running = 0;
	is_int((int)(requestors_left(&all) - before), 1,
	       "a counter below zero is reported");
	memory_add(&q->memory, 1);
	is_int((int)(requestors_left(&all) - before), 0,
	       "a counter that was brought back to zero is not reported");
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tap_run();
	requestors_fini(&all);
	config_free(config);
	return tap_done();
}

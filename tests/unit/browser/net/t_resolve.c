/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of name look-ups: no session and no requestor may keep another from a turn.
 * The test plays the resolver process.
 */
#include "browser/net/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define MANY 400

static struct event_base *base;
static struct resolver *r;
static int peer; /* the process's end */
static unsigned answered, failed, lost;

static void on_done(void *arg, const union resolver_address *list, unsigned n,
		    const char *error)
{
	(void)arg;
	answered++;
	failed += n == 0;
	if ((n == 0) != (error != NULL) || (n == 0) != (list == NULL))
		abort();
}

static void on_lost(void *arg)
{
	(void)arg;
	lost++;
}

static void begin(bool alone)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		abort();
	base = event_base_new();
	r = resolver_new(base, ends[0], alone, on_lost, NULL);
	peer = ends[1];
	answered = failed = lost = 0;
}

static void end(void)
{
	resolver_free(r);
	event_base_free(base);
	close(peer);
}

static struct lookup *ask(const char *requestor, uint32_t proxy_ip,
			  const char *host)
{
	const struct resolve_for who = {requestor, proxy_ip};

	return resolve(r, &who, host, on_done, NULL);
}

/* The next order to the resolver process; id 0: no order. */
static struct resolver_order order(void)
{
	struct resolver_order o = {0};

	if (recv(peer, &o, sizeof(o), MSG_DONTWAIT) != sizeof(o))
		o.id = 0;
	return o;
}

static unsigned orders(void)
{
	unsigned n = 0;

	while (order().id != 0)
		n++;
	return n;
}

static void answer(uint32_t id, int error, uint32_t n)
{
	struct resolver_answer a = {.id = id, .error = error, .n = n};

	a.all[0].any.sa_family = AF_INET;
	(void)!send(peer, &a, sizeof(a), 0);
	event_base_loop(base, EVLOOP_NONBLOCK);
}

static unsigned ask_many(const char *requestor, uint32_t proxy_ip)
{
	unsigned n = 0;

	while (n < MANY && ask(requestor, proxy_ip, "a.example") != NULL)
		n++;
	return n;
}

TEST(turns)
{
	struct resolver_order o;

	begin(false);
	is_int(ask_many("greedy", 1), 68,
	       "a session may have 68 names waiting or in progress");
	is_int(orders(), 4, "four names of a session are looked up at once");
	is_int(ask_many("greedy", 2), 68,
	       "a second session of the requestor may have 68 names, too");
	is_int(orders(), 4,
	       "four names of the second session are looked up at once");
	for (uint32_t proxy_ip = 3; proxy_ip < 20; proxy_ip++)
		ask_many("greedy", proxy_ip);
	is_int(orders(), 6,
	       "all sessions of a requestor have 14 of 16 look-ups");
	ok(ask("modest", 50, "b.example") != NULL,
	   "another requestor's name is accepted");
	o = order();
	is_str(o.host, "b.example",
	       "the other requestor's name is looked up at once");
	answer(o.id, 0, 1);
	is_int(answered, 1, "the other requestor's name is answered");
	is_int(failed, 0, "the other requestor's name has an address");
	ok(ask("modest", 50, "c.example") != NULL &&
	       ask("modest", 50, "d.example") != NULL,
	   "two further names of the other requestor are accepted");
	is_int(orders(), 1, "one of the further names is looked up at once");
	answer(1, EAI_AGAIN, 0);
	is_int(failed, 1, "a look-up of the first requestor fails");
	o = order();
	is_str(o.host, "d.example",
	       "a free place goes to the requestor with the fewest look-ups");
	end();
}

TEST(leaving)
{
	struct lookup *all[8];
	struct resolver_order o;

	begin(true);
	for (int i = 0; i < 8; i++)
		all[i] = ask("a", 1, i < 4 ? "first.example" : "then.example");
	is_int(orders(), 4, "four are looked up, four wait");
	for (int i = 4; i < 7; i++)
		resolve_cancel(all[i]);
	is_int(orders(), 0, "of those that wait the process need not hear");
	resolve_cancel(all[0]);
	o = order();
	ok(o.id == 1 && o.look_up == 0,
	   "a cancelled look-up in progress is called off");
	is_int(orders(), 0,
	       "the place of a cancelled look-up is not free before its end");
	answer(1, EAI_AGAIN, 0);
	is_int(answered, 0, "a cancelled look-up has no answer");
	is_str(order().host, "then.example",
	       "the waiting name is looked up after the end");
	is_int(orders(), 0, "no further name is looked up");
	end();
}

TEST(answers)
{
	begin(true);
	is_int(ask_many("a", 1), 68,
	       "the bound of a session holds for a single requestor");
	orders();
	answer(99, 0, 1);
	is_int(answered, 0, "an answer without a look-up is ignored");
	answer(1, 0, RESOLVER_ADDRESSES + 1);
	is_int(failed, 1, "an answer with too many addresses is a failure");
	answer(2, 0, 0);
	is_int(failed, 2, "an answer without addresses is a failure");
	answer(3, EAI_NONAME, 1);
	is_int(failed, 3, "an answer with an error is a failure");
	answer(4, 0, RESOLVER_ADDRESSES);
	is_int(failed, 3, "an answer with the most addresses is no failure");
	(void)!send(peer, "x", 1, 0);
	event_base_loop(base, EVLOOP_NONBLOCK);
	is_int(lost, 1, "a malformed message ends the resolver");
	event_base_loop(base, EVLOOP_NONBLOCK);
	is_int(lost, 1, "the end of the resolver is reported once");
	end();
}

TEST(numbers)
{
	static const struct {
		const char *host;
		int family;
	} numbers[] = {{"127.0.0.1", AF_INET},
		       {"0x7f.1", AF_INET},
		       {"2130706433", AF_INET},
		       {"::1", AF_INET6},
		       {"::ffff:1.2.3.4", AF_INET6},
		       {"a.example", 0},
		       {"1.2.3.4.5", 0},
		       {"fe80::1%lo", 0},
		       {"", 0}};
	union resolver_address a;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		ok(resolve_number(numbers[i].host, &a)
		       ? a.any.sa_family == numbers[i].family
		       : numbers[i].family == 0,
		   "\"%s\" is %s", numbers[i].host,
		   numbers[i].family == 0 ? "no address" : "an address");
}

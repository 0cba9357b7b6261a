/* SPDX-License-Identifier: Apache-2.0 */
/* t_fair_queue.c - the order in which messages of connections are handled. */
#include "supervisor/requestor/fair_queue.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

static struct fair_queue turns;
static struct event_base *base;
/* a letter for each message, in the order of handling */
static char seen[4096];

static void note(char c)
{
	size_t n = strlen(seen);

	if (n + 1 < sizeof(seen))
		seen[n] = c;
}

/* A connection with LEFT ready messages. */
struct client {
	char name;
	int left;
	int64_t busy_us; /* the time which a message keeps the loop */
	struct fair_queue_flow *lane;
	struct fair_queue_turn turn;
};

static void on_turn(void *arg)
{
	struct client *c = arg;
	int64_t until = clock_mono_us() + c->busy_us;

	note(c->name);
	while (clock_mono_us() < until)
		;
	if (--c->left > 0)
		fair_queue_requeue(&turns, c->lane, &c->turn);
}

static void ready(struct client *c)
{
	c->turn = (struct fair_queue_turn){.take = on_turn, .arg = c};
	fair_queue_submit(&turns, c->lane, &c->turn);
}

/* The number of looks at a descriptor, which is readable from the start. */
static int looks;

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	looks++;
	note('.');
}

static void begin(struct fair_queue_flow *lanes, size_t n)
{
	base = event_base_new();
	fair_queue_init(&turns, base);
	for (size_t i = 0; i < n; i++)
		fair_queue_flow_init(&lanes[i]);
	memset(seen, 0, sizeof(seen));
}

static void end(void)
{
	fair_queue_fini(&turns);
	event_base_free(base);
}

static void run(void)
{
	while (turns.n_lanes > 0)
		event_base_loop(base, EVLOOP_ONCE);
}

/* How many of A there are before the first B. */
static size_t before(char a, char b)
{
	const char *end = strchr(seen, b);
	size_t n = 0;

	for (const char *p = seen; end != NULL && p < end; p++)
		n += *p == a;
	return end != NULL ? n : SIZE_MAX;
}

TEST(flood)
{
	struct fair_queue_flow lanes[2];
	struct client flood = {'f', 1000, 0, &lanes[0], {0}};
	struct client other = {'o', 1, 0, &lanes[1], {0}};

	begin(lanes, 2);
	ready(&flood);
	ready(&other);
	run();
	is_int((long long)before('f', 'o'), 2,
	       "of a thousand messages one alone comes before another's that "
	       "came after the first");
	is_int((long long)strlen(seen), 1001,
	       "each message of a flood is handled");
	end();

	begin(lanes, 1);
	flood.left = 3;
	other = (struct client){'o', 3, 0, &lanes[0], {0}};
	ready(&flood);
	ready(&other);
	run();
	is_str(seen, "ffofoo", "connections of one requestor take turns, too");
	end();
}

/*
 * Ten connections of one requestor get as many turns as the single connection of the
 * other.
 */
TEST(many)
{
	struct fair_queue_flow lanes[2];
	struct client many[10];
	struct client one = {'o', 3, 0, &lanes[1], {0}};
	struct client first = {'f', 2, 0, &lanes[0], {0}};

	begin(lanes, 2);
	ready(&first); /* now a message waits, so all later messages wait too */
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		many[i] = (struct client){'m', 3, 0, &lanes[0], {0}};
		ready(&many[i]);
	}
	ready(&one);
	run();
	is_int(
	    (long long)before('m', 'o'), 0,
	    "one requestor's ten connections are one turn, as another's one");
	is_int((long long)strlen(seen), 2 + 30 + 3, "all are served");
	end();
}

TEST(looks)
{
	struct fair_queue_flow lanes[1];
	struct client flood = {'f', 50, 0, &lanes[0], {0}};
	struct event *look;
	int ends[2];
	bool looked = true;

	begin(lanes, 1);
	if (pipe(ends) < 0 || write(ends[1], "x", 1) != 1)
		abort();
	look = event_new(base, ends[0], EV_READ | EV_PERSIST, on_look, NULL);
	event_add(look, NULL);
	ready(&flood);
	run();
	for (const char *p = seen; *p != '\0'; p++)
		if (p[0] == 'f' && p[1] == 'f')
			looked = false;
	ok(looked && looks >= 49,
	   "the loop looks at all others between any two messages of one");
	event_free(look);
	close(ends[0]), close(ends[1]);
	end();
}

static struct client dear[3];

static void on_all(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	for (size_t i = 0; i < ARRAY_LEN(dear); i++)
		ready(&dear[i]);
}

/* A single message may be expensive: the loop then polls after each message. */
TEST(dear)
{
	static const struct timeval now = {0};
	struct fair_queue_flow lanes[3];
	struct event *look;
	int ends[2];

	begin(lanes, 3);
	if (pipe(ends) < 0 || write(ends[1], "x", 1) != 1)
		abort();
	look = event_new(base, ends[0], EV_READ | EV_PERSIST, on_look, NULL);
	event_add(look, NULL);
	for (size_t i = 0; i < 3; i++)
		dear[i] = (struct client){
		    'd', 1, FAIR_QUEUE_ROUND_US + 100, &lanes[i], {0}};
	event_base_once(base, -1, EV_TIMEOUT, on_all, NULL, &now);
	event_base_loop(base, EVLOOP_ONCE);
	run();
	ok(strstr(seen, "dd") == NULL && before('d', '\0') == 3,
	   "after what took long the loop looks at others");
	event_free(look);
	close(ends[0]), close(ends[1]);
	end();
}

static struct client gone = {'g', 1, 0, NULL, {0}};

static void take_and_go(void *arg)
{
	struct client *c = arg;

	note(c->name);
	fair_queue_cancel(&gone.turn);
}

TEST(leave)
{
	struct fair_queue_flow lanes[2];
	struct client flood = {'f', 2, 0, &lanes[0], {0}};
	struct client goer = {'x', 1, 0, &lanes[0], {0}};

	begin(lanes, 2);
	ready(&flood);
	goer.turn = (struct fair_queue_turn){.take = take_and_go, .arg = &goer};
	fair_queue_submit(&turns, &lanes[0], &goer.turn);
	gone.lane = &lanes[1];
	ready(&gone);
	fair_queue_cancel(&gone.turn);
	ready(&gone);
	fair_queue_cancel(&gone.turn);
	fair_queue_cancel(&gone.turn);
	gone.lane = &lanes[0];
	ready(&gone);
	run();
	is_str(seen, "ffx", "who leaves has no turn, though his was next");
	is_int((long long)turns.n_lanes, 0, "nobody waits");
	end();
}

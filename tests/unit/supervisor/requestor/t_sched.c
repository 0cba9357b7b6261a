/* SPDX-License-Identifier: Apache-2.0 */
/* t_sched.c - deficit round robin: shares, limits, and items put back. */
#include <stdlib.h>

#include "supervisor/requestor/sched.h"
#include "tests/unit/tap.h"

#define MANY 10000

static struct sched sched;
static struct sched_lane a, b, c;
static struct sched_item items[2 * MANY];
static size_t n_items;

static void begin(void)
{
	sched_init(&sched);
	sched_lane_init(&a);
	sched_lane_init(&b);
	sched_lane_init(&c);
	memset(items, 0, sizeof(items));
	n_items = 0;
}

static struct sched_item *put(struct sched_lane *lane)
{
	struct sched_item *item = &items[n_items++];

	item->bytes = 10;
	sched_put(&sched, lane, item);
	return item;
}

static void put_n(struct sched_lane *lane, size_t n)
{
	while (n-- > 0)
		put(lane);
}

/* Start the next item; returns the lane: 'a', 'b', 'c', or '-' for none. */
static char start(void)
{
	struct sched_item *item = sched_next(&sched);
	struct sched_lane *lane;

	if (item == NULL)
		return '-';
	lane = item->lane;
	sched_start(&sched, item);
	return "abc"[lane == &a ? 0 : lane == &b ? 1 : 2];
}

/* Start N items, each after the end of the item before. */
static const char *turns(size_t n)
{
	static char text[64];

	for (size_t i = 0; i < n; i++) {
		text[i] = start();
		text[i + 1] = '\0';
		if (text[i] != '-')
			sched_over(&sched, text[i] == 'a'   ? &a
					   : text[i] == 'b' ? &b
							    : &c);
	}
	return text;
}

TEST(order)
{
	struct sched_item *first, *second;

	begin();
	ok(sched_next(&sched) == NULL, "nobody waits: nobody is next");
	ok(sched_is_clear(&sched, &a, 0, 0),
	   "the way is clear where nobody waits");
	first = put(&a);
	second = put(&a);
	ok(sched_next(&sched) == first, "a lane is first in, first out");
	ok(!sched_is_clear(&sched, &b, 0, 0), "who comes now is not next");
	sched_start(&sched, first);
	ok(sched_next(&sched) == second,
	   "the second item is next when the first has started");
	is_int(sched.queued, 1, "one waits");
	is_int(sched.running, 1, "one runs");
	is_int(a.queued, 1, "of that lane, too");
	is_int(a.running, 1, "each");
	is_int(sched.queued_bytes, 10,
	       "the bytes of a queued item are counted");
	sched_start(&sched, second);
	sched_over(&sched, &a);
	sched_over(&sched, &a);
	is_int(sched.queued + sched.running + a.queued + a.running, 0,
	       "all are over");
	is_int(sched.queued_bytes + a.queued_bytes, 0, "no byte waits");
}

TEST(weights)
{
	begin();
	put_n(&a, 20);
	put_n(&b, 20);
	is_str(turns(8), "abababab", "equal weights alternate");
	b.weight = 3;
	is_str(turns(12), "abbbabbbabbb", "weights 1:3 give turns 1:3");
	b.weight = 1;
	is_str(turns(4), "abab", "a weight that changes counts from then on");
}

TEST(starving)
{
	size_t n = 0;

	begin();
	put_n(&a, MANY);
	is_str(turns(2), "aa", "alone it has all turns");
	put(&b);
	is_str(turns(3), "aba", "ten thousand delay another's one by one turn");
	a.weight = 1000;
	put_n(&c, 1);
	while (n <= 1001 && start() != 'c')
		n++;
	ok(n <= 1000, "a weight of 1000 delays by no more than 1000 turns");
}

TEST(deficit)
{
	begin();
	a.weight = 5;
	put_n(&a, 2);
	put_n(&b, 2);
	is_str(turns(3), "aab", "who runs out of items gives the turn away");
	put_n(&a, 7);
	is_str(turns(8), "baaaaaaa", "a lane keeps no turn for later");
	put_n(&a, 7);
	put_n(&b, 1);
	is_str(turns(8), "aaaaabaa", "a new round is a whole round, no more");
}

TEST(remove)
{
	struct sched_item *one, *two, *three;

	begin();
	one = put(&a);
	two = put(&a);
	three = put(&a);
	put(&b);
	sched_remove(&sched, two);
	is_int(sched.queued, 3, "one was removed from the middle");
	ok(two->lane == NULL, "a removed item is in no lane");
	ok(sched_next(&sched) == one, "the first stays the first");
	sched_start(&sched, one);
	is_str(turns(1), "b", "the other's turn");
	ok(sched_next(&sched) == three,
	   "the third item is next after a removed one");
	sched_remove(&sched, three);
	is_str(turns(1), "-", "the last one removed: nobody waits");
	is_int(sched.queued_bytes, 0, "an empty queue has no bytes");
	put_n(&a, 1);
	put_n(&b, 1);
	is_str(turns(2), "ab", "the lane is as good as new");
}

TEST(kinds)
{
	struct sched_item *other, *one;

	begin();
	items[n_items].kind = 1;
	other = put(&a);
	one = put(&a);
	sched.waits = 1u << 1;
	ok(sched_next(&sched) == one, "a kind that waits is passed over");
	ok(!sched_is_clear(&sched, &b, 0, 0), "who comes now is not next");
	sched_start(&sched, one);
	ok(sched_next(&sched) == NULL, "nobody else may start");
	ok(sched_is_clear(&sched, &b, 0, 0),
	   "the way is clear when the waiting kind has started");
	ok(!sched_is_clear(&sched, &b, 1, 0),
	   "the way is clear for another kind");
	sched_put_back(&sched, &a, one);
	sched.waits = 1u << 0;
	ok(sched_next(&sched) == other, "another kind is not held up");
	sched.waits = 0;
	ok(sched_next(&sched) == one,
	   "the order is as before when no kind waits");
}

TEST(limit)
{
	begin();
	a.max_running = 1;
	put_n(&a, 3);
	put_n(&b, 3);
	ok(start() == 'a' && start() == 'b' && start() == 'b' && start() == 'b',
	   "who is at its limit is passed over");
	ok(start() == '-', "a lane at the limit has no turn though items wait");
	ok(!sched_is_clear(&sched, &a, 0, 0), "one more of it would wait");
	ok(sched_is_clear(&sched, &c, 0, 0),
	   "the way is clear for another lane");
	sched_over(&sched, &a);
	put_n(&b, 1);
	ok(start() == 'a', "a lane at the limit keeps its place in the round");
	a.max_running = 2;
	ok(start() == 'b' && start() == 'a', "a wider limit counts at once");
}

TEST(held)
{
	begin();
	put_n(&a, 2);
	put_n(&b, 1);
	a.held = true;
	ok(start() == 'b' && start() == '-', "who is held has no turn");
	ok(!sched_is_clear(&sched, &a, 0, 0),
	   "the way is not clear for a held lane");
	a.held = false;
	ok(start() == 'a', "a lane that is held no more has the turn");
}

TEST(put_back)
{
	struct sched_item *item;

	begin();
	put_n(&a, 3);
	put_n(&b, 3);
	item = sched_next(&sched);
	sched_start(&sched, item);
	sched_put_back(&sched, &a, item);
	ok(sched_next(&sched) == item, "what is put back is next");
	is_int(sched.running + a.running, 0,
	       "an item that was put back does not run");
	is_str(turns(6), "ababab", "an item that was put back cost no turn");
	item = put(&a);
	sched_start(&sched, item);
	put(&b);
	sched_put_back(&sched, &a, item);
	is_str(turns(2), "ab",
	       "the only item of a lane costs no turn when it is put back");
}

TEST(put_first)
{
	struct sched_item first = {.kind = 3}, second = {.kind = 3};

	begin();
	put_n(&a, 2);
	put(&b);
	sched_put_first(&sched, &a, &first);
	sched_put_first(&sched, &a, &second);
	is_int(sched.queued, 5, "what comes first waits as well");
	ok(sched_next(&sched) == &first,
	   "an item put first is before older items of the lane");
	start();
	ok(start() == 'b',
	   "an item put first does not pass other lanes' turns");
	ok(sched_next(&sched) == &second,
	   "a second item put first is behind the first");
	sched_remove(&sched, &second);
	begin();
	a.max_running = 1;
	ok(sched_has_room(&sched, &a, 0), "a lane where nothing runs has room");
	put_n(&a, 2);
	start();
	ok(!sched_has_room(&sched, &a, 0), "a lane at the limit has no room");
	sched_over(&sched, &a);
	ok(sched_has_room(&sched, &a, 0),
	   "a lane below the limit has room, whoever waits");
}

TEST(put_back_weighed)
{
	struct sched_item *item;

	begin();
	a.weight = 2;
	put_n(&a, 8);
	put_n(&b, 4);
	item = sched_next(&sched);
	sched_start(&sched, item);
	sched_put_back(&sched, &a, item);
	is_str(turns(6), "aabaab",
	       "a lane with a weight keeps the turns of the round");
	is_str(turns(1), "a", "in mid-round");
	item = sched_next(&sched);
	sched_start(&sched, item);
	sched_put_back(&sched, &a, item);
	is_str(turns(4), "abaa",
	       "a lane keeps the turns of the round when an item is put back");
}

TEST(share_of_deep_items)
{
	begin();
	a.max_running = 1;
	a.share = 0;
	ok(!sched_has_room(&sched, &a, 0),
	   "a lane without a share starts nothing");
	ok(sched_has_room(&sched, &a, 1),
	   "an item that another server's item waits for needs no share");
	sched_again(&sched, &a);
	ok(!sched_has_room(&sched, &a, 1), "one such item runs at a time");
	sched_over(&sched, &a);
}

TEST(shared)
{
	begin();
	put_n(&a, 9);
	put_n(&b, 9);
	b.held = true;
	sched.places = 5;
	sched.known = 2;
	for (int i = 0; i < 4; i++)
		start();
	is_int(a.running, 4, "of five places one lane leaves one to another");
	ok(start() == '-' && !sched_is_clear(&sched, &a, 0, 0),
	   "the fifth place is for nobody but the lane without places");
	b.held = false;
	ok(start() == 'b', "the lane without places takes the fifth");
	sched_over(&sched, &a);
	ok(start() == 'b',
	   "a lane below the fair part takes the next free place");
	sched_over(&sched, &b);
	sched_over(&sched, &a);
	while (start() != '-')
		;
	ok(a.running == 3 && b.running == 2,
	   "the fair parts stay, whoever's turn comes");

	begin();
	put_n(&a, 9);
	put_n(&b, 1);
	sched.places = 5;
	sched.known = 2;
	ok(start() == 'a' && start() == 'b' && start() == 'a',
	   "who has less than a fair part takes what is free");
	ok(start() == 'a' && start() == '-',
	   "who has that leaves a place to who has less");
	put_n(&b, 2);
	ok(start() == 'b' && start() == '-',
	   "a lane below the fair part takes the place left free");

	begin();
	put_n(&a, 99);
	sched.places = 50;
	sched.known = 30;
	while (sched.running < 50 && start() != '-')
		;
	is_int(a.running, 45, "to many at most a tenth is left");
	begin();
	put_n(&a, 9);
	sched.places = 5;
	sched.known = 2;
	a.max_running = 5;
	while (start() != '-')
		;
	is_int(a.running, 5, "a limit of its own counts instead");
	begin();
	put_n(&a, 9);
	sched.places = 1;
	sched.known = 2;
	ok(start() == 'a', "the only place is had");
	begin();
	put_n(&a, 9);
	sched.places = 9;
	sched.known = 1;
	for (int i = 0; i < 9; i++)
		start();
	is_int(a.running, 9, "who is alone leaves nothing");
}

/* Put an item of LEVEL into LANE, with MOST places in all. */
static struct sched_item *put_level(struct sched_lane *lane, unsigned level,
				    size_t most)
{
	struct sched_item *item = put(lane);

	item->level = level;
	sched.least = sched_least(&sched, most);
	return item;
}

TEST(levels)
{
	struct sched_item *child;

	begin();
	put_level(&a, 0, 1);
	start();
	is_int(sched_least(&sched, 1), SCHED_LEVELS,
	       "the only place is taken, for items of all levels");
	sched_lend(&sched, &a, 0);
	is_int(sched_least(&sched, 1), 1,
	       "a lent place is for items of higher levels");
	is_int((int)sched_begun(&sched, 0), 1, "an item that lends has begun");
	is_int((int)sched_begun(&sched, 1), 0,
	       "an item that lends is below the next level");
	put_level(&b, 0, 1);
	ok(start() == '-',
	   "an item of the same level does not take a lent place");
	ok(!sched_is_clear(&sched, &b, 0, 0) &&
	       sched_is_clear(&sched, &b, 0, 1),
	   "the way is clear for higher levels alone");
	child = put_level(&a, 1, 1);
	ok(sched_next(&sched) == child,
	   "an item of a higher level passes items that wait before");
	start();
	sched_lend(&sched, &a, 1);
	is_int(sched_least(&sched, 1), 2, "a lent place is lent once more");
	sched_take_back(&sched, &a, 1);
	sched_over(&sched, &a);
	sched_take_back(&sched, &a, 0);
	is_int((int)(sched.running + sched.lent[0] + sched.lent[1]), 1,
	       "a place taken back is lent no more");
	sched_over(&sched, &a);
	sched.least = sched_least(&sched, 1);
	ok(start() == 'b', "the place is free after the item that had lent it");
}

TEST(levels_of_lane)
{
	begin();
	a.max_running = 1;
	put_level(&a, 0, 5);
	put_level(&a, 0, 5);
	start();
	sched_lend(&sched, &a, 0);
	ok(!sched_has_room(&sched, &a, 0),
	   "a lane at the limit has no room though it lends");
	ok(sched_has_room(&sched, &a, 1),
	   "the lane has room for a higher level");
	ok(start() == '-', "the second item of the lane waits");
	put_level(&a, 3, 5);
	ok(start() == 'a', "an item of a higher level of the lane does not");
	is_int((int)a.running, 1, "one item of the lane runs");
}

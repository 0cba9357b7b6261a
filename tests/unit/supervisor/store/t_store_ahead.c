/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads that wait together are asked together on PostgreSQL: each read has its own
 * answer, sees the writes before the read, and costs no round trip alone.
 */
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#undef store_start

#define READS 100

static struct store_run runs[READS];

/* Count the ANSWERS with the right run; every third run does not exist. */
static size_t right(struct store *s, const struct answer *answers)
{
	size_t n = 0;

	for (size_t i = 0; i < READS; i++) {
		help_wait(s, &answers[i]);
		n += i % 3 == 2
			 ? answers[i].rc == -ENOENT
			 : answers[i].rc == 0 &&
			       strcmp(answers[i].ids[0], runs[i].id) == 0;
	}
	return n;
}

static void test_together(const char *dir, struct relay *relay)
{
	struct answer answers[READS] = {0}, end = {0};
	struct store *s = store_start(dir, "inst_reads");
	char *url = relay_url(relay);
	struct help_db *lock;
	size_t before;

	store_set_url(s, url);
	for (size_t i = 0; i < READS; i++) {
		runs[i] = help_run("alice", STORE_SUCCEEDED);
		if (i % 3 != 2)
			help_put(s, &runs[i], STORE_SYNC);
	}
	lock = help_hold(dir, s);
	for (size_t i = 0; i < READS; i++)
		store_get_run(s, "alice", runs[i].id, help_done, &answers[i]);
	before = relay_requests(relay);
	help_unlock(lock);
	is_int((int64_t)right(s, answers), READS,
	       "each read has the right answer");
	ok(relay_requests(relay) - before < READS / 2,
	   "waiting reads are sent together");
	for (size_t i = 0; i < READS; i++)
		help_clear(&answers[i]);
	memset(answers, 0, sizeof(answers));

	lock = help_hold(dir, s);
	for (size_t i = 0; i < READS; i++) {
		runs[i] = help_run("alice", STORE_SUCCEEDED);
		if (i % 3 != 2)
			store_put_run(s, &runs[i], STORE_RETRY, help_done,
				      &end);
		store_get_run(s, "alice", runs[i].id, help_done, &answers[i]);
	}
	help_unlock(lock);
	is_int((int64_t)right(s, answers), READS,
	       "each sees what was written before it, and no other's");
	for (size_t i = 0; i < READS; i++)
		help_clear(&answers[i]);
	free(url);
	store_stop(s, 10000);
}

int main(void)
{
	struct relay *relay;
	char *dir, *url;

	if (!help_is_postgres()) {
		printf("1..0 # SKIP tests/tools/with-postgres is not beside\n");
		return 0;
	}
	dir = help_dir();
	url = help_url(dir);
	relay = relay_start(dir, url);
	test_together(dir, relay);
	relay_stop(relay);
	free(url);
	help_remove(dir);
	return tap_done();
}

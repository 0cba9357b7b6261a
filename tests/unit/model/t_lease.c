/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders of the steps of lease_fixture.h by two nodes and a database, all orders with
 * the allowed number of faults: the rules must hold in each reachable state, and a
 * broken rule must be detected.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/model/lease_fixture.h"
#include "tests/unit/tap.h"

#define STATES_MAX (1U << 22)
#define SLOTS (STATES_MAX * 2)
#define TRACE_MAX 100
/* the environment variable PADDOCK_FAULTS has another number */
#define FAULTS 2

/* A state, with the last step of the shortest way to the state. */
struct place {
	struct world world;
	uint32_t from;
	uint8_t step, node;
};

struct search {
	const struct rules *rules;
	struct place *places;
	uint32_t *slots; /* of a place, + 1 */
	uint32_t n;
	const char *wanted; /* NULL: any broken rule */
	const char *wrong;
};

static uint32_t hash_of(const struct world *w)
{
	const unsigned char *p = (const unsigned char *)w;
	uint64_t hash = 14695981039346656037U;

	for (size_t i = 0; i < sizeof(*w); i++)
		hash = (hash ^ p[i]) * 1099511628211U;
	return (uint32_t)(hash ^ hash >> 32) % SLOTS;
}

/* Add a state; false: the state was known. */
static bool add(struct search *s, const struct world *w, uint32_t from,
		enum step step, int node)
{
	uint32_t at = hash_of(w);

	for (; s->slots[at] != 0; at = (at + 1) % SLOTS)
		if (memcmp(&s->places[s->slots[at] - 1].world, w, sizeof(*w)) ==
		    0)
			return false;
	if (s->n == STATES_MAX) {
		printf("Bail out! more than %u states\n", STATES_MAX);
		exit(1);
	}
	s->places[s->n] = (struct place){
	    .world = *w,
	    .from = from,
	    .step = (uint8_t)step,
	    .node = (uint8_t)node,
	};
	s->slots[at] = ++s->n;
	return true;
}

static void print_way(const struct search *s, uint32_t at)
{
	uint32_t way[TRACE_MAX];
	int n = 0;

	for (; at != 0 && n < TRACE_MAX; at = s->places[at].from)
		way[n++] = at;
	while (n-- > 0)
		printf("#   %c %s\n", "AB"[s->places[way[n]].node],
		       lease_step_names[s->places[way[n]].step]);
}

static void look_at(struct search *s, const struct world *before,
		    const struct world *w)
{
	const char *wrong = lease_wrong(s->rules, before, w);

	if (wrong != NULL &&
	    (s->wanted == NULL || strcmp(wrong, s->wanted) == 0))
		s->wrong = wrong;
}

static void go_on_from(struct search *s, uint32_t at)
{
	for (int step = 0; step < STEPS && s->wrong == NULL; step++)
		for (int n = 0; n < NODES && s->wrong == NULL; n++) {
			struct world w = s->places[at].world;

			if (lease_step(s->rules, &w, (enum step)step, n) &&
			    add(s, &w, at, (enum step)step, n))
				look_at(s, &s->places[at].world, &w);
		}
}

/*
 * The number of states reachable by RULES, up to the first state with WANTED broken
 * (NULL: any rule); *WRONG: the broken rule, or NULL.
 */
static uint32_t explore(const struct rules *rules, const char *wanted,
			const char **wrong)
{
	struct search s = {.rules = rules, .wanted = wanted};
	const char *faults = getenv("PADDOCK_FAULTS");
	struct world first =
	    lease_begin(rules, faults != NULL ? atoi(faults) : FAULTS);

	s.places = xcalloc(STATES_MAX, sizeof(*s.places));
	s.slots = xcalloc(SLOTS, sizeof(*s.slots));
	add(&s, &first, 0, STEP_TICK, 0);
	for (uint32_t at = 0; at < s.n && s.wrong == NULL; at++)
		go_on_from(&s, at);
	*wrong = s.wrong;
	if (s.wrong != NULL)
		print_way(&s, s.n - 1);
	free(s.places);
	free(s.slots);
	return s.n;
}

TEST(as_it_is)
{
	static const struct {
		const char *what;
		struct rules rules;
	} all[] = {
	    {"a run that its node starts", {0}},
	    {"a run that waits", {.queued = true}},
	    {"a run that waits, and may be done again",
	     {.queued = true, .retry = true}},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const char *wrong;
		uint32_t n = explore(&all[i].rules, NULL, &wrong);

		is_str(wrong, NULL, "%s: all holds in each state", all[i].what);
		ok(n > 10000, "the search visits %u states", n);
	}
}

TEST(broken)
{
	static const struct {
		const char *what;
		struct rules rules;
		const char *wrong;
	} all[] = {
	    {"no epoch is checked",
	     {.queued = true, .no_epoch = true},
	     "a run has two ends"},
	    {"a late write of one's own is let through",
	     {.no_number = true},
	     "a run has two ends"},
	    {"workers are killed after the lease of others",
	     {.late_kill = true},
	     "a run was called interrupted while it was done"},
	    {"the own lease begins with the answer",
	     {.age_by_answer = true},
	     "a run was called interrupted while it was done"},
	    {"a write that others do not see renews the own lease",
	     {.queued = true, .age_by_write = true},
	     "a run was called interrupted while it was done"},
	    {"an end whose acknowledgement was lost is not written again",
	     {.end_once = true},
	     "an acknowledged run is lost"},
	    {"who asks again what became of a write is told what it asked",
	     {.queued = true, .asks_once = true},
	     "an acknowledged run is lost"},
	    {"a claim whose acknowledgement was lost is forgotten",
	     {.queued = true, .claim_unknown = true},
	     "an acknowledged run is lost"},
	    {"a run is begun when the lease is over",
	     {.queued = true, .late_start = true},
	     "a run was called interrupted while it was done"},
	    {"a run is begun before it is claimed",
	     {.queued = true, .start_unasked = true},
	     "a run was done twice without being asked for"},
	    {"a run is acknowledged before it is recorded",
	     {.queued = true, .ack_unrecorded = true},
	     "an acknowledged run is lost"},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const char *wrong;
		uint32_t n = explore(&all[i].rules, all[i].wrong, &wrong);

		is_str(wrong, all[i].wrong, "found after %u states: %s", n,
		       all[i].what);
	}
}

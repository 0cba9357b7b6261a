/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and totals of the store, compared with a model in memory. */
#include "supervisor/store/store.h"

#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define RUNS 240
#define DAY_MS INT64_C(86400000)
#define OLDEST_MS (300 * DAY_MS)

static const char *const requestors[] = {"alice", "bob"};
static const char *const templates[] = {"csv", "word_count", "rare"};

static struct store_run model[RUNS]; /* in the order of the ids */
static size_t n_model;

static int64_t now_ms; /* of the start */

static uint32_t seed = 42;

/* The same numbers each time. */
static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 16) % below;
}

static bool matches(const struct store_run *run, const struct store_filter *f)
{
	return strcmp(run->requestor, f->requestor) == 0 &&
	       (f->from == NULL || strcmp(run->id, f->from) >= 0) &&
	       (f->before == NULL || strcmp(run->id, f->before) < 0) &&
	       (f->status < 0 || (int)run->status == f->status) &&
	       (f->template_id == NULL ||
		strcmp(run->template_id, f->template_id) == 0);
}

/* Does A equal the model's result for F? */
static bool agrees(const struct answer *a, const struct store_filter *f)
{
	int64_t total = 0;
	size_t n = 0;

	for (size_t i = n_model; i-- > 0;) {
		if (!matches(&model[i], f))
			continue;
		if (total++ < f->offset || n >= (size_t)f->limit)
			continue;
		if (n >= a->n || strcmp(a->ids[n], model[i].id) != 0 ||
		    a->status[n] != model[i].status)
			return false;
		n++;
	}
	return n == a->n && total == a->total && !a->bulk;
}

static bool check_pages(struct store *s, struct store_filter *f)
{
	static const int limits[] = {1, 7, 100};
	static const int64_t offsets[] = {0, 1, 13, 1000};
	struct answer a = {0};
	bool same = true;

	for (size_t l = 0; l < ARRAY_LEN(limits); l++)
		for (size_t o = 0; o < ARRAY_LEN(offsets); o++) {
			f->limit = limits[l];
			f->offset = offsets[o];
			same =
			    help_list(s, &a, f) == 0 && agrees(&a, f) && same;
		}
	help_clear(&a);
	return same;
}

/* Compare lists between two ids, which need not exist any more. */
static bool check_ranges(struct store *s, struct store_filter f)
{
	bool same = check_pages(s, &f);

	f.from = model[n_model / 4].id;
	same = check_pages(s, &f) && same;
	f.before = model[n_model * 3 / 4].id;
	same = check_pages(s, &f) && same;
	f.from = NULL;
	return check_pages(s, &f) && same;
}

static void check_filters(struct store *s, const char *when)
{
	for (size_t q = 0; q < ARRAY_LEN(requestors); q++)
		for (int t = -1; t < (int)ARRAY_LEN(templates); t++) {
			bool same = true;

			for (int st = -1; st < STORE_STATUSES; st++)
				same =
				    check_ranges(
					s,
					(struct store_filter){
					    .requestor = requestors[q],
					    .status = st,
					    .template_id =
						t < 0 ? NULL : templates[t]}) &&
				    same;
			ok(same, "%s: every page of %s, template %s", when,
			   requestors[q], t < 0 ? "any" : templates[t]);
		}
}

static void add_run(struct store *s)
{
	struct store_run *run = &model[n_model];
	double left = (double)(RUNS - 1 - n_model) / (RUNS - 1);
	char since[ID_SIZE];

	*run = help_run(requestors[draw(4) == 0],
			(enum store_status)draw(STORE_STATUSES));
	run->template_id = templates[draw(30) == 0 ? 2 : draw(2)];
	/* most runs are recent, the other runs are old */
	id_since(since, "run",
		 now_ms - (int64_t)(left * left * left * OLDEST_MS));
	snprintf(run->id, sizeof(run->id), "%.14s%016zu", since, n_model++);
	store_put_run(s, run, STORE_DEFERRED, NULL, NULL);
}

static void change_run(struct store *s)
{
	struct store_run *run = &model[draw((uint32_t)n_model)];

	run->status = (enum store_status)draw(STORE_STATUSES);
	store_put_run(s, run, STORE_DEFERRED, NULL, NULL);
}

static void sweep_some(struct store *s)
{
	size_t retry_queue = 0;

	for (size_t i = 0; i < n_model; i++) {
		model[i].expires_ms = model[i].status < 2 ? 0 : 1 + draw(100);
		store_put_run(s, &model[i], STORE_DEFERRED, NULL, NULL);
	}
	store_sweep(s, 50);
	for (size_t i = 0; i < n_model; i++)
		if (model[i].expires_ms == 0 || model[i].expires_ms > 50)
			model[retry_queue++] = model[i];
	ok(retry_queue > 0 && retry_queue < n_model,
	   "some expire, some do not");
	n_model = retry_queue;
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_l");
	struct answer a = {0};

	now_ms = clock_wall_ms();
	is_int(help_list(s, &a,
			 &(struct store_filter){
			     .requestor = "alice", .status = -1, .limit = 9}),
	       0, "a list of nothing is no error");
	ok(a.n == 0 && a.total == 0, "a list without runs is empty");
	while (n_model < RUNS / 2)
		add_run(s);
	check_filters(s, "inserted");
	while (n_model < RUNS) {
		add_run(s);
		change_run(s);
	}
	check_filters(s, "changed");
	store_stop(s, 10000);
	/* a new instance, so no row is in memory */
	s = store_start(dir, "inst_l");
	sweep_some(s);
	check_filters(s, "swept");
	help_list(s, &a,
		  &(struct store_filter){
		      .requestor = "carol", .status = -1, .limit = 9});
	is_int(a.total, 0, "a requestor without runs has none");
	store_stop(s, 10000);
	help_clear(&a);
	help_remove(dir);
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* runs_fixture.c - see runs_fixture.h. */
#include "tests/unit/supervisor/run/exec/runs_fixture.h"

#include "supervisor/cluster/cluster_table.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables, in which runs are */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

struct runs_fixture it;

void on_notice(struct run_watch *w, struct run *r, const struct run_notice *n)
{
	(void)r;
	it.notices[n->kind]++;
	if (n->kind == NOTICE_RELEASED)
		run_watch_del(w);
}

static void begin_with(struct store *store, bool in_cluster)
{
	static const struct runs_ops ops;

	it.template = (struct template){
	    .id = (char *)"t",
	    .version_text = (char *)"1.0.0",
	    .digest = "d",
	    .users = 100,
	    .retry = {.attempts = 3, .on = RETRY_INTERRUPTED}};
	it.isolation.view = json_object_new_object();
	it.config.state_dir = it.dir;
	it.ctx = (struct context){.base = event_base_new(),
				  .config = &it.config,
				  .requestors = &it.all,
				  .isolation = &it.isolation,
				  .quiet = true, /* there is no spawner */
				  .instance = "inst_one",
				  .store = store};
	if (in_cluster)
		it.ctx.cluster = &cluster_table;
	it.ctx.runs = runs_new(&it.ctx, &ops);
}

void begin(void)
{
	it.dir = help_dir();
	begin_with(help_start(it.dir, "inst_one"), false);
}

void begin_in_cluster(void)
{
	it.dir = help_dir();
	begin_with(help_start(it.dir, "inst_one"), true);
}

void begin_by_relay(void)
{
	struct store *store;
	char *url, *by;

	it.dir = help_dir();
	url = help_url(it.dir);
	it.relay = relay_start(it.dir, url);
	by = relay_url(it.relay);
	store = (store_start)(it.dir, "inst_one");
	store_set_url(store, by);
	free(by);
	free(url);
	begin_with(store, true);
}

void end(void)
{
	store_stop(it.ctx.store, 10000);
	if (it.relay != NULL)
		relay_stop(it.relay);
	it.relay = NULL;
	runs_free(it.ctx.runs);
	event_base_free(it.ctx.base);
	requestors_fini(&it.all);
	json_object_put(it.isolation.view);
	help_remove(it.dir);
}

/* A run which waits on this instance. */
struct run *waiting(void)
{
	struct run *r = run_new(requestors_of_uid(&it.all, 7), &it.template);

	r->inputs = xstrdup("{}");
	r->inputs_len = 2;
	HASH_ADD_STR(it.ctx.runs->by_id, id, r);
	runs_enqueue(it.ctx.runs, r);
	return r;
}

/* Wait until the store has answered all requests so far. */
void answered(void)
{
	struct answer a = {0};

	help_get(it.ctx.store, &a, "nobody", "run_none");
	help_clear(&a);
}

/* The store dispatches until R's end is recorded. */
static void hear_of_store(void)
{
	struct pollfd p = {.fd = store_fd(it.ctx.store), .events = POLLIN};

	if (poll(&p, 1, HELP_WAIT_MS) == 0) {
		printf("Bail out! the end is never recorded\n");
		exit(1);
	}
	store_dispatch(it.ctx.store);
}

void row_written(const struct run *r)
{
	while (!run_end_is_known(r))
		hear_of_store();
}

void recorded(const char *id)
{
	while (runs_by_id(it.ctx.runs, id) != NULL)
		hear_of_store();
}

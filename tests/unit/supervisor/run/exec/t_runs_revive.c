/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_runs_revive.c - rows of a server that is gone: which become runs of this server, in
 * which state, and which it leaves.
 */
#include "supervisor/packages/templates/catalogue.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define RETRY                                                                  \
	"\"annotations\":{\"idempotentHint\":true},\"retry\":{\"attempts\":2," \
	"\"backoffMs\":1000,\"on\":[\"crashed\",\"interrupted\"]}"

static struct store_run row;
static struct runs *runs;

static void begin(const char *config)
{
	const struct template *t;

	server_begin(config);
	server_package("sum", "1.0.0", RETRY);
	server_load();
	server.context.others = true;
	runs = server.context.runs;
	t = catalogue_newest(server.context.catalogue, "sum");
	row = help_run("uid:7", STORE_QUEUED);
	row.template_id = "sum";
	row.version = "1.0.0";
	row.digest = t->digest;
	row.inputs = "{\"a\":1}";
	row.options = NULL;
}

static void end(void)
{
	server_end();
}

static void left(const char *name)
{
	ok(runs_revive(runs, &row) == NULL, "%s is left", name);
	ok(server_run() == NULL, "%s becomes no run", name);
}

TEST(waiting_run)
{
	struct run *r;

	begin(NULL);
	r = runs_revive(runs, &row);
	ok(r != NULL, "a run that waited at another server waits here");
	is_str(r->id, row.id, "a run that is taken over keeps its id");
	is_str(r->inputs, "{\"a\":1}",
	       "a run that is taken over has its inputs");
	is_str(r->requestor->name, "uid:7",
	       "a run that is taken over is its requestor's");
	is_int(r->state, RUN_QUEUED, "a run that had not begun waits");
	is_int((int64_t)run_attempts(r), 0,
	       "a run that had not begun has had no attempt");
	is_int((int64_t)runs_queued(runs), 1,
	       "a run that is taken over counts as waiting");
	ok(runs_by_id(runs, row.id) == r, "a run that is taken over is found");
	end();
}

TEST(running_run)
{
	struct run *r;

	begin(NULL);
	row.options = "{\"attemptStartedAt\":7}";
	r = runs_revive(runs, &row);
	is_int(r->state, RUN_QUEUED, "a run that had begun is tried again");
	is_int((int64_t)run_attempts(r), 1,
	       "the attempt at the other server counts");
	is_str(at(r->attempts.ended, "/0/errorCode"), "RUN_INTERRUPTED",
	       "the attempt at the other server was interrupted");
	is_str(at(r->attempts.ended, "/0/startedAt"), "7",
	       "the attempt at the other server began when its row says");
	end();
}

TEST(run_that_has_had_all_attempts)
{
	struct run *r;
	char id[ID_SIZE];

	begin(NULL);
	snprintf(id, sizeof(id), "%s", row.id);
	row.options = "{\"attemptStartedAt\":7,\"attempts\":[{\"attempt\":1}]}";
	r = runs_revive(runs, &row);
	is_int(r->state, RUN_FAILED, "a run that has had all attempts fails");
	is_str(r->error.code, "RUN_INTERRUPTED",
	       "a run that has had all attempts was interrupted");
	server_until(runs_by_id(runs, id) == NULL);
	end();
}

TEST(rows_that_are_left)
{
	begin(NULL);
	row.inputs = NULL;
	left("a row without inputs");
	row.inputs = "{}";
	row.inputs_lack = "[\"key\"]";
	left("a row that lacks secret inputs");
	row.inputs_lack = NULL;
	row.version = "2.0.0";
	left("a row of a version that is not installed");
	row.version = "1.0.0";
	row.digest = "0000";
	left("a row of a package that is another now");
	end();
	begin(NULL);
	server.context.others = false;
	left("a row of a user whom this server does not serve");
	end();
	begin("[requestor \"few\"]\nuid = 7\ntemplates = none\n");
	row.requestor = "few";
	left("a row of a template that its requestor may not see now");
	row.requestor = "many";
	left("a row of a requestor that is not in the configuration");
	end();
	begin("[requestor \"far\"]\nuid = 7\ntrust_level = remote\n");
	row.requestor = "far";
	left("a row of a local template whose requestor is remote now");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}

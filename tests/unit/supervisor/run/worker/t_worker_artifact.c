/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Artifacts from a worker: the allowed number and size, and the charged requestor.
 */
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

#include "supervisor/run/lost_artifacts.h"
#include "supervisor/run/threads/thread_pool.h"

static char dir[] = "artifacts.XXXXXX";

static void on_artifact(void *arg, struct run *r, struct run_artifact *a,
			char *tmp_path, const char *sha256)
{
	(void)arg, (void)sha256;
	note("{%s %lld}", a->name, (long long)a->size);
	r->n_artifacts++;
	r->artifact_bytes += a->size;
	unlink(tmp_path);
	free(tmp_path);
	free(a->name);
	free(a->mime_type);
	worker_answer_saved(r, "art_1");
}

/* Until the thread has written the artifact, or could not. */
static void settle(void)
{
	while (it.w->blob != NULL)
		event_base_loop(it.base, EVLOOP_ONCE);
}

static void start(int64_t most, int64_t bytes)
{
	begin();
	it.ctx.thread_pool = thread_pool_new(it.base, 1);
	it.env.on_artifact = on_artifact;
	it.config.state_dir = dir;
	it.ctx.instance = "inst_t";
	it.r->limits.artifacts = most;
	it.r->limits.artifact_bytes = bytes;
}

/* the artifacts were counted here, not stored */
static void over(void)
{
	it.r->n_artifacts = 0;
	thread_pool_free(it.ctx.thread_pool);
	end();
}

static void artifact(const char *data)
{
	struct msg m = {.type = MSG_ARTIFACT,
			.artifact = {.name = {"a", 1},
				     .mime_type = {"t/p", 3},
				     .total = strlen(data),
				     .head = {data, strlen(data)}}};

	hear(&m);
	settle();
	worker_question_flush(it.w);
	read_one();
}

TEST(counts)
{
	const char *limit;

	start(2, 1000);
	artifact("x");
	artifact("");
	is_str(noted(), "{a 1}(0 ok art_1){a 0}(0 ok art_1)",
	       "maxArtifacts artifacts are taken");
	artifact("x");
	ok(strstr(
	       it.line,
	       "(0 not RESOURCE_LIMIT the run would have more artifacts than it "
	       "may: 3, of 2 allowed;") == it.line,
	   "one more is refused, with the figures");
	limit = json_member_str(it.w->tool_error.details, "limit");
	is_str(limit, "artifacts", "the refusal names the limit of artifacts");
	is_int(it.r->n_artifacts, 2, "a refused artifact is none of the run's");
	over();
}

TEST(weighs)
{
	start(9, 10);
	artifact("12345");
	artifact("12345");
	is_str(noted(), "{a 5}(0 ok art_1){a 5}(0 ok art_1)",
	       "bytes are taken up to maxArtifactBytes");
	artifact("1");
	ok(strstr(
	       it.line,
	       "(0 not RESOURCE_LIMIT the run's artifacts would hold more than "
	       "they may: 11 bytes, of 10 allowed;") == it.line,
	   "not one byte over maxArtifactBytes is taken");
	over();
}

/* An artifact in progress is charged to the requestor, until stored or refused. */
TEST(promises)
{
	struct msg m = {.type = MSG_ARTIFACT,
			.artifact = {.name = {"a", 1},
				     .mime_type = {"t/p", 3},
				     .total = 10,
				     .head = {"12345", 5}}};
	struct msg rest = {.type = MSG_CHUNK, .chunk = {{"67890", 5}}};
	struct requestor *q;
	int64_t stored;

	start(9, 1000);
	q = it.r->requestor;
	stored = q->store_bytes;
	hear(&m);
	is_int(requestor_kept(q), 10,
	       "an artifact that is coming in is counted");
	hear(&rest);
	settle();
	is_int(requestor_kept(q), 0,
	       "a stored artifact is no longer counted as coming");
	noted();
	worker_question_flush(it.w);
	read_one();
	noted();
	q->store_bytes = 9;
	hear(&m);
	hear(&rest);
	worker_question_flush(it.w);
	read_one();
	ok(strstr(
	       it.line,
	       "(0 not RESOURCE_LIMIT an artifact of 10 bytes is over what you may "
	       "have stored: 0 of 9 bytes are used") == it.line,
	   "one that its requestor has no room for is refused");
	is_int(requestor_kept(q), 0, "a refused artifact is not counted");
	q->store_bytes = stored;
	over();
}

static int lost(enum msg_lost_kind kind, bool told)
{
	struct msg m = {.type = MSG_LOST,
			.lost = {.kind = kind,
				 .told = told,
				 .count = 1,
				 .size = 7,
				 .name = {"b", 1},
				 .errmsg = {"odd", 3}}};

	return hear(&m);
}

static int fail(const char *code)
{
	struct msg m = {
	    .type = MSG_FAIL,
	    .fail = {.error_code = {code, strlen(code)}, .message = {"no", 2}}};

	return hear(&m);
}

/* The member KEY of the last missing artifact, or "-". */
static const char *missing(const char *key)
{
	static char text[256];
	struct json_object *list = lost_artifacts_json(it.r);
	size_t n = list != NULL ? json_object_array_length(list) : 0;
	const char *is =
	    n > 0 ? json_member_str(json_object_array_get_idx(list, n - 1), key)
		  : NULL;

	snprintf(text, sizeof(text), "%s", is != NULL ? is : "-");
	json_object_put(list);
	return text;
}

/* A worker's report of lost artifacts is a claim, to be checked. */
TEST(claims)
{
	start(0, 10);
	is_int(lost(MSG_LOST_REFUSED, false), -EPROTO,
	       "nothing was refused, so nothing is lost by that");
	over();
	start(0, 10);
	artifact("x");
	is_str(missing("errorCode"), "RESOURCE_LIMIT",
	       "what is refused is missing");
	is_int(lost(MSG_LOST_REFUSED, false), 0,
	       "a refused artifact may be told to be lost");
	is_int(lost(MSG_LOST_REFUSED, false), -EPROTO,
	       "a refused artifact is told to be lost once");
	over();
	start(9, 5);
	is_int(lost(MSG_LOST_LIMIT, true), 0, "what was too large to be sent");
	is_str(
	    missing("message"),
	    "the run's artifacts would hold more than they may: 7 bytes, of 5 "
	    "allowed; who can raise that is the template's author: "
	    "limits.maxArtifactBytes, up to the server's max_artifact_bytes, "
	    "or the operator: max_artifact_bytes in [template \"t\"]",
	    "the message on a large artifact is the server's");
	is_int(lost(MSG_LOST_UNFIT, false), 0, "a file that cannot be one");
	is_str(missing("message"), "odd",
	       "the message on an unfit artifact is the worker's");
	over();
}

TEST(cage_hints)
{
	start(0, 10);
	is_int(fail("STORE_UNAVAILABLE"), -EPROTO,
	       "no worker says of itself that the store failed");
	over();
	start(9, 10);
	it.config.state_dir = (char *)(uintptr_t) "/proc/nowhere";
	artifact("x");
	is_str(missing("errorCode"), "STORE_UNAVAILABLE",
	       "an artifact that cannot be written is the store's failure");
	is_int(fail("STORE_UNAVAILABLE"), 0, "of which its run may die");
	is_str(it.r->error.code, "STORE_UNAVAILABLE",
	       "a run that fails by a lost artifact has the code of the store");
	over();
}

int main(void)
{
	char *cmd;
	int rc;

	set_up();
	if (mkdtemp(dir) == NULL)
		return 1;
	tap_run();
	cmd = xasprintf("rm -rf '%s'", dir);
	rc = system(cmd);
	free(cmd);
	ok(rc == 0, "nothing is left");
	return done();
}

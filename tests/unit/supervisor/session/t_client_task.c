/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_client_task.c - a request of the server to a client, answered at once or by a task: polls,
 * fetches and ends.
 */
#include "supervisor/session/client_task.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define METHOD "elicitation/create"
#define TAKES                                                                  \
	"{\"elicitation\":{},\"tasks\":{\"cancel\":{},\"requests\":{"          \
	"\"elicitation\":{\"create\":{}}}}}"
#define TTL 60000

static struct client ada;
static int ends[CLIENT_TASK_GONE + 1];
static char result[256], why[256];

static void on_done(void *arg, enum client_task_end end, struct rpc_msg *m,
		    const char *errmsg)
{
	ends[end]++;
	*(struct client_task **)arg = NULL;
	snprintf(result, sizeof(result), "%s",
		 end == CLIENT_TASK_RESULT    ? json_text(m->result, NULL)
		 : end == CLIENT_TASK_REFUSED ? json_text(m->error, NULL)
					      : "");
	snprintf(why, sizeof(why), "%s", errmsg != NULL ? errmsg : "");
}

static struct client_task *task;

static void begin(const char *capabilities)
{
	struct json_object *params = json_pack("message:s", "Who?");

	server_begin(NULL);
	client_begin(&ada, 7, MCP_2025_11_25);
	client_declare(&ada, capabilities);
	memset(ends, 0, sizeof(ends));
	task = client_task_ask(&ada.session, NULL, METHOD, params, TTL, on_done,
			       &task);
	json_object_put(params);
}

static void end(void)
{
	is_int((int64_t)ada.session.n_client_tasks, 0,
	       "a client's task that has ended is not counted any more");
	client_end(&ada);
	server_end();
}

/* Return the request that the client was sent last. */
static struct json_object *asked(void)
{
	size_t n = json_length(ada.told);

	return n == 0 ? NULL : json_object_array_get_idx(ada.told, n - 1);
}

/* The client answers the last request by MEMBER, "\"result\":{}" and such. */
static void says(const char *member)
{
	char *text =
	    xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}",
		      json_text(json_member(asked(), "id"), NULL), member);

	client_say(&ada, text);
	free(text);
}

#define STATUS(status)                                                         \
	"\"result\":{\"taskId\":\"t1\",\"status\":\"" status                   \
	"\",\"pollInterval\":1}"
#define CREATED(status)                                                        \
	"\"result\":{\"task\":{\"taskId\":\"t1\",\"status\":\"" status         \
	"\",\"pollInterval\":1}}"

static void until_asked(const char *method)
{
	server_until(strcmp(at(asked(), "/method"), method) == 0);
	is_str(at(asked(), "/params/taskId"), "t1",
	       "%s is about the client's task", method);
}

TEST(answered_at_once)
{
	begin("{\"elicitation\":{}}");
	is_str(at(asked(), "/method"), METHOD, "a client is asked the method");
	is_str(at(asked(), "/params/message"), "Who?",
	       "a client is asked with the params");
	is_str(at(asked(), "/params/task"), NULL,
	       "a client that takes no tasks is asked for none");
	says("\"result\":{\"action\":\"accept\"}");
	is_int(ends[CLIENT_TASK_RESULT], 1, "an answer ends the request");
	is_str(result, "{\"action\":\"accept\"}",
	       "an answer is passed on as it came");
	end();
}

TEST(task_of_a_client_that_takes_none)
{
	begin("{\"elicitation\":{}}");
	says(CREATED("working"));
	is_int(ends[CLIENT_TASK_RESULT], 1,
	       "a task of a client that declared none is a plain result");
	end();
}

TEST(refused)
{
	begin(TAKES);
	is_str(at(asked(), "/params/task/ttl"), "60000",
	       "a client that takes tasks is told how long to keep one");
	says("\"error\":{\"code\":-1,\"message\":\"no\"}");
	is_int(ends[CLIENT_TASK_REFUSED], 1, "an error ends the request");
	ok(strstr(result, "\"no\"") != NULL,
	   "an error is passed on as it came");
	end();
}

TEST(polled_and_fetched)
{
	begin(TAKES);
	says(CREATED("working"));
	until_asked("tasks/get");
	says(STATUS("input_required"));
	json_object_array_add(ada.told, json_pack("method:s", "-"));
	until_asked("tasks/get");
	says(STATUS("completed"));
	until_asked("tasks/result");
	is_int(ends[CLIENT_TASK_RESULT], 0,
	       "a task that is completed is fetched before it ends");
	says("\"result\":{\"action\":\"decline\"}");
	is_int(ends[CLIENT_TASK_RESULT], 1, "the result of a task ends it");
	is_str(result, "{\"action\":\"decline\"}",
	       "the result of a task is passed on as it came");
	end();
}

TEST(completed_at_once)
{
	begin(TAKES);
	says(CREATED("completed"));
	is_str(at(asked(), "/method"), "tasks/result",
	       "a task that is completed at once is fetched at once");
	says("\"error\":{\"code\":-1,\"message\":\"no\"}");
	is_int(ends[CLIENT_TASK_REFUSED], 1,
	       "a task whose result is an error is refused");
	end();
}

static void fails(const char *answer, const char *words, const char *name)
{
	begin(TAKES);
	says(answer);
	is_int(ends[CLIENT_TASK_FAILED], 1, "%s ends the request", name);
	ok(strstr(why, words) != NULL, "%s is told in words", name);
	end();
}

TEST(failures)
{
	char *long_id = xcalloc(1, 1100), *answer;

	fails(CREATED("failed"), "failed", "a task that failed");
	fails(CREATED("cancelled"), "was cancelled",
	      "a task that was cancelled");
	fails("\"result\":{\"task\":{\"taskId\":\"t1\",\"status\":\"failed\","
	      "\"statusMessage\":\"no net\"}}",
	      "no net", "a task that failed with a message");
	fails(CREATED("lost"), "\"lost\"", "a task of an unknown status");
	fails("\"result\":{\"task\":{\"status\":\"working\"}}", "no taskId",
	      "a task without an id");
	fails("\"result\":{\"task\":{\"taskId\":\"t1\"}}", "no status",
	      "a task without a status");
	memset(long_id, 'x', 1025);
	answer = xasprintf("\"result\":{\"task\":{\"taskId\":\"%s\","
			   "\"status\":\"working\"}}",
			   long_id);
	fails(answer, "1024", "a task with an id beyond the bound");
	free(answer);
	free(long_id);
}

TEST(another_task_in_answer)
{
	begin(TAKES);
	says(CREATED("working"));
	until_asked("tasks/get");
	says("\"result\":{\"taskId\":\"t2\",\"status\":\"working\"}");
	is_int(ends[CLIENT_TASK_FAILED], 1,
	       "an answer about another task ends the request");
	end();
}

TEST(dropped_before_an_answer)
{
	begin(TAKES);
	client_task_drop(task, "no longer");
	is_str(at(asked(), "/method"), "notifications/cancelled",
	       "a request that is dropped is cancelled");
	is_str(at(asked(), "/params/reason"), "no longer",
	       "a request that is dropped is cancelled with the reason");
	is_int(ends[CLIENT_TASK_FAILED] + ends[CLIENT_TASK_GONE], 0,
	       "who drops a request is not called");
	end();
}

TEST(dropped_as_a_task)
{
	begin(TAKES);
	says(CREATED("working"));
	client_task_drop(task, "no longer");
	is_str(at(asked(), "/method"), "tasks/cancel",
	       "a task that is dropped is cancelled as a task");
	is_str(at(asked(), "/params/taskId"), "t1",
	       "a task that is dropped is cancelled by its id");
	end();
}

TEST(dropped_in_silence)
{
	begin(TAKES);
	says(CREATED("working"));
	client_told(&ada, METHOD);
	client_task_drop(task, NULL);
	ok(asked() == NULL,
	   "a task that is dropped without a reason tells nothing");
	end();
}

TEST(session_that_ends)
{
	begin(TAKES);
	says(CREATED("working"));
	session_fini(&ada.session);
	is_int(ends[CLIENT_TASK_GONE], 1, "the end of the session ends a task");
	json_object_put(ada.answers);
	json_object_put(ada.told);
	client_begin(&ada, 7, MCP_2025_11_25);
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of workers, as received by the supervisor, and the answers. */
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

static void refuse_it(struct context *ctx, struct run *r,
		      const struct worker_question *ask)
{
	(void)ctx;
	worker_refuse_question(r, ask, "not today");
}

TEST(asks_and_answers)
{
	begin();
	ask(1, "{\"message\":\"m\"}");
	is_str(noted(), "<awaiting_input>[1 elicit {\"message\":\"m\"}]",
	       "the run awaits input before the question is handed on");
	ask(2, "{}");
	call(5, "{\"a\":1}");
	is_str(noted(), "[2 elicit {}][5 call/t {\"a\":1}]", "others go on");
	is_int(reply(1, "true"), 0, "one is answered");
	is_str(noted(), "", "the run awaits another");
	is_int(reply(1, "true"), -ENOENT, "a question is answered once");
	is_int(reply(3, "true"), -ENOENT,
	       "an answer to a question that was not asked is refused");
	is_int(worker_fail_question(it.r, 2, "INPUT_TIMEOUT", "late"), 0,
	       "a question may fail");
	is_str(noted(), "<running>", "the run goes on beside a call");
	is_int(reply(5, "[]"), 0, "a call beside questions has an answer");
	for (int i = 0; i < 4; i++)
		read_one();
	is_str(noted(),
	       "(1 ok true)(2 not {\"code\":\"INPUT_TIMEOUT\",\"message\":"
	       "\"late\"})(5 ok [])(none)",
	       "all of them reach the worker");
	end();
}

TEST(takes_parts)
{
	struct msg m = {.type = MSG_INPUT,
			.input = {1, MSG_INPUT_SAMPLE, 9, {"{\"a", 3}}};
	struct msg c = {.type = MSG_CHUNK, .chunk = {{"\":[1]}", 6}}};
	struct msg log = {.type = MSG_LOG, .log = {6, {"x", 1}}};

	begin();
	hear(&m);
	is_str(noted(), "", "a part of a question is none");
	is_int(reply(1, "1"), -ENOENT, "a part of a question has no answer");
	hear(&c);
	is_str(noted(), "<awaiting_input>[1 sample {\"a\":[1]}]",
	       "the rest is");
	m.input = (typeof(m.input)){2, MSG_INPUT_ROOTS, 2, {"{}", 2}};
	hear(&m);
	is_str(noted(), "[2 roots {}]", "of any kind");
	m.input = (typeof(m.input)){3, MSG_INPUT_SAMPLE, 9, {"{\"a", 3}};
	hear(&m);
	is_int(hear(&log), -EPROTO, "nothing else may come in between");
	end();
}

/* {"a":[1,1, ...]} with N values in all, which is parsed on the loop. */
static int hear_many(uint32_t seq, size_t n)
{
	char text[2 * (MSG_ASK_VALUES_MAX + 8)] = "{\"a\":[1";
	struct msg m = {.type = MSG_INPUT,
			.input = {seq, MSG_INPUT_ELICIT, 0, {text, 0}}};
	size_t len = strlen(text);

	for (size_t i = 3; i < n; i++, len += 2)
		memcpy(text + len, ",1", 2);
	memcpy(text + len, "]}", 2);
	m.input.total = m.input.head.n = len + 2;
	return hear(&m);
}

TEST(takes_so_many)
{
	begin();
	it.env.on_ask = NULL;
	hear_many(1, MSG_ASK_VALUES_MAX);
	read_one();
	ok(strstr(noted(), "ELICITATION_NOT_SUPPORTED") != NULL,
	   "a question has many values");
	hear_many(2, MSG_ASK_VALUES_MAX + 1);
	read_one();
	ok(strstr(noted(), "(2 not {\"code\":\"INVALID_PARAMETER\"") != NULL,
	   "a question with too many values is refused");
	end();
}

TEST(shows)
{
	const struct isolation iso = {0};
	struct json_object *v = NULL;
	char *text;

	begin();
	ask(1, "{}");
	text = run_json_text(it.r, &iso);
	json_parse(&v, text, strlen(text), NULL);
	is_str(json_object_get_string(json_member(v, "status")), "running",
	       "a run that awaits input is shown as running");
	ok(json_object_get_boolean(json_member(v, "awaitingInput")),
	   "the view of a run says that input is awaited");
	json_object_put(v);
	free(text);
	end();
}

TEST(refuses)
{
	begin();
	it.env.on_ask = NULL;
	ask(1, "{}");
	call(2, "{}");
	read_one();
	read_one();
	ok(strstr(it.line, "(1 not {\"code\":\"ELICITATION_NOT_SUPPORTED\"") ==
		   it.line &&
	       strstr(it.line, "(2 not {\"code\":\"CALL_NOT_ALLOWED\"") != NULL,
	   "a question without a client is refused by an own code");
	noted();
	it.env.on_ask = refuse_it;
	ask(3, "{}");
	read_one();
	is_str(noted(),
	       "<awaiting_input><running>(3 not "
	       "{\"code\":\"ELICITATION_NOT_SUPPORTED\",\"message\":\"not "
	       "today\"})",
	       "a question may be refused at once");
	end();
}

TEST(is_cancelled)
{
	begin();
	ask(1, "{}");
	noted();
	run_apply(it.r, EV_CANCEL);
	ask(2, "{}");
	read_one();
	is_str(
	    noted(),
	    "(2 not {\"code\":\"RUN_CANCELED\",\"message\":\"the run is being "
	    "cancelled\"})",
	    "a run that is being cancelled asks nobody");
	reply(1, "1");
	is_int(it.r->state, RUN_CANCELLING,
	       "an answer takes no cancelling back");
	end();
}

static int drop(uint32_t seq)
{
	return hear(&(struct msg){.type = MSG_DROP, .drop = {seq}});
}

TEST(is_dropped)
{
	begin();
	ask(1, "{}");
	call(2, "{}");
	noted();
	is_int(drop(1), 0, "a question can be withdrawn");
	is_int(reply(1, "1"), -ENOENT, "a withdrawn question takes no answer");
	read_one();
	is_str(noted(),
	       "[drop 1]<running>(1 not {\"code\":\"DROPPED\",\"message\":\"it "
	       "is awaited no more\"})",
	       "a withdrawn question fails as DROPPED, and the run goes on");
	reply(2, "1");
	is_int(drop(2), 0, "one whose answer is on its way may be, too");
	is_int(drop(2), 0, "a question can be withdrawn twice");
	is_str(noted(), "", "a withdrawal after the answer is told to nobody");
	is_int(drop(3), -EPROTO, "one that was not asked may not");
	end();

	begin();
	it.env.on_ask = NULL;
	it.env.on_drop = NULL;
	run_apply(it.r, EV_CANCEL);
	call(1, "{}");
	is_int(drop(1), 0, "a call of a cancelled run can be withdrawn");
	end();
}

TEST(ends)
{
	struct msg result = {
	    .type = MSG_RESULT,
	    .result = {MSG_RESULT_VALUE, 0, 0, 0, 4, {"null", 4}}};
	struct msg fail = {.type = MSG_FAIL,
			   .fail = {{"EXECUTION_ERROR", 15}, {"m", 1}, {0}}};

	begin();
	ask(1, "{}");
	noted();
	is_int(hear(&result), 0, "a result may come without its answers");
	is_str(noted(), "<running>", "a run with a result awaits no answer");
	is_int(reply(1, "1"), -ENOENT, "an answer after the result is refused");
	is_int(run_apply(it.r, EV_SUCCEED), 0,
	       "a run with open questions may succeed");
	end();

	begin();
	ask(1, "{}");
	hear(&fail);
	is_int(it.r->state, RUN_RUNNING,
	       "a run with a failure and open questions is running");
	is_int(run_apply(it.r, EV_FAIL), 0,
	       "a run with open questions may fail");
	end();
}

/* Bytes charged to the run's requestor at the moment. */
static long long held(void)
{
	return it.r->requestor->memory.held;
}

static bool refused_next(void)
{
	it.line[0] = '\0';
	read_one();
	return strstr(it.line, "QUOTA_EXCEEDED") != NULL &&
	       strstr(it.line, "server_memory in [limits]") != NULL;
}

TEST(is_counted)
{
	struct msg part = {.type = MSG_INPUT,
			   .input = {9, MSG_INPUT_SAMPLE, 5000, {"{", 1}}};
	long long one;

	begin();
	hear_many(1, MSG_ASK_VALUES_MAX);
	one = held();
	ok(one > 64 * MSG_ASK_VALUES_MAX,
	   "a question is charged by its values, not its text");
	it.all.memory.most = 3 * one - 1;
	it.line[0] = '\0';
	hear_many(2, MSG_ASK_VALUES_MAX);
	ok(refused_next(), "one that has no room is refused to the template");
	is_int(held(), one, "a question refused for memory is not charged");
	is_int(it.r->state, RUN_AWAITING_INPUT, "the first one waits on");
	it.line[0] = '\0';
	call(3, "{\"a\":[1,2,3,4,5]}");
	is_int(held() - one, 17, "of a call the text alone is");
	drop(3);
	reply(1, "true");
	is_int(held(), 0, "an answer that was read is not");
	hear_many(4, MSG_ASK_VALUES_MAX);
	is_int(held(), one, "a question has room after the answer");
	drop(4);
	is_int(held(), 0, "a withdrawn question is charged no more");
	hear(&part);
	is_int(held(), 5000, "one that is coming is");
	it.all.memory.most = 0;
	end();
	is_int(requestors_of_uid(&it.all, 7)->memory.held, 0,
	       "no charge is left when the worker has gone");
}

TEST(counts_answers)
{
	static char text[MSG_ANSWER_MAX];

	memset(text, '1', sizeof(text));
	begin();
	for (uint32_t i = 1; i <= 3; i++)
		ask(i, "{}");
	it.all.memory.most = 3 * (int64_t)MSG_ANSWER_MAX;
	worker_answer_question(it.r, 1, true, text, MSG_ANSWER_MAX);
	ok(held() > MSG_ANSWER_MAX, "an answer that is not read is charged");
	worker_answer_question(it.r, 2, true, text, MSG_ANSWER_MAX);
	ok(held() < MSG_ANSWER_MAX + 10000, "the next has no room");
	reply(3, "true");
	ok(it.w->unsent < MSG_ANSWER_MAX + 1000, "an error and a little do");
	it.all.memory.most = 0;
	end();
	is_int(requestors_of_uid(&it.all, 7)->memory.held, 0,
	       "what was not read goes with the worker");
}

int main(void)
{
	set_up();
	tap_run();
	return done();
}

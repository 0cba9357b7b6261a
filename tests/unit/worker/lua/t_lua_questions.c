/* SPDX-License-Identifier: Apache-2.0 */
/* run.elicit(), run.sample() and run.call(), with us as the supervisor. */
#include "tests/unit/worker/lua/lua_job_fixture.h"

const struct usual usual = {
    .memory = 64 * MIB, .grace_ms = 60000, .cpu_ms = 60000};

static char bulk[MSG_ANSWER_MAX + 1];

/* ---- ways to answer ---- */

static void forget(struct heard *h, uint32_t seq)
{
	for (size_t i = 0; i < h->n_asked; i++)
		if (h->asked[i] == seq)
			h->asked[i] = h->asked[--h->n_asked];
}

static void with_its_number(struct heard *h, uint32_t seq)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"n\":%u}", seq);
	answer(h, seq, true, text);
	forget(h, seq);
}

static void accepted(struct heard *h, uint32_t seq)
{
	answer(h, seq, true,
	       "{\"action\":\"accept\",\"content\":{\"name\":\"\xc3\xa9\"}}");
	forget(h, seq);
}

static void refused(struct heard *h, uint32_t seq)
{
	answer(h, seq, false,
	       "{\"code\":\"ELICITATION_NOT_SUPPORTED\",\"message\":\"nobody\","
	       "\"details\":{\"a\":1}}");
	forget(h, seq);
}

static void all_but_the_first(struct heard *h, uint32_t seq)
{
	if (seq > 1)
		with_its_number(h, seq);
}

static void all_but_the_first_64(struct heard *h, uint32_t seq)
{
	if (seq > MSG_ASKS_MAX)
		with_its_number(h, seq);
}

static void wrongly_refused(struct heard *h, uint32_t seq)
{
	answer(h, seq, false, "[1]");
	forget(h, seq);
}

/* The last first, once three have come. */
static void in_reverse(struct heard *h, uint32_t seq)
{
	(void)seq;
	while (h->total == 3 && h->n_asked > 0)
		with_its_number(h, h->asked[h->n_asked - 1]);
}

/* Once as many as may be have come, or all 70. */
static void in_bulk(struct heard *h, uint32_t seq)
{
	(void)seq;
	if (h->n_asked < MSG_ASKS_MAX && h->total < 70)
		return;
	while (h->n_asked > 0)
		with_its_number(h, h->asked[0]);
}

/* A question asked before the artifact is answered before the artifact, too. */
static void before_the_artifact(struct heard *h, uint32_t seq)
{
	if (seq > 0)
		return;
	answer_in(h, h->asked[0], true, "[\"early\"]", 9, 2);
	answer(h, 0, true, "art_1");
}

static void with_a_lot(struct heard *h, uint32_t seq)
{
	memset(bulk, 'x', MSG_ANSWER_MAX);
	bulk[0] = bulk[MSG_ANSWER_MAX - 1] = '"';
	answer_in(h, seq, true, bulk, MSG_ANSWER_MAX, MSG_CHUNK_MAX);
}

static void to_nothing(struct heard *h, uint32_t seq)
{
	answer(h, seq + 1, true, "1");
}

static void twice(struct heard *h, uint32_t seq)
{
	answer(h, seq, true, "1");
	answer(h, seq, true, "2");
}

static void by_a_cancel(struct heard *h, uint32_t seq)
{
	(void)seq;
	poke(h, SIGTERM, true);
}

static void by_a_quick_cancel(struct heard *h, uint32_t seq)
{
	(void)seq;
	poke(h, SIGTERM, false);
}

/* The second question shows that the first question was dropped. */
static void too_late(struct heard *h, uint32_t seq)
{
	if (seq == 1)
		return;
	answer_in(h, 1, true, "\"late\"", 6, 1);
	with_its_number(h, seq);
}

/* ---- templates ---- */

#define FORM "schema = {type = 'object', properties = {}}"
#define SENT_FORM "\"requestedSchema\":{\"properties\":{},\"type\":\"object\"}"
#define BAD(body, text)                                                        \
	{                                                                      \
		.name = "refused before it is sent: " body, .code = T(body),   \
		.want = "FAIL:EXECUTION_ERROR:main.lua:1: " text "*"           \
	}

static const struct trial trials[] = {
    {.name = "a user is asked, and answers",
     .code = T("return run.elicit{message = 'Who?', schema = {type = 'object', "
	       "properties = {name = {type = 'string'}}, "
	       "required = {'name'}}, timeout = 5000}"),
     .want =
	 "elicit:{\"message\":\"Who?\",\"requestedSchema\":{\"properties\":"
	 "{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"],"
	 "\"type\":\"object\"},\"timeoutMs\":5000} "
	 "VALUE:{\"action\":\"accept\",\"content\":{\"name\":\"\xc3\xa9\"}}",
     .on_ask = accepted},
    {.name = "a question may have a name",
     .code =
	 T("return run.elicit{message = 'm', " FORM ", key = 'a.B-9_'}.action"),
     .want = "elicit:{\"key\":\"a.B-9_\",\"message\":\"m\"," SENT_FORM
	     "} VALUE:\"accept\"",
     .on_ask = accepted},
    {.name = "a client is asked for its roots",
     .code = T("return run.roots().n"),
     .want = "roots:{} VALUE:1",
     .on_ask = with_its_number},
    {.name = "with what any question may have",
     .code = T("return run.roots{timeout = 7, key = 'k'}.n"),
     .want = "roots:{\"key\":\"k\",\"timeoutMs\":7} VALUE:1",
     .on_ask = with_its_number},
    {.name = "a model is asked by a text",
     .code = T("return run.sample{messages = 'Hi', maxTokens = 9}.n"),
     .want = "sample:{\"maxTokens\":9,\"messages\":[{\"content\":{\"text\":"
	     "\"Hi\",\"type\":\"text\"},\"role\":\"user\"}]} VALUE:1",
     .on_ask = with_its_number},
    {.name = "a model may be asked for as many tokens as may be",
     .code = T("return run.sample{messages = 'x', maxTokens = 1000000000}.n"),
     .want = "VALUE:1",
     .on_ask = with_its_number,
     .quiet = true},
    {.name = "or by messages; the rest goes as it is given, lists as lists",
     .code = T("return run.sample{messages = {{role = 'user', content = "
	       "{type = 'text', text = 'x'}}}, maxTokens = 1, tools = {}, "
	       "stopSequences = {'a'}, temperature = 0.5, metadata = {}, "
	       "systemPrompt = 's', includeContext = 'none', toolChoice = "
	       "{mode = 'auto'}, modelPreferences = {costPriority = 1}}.n"),
     .want = "sample:{\"includeContext\":\"none\",\"maxTokens\":1,\"messages\":"
	     "[{\"content\":{\"text\":\"x\",\"type\":\"text\"},\"role\":"
	     "\"user\"}],\"metadata\":{},\"modelPreferences\":"
	     "{\"costPriority\":1},\"stopSequences\":[\"a\"],"
	     "\"systemPrompt\":\"s\",\"temperature\":0.5,\"toolChoice\":"
	     "{\"mode\":\"auto\"},\"tools\":[]} VALUE:1",
     .on_ask = with_its_number},
    {.name = "a tool is called",
     .code = T("return run.call('navigate', {url = 'u'})"),
     .want = "call/navigate:{\"url\":\"u\"} VALUE:{\"n\":1}",
     .on_ask = with_its_number},
    {.name = "and may have no arguments",
     .code = T("return run.call('list')"),
     .want = "call/list:{} VALUE:{\"n\":1}",
     .on_ask = with_its_number},
    {.name = "a refusal is raised, with its code",
     .code = T("local ok, e = pcall(run.elicit, {message = 'm', " FORM "}) "
	       "return {ok, e.code, e.message, e.details.a}"),
     .want = "elicit:{\"message\":\"m\"," SENT_FORM "} VALUE:[false,"
	     "\"ELICITATION_NOT_SUPPORTED\",\"nobody\",1]",
     .on_ask = refused},
    {.name = "and fails the run if nobody catches it",
     .code = T("run.elicit{message = 'm', " FORM "}"),
     .want = "FAIL:EXECUTION_ERROR:nobody:"
	     "{*\"templateCode\":\"ELICITATION_NOT_SUPPORTED\"*}",
     .on_ask = refused,
     .quiet = true},
    {.name = "one of another shape is an error too",
     .code = T("local ok, e = pcall(run.call, 'x') return {ok, e.code}"),
     .want = "call/x:{} VALUE:[false,\"ERROR\"]",
     .on_ask = wrongly_refused},
    {.name = "while one waits others go on",
     .code = T("local order = run.array{} "
	       "local r = run.map({1, 2, 3, 4}, {concurrency = 4}, function(i) "
	       "if i == 4 then run.sleep(1) order[#order + 1] = 0 return 0 end "
	       "local n = run.call('t').n order[#order + 1] = i return n end) "
	       "return {r[1].value, r[2].value, r[3].value, #order}"),
     .want = "VALUE:[1,2,3,4]",
     .on_ask = in_reverse,
     .quiet = true},
    {.name = "one that is always busy hears answers all the same",
     .code = T("local r = run.map({1, 2}, {concurrency = 2}, function(i) "
	       "if i == 1 then local n = run.call('t').n done = true return n "
	       "end while not done do run.sleep(0) end return 9 end) "
	       "return {r[1].value, r[2].value}"),
     .want = "VALUE:[1,9]",
     .on_ask = with_its_number,
     .quiet = true},
    {.name = "a coroutine of the template's can ask",
     .code = T("return coroutine.wrap(function() "
	       "return run.call('t').n end)()"),
     .want = "VALUE:1",
     .on_ask = with_its_number,
     .quiet = true},
    {.name = "as many as may be wait at once, and the rest for them",
     .code = T("local list, sum = {}, 0 for i = 1, 70 do list[i] = i end "
	       "for _, r in ipairs(run.map(list, {concurrency = 70}, "
	       "function() return run.call('t').n end)) do "
	       "sum = sum + r.value end return sum"),
     .want = "VALUE:2485",
     .on_ask = in_bulk,
     .quiet = true},
    {.name = "an answer may come before the artifact's",
     .code = T("local r = run.map({1, 2}, {concurrency = 2}, function(i) "
	       "if i == 1 then return run.call('t')[1] end "
	       "return run.artifact{name = 'a', data = 'x'} end) "
	       "return {r[1].value, r[2].value}"),
     .want = "@a:application/octet-stream:x VALUE:[\"early\",\"art_1\"]",
     .on_ask = before_the_artifact,
     .quiet = true},
    {.name = "an answer may be large",
     .code = T("return #run.call('t')"),
     .want = "VALUE:4194302",
     .on_ask = with_a_lot,
     .quiet = true},
    {.name = "the memory of answers is free after they are read",
     .code = T("for i = 1, 20 do run.call('t') end return 1"),
     .want = "VALUE:1",
     .on_ask = with_a_lot,
     .quiet = true},
    {.name = "but not larger than the memory that there is",
     .code = T("run.call('t')"),
     .want = "FAIL:RESOURCE_LIMIT*",
     .on_ask = with_a_lot,
     .quiet = true,
     .memory = 2 * MIB},
    {.name = "so may a question",
     .code = T("return run.call('t', {a = ('x'):rep(1000000)}).n"),
     .want = "call/t:{\"a...1000008...x\"} VALUE:1",
     .on_ask = with_its_number},
    {.name = "a cancel ends the wait",
     .code = T("run.elicit{message = 'm', " FORM "} return 1"),
     .want = "drop:1 FAIL:RUN_CANCELED*",
     .on_ask = by_a_cancel,
     .quiet = true},
    {.name = "in a step, too",
     .code = T("run.step('s', function() run.call('t') end)"),
     .want = "drop:1 FAIL:RUN_CANCELED*",
     .on_ask = by_a_cancel,
     .quiet = true},
    {.name = "and then nothing more is asked",
     .code = T("pcall(run.call, 't') run.call('u')"),
     .want = "call/t:{} drop:1 FAIL:RUN_CANCELED*",
     .on_ask = by_a_cancel},
    {.name = "a step's timeout ends the wait",
     .code = T("run.step('s', function() run.call('t') end, {timeout = 20})"),
     .want = "drop:1 FAIL:STEP_EXECUTION_FAILED*STEP_TIMEOUT*",
     .quiet = true},
    {.name = "so it does one that asks a user, who is not asked any more",
     .code = T("pcall(run.step, 's', function() run.elicit{message = 'm', " FORM
	       "} end, {timeout = 20}) return run.call('u').n"),
     .want = "drop:1 VALUE:2",
     .on_ask = all_but_the_first,
     .on_drop = refused,
     .quiet = true},
    {.name = "places that were given up can be taken again",
     .code = T("local list = {} for i = 1, 64 do list[i] = i end "
	       "pcall(run.step, 's', function() run.map(list, {concurrency = "
	       "64}, function() run.call('t') end) end, {timeout = 50}) "
	       "return run.call('u').n"),
     .want = "drop:*drop:64 VALUE:65",
     .on_ask = all_but_the_first_64,
     .on_drop = refused,
     .quiet = true},
    {.name = "an answer that nobody waits for any more is let pass",
     .code = T("pcall(run.step, 's', function() run.call('t') end, "
	       "{timeout = 20}) return run.call('u').n"),
     .want = "drop:1 VALUE:2",
     .on_ask = too_late,
     .quiet = true},
    {.name = "an answer to nothing ends the worker",
     .code = T("run.call('t')"),
     .want = "STATUS:100",
     .on_ask = to_nothing,
     .quiet = true},
    {.name = "so does a second one",
     .code = T("run.call('t') run.call('t')"),
     .want = "STATUS:100",
     .on_ask = twice,
     .quiet = true},

    BAD("run.elicit()", "bad argument #1 to 'elicit' (table expected"),
    BAD("run.elicit{}", "run.elicit: message must be a string that"),
    BAD("run.elicit{message = 'm'}", "run.elicit: schema must be a table"),
    BAD("run.elicit{message = '', " FORM "}", "run.elicit: message must be"),
    BAD("run.elicit{message = 'm', schema = {}}",
	"run.elicit: schema.type must be \"object\""),
    BAD("run.elicit{message = 'm', schema = {type = 'object'}}",
	"run.elicit: schema.properties must be a table"),
    BAD("run.elicit{message = 'm', schema = {type = 'object', properties = "
	"{a = {type = 'object'}}}}",
	"run.elicit: schema.properties.a must have the type string, number"),
    BAD("run.elicit{message = 'm', " FORM ", timeout = 0}",
	"run.elicit: timeout must be an integer above 0, up to 604800000"),
    BAD("run.elicit{message = 'm', " FORM ", mode = 'url'}",
	"run.elicit knows no option mode; it takes message, schema, timeout, "
	"key"),
    BAD("run.elicit{message = 'm', " FORM ", key = ''}",
	"run.elicit: key must be a name of 1 to 64 of A-Z a-z 0-9 _ . -"),
    BAD("run.elicit{message = 'm', " FORM ", key = 'a b'}",
	"run.elicit: key must be"),
    BAD("run.elicit{message = 'm', " FORM ", key = 'a\\0'}",
	"run.elicit: key must be"),
    BAD("run.sample{messages = 'x', maxTokens = 1, key = 1}",
	"run.sample: key must be"),
    BAD("run.sample{messages = 'x', maxTokens = 1, key = ('k'):rep(65)}",
	"run.sample: key must be"),
    BAD("run.elicit{'m'}", "run.elicit knows no option 1"),
    BAD("run.sample{maxTokens = 1}",
	"run.sample: messages must be a string, or a list of at least one"),
    BAD("run.sample{messages = {}, maxTokens = 1}",
	"run.sample: messages must be"),
    BAD("run.sample{messages = {{role = 'system', content = {}}}, "
	"maxTokens = 1}",
	"run.sample: messages must be"),
    BAD("run.sample{messages = 'x'}",
	"run.sample: maxTokens must be an integer above 0"),
    BAD("run.sample{messages = 'x', maxTokens = 1.5}",
	"run.sample: maxTokens must be"),
    BAD("run.sample{messages = 'x', maxTokens = 1000000001}",
	"run.sample: maxTokens must be"),
    BAD("run.sample{messages = 'x', maxTokens = 1, tools = {a = 1}}",
	"run.sample: tools must be a list"),
    BAD("run.sample{messages = 'x', maxTokens = 1, max_tokens = 1}",
	"run.sample knows no option max_tokens; it takes messages, maxTokens"),
    BAD("run.roots('x')", "bad argument #1 to 'roots' (table expected"),
    BAD("run.roots{message = 'm'}",
	"run.roots knows no option message; it takes timeout, key"),
    BAD("run.call()", "bad argument #1 to 'call' (string expected"),
    BAD("run.call('')", "bad argument #1 to 'call' (a tool's name is"),
    BAD("run.call('t', 1)", "run.call: the arguments must be a table of named"),
    BAD("run.call('t', {1})", "run.call: the arguments must be a table of"),
    BAD("run.call('t', {a = ('x'):rep(2^20)})",
	"run.call: what it asks takes 1048584 bytes as JSON; it may take "
	"1048576"),
};

/* A cancel at any time: before the wait, at its beginning, or during the wait. */
static void check_quick_cancels(void)
{
	const struct trial t = {.code = T("run.call('t')"),
				.want = "*FAIL:RUN_CANCELED*",
				.on_ask = by_a_quick_cancel,
				.quiet = true};
	int good = 0;

	for (int i = 0; i < 100; i++) {
		char *line = try_it(&t);

		good += matches(line, t.want);
		free(line);
	}
	is_int(good, 100, "no cancel comes at a moment when it is missed");
}

static const struct table tables[] = {TABLE(trials), {0}};

int main(void)
{
	check_tables(tables);
	check_quick_cancels();
	return tap_done();
}

/* run.elicit(), run.sample() and run.call(), with us as the supervisor. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ipc/chan.h"
#include "ipc/crew.h"
#include "ipc/msg.h"
#include "sandbox/filter.h"
#include "tests/tap.h"
#include "worker/job.h"

#define PATIENCE_MS 60000 /* for a worker that hangs: none should */
#define ASKED_MAX 100
#define SHOWN_MAX 600 /* bytes of a body that are shown */
#define MIB (1ull << 20)

struct heard;

/*
 * What a worker says is written down as one line, its messages separated by
 * blanks: "elicit:json", "sample:json" and "call/tool:json" are questions,
 * "artifact" is one, "drop:N" takes one back, "VALUE:json" and "FAIL:CODE:message:details" the end.
 * Steps are left out.
 */
struct trial {
	const char *name;
	const char *code;
	const char *want; /* of the line; '*' stands for anything */
	void (*on_ask)(struct heard *h, uint32_t seq); /* NULL: never answer */
	void (*on_drop)(struct heard *h, uint32_t seq);
	bool quiet; /* questions are left out of the line */
	size_t memory;
	void (*before)(void); /* in the worker */
};

struct heard {
	struct buf line, body;
	struct msg about; /* the body's message */
	uint64_t missing;
	struct trial t;
	uint32_t last, asked[ASKED_MAX]; /* without an answer */
	size_t n_asked, total;
	pid_t pid;
	int fd;
};

static char frame[CHAN_FRAME_MAX];
static char bulk[MSG_ANSWER_MAX + 1];

static void send_msg(const struct heard *h, const struct msg *m)
{
	size_t n = msg_put(frame, m);
	struct pollfd p = {.fd = h->fd, .events = POLLOUT};

	/* A worker that ended early does not hear us: its line tells. */
	while (chan_send(h->fd, frame, n) == -EAGAIN)
		if (poll(&p, 1, PATIENCE_MS) == 0)
			return;
}

/* The pieces are of at most PIECE bytes. */
static void answer_in(const struct heard *h, uint32_t seq, bool ok_,
		      const char *text, size_t len, size_t piece)
{
	size_t at = len < piece ? len : piece;
	struct msg m = {.type = MSG_ANSWER,
			.answer = {seq, ok_, len, {text, at}}};

	send_msg(h, &m);
	while (at < len) {
		struct msg c = {.type = MSG_CHUNK};

		c.chunk.data.p = text + at;
		c.chunk.data.n = len - at < piece ? len - at : piece;
		send_msg(h, &c);
		at += c.chunk.data.n;
	}
}

static void answer(struct heard *h, uint32_t seq, bool ok_, const char *text)
{
	answer_in(h, seq, ok_, text, strlen(text), MSG_CHUNK_MAX);
}

static void send_run(const struct heard *h)
{
	struct msg m = {.type = MSG_RUN};

	m.run = (struct msg_run){.run_id = {"run_x", 5},
				 .template_id = {"tpl", 3},
				 .entry = {"main.lua", 8},
				 .timeout_ms = 60000,
				 .cancel_grace_ms = 60000,
				 .memory_bytes =
				     h->t.memory > 0 ? h->t.memory : 64 * MIB,
				 .output_bytes = MIB,
				 .artifact_bytes = MIB,
				 .messages_per_second = 10000,
				 .code_bytes = strlen(h->t.code),
				 .inputs_bytes = 2};
	m.run.head = (struct str){bulk, (size_t)m.run.code_bytes + 2};
	memcpy(bulk, h->t.code, strlen(h->t.code));
	memcpy(bulk + strlen(h->t.code), "{}", 2);
	send_msg(h, &m);
}

static void say(struct heard *h, const char *what, const char *p, size_t n)
{
	buf_add_str(&h->line, buf_len(&h->line) > 0 ? " " : "");
	buf_add_str(&h->line, what);
	if (n <= SHOWN_MAX)
		buf_add(&h->line, p, n);
	else
		buf_printf(&h->line, "%.3s...%zu", p, n);
}

static void asked(struct heard *h, uint32_t seq)
{
	if (seq <= h->last || h->n_asked == MSG_ASKS_MAX)
		say(h, "OUT-OF-TURN", "", 0);
	else
		h->asked[h->n_asked++] = seq;
	h->last = seq;
	h->total++;
	if (h->t.on_ask != NULL)
		h->t.on_ask(h, seq);
}

static void forget(struct heard *h, uint32_t seq)
{
	for (size_t i = 0; i < h->n_asked; i++)
		if (h->asked[i] == seq)
			h->asked[i] = h->asked[--h->n_asked];
}

static void dropped(struct heard *h, uint32_t seq)
{
	char text[12];

	snprintf(text, sizeof(text), "%u", seq);
	say(h, "drop:", text, strlen(text));
	if (h->t.on_drop != NULL)
		h->t.on_drop(h, seq);
}

static void body_done(struct heard *h)
{
	const struct msg *m = &h->about;
	size_t n = buf_len(&h->body);
	char *p = buf_take(&h->body, NULL);
	char what[300] = "";

	if (m->type == MSG_RESULT)
		say(h, "VALUE:", p, n);
	else if (m->type == MSG_ARTIFACT)
		say(h, "artifact", "", 0);
	else if (m->type == MSG_CALL)
		snprintf(what, sizeof(what), "call/%.*s:", (int)m->call.tool.n,
			 m->call.tool.p);
	else
		snprintf(what, sizeof(what), "%s:",
			 m->input.kind == MSG_INPUT_ELICIT ? "elicit"
							   : "sample");
	if (what[0] != '\0' && !h->t.quiet)
		say(h, what, p, n);
	free(p);
	if (m->type == MSG_CALL)
		asked(h, m->call.seq);
	else if (m->type == MSG_INPUT)
		asked(h, m->input.seq);
	else if (m->type == MSG_ARTIFACT && h->t.on_ask != NULL)
		h->t.on_ask(h, 0);
}

static void body_part(struct heard *h, struct str s)
{
	buf_add(&h->body, s.p, s.n);
	h->missing -= s.n;
	if (h->missing == 0)
		body_done(h);
}

static void body_begins(struct heard *h, const struct msg *m, uint64_t total,
			struct str head)
{
	static char tool[MSG_NAME_MAX];

	h->about = *m;
	if (m->type == MSG_CALL) {
		memcpy(tool, m->call.tool.p, m->call.tool.n);
		h->about.call.tool.p = tool;
	}
	h->missing = total;
	body_part(h, head);
}

static void hear_msg(struct heard *h, const struct msg *m)
{
	switch (m->type) {
	case MSG_READY:
		send_run(h);
		break;
	case MSG_CALL:
		body_begins(h, m, m->call.total, m->call.head);
		break;
	case MSG_INPUT:
		body_begins(h, m, m->input.total, m->input.head);
		break;
	case MSG_RESULT:
		body_begins(h, m, m->result.total, m->result.head);
		break;
	case MSG_ARTIFACT:
		body_begins(h, m, m->artifact.total, m->artifact.head);
		break;
	case MSG_CHUNK:
		body_part(h, m->chunk.data);
		break;
	case MSG_DROP:
		dropped(h, m->drop.seq);
		break;
	case MSG_FAIL:
		say(h, "FAIL:", m->fail.error_code.p, m->fail.error_code.n);
		say(h, "", m->fail.message.p, m->fail.message.n);
		say(h, "", m->fail.details.p, m->fail.details.n);
		break;
	default:
		break;
	}
}

static void hear(struct heard *h)
{
	static char in[CHAN_FRAME_MAX];
	struct pollfd p = {.fd = h->fd, .events = POLLIN};

	for (;;) {
		const char *why;
		struct msg m;
		ssize_t n;

		if (poll(&p, 1, PATIENCE_MS) == 0) {
			say(h, "HANGS", "", 0);
			kill(h->pid, SIGKILL);
			return;
		}
		n = chan_recv(h->fd, in);
		if (n == -EAGAIN)
			continue;
		if (n <= 0)
			return;
		if (msg_get(&m, in, (size_t)n, &why) < 0)
			say(h, "OFFENCE:", why, strlen(why));
		else
			hear_msg(h, &m);
	}
}

_Noreturn static void be_worker(const struct trial *t, int fd)
{
	if (fd != CREW_RUN_FD)
		dup2(fd, CREW_RUN_FD);
	close_range(CREW_RUN_FD + 1, ~0u, 0);
	job_set_cpu_ms(60000);
	if (t->before != NULL)
		t->before();
	job_serve();
}

/* Run it; the line is the caller's to free. */
static char *try_it(const struct trial *t)
{
	struct heard h = {.t = *t};
	int ends[2], status = 0;

	if (chan_pair(ends) < 0)
		abort();
	h.fd = ends[0];
	h.pid = fork();
	if (h.pid < 0)
		abort();
	if (h.pid == 0)
		be_worker(t, ends[1]);
	close(ends[1]);
	hear(&h);
	close(ends[0]);
	waitpid(h.pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		buf_printf(&h.line, " STATUS:%x", (unsigned)status);
	buf_fini(&h.body);
	return buf_take(&h.line, NULL);
}

static bool matches(const char *line, const char *want)
{
	for (; *want != '*'; line++, want++) {
		if (*line != *want)
			return false;
		if (*line == '\0')
			return true;
	}
	for (; !matches(line, want + 1); line++)
		if (*line == '\0')
			return false;
	return true;
}

static void check(const struct trial *t)
{
	char *line = try_it(t);

	if (!ok(matches(line, t->want), "%s", t->name))
		printf("# got  %s\n# want %s\n", line, t->want);
	free(line);
}

/* ---- ways to answer ---- */

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

/* What was asked before the artifact is answered before it too. */
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

/* A lone S in the third field: the worker waits for something. */
static bool sleeps(pid_t pid)
{
	char path[64], text[256] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f == NULL)
		return true; /* it is gone */
	(void)!fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	state = strrchr(text, ')');
	return state == NULL || strchr("SZX", state[2]) != NULL;
}

static void by_a_cancel(struct heard *h, uint32_t seq)
{
	(void)seq;
	while (!sleeps(h->pid))
		sched_yield();
	kill(h->pid, SIGTERM);
}

static void by_a_quick_cancel(struct heard *h, uint32_t seq)
{
	(void)seq;
	kill(h->pid, SIGTERM);
}

/* The second question shows that the first is wanted no more. */
static void too_late(struct heard *h, uint32_t seq)
{
	if (seq == 1)
		return;
	answer_in(h, 1, true, "\"late\"", 6, 1);
	with_its_number(h, seq);
}

/* ---- templates ---- */

/* A template of just BODY. */
#define T(body) "return function(run, inputs) " body " end"
#define FORM "schema = {type = 'object', properties = {}}"
#define SENT_FORM                                                              \
	"\"requestedSchema\":{\"properties\":{},\"type\":\"object\"}"
#define BAD(body, text)                                                        \
	{                                                                      \
		.name = "refused before it is sent: " body, .code = T(body),   \
		.want = "FAIL:EXECUTION_ERROR main.lua:1: " text "*"           \
	}

static const struct trial trials[] = {
    {.name = "a user is asked, and answers",
     .code = T("return run.elicit{message = 'Who?', schema = {type = 'object', "
	       "properties = {name = {type = 'string'}}, "
	       "required = {'name'}}, timeout = 5000}"),
     .want = "elicit:{\"message\":\"Who?\",\"requestedSchema\":{\"properties\":"
	     "{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"],"
	     "\"type\":\"object\"},\"timeoutMs\":5000} "
	     "VALUE:{\"action\":\"accept\",\"content\":{\"name\":\"\xc3\xa9\"}}",
     .on_ask = accepted},
    {.name = "a model is asked by a text",
     .code = T("return run.sample{messages = 'Hi', maxTokens = 9}.n"),
     .want = "sample:{\"maxTokens\":9,\"messages\":[{\"content\":{\"text\":"
	     "\"Hi\",\"type\":\"text\"},\"role\":\"user\"}]} VALUE:1",
     .on_ask = with_its_number},
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
     .want = "FAIL:EXECUTION_ERROR nobody "
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
     .want = "artifact VALUE:[\"early\",\"art_1\"]",
     .on_ask = before_the_artifact,
     .quiet = true},
    {.name = "an answer may be large",
     .code = T("return #run.call('t')"),
     .want = "VALUE:4194302",
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
     .want = "call/t:{\"a...1000008 VALUE:1",
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
     .want = " STATUS:100",
     .on_ask = to_nothing,
     .quiet = true},
    {.name = "so does a second one",
     .code = T("run.call('t') run.call('t')"),
     .want = " STATUS:100",
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
	"run.elicit knows no option mode; it takes message, schema, timeout"),
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
    BAD("run.sample{messages = 'x', maxTokens = 1, tools = {a = 1}}",
	"run.sample: tools must be a list"),
    BAD("run.sample{messages = 'x', maxTokens = 1, max_tokens = 1}",
	"run.sample knows no option max_tokens; it takes messages, maxTokens"),
    BAD("run.call()", "bad argument #1 to 'call' (string expected"),
    BAD("run.call('')", "bad argument #1 to 'call' (a tool's name is"),
    BAD("run.call('t', 1)", "run.call: the arguments must be a table of named"),
    BAD("run.call('t', {1})", "run.call: the arguments must be a table of"),
    BAD("run.call('t', {a = ('x'):rep(2^20)})",
	"run.call: what it asks takes 1048584 bytes as JSON; it may take "
	"1048576"),
};

static struct sock_fprog cage;

static void close_cage(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    filter_load(&cage) != 0)
		_exit(99);
}

/* A sanitizer's own system calls are not the worker's. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

/* Everything again, behind the filter that a real worker has. */
static void check_caged(void)
{
	if (SANITIZED) {
		skip("under a sanitizer", "all of it, caged");
		return;
	}
	is_int(filter_make(FILTER_WORKER, &cage), 0, "the cage can be made");
	for (size_t i = 0; i < ARRAY_LEN(trials); i++) {
		struct trial t = trials[i];
		char *name = xasprintf("caged: %s", t.name);

		t.name = name;
		t.before = close_cage;
		check(&t);
		free(name);
	}
}

/* Whenever it comes: before the wait, as it begins, or in it. */
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

int main(void)
{
	is_int(job_prepare(), 0, "what workers share can be prepared");
	for (size_t i = 0; i < ARRAY_LEN(trials); i++)
		check(&trials[i]);
	check_caged();
	check_quick_cancels();
	return tap_done();
}

/* The Lua runtime: templates go in, what the supervisor would hear comes out.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "ipc/chan.h"
#include "ipc/crew.h"
#include "ipc/msg.h"
#include "sandbox/filter.h"
#include "tests/tap.h"
#include "worker/job.h"

#define PATIENCE_MS 60000 /* for a worker that hangs: none should */
#define SHOWN_MAX 300	  /* bytes of a body that are shown */
#define MIB (1ull << 20)

/*
 * What a worker says is written down as one line, its messages separated by
 * blanks: "+0x2:name" declares two steps from index 0 on, ">0#1" begins its
 * first attempt, "=0" and "!0:CODE:message" and "~0" end it; "%1/2:text" is
 * progress, "6:text" a log line, "@name:type:bytes" an artifact,
 * "VALUE:json", "REPLY:json" or "FAIL:CODE:message:details" the end.
 */
struct trial {
	const char *name;
	const char *code;
	const char *want; /* of the line; '*' stands for anything */
	const char *inputs;
	int poke;    /* the signal to send when the template logs "poke" */
	bool asleep; /* ...once it sleeps */
	size_t memory;
	size_t output;
	bool refuse;	      /* artifacts */
	void (*before)(void); /* in the worker */
};

/* One worker as we hear it. */
struct heard {
	struct buf line;
	struct buf body;  /* of the artifact or result under way */
	uint64_t missing; /* bytes of it */
	bool artifact;
	struct trial t;
	pid_t pid;
	int fd;
};

static char frame[CHAN_FRAME_MAX];

static void send_msg(const struct heard *h, const struct msg *m)
{
	size_t n = msg_put(frame, m);

	/* A worker that ended early does not hear us: its line tells. */
	(void)chan_send(h->fd, frame, n);
}

static void send_run(const struct heard *h)
{
	const char *inputs = h->t.inputs != NULL ? h->t.inputs : "{}";
	struct msg m = {.type = MSG_RUN};
	struct buf body = {0};
	size_t n, at;

	buf_add_str(&body, h->t.code);
	buf_add_str(&body, inputs);
	n = buf_len(&body);
	at = n < 32 ? n : 32; /* so that every body takes a chunk or more */
	m.run = (struct msg_run){
	    .run_id = {"run_x", 5},
	    .template_id = {"tpl", 3},
	    .entry = {"main.lua", 8},
	    .timeout_ms = 60000,
	    .cancel_grace_ms = 300,
	    .memory_bytes = h->t.memory > 0 ? h->t.memory : 8 * MIB,
	    .output_bytes = h->t.output > 0 ? h->t.output : MIB,
	    .artifact_bytes = MIB,
	    .messages_per_second = 10000,
	    .code_bytes = strlen(h->t.code),
	    .inputs_bytes = strlen(inputs),
	    .head = {buf_data(&body), at},
	};
	send_msg(h, &m);
	while (at < n) {
		struct msg c = {.type = MSG_CHUNK};

		c.chunk.data.p = buf_data(&body) + at;
		c.chunk.data.n =
		    n - at < MSG_CHUNK_MAX ? n - at : MSG_CHUNK_MAX;
		send_msg(h, &c);
		at += c.chunk.data.n;
	}
	buf_fini(&body);
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

static void poke(const struct heard *h)
{
	while (h->t.asleep && !sleeps(h->pid))
		sched_yield();
	kill(h->pid, h->t.poke);
}

static void say(struct heard *h, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct heard *h, const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	buf_add_str(&h->line, buf_len(&h->line) > 0 ? " " : "");
	buf_add_str(&h->line, s);
	free(s);
}

#define STR(s) (int)(s).n, (s).p

static void say_step(struct heard *h, const struct msg_step *s)
{
	switch (s->state) {
	case MSG_STEP_PENDING:
		if (s->count == 1)
			say(h, "+%d:%.*s", (int)s->index, STR(s->name));
		else
			say(h, "+%dx%d:%.*s", (int)s->index, (int)s->count,
			    STR(s->name));
		break;
	case MSG_STEP_RUNNING:
		say(h, ">%d#%d", (int)s->index, (int)s->attempts);
		break;
	case MSG_STEP_SUCCEEDED:
		say(h, "=%d", (int)s->index);
		break;
	case MSG_STEP_FAILED:
		say(h, "!%d:%.*s:%.*s", (int)s->index, STR(s->code),
		    STR(s->message));
		break;
	default:
		say(h, "~%d", (int)s->index);
	}
}

static void body_done(struct heard *h)
{
	size_t n = buf_len(&h->body);
	const char *p = n > 0 ? buf_data(&h->body) : "";
	struct msg m = {.type = MSG_ANSWER};

	if (n <= SHOWN_MAX)
		buf_add(&h->line, p, n);
	else
		buf_printf(&h->line, "%.3s...%zu...%.3s", p, n, p + n - 3);
	buf_fini(&h->body);
	if (!h->artifact)
		return;
	m.answer.ok = !h->t.refuse;
	m.answer.head = h->t.refuse ? (struct str){"the disk is full", 16}
				    : (struct str){"art_1", 5};
	m.answer.total = m.answer.head.n;
	send_msg(h, &m);
}

static void body_part(struct heard *h, struct str s)
{
	if (s.n > h->missing) {
		say(h, "TOO-MUCH");
		h->missing = 0;
		return;
	}
	buf_add(&h->body, s.p, s.n);
	h->missing -= s.n;
	if (h->missing == 0)
		body_done(h);
}

static void hear_msg(struct heard *h, const struct msg *m)
{
	switch (m->type) {
	case MSG_READY:
		send_run(h);
		break;
	case MSG_PROGRESS:
		say(h, "%%%d/%d:%.*s", (int)m->progress.done,
		    (int)m->progress.total, STR(m->progress.message));
		break;
	case MSG_STEP:
		say_step(h, &m->step);
		break;
	case MSG_LOG:
		if (m->log.text.n == 4 && memcmp(m->log.text.p, "poke", 4) == 0)
			poke(h);
		else
			say(h, "%u:%.*s", m->log.level, STR(m->log.text));
		break;
	case MSG_ARTIFACT:
		say(h, "@%.*s:%.*s:", STR(m->artifact.name),
		    STR(m->artifact.mime_type));
		h->artifact = true;
		h->missing = m->artifact.total;
		body_part(h, m->artifact.head);
		break;
	case MSG_RESULT:
		say(h, "%s:",
		    m->result.kind == MSG_RESULT_REPLY ? "REPLY" : "VALUE");
		h->artifact = false;
		h->missing = m->result.total;
		body_part(h, m->result.head);
		break;
	case MSG_CHUNK:
		body_part(h, m->chunk.data);
		break;
	case MSG_FAIL:
		say(h, "FAIL:%.*s:%.*s:%.*s", STR(m->fail.error_code),
		    STR(m->fail.message), STR(m->fail.details));
		break;
	default:
		say(h, "UNEXPECTED:%s", msg_type_name(m->type));
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
			say(h, "HANGS");
			kill(h->pid, SIGKILL);
			return;
		}
		n = chan_recv(h->fd, in);
		if (n == -EAGAIN)
			continue;
		if (n <= 0)
			return;
		if (msg_get(&m, in, (size_t)n, &why) < 0)
			say(h, "OFFENCE:%s", why);
		else
			hear_msg(h, &m);
	}
}

_Noreturn static void be_worker(const struct trial *t, int fd)
{
	if (fd != CREW_RUN_FD)
		dup2(fd, CREW_RUN_FD);
	close_range(CREW_RUN_FD + 1, ~0u, 0);
	job_set_cpu_ms(1500);
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
		say(&h, "STATUS:%x", (unsigned)status);
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

static void check_all(const struct trial *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(&t[i]);
}

/* A template of just BODY. */
#define T(body) "return function(run, inputs) " body " end"
#define TRAP(body) "local ok, e = pcall(function() " body " end) "

static const struct trial results[] = {
    {.name = "an empty template's result is null", T(""), "VALUE:null"},
    {.name = "a table comes back with its keys sorted",
     T("return {b = 1, a = {true, false, run.null}, c = 'x'}"),
     "VALUE:{\"a\":[true,false,null],\"b\":1,\"c\":\"x\"}"},
    {.name = "inputs arrive",
     T("return {inputs.n + 1, inputs.s, inputs.list[2]}"),
     "VALUE:[42,\"ä\",false]",
     "{\"n\":41,\"s\":\"ä\",\"list\":[null,false]}"},
    {.name = "inputs go back as they came",
     T("return inputs"),
     "VALUE:{\"a\":[],\"b\":{},\"c\":null,\"d\":[[]],\"e\":1.5}",
     "{\"a\":[],\"b\":{},\"c\":null,\"d\":[[]],\"e\":1.5}"},
    {.name = "an empty table is an object", T("return {}"), "VALUE:{}"},
    {.name = "run.array makes it an array",
     T("return {run.array{}, run.array()}"),
     "VALUE:[[],[]]"},
    {.name = "an array that was decoded and emptied is one still",
     T("local a = run.json.decode('[1]') a[1] = nil return a"),
     "VALUE:[]"},
    {.name = "integers keep 64 bits",
     T("return {math.maxinteger, math.mininteger}"),
     "VALUE:[9223372036854775807,-9223372036854775808]"},
    {.name = "an integral double is written as an integer",
     T("return {10 / 2, 1e15}"),
     "VALUE:[5,1000000000000000]"},
    {.name = "doubles are as short as they can be",
     T("return {0.1, 1/3, 1e300, -0.0, 2^53}"),
     "VALUE:[0.1,0.3333333333333333,1e+300,-0,9007199254740992]"},
    {.name = "control characters and quotes are escaped",
     T("return 'a\\0\\n\\t\\\"\\\\/\\127'"),
     "VALUE:\"a\\u0000\\n\\t\\\"\\\\/\x7f\""},
    {.name = "a big result takes several chunks",
     T("return ('x'):rep(200000)"),
     "VALUE:\"xx...200002...xx\""},
    {.name = "a result over the limit is refused with its size",
     T("return ('x'):rep(200)"),
     "FAIL:RESOURCE_LIMIT:the result is larger than it may be:"
     "{\"limit\":\"output_bytes\",\"used\":202,\"allowed\":201,"
     "\"unit\":\"bytes\",\"whoCanRaise\":\"template limits.maxOutputBytes, or "
     "the server's [limits]\"}",
     .output = 201},
    {.name = "a result at the limit passes",
     T("return ('x'):rep(8)"),
     "VALUE:\"xxxxxxxx\"",
     .output = 10},
    {.name = "run.reply is passed on",
     T("return run.reply{content = {{type = 'text', text = 'hi'}}, "
       "structuredContent = {a = 1}, isError = true}"),
     "REPLY:{\"content\":[{\"text\":\"hi\",\"type\":\"text\"}],"
     "\"isError\":true,\"structuredContent\":{\"a\":1}}"},
    {.name = "an empty content of a reply is an array",
     T("return run.reply{content = {}}"),
     "REPLY:{\"content\":[]}"},
    {.name = "run.reply refuses other keys",
     T("return run.reply{text = 'hi'}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.reply takes content, *"},
    {.name = "run.reply refuses a content that is no list",
     T("return run.reply{content = 'hi'}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.reply: content *"},
    {.name = "keys that are added to a reply are dropped",
     T("local r = run.reply{isError = false} r.x = 1 return r"),
     "REPLY:{\"isError\":false}"},
    {.name = "a reply inside of a value is a value",
     T("return {run.reply{isError = false}}"),
     "VALUE:[{\"isError\":false}]"},
};

static const struct trial no_json[] = {
    {.name = "a function is no result",
     T("return {rows = {1, {f = print}}}"),
     "FAIL:EXECUTION_ERROR:a function cannot be JSON, at /rows/1/f:"},
    {.name = "NaN is no result",
     T("return 0/0"),
     "FAIL:EXECUTION_ERROR:a NaN cannot be JSON:"},
    {.name = "nor is infinity",
     T("return {x = -1/0}"),
     "FAIL:EXECUTION_ERROR:an infinite number cannot be JSON, at /x:"},
    {.name = "a table with holes is neither list nor object",
     T("return {[1] = 1, [2] = 2, [4] = 4}"),
     "FAIL:EXECUTION_ERROR:a table with 3 integer keys from 1 to 4 *"},
    {.name = "a key of 2^53 is no list's",
     T("return {[1 << 53] = 1}"),
     "FAIL:EXECUTION_ERROR:a table with 1 integer keys from "
     "9007199254740992 to *"},
    {.name = "keys must not be mixed",
     T("return {1, 2, x = 3}"),
     "FAIL:EXECUTION_ERROR:a table with both integer keys and named *"},
    {.name = "a marked array has no named fields",
     T("return {a = run.array{x = 3}}"),
     "FAIL:EXECUTION_ERROR:an array with named fields cannot be JSON, at /a:"},
    {.name = "a key must be a string",
     T("return {[true] = 1}"),
     "FAIL:EXECUTION_ERROR:a table with a key of type boolean *"},
    {.name = "a result that contains itself is refused",
     T("local t = {} t.a = {t} return t"),
     "FAIL:EXECUTION_ERROR:a table that contains itself cannot be JSON, at "
     "/a/0:"},
    {.name = "the same table twice is fine",
     T("local t = {1} return {t, t}"),
     "VALUE:[[1],[1]]"},
    {.name = "64 levels pass",
     T("local t = 1 for i = 1, 64 do t = {t} end "
       "return #run.json.encode(t)"),
     "VALUE:129"},
    {.name = "65 levels do not",
     T("local t = 1 for i = 1, 65 do t = {t} end return t"),
     "FAIL:EXECUTION_ERROR:a table more than 64 levels deep *"},
    {.name = "bytes that are not UTF-8 are refused",
     T("return {s = '\\xff'}"),
     "FAIL:EXECUTION_ERROR:a string that is not UTF-8 *at /s:"},
    {.name = "in keys as well",
     T("return {['\\xff'] = 1}"),
     "FAIL:EXECUTION_ERROR:a key that is not UTF-8 without NUL *"},
};

/* inputs.t is the text that is decoded. */
#define DECODES(text, line) T("return run.json.decode(inputs.t)"), line, text
#define REFUSES(text, line)                                                    \
	T(TRAP(                                                                \
	    "run.json.decode(inputs.t)") "return (e:gsub('^.-: ', '', 1))"),   \
	    line, text

static const struct trial decodings[] = {
    {.name = "decode: scalars and nesting",
     DECODES("{\"t\":\" [1,-2.5e1,true,false,null,\\\"a\\\",{\\\"k\\\":{}}]\"}",
	     "VALUE:[1,-25,true,false,null,\"a\",{\"k\":{}}]")},
    {.name = "decode: escapes and surrogate pairs",
     DECODES("{\"t\":\"\\\"\\\\u00e4\\\\ud83d\\\\ude00\\\\n\\\\/\\\"\"}",
	     "VALUE:\"ä😀\\n/\"")},
    {.name = "decode: an integer over 64 bits is a double",
     DECODES("{\"t\":\"[9223372036854775808,-9223372036854775808]\"}",
	     "VALUE:[9.223372036854776e+18,-9223372036854775808]")},
    {.name = "decode: -0 stays", DECODES("{\"t\":\"-0\"}", "VALUE:-0")},
    {.name = "decode: a lone surrogate is refused",
     REFUSES("{\"t\":\"\\\"\\\\ud800\\\"\"}", "VALUE:\"JSON, byte 3: a lone*")},
    {.name = "decode: two high surrogates are refused",
     REFUSES("{\"t\":\"\\\"\\\\ud800\\\\ud800\\\"\"}", "VALUE:*a lone*")},
    {.name = "decode: a duplicate key is refused",
     REFUSES("{\"t\":\"{\\\"a\\\":null,\\\"a\\\":2}\"}",
	     "VALUE:\"JSON, byte 14: the same key again\"")},
    {.name = "decode: a trailing comma is refused",
     REFUSES("{\"t\":\"[1,]\"}", "VALUE:\"JSON, byte 4: expected a value\"")},
    {.name = "decode: text after the value is refused",
     REFUSES("{\"t\":\"1 2\"}",
	     "VALUE:\"JSON, byte 3: something follows the value\"")},
    {.name = "decode: a text that ends early says so",
     REFUSES("{\"t\":\"[1\"}",
	     "VALUE:\"JSON, byte 3: the text ends too early\"")},
    {.name = "decode: nothing at all is refused",
     REFUSES("{\"t\":\"\"}",
	     "VALUE:\"JSON, byte 1: the text ends too early\"")},
    {.name = "decode: a leading zero is refused",
     REFUSES("{\"t\":\"-01\"}",
	     "VALUE:\"JSON, byte 2: a number with a leading zero\"")},
    {.name = "decode: hexadecimal is refused",
     REFUSES("{\"t\":\"0x10\"}", "VALUE:\"JSON, byte 2: something*")},
    {.name = "decode: NaN is refused",
     REFUSES("{\"t\":\"NaN\"}", "VALUE:\"JSON, byte 1: expected a value\"")},
    {.name = "decode: 1e999 is refused",
     REFUSES("{\"t\":\"1e999\"}", "VALUE:\"JSON, byte 1: a number beyond*")},
    {.name = "decode: 1. is refused",
     REFUSES("{\"t\":\"[1.]\"}", "VALUE:\"JSON, byte 4: expected a digit\"")},
    {.name = "decode: a NUL is refused",
     T(TRAP("run.json.decode('[1\\0]')") "return e"),
     "VALUE:*expected , or ]*"},
    {.name = "decode: a NUL in a string is refused",
     T(TRAP("run.json.decode('\"\\0\"')") "return e"),
     "VALUE:*a control*"},
    {.name = "decode: bad UTF-8 is refused",
     T(TRAP("run.json.decode('\"a\\xC0\\x80\"')") "return e"),
     "VALUE:*byte 3: a string that is not UTF-8*"},
    {.name = "decode: 65 levels are refused",
     T(TRAP("run.json.decode(('['):rep(65) .. (']'):rep(65))") "return e"),
     "VALUE:*more than 64 levels deep*"},
    {.name = "decode: 64 levels pass",
     T("return #run.json.encode(run.json.decode(('['):rep(64) .. "
       "(']'):rep(64)))"),
     "VALUE:128"},
    {.name = "base64 goes both ways",
     T("return {run.base64.encode('\\0\\255x'), "
       "run.base64.decode('AP94') == '\\0\\255x', run.base64.encode('')}"),
     "VALUE:[\"AP94\",true,\"\"]"},
    {.name = "base64 that is not canonical is refused",
     T("run.base64.decode('AP9')"),
     "FAIL:EXECUTION_ERROR:*not base64*"},
};

static const struct trial errors[] = {
    {.name = "a plain error has its place and a traceback",
     "local function f() error('x') end\nreturn function() f() end",
     "FAIL:EXECUTION_ERROR:main.lua:1: x\nstack traceback:\n*main.lua:2*:"},
    {.name = "run.error carries a code and details",
     T("run.error('NO_ROWS', 'no rows', {n = 0})"),
     "FAIL:EXECUTION_ERROR:no rows:{\"templateCode\":\"NO_ROWS\","
     "\"templateDetails\":{\"n\":0}}"},
    {.name = "without a message the code is it",
     T("run.error('NO_ROWS')"),
     "FAIL:EXECUTION_ERROR:NO_ROWS:{\"templateCode\":\"NO_ROWS\"}"},
    {.name = "details that are no JSON are left out, and that is said",
     T("run.error('C', 'm', {print})"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"C\","
     "\"templateDetailsOmitted\":\"a function cannot be JSON, at /0\"}"},
    {.name = "so are details that are too big",
     T("run.error('C', 'm', ('x'):rep(20000))"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"C\","
     "\"templateDetailsOmitted\":\"they are 20002 bytes, of *"},
    {.name = "a code of a template's is no errorCode",
     T("run.error('WORKER_CRASHED', 'm')"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"WORKER_CRASHED\"}"},
    {.name = "a bad code is refused",
     T("run.error('a\\nb', 'm')"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'error'*"},
    {.name = "a table with code and message is as good",
     T("error({code = 'C', message = 'm'})"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"C\"}"},
    {.name = "error(nil) has a text",
     T("error(nil)"),
     "FAIL:EXECUTION_ERROR:the template raised an error without *"},
    {.name = "an error object may forge its text, not more",
     T("error(setmetatable({}, {__tostring = function() return 'ha' end}))"),
     "FAIL:EXECUTION_ERROR:ha\n*"},
    {.name = "a __tostring that raises is survived",
     T("error(setmetatable({}, {__tostring = function() error('ho') end}))"),
     "FAIL:EXECUTION_ERROR:the template raised a table whose text *"},
    {.name = "so is one that returns no string",
     T("error(setmetatable({}, {__tostring = function() return {} end}))"),
     "FAIL:EXECUTION_ERROR:the template raised a table whose text *"},
    {.name = "and one that calls the API",
     T("error(setmetatable({}, {__tostring = function() "
       "run.step('s', print) end}))"),
     "FAIL:EXECUTION_ERROR:the template raised a table whose text *"},
    {.name = "__name shows, an address does not",
     T("error(setmetatable({}, {__name = 'my type'}))"),
     "FAIL:EXECUTION_ERROR:my type\n*"},
    {.name = "an error's text is cut",
     T("error(('x'):rep(20000), 0)"),
     "FAIL:EXECUTION_ERROR:xxx*xxx:"},
    {.name = "and made UTF-8",
     T("error('a\\xff', 0)"),
     "FAIL:EXECUTION_ERROR:a\xEF\xBF\xBD\nstack*"},
    {.name = "a typed error reads well",
     T("local ok, e = pcall(run.error, 'C', 'm') "
       "return {tostring(e), 'got ' .. e, e.code, e.message}"),
     "VALUE:[\"C: m\",\"got C: m\",\"C\",\"m\"]"},
    {.name = "its metatable is not to be had",
     T("local ok, e = pcall(run.error, 'C', 'm') "
       "return {getmetatable(e), pcall(setmetatable, e, nil)}"),
     "VALUE:[false,false,\"cannot change a protected metatable\"]"},
    {.name = "a file that returns no function is named",
     "return 42",
     "FAIL:EXECUTION_ERROR:main.lua must return a function(run, inputs), but "
     "it returned a number*"},
    {.name = "so is one that returns nothing",
     "local x = 1",
     "FAIL:EXECUTION_ERROR:main.lua must return *it returned a nil*"},
    {.name = "a syntax error has its place",
     "return function(\n\nrun",
     "FAIL:EXECUTION_ERROR:main.lua:3: ')' expected near <eof>:"},
    {.name = "an error while loading too",
     "local x = nil + 1",
     "FAIL:EXECUTION_ERROR:main.lua:1: attempt to perform arithmetic*"},
    {.name = "a binary chunk is refused",
     "\x1bLua",
     "FAIL:EXECUTION_ERROR:*attempt to load a binary chunk*"},
};

static const struct trial steps[] = {
    {.name = "a step is declared, run, and hands its results on",
     T("local a, b = run.step('parse', function() return 1, 2 end) "
       "return a + b"),
     "+0:parse >0#1 =0 VALUE:3"},
    {.name = "steps nest",
     T("return run.step('a', function() return run.step('b', function() "
       "return 1 end) end)"),
     "+0:a >0#1 +1:b >1#1 =1 =0 VALUE:1"},
    {.name = "a failing step fails the run with its code",
     T("run.step('a', function() run.error('BAD', 'no', {x = 1}) end)"),
     "+0:a >0#1 !0:BAD:no FAIL:STEP_EXECUTION_FAILED:no:{\"failedStep\":\"a\","
     "\"stepErrorCode\":\"BAD\",\"templateDetails\":{\"x\":1}}"},
    {.name = "a plain error in a step has the code ERROR",
     T("run.step('a', function() error('x') end)"),
     "+0:a >0#1 !0:ERROR:main.lua:1: x "
     "FAIL:STEP_EXECUTION_FAILED:main.lua:1: x:{\"failedStep\":\"a\","
     "\"stepErrorCode\":\"ERROR\"}"},
    {.name = "the innermost step is to blame",
     T("run.step('a', function() run.step('b', function() "
       "run.error('BAD', 'no') end) end)"),
     "+0:a >0#1 +1:b >1#1 !1:BAD:no !0:BAD:no "
     "FAIL:STEP_EXECUTION_FAILED:no:{\"failedStep\":\"b\",*"},
    {.name = "a caught step stays failed",
     T(TRAP(
	 "run.step('a', function() run.error('BAD', 'no') end)") "return "
								 "{e.code, "
								 "e.message}"),
     "+0:a >0#1 !0:BAD:no VALUE:[\"BAD\",\"no\"]"},
    {.name = "a step's error that is raised again is still the step's",
     T(TRAP("run.step('a', function() run.error('BAD', 'no') end)") "error(e)"),
     "*FAIL:STEP_EXECUTION_FAILED:no:{\"failedStep\":\"a\",*"},
    {.name = "another error after a caught step is the template's",
     T(TRAP(
	 "run.step('a', function() run.error('BAD', 'no') end)") "run.error('"
								 "MINE', 'm')"),
     "*FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"MINE\"}"},
    {.name = "no field of an error makes it a step's",
     T("error({code = 'C', message = 'm', step = 'a', kind = 'step'})"),
     "FAIL:EXECUTION_ERROR:m:{\"templateCode\":\"C\"}"},
    {.name = "retries are extra attempts",
     T("local n = 0 return run.step('a', function() n = n + 1 "
       "if n < 3 then error('x') end return n end, {retries = 2})"),
     "+0:a >0#1 >0#2 >0#3 =0 VALUE:3"},
    {.name = "and then it has failed for good",
     T("run.step('a', function() error('x', 0) end, {retries = 1, "
       "backoff = 1})"),
     "+0:a >0#1 >0#2 !0:ERROR:x FAIL:STEP_EXECUTION_FAILED:x:*"},
    {.name = "a nil error fails a step too",
     T("run.step('a', function() error(nil) end)"),
     "+0:a >0#1 !0:ERROR:the template raised an error without*"},
    {.name = "an unknown option is refused",
     T("run.step('a', print, {retry = 1})"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.step takes the options *"},
    {.name = "a negative option is refused",
     T("run.step('a', print, {retries = -1})"),
     "FAIL:EXECUTION_ERROR:main.lua:1: retries must be an integer from 0 *"},
    {.name = "a name with a newline is refused",
     T("run.step('a\\n', print)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'step'*"},
    {.name = "an empty name is refused",
     T("run.step('', print)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'step'*"},
    {.name = "a step needs a function",
     T("run.step('a')"),
     "FAIL:EXECUTION_ERROR:*bad argument #2 to 'step'*"},
    {.name = "a run has at most 10000 steps",
     T("local l = {} for i = 1, 10000 do l[i] = i end run.map(l, function() "
       "print(select(2, pcall(run.step, 'a', print))) print('poke') "
       "while true do end end)"),
     "+0x10000:item >0#1 6:*a run has at most 10000 steps FAIL:*",
     .poke = SIGXCPU},
    {.name = "so has a map",
     T("local l = {} for i = 1, 10001 do l[i] = i end run.map(l, print)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'map'*"},
    {.name = "a step in a coroutine of the template's works",
     T("return coroutine.wrap(function() return run.step('a', function() "
       "run.sleep(1) coroutine.yield(7) end) end)()"),
     "+0:a >0#1 !0:ABANDONED:the run ended before this step did VALUE:7"},
    {.name = "a step across a sort's comparison works",
     T("local t = {2, 1} table.sort(t, function(a, b) run.sleep(1) "
       "return run.step('c', function() return a < b end) end) return t"),
     "*>0#1 =0 *VALUE:[1,2]"},
};

static const struct trial timeouts[] =
    {
	{.name = "a step that loops is stopped at its timeout",
	 T("run.step('a', function() while true do end end, {timeout = 10})"),
	 "+0:a >0#1 !0:STEP_TIMEOUT:the step ran longer than its timeout of 10 "
	 "ms "
	 "FAIL:STEP_EXECUTION_FAILED:*:{\"failedStep\":\"a\","
	 "\"stepErrorCode\":\"STEP_TIMEOUT\"}"},
	{.name = "one that sleeps is woken",
	 T("run.step('a', function() run.sleep(60000) end, {timeout = 10})"),
	 "+0:a >0#1 !0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*"},
	{.name = "no pcall swallows it",
	 T("run.step('a', function() while true do pcall(function() "
	   "while true do end end) end end, {timeout = 10})"),
	 "+0:a >0#1 !0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*"},
	{.name = "each attempt has the timeout",
	 T("local n = 0 return run.step('a', function() n = n + 1 "
	   "if n == 1 then while true do end end return n end, "
	   "{timeout = 200, retries = 1})"),
	 "+0:a >0#1 >0#2 =0 VALUE:2"},
	{.name = "a step that returns late has timed out all the same",
	 T("run.step('a', function() pcall(run.sleep, 60000) return 1 end, "
	   "{timeout = 10})"),
	 "+0:a >0#1 !0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*"},
	{.name = "the template goes on after a caught one",
	 T(TRAP("run.step('a', function() while true do end end, {timeout = "
		"5})") "local n = 0 for i = 1, 1000 do n = n + i end return "
		       "{e.code, n}"),
	 "+0:a >0#1 !0:STEP_TIMEOUT:* VALUE:[\"STEP_TIMEOUT\",500500]"},
	{.name = "a step inside of the one that timed out fails with it",
	 T("run.step('a', function() run.step('b', function() run.sleep(60000) "
	   "end, {retries = 5}) end, {timeout = 100})"),
	 "+0:a >0#1 +1:b >1#1 !1:STEP_TIMEOUT:* !0:STEP_TIMEOUT:* "
	 "FAIL:STEP_EXECUTION_FAILED:*:{\"failedStep\":\"a\",*"},
	{.name = "a step that Lua cannot stop costs the worker its life",
	 T("run.step('a \\\"', function() "
	   "return (('a'):rep(40)):find(('a?'):rep(40) .. ('a'):rep(40)) end, "
	   "{timeout = 10})"),
	 "+0:a \" >0#1 FAIL:STEP_EXECUTION_FAILED:*:{\"failedStep\":\"a \\\"\","
	 "\"stepErrorCode\":\"STEP_TIMEOUT\"}"},
	{.name = "so does one that hides in a coroutine",
	 T("local co = coroutine.wrap(function() while true do end end) "
	   "run.step('a', function() co() end, {timeout = 10})"),
	 "+0:a >0#1 FAIL:STEP_EXECUTION_FAILED:*"},
	{.name = "a map's items in a step that timed out end with it",
	 T("run.step('a', function() run.map({1, 2, 3}, {concurrency = 2, "
	   "step = 'i'}, function() run.sleep(60000) end) end, {timeout = "
	   "100})"),
	 "+0:a >0#1 +1x3:i >1#1 >2#1 !*:STEP_TIMEOUT:* !*:STEP_TIMEOUT:* ~3 "
	 "!0:STEP_TIMEOUT:* FAIL:STEP_EXECUTION_FAILED:*\"failedStep\":\"a\"*"},
	{.name = "a map's items may have a timeout",
	 T("local r = run.map({0, 60000}, {step = 'i', timeout = 400}, "
	   "function(ms) run.sleep(ms) return ms end) "
	   "return {r[1].value, r[2].error.code}"),
	 "+0x2:i >0#1 >1#1 =0 !1:STEP_TIMEOUT:* VALUE:[0,\"STEP_TIMEOUT\"]"},
	{.name = "a timer of a step that was dropped does no harm",
	 T("local co = coroutine.wrap(function() run.step('a', function() "
	   "coroutine.yield() end, {timeout = 100000}) end) co() co = nil "
	   "for i = 1, 20000 do local t = {{}, {}, {}} end return 1"),
	 "+0:a >0#1 !0:ABANDONED:* VALUE:1"},
};

static const struct trial maps[] = {
    {.name = "a map keeps the order and says how each item went",
     T("return run.map({3, 1, 2}, {concurrency = 3, step = 'x'}, "
       "function(ms, i) run.sleep(ms) if i == 2 then run.error('E', 'no') end "
       "return ms * 10 end)"),
     "+0x3:x >0#1 >1#1 >2#1 *VALUE:[{\"ok\":true,\"value\":30},"
     "{\"error\":{\"code\":\"E\",\"message\":\"no\"},\"ok\":false},"
     "{\"ok\":true,\"value\":20}]"},
    {.name = "one at a time is in order",
     T("run.map({'a', 'b'}, {concurrency = 1, step = 'x'}, function(s) "
       "print(s) run.sleep(1) print(s) end)"),
     "+0x2:x >0#1 6:a 6:a =0 >1#1 6:b 6:b =1 VALUE:null"},
    {.name = "the window slides: a free place is taken at once",
     T("local open, most, done = 0, 0, 0 run.map({1, 2, 3, 4}, "
       "{concurrency = 2, step = 'x'}, function(i) open = open + 1 "
       "most = math.max(most, open) repeat run.sleep(1) "
       "until i > 1 or done == 3 open = open - 1 done = done + 1 end) "
       "return most"),
     "+0x4:x >0#1 >1#1 =1 >2#1 =2 >3#1 =3 =0 VALUE:2"},
    {.name = "one item's step has its number as well",
     T("return run.map({1}, {step = 'x'}, function() end)"),
     "+0:x[1] >0#1 =0 VALUE:[{\"ok\":true}]"},
    {.name = "an empty list gives an empty array, and declares nothing",
     T("return run.map({}, {step = 'x'}, print)"),
     "VALUE:[]"},
    {.name = "options may be left out",
     T("return run.map({1, 2}, function(v, i) "
       "return v + i end)"),
     "+0x2:item >0#1 =0 >1#1 =1 VALUE:[{\"ok\":true,\"value\":2},*"},
    {.name = "steps inside of items work",
     T("return run.map({1, 2}, {step = 'x'}, function(v) return run.step("
       "'in', function() run.sleep(1) return v end) end)"),
     "+0x2:x >0#1 +2:in >2#1 >1#1 +3:in >3#1 =2 =0 =3 =1 VALUE:*"},
    {.name = "maps inside of items work",
     T("return run.map({1, 2}, {step = 'x'}, function(v) "
       "return run.map({1, 2}, {step = 'y'}, function(w) run.sleep(1) "
       "return v * w end)[2].value end)"),
     "*VALUE:[{\"ok\":true,\"value\":2},{\"ok\":true,\"value\":4}]"},
    {.name = "a map from a coroutine of the template's works",
     T("return coroutine.wrap(function() return run.map({1, 2}, "
       "function(v) run.sleep(1) return v end)[2].value end)()"),
     "*VALUE:2"},
    {.name = "a yield across pcall works",
     T("return run.map({1}, function() local ok, v = pcall(function() "
       "run.sleep(1) return 5 end) return v end)[1].value"),
     "*VALUE:5"},
    {.name = "items have retries",
     T("local n = 0 return run.map({1}, {step = 'x', retries = 1}, function() "
       "n = n + 1 if n == 1 then error('x') end return n end)[1].value"),
     "+0:x[1] >0#1 >0#2 =0 VALUE:2"},
    {.name = "an error rethrown from a result is the template's",
     T("local r = run.map({1}, function() run.error('E', 'no') end) "
       "error(r[1].error)"),
     "*FAIL:EXECUTION_ERROR:no:{\"templateCode\":\"E\"}"},
    {.name = "1000 items, 1000 at once",
     T("local l = {} for i = 1, 1000 do l[i] = i end "
       "local n = 0 run.map(l, {concurrency = 1000}, function(v) "
       "run.sleep(1) n = n + v end) return n"),
     "*VALUE:500500"},
    {.name = "more than that are refused",
     T("run.map({1}, {concurrency = 1001}, print)"),
     "FAIL:EXECUTION_ERROR:main.lua:1: concurrency must be an integer from *"},
    {.name = "an unknown option of a map is refused",
     T("run.map({1}, {steps = 'x'}, print)"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.map takes the options *"},
    {.name = "an item that runs out of memory is an item that failed",
     T("local r = run.map({1, 2}, function(i) if i == 1 then "
       "local s = ('x'):rep(1 << 30) end return i end) "
       "return {r[1].error.code, r[2].value}"),
     "*VALUE:[\"RESOURCE_LIMIT\",2]"},
};

static const struct trial cancels[] = {
    {.name = "cancelling wakes a sleep between steps, and ends the run",
     T("print('poke') run.sleep(60000)"),
     "FAIL:RUN_CANCELED:the run was cancelled:",
     .poke = SIGTERM,
     .asleep = true},
    {.name = "a sleep in a step is shorter, and the step ends by itself",
     T("return run.step('a', function() print('poke') "
       "return run.sleep(60000) end)"),
     "+0:a >0#1 =0 VALUE:false",
     .poke = SIGTERM,
     .asleep = true},
    {.name = "no step starts once cancelling was asked for",
     T("run.step('a', function() print('poke') "
       "while not run.cancelled() do end end) run.step('b', print)"),
     "+0:a >0#1 =0 FAIL:RUN_CANCELED:*",
     .poke = SIGTERM},
    {.name = "a caught cancelling does not start it either",
     T("print('poke') while not run.cancelled() do end "
       "local ok, e = pcall(run.step, 'b', print) return {ok, e.code}"),
     "VALUE:[false,\"RUN_CANCELED\"]",
     .poke = SIGTERM},
    {.name = "a nested step that may not start takes the outer one along",
     T("run.step('a', function() print('poke') "
       "while not run.cancelled() do end run.step('b', print) end, "
       "{retries = 3})"),
     "+0:a >0#1 !0:RUN_CANCELED:* FAIL:RUN_CANCELED:*",
     .poke = SIGTERM},
    {.name = "a map's pending items are skipped, what was done stays",
     T("local r = run.map({1, 2, 3, 4}, {concurrency = 2, step = 'x'}, "
       "function(i) if i == 2 then print('poke') end run.sleep(60000) "
       "return i end) run.artifact{name = 'a', data = run.json.encode(r)} "
       "return 0"),
     "+0x4:x >0#1 >1#1 =0 =1 ~2 ~3 @a:application/octet-stream:"
     "[{\"ok\":true,\"value\":1},{\"ok\":true,\"value\":2},"
     "{\"error\":{\"code\":\"RUN_CANCELED\",*}] VALUE:0",
     .poke = SIGTERM,
     .asleep = true},
    {.name = "no retry comes after cancelling",
     T("run.step('a', function() print('poke') "
       "while not run.cancelled() do end error('x', 0) end, {retries = 3})"),
     "+0:a >0#1 !0:ERROR:x FAIL:STEP_EXECUTION_FAILED:*",
     .poke = SIGTERM},
    {.name = "a backoff is cut short",
     T("local n = 0 run.step('a', function() n = n + 1 "
       "if n == 1 then print('poke') end error('x', 0) end, "
       "{retries = 1, backoff = 3600000})"),
     "+0:a >0#1 !0:ERROR:x FAIL:STEP_EXECUTION_FAILED:*",
     .poke = SIGTERM,
     .asleep = true},
    {.name = "a map does not start after it",
     T("print('poke') while not run.cancelled() do end run.map({1}, print)"),
     "FAIL:RUN_CANCELED:*",
     .poke = SIGTERM},
    {.name = "cancelling is not swallowed by a map's item",
     T("return run.map({1}, {step = 'x'}, function() print('poke') "
       "while not run.cancelled() do end run.step('y', print) end)"),
     "+0:x[1] >0#1 !0:RUN_CANCELED:* VALUE:[{\"error\":{\"code\":"
     "\"RUN_CANCELED\",*",
     .poke = SIGTERM},
};

static const struct trial talk[] = {
    {.name = "print is a log line of level info",
     T("print('a', 1, nil, {}, run.null)"),
     "6:a\t1\tnil\ttable\tnull VALUE:null"},
    {.name = "run.log has MCP's eight levels",
     T("for _, l in ipairs{'debug', 'info', 'notice', 'warning', 'error', "
       "'critical', 'alert', 'emergency'} do run.log(l, l) end"),
     "7:debug 6:info 5:notice 4:warning 3:error 2:critical 1:alert "
     "0:emergency VALUE:null"},
    {.name = "another level is refused",
     T("run.log('loud', 'x')"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'log' (invalid option 'loud')*"},
    {.name = "warn is a warning", T("warn('a', 'b')"), "4:ab VALUE:null"},
    {.name = "a log line is made UTF-8 without NUL",
     T("print('a\\xC3(\\0')"),
     "6:a\xEF\xBF\xBD(\xEF\xBF\xBD VALUE:null"},
    {.name = "and cut at a whole character",
     T("print(('ä'):rep(5000)) return 1"),
     "6:ää*ää VALUE:1"},
    {.name = "progress is sent, the last before the end",
     T("for i = 1, 1000 do run.progress(i, 1000, 'at ' .. i) end"),
     "%1/1000:at 1 *%1000/1000:at 1000 VALUE:null"},
    {.name = "it comes before the step that follows it ends",
     T("run.step('a', function() run.progress(1, 3) run.progress(2, 3) end)"),
     "+0:a >0#1 %1/3: %2/3: =0 VALUE:null"},
    {.name = "and while the run sleeps",
     T("run.progress(1, 3) run.progress(2, 3) run.sleep(80) print('x')"),
     "%1/3: %2/3: 6:x VALUE:null"},
    {.name = "done never falls, and never passes the total",
     T("run.progress(2, 3) run.progress(1, 3, 'back') run.sleep(60) "
       "run.progress(9, 4)"),
     "%2/3: %4/4: VALUE:null"},
    {.name = "a total of 0 is unknown, and bounds nothing",
     T("run.progress(5, 0)"),
     "%5/0: VALUE:null"},
    {.name = "an integral float will do",
     T("run.progress(1.0, 2.0)"),
     "%1/2: VALUE:null"},
    {.name = "a fraction will not",
     T("run.progress(1.5, 2)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'progress'*"},
    {.name = "nor a negative number",
     T("run.progress(-1, 2)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'progress'*"},
    {.name = "nor 2^63",
     T("run.progress(math.maxinteger, math.maxinteger)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'progress'*"},
    {.name = "the run knows its names",
     T("return {run.id, run.template, run.cancelled(), "
       "run.deadline() > 50000 and run.deadline() <= 60000}"),
     "VALUE:[\"run_x\",\"tpl\",false,true]"},
    {.name = "sleep yields and says that it slept",
     T("return run.sleep(1)"),
     "VALUE:true"},
    {.name = "a bad time is refused",
     T("run.sleep(0/0)"),
     "FAIL:EXECUTION_ERROR:*bad argument #1 to 'sleep'*"},
    {.name = "a flood is slowed, not lost",
     T("for i = 1, 36000 do run.log('debug', 'x') end return 1"),
     "7:x *7:x VALUE:1"},
};

static const struct trial artifacts[] = {
    {.name = "an artifact has an id",
     T("return run.artifact{name = 'a.csv', mimeType = 'text/csv', "
       "data = '1,2'}"),
     "@a.csv:text/csv:1,2 *VALUE:\"art_1\""},
    {.name = "its type has a default",
     T("return run.artifact{name = 'a', data = ''}"),
     "@a:application/octet-stream: VALUE:\"art_1\""},
    {.name = "a big one takes several chunks",
     T("return run.artifact{name = 'a', data = ('y'):rep(300000)}"),
     "@a:*:yyy...300000...yyy VALUE:\"art_1\""},
    {.name = "what the supervisor refuses is an error with its text",
     T("local ok, e = pcall(run.artifact, {name = 'a', data = 'x'}) "
       "return {e.code, e.message}"),
     "*VALUE:[\"RESOURCE_LIMIT\",\"the disk is full\"]",
     .refuse = true},
    {.name = "uncaught, it fails the run",
     T("run.artifact{name = 'a', data = 'x'}"),
     "*FAIL:RESOURCE_LIMIT:the disk is full:",
     .refuse = true},
    {.name = "over the run's own limit nothing is sent",
     T("run.artifact{name = 'a', data = ('x'):rep(1048576)} "
       "run.artifact{name = 'b', data = 'x'}"),
     "@a:* FAIL:RESOURCE_LIMIT:*:{\"allowed\":1048576,\"limit\":"
     "\"artifact_bytes\",\"unit\":\"bytes\",\"used\":1048577,"
     "\"whoCanRaise\":\"template limits.maxArtifactBytes, or the server's "
     "[limits]\"}"},
    {.name = "in a step too, it is the limit that failed",
     T("run.step('s', function() run.artifact{name = 'b', "
       "data = ('x'):rep(1048577)} end)"),
     "+0:s >0#1 !0:RESOURCE_LIMIT:* FAIL:RESOURCE_LIMIT:*artifact_bytes*"},
    {.name = "a name is needed",
     T("run.artifact{data = 'x'}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.artifact: name must be *"},
    {.name = "and data",
     T("run.artifact{name = 'x'}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.artifact: data must be a string*"},
    {.name = "a name has no control characters",
     T("run.artifact{name = 'a\\27[1m', data = ''}"),
     "FAIL:EXECUTION_ERROR:main.lua:1: run.artifact: name must be *"},
};

#define NO_MEMORY                                                              \
	"FAIL:RESOURCE_LIMIT:the run needed more memory than it may have:"     \
	"{\"limit\":\"memory\",\"used\":*,\"allowed\":8388608,\"unit\":"       \
	"\"bytes\",\"whoCanRaise\":\"template limits.maxMemoryBytes, or the "  \
	"server's [limits]\"}"

static const struct trial attacks[] = {
    {.name = "string.rep of 2^40",
     T("return {pcall(string.rep, 'x', 1 << 40)}"),
     "VALUE:[false,\"resulting string too large\"]"},
    {.name = "string.rep of 2^30", T("return ('x'):rep(1 << 30)"), NO_MEMORY},
    {.name = "doubling a string",
     T("local s = 'x' while true do s = s .. s end"),
     NO_MEMORY},
    {.name = "a table that grows",
     T("local t = {} while true do t[#t + 1] = {} end"),
     NO_MEMORY},
    {.name = "tables in a coroutine",
     T("coroutine.wrap(function() local t = {} while true do t[#t + 1] = "
       "('x'):rep(1000) .. #t end end)()"),
     NO_MEMORY},
    {.name = "gsub that doubles",
     T("local s = ('x'):rep(10) while true do s = s:gsub('.', '%0%0') end"),
     NO_MEMORY},
    {.name = "running out in a step",
     T("run.step('a', function() return ('x'):rep(1 << 30) end)"),
     "+0:a >0#1 !0:RESOURCE_LIMIT:not enough memory " NO_MEMORY},
    {.name = "a caught shortage is survived",
     T(
	 TRAP("local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t "
	      "end") "return {ok, e}"),
     "VALUE:[false,\"not enough memory\"]"},
    {.name = "more code and inputs than memory",
     T("return #inputs"),
     "FAIL:RESOURCE_LIMIT:*",
     .memory = 4096},
    {.name = "a result that memory cannot hold",
     T("local s = ('x'):rep(1000000) local t = {} for i = 1, 50 do t[i] = s "
       "end return t"),
     NO_MEMORY,
     .output = 1 << 30},
    {.name = "a binary chunk by load",
     T("return select(2, load('\\27Lua'))"),
     "VALUE:\"*attempt to load a binary chunk*"},
    {.name = "load in binary mode",
     T("return {pcall(load, 'return 1', 'x', 'b')}"),
     "VALUE:[false,\"load takes text only, not mode 'b'\"]"},
    {.name = "load in mode bt is text",
     T("return load('return 1', 'x', 'bt')()"),
     "VALUE:1"},
    {.name = "load with an environment of its own",
     T("return load('x = 1 return _ENV', 'c', 't', {})()"),
     "VALUE:{\"x\":1}"},
    {.name = "load with nil for one",
     T("return {pcall(load('return x', 'c', 't', "
       "nil))}"),
     "VALUE:[false,*"},
    {.name = "what is absent is absent",
     T("local t = {} for _, n in ipairs{'io', 'require', 'package', 'debug', "
       "'dofile', 'loadfile'} do t[#t + 1] = _G[n] end "
       "for _, f in ipairs{string.dump, os.exit, os.getenv, os.execute, "
       "os.remove, os.tmpname} do t[#t + 1] = 1 end return #t"),
     "VALUE:0"},
    {.name = "os has four functions",
     T("local t = {} for k in pairs(os) do t[#t + 1] = k end "
       "table.sort(t) return t"),
     "VALUE:[\"clock\",\"date\",\"difftime\",\"time\"]"},
    {.name = "the time zone is UTC",
     T("return {os.date('%Y-%m-%d %H:%M %Z', 0), os.time{year = 1970, "
       "month = 1, day = 2, hour = 0}}"),
     "VALUE:[\"1970-01-01 00:00 UTC\",86400]"},
    {.name = "collectgarbage counts, and no more",
     T("return {collectgarbage('count') > 1, pcall(collectgarbage, 'stop')}"),
     "VALUE:[true,false,\"collectgarbage(\\\"stop\\\") is not available, *"},
    {.name = "a __gc that never ends is not waited for",
     T("setmetatable({}, {__gc = function() while true do end end}) "
       "return 1"),
     "VALUE:1"},
    {.name = "a __gc after the end says nothing",
     T("setmetatable({}, {__gc = function() run.progress(1, 1) end}) "
       "return 1"),
     "VALUE:1"},
    {.name = "no coroutine nests for ever",
     T("local function f() return coroutine.wrap(f)() end "
       "return pcall(f) or select(2, pcall(f)):sub(-16)"),
     "VALUE:\"C stack overflow\""},
    {.name = "100000 parentheses",
     T("return select(2, load(('('):rep(100000) .. '1')):sub(-30)"),
     "VALUE:\"*overflow*",
     .memory = 32 * MIB},
    {.name = "endless recursion",
     T("local function f() return 1 + f() end return {pcall(f)}"),
     "VALUE:[false,*stack overflow*",
     .memory = 128 * MIB},
    {.name = "table.unpack of 10^7",
     T("return {pcall(table.unpack, {}, 1, 10000000)}"),
     "VALUE:[false,\"too many results to unpack\"]"},
    {.name = "a message handler that raises",
     T("local function h() error('y') end return {xpcall(error, h, 'x')}"),
     "VALUE:[false,*",
     .memory = 64 * MIB},
    {.name = "a format as wide as it gets",
     T("return #string.format('%99.99f', 1e308)"),
     "VALUE:409"},
    {.name = "a format wider than that",
     T("return {pcall(string.format, '%999d', 1)}"),
     "VALUE:[false,*"},
    {.name = "poison in the strings' metatable",
     T("getmetatable('').__index = function() return 1 end "
       "string.format = nil tostring = nil print = nil "
       "return run.step('a', function() return ('x').y end)"),
     "+0:a >0#1 =0 VALUE:1"},
    {.name = "poison in the run table",
     T("run.json = nil run.step = 5 run.map = nil return {}"),
     "VALUE:{}"},
    {.name = "a comparison that makes no sense",
     T("local t = {} for i = 1, 100 do t[i] = i % 7 end "
       "return {pcall(table.sort, t, function() return true end)}"),
     "VALUE:[false,\"invalid order function for sorting\"]"},
    {.name = "an address is nowhere",
     T("local s = table.concat({tostring({}), tostring(print), "
       "tostring(coroutine.create(print)), string.format('%s %p %10p|%%s', {}, "
       "{}, print), tostring(run.null), tostring(run)}, ' ') return s"),
     "VALUE:\"table function thread table (address)  (address)|%s null "
     "table\""},
    {.name = "a format's own metamethods still work",
     T("local o = setmetatable({}, {__tostring = function() return 'o!' end}) "
       "return string.format('%5s|%d|%s', o, 3, nil)"),
     "VALUE:\"   o!|3|nil\""},
    {.name = "a NUL in a format does not hide what follows",
     T("return {pcall(string.format, '\\0%p', {})}"),
     "VALUE:[false,*NUL*"},
    {.name = "randomseed gives nothing away",
     T("return {select('#', math.randomseed()), "
       "select('#', math.randomseed(42)), math.random(100) == "
       "(math.randomseed(42) or math.random(100))}"),
     "VALUE:[0,0,true]"},
    {.name = "no yield leaves a task",
     T("return {pcall(coroutine.yield, 1)}"),
     "VALUE:[false,\"attempt to yield from outside a coroutine\"]"},
    {.name = "nor a map's item",
     T("return run.map({1}, function() coroutine.yield() "
       "end)[1].error.message"),
     "*VALUE:\"*attempt to yield from outside a coroutine\""},
    {.name = "a task's coroutine is not to be had",
     T("local co, main = coroutine.running() return {main, "
       "coroutine.isyieldable(), coroutine.status(co), "
       "(pcall(coroutine.close, co)), (coroutine.resume(co))}"),
     "VALUE:[true,false,\"normal\",false,false]"},
    {.name = "the template's own coroutines are as ever",
     T("local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) "
       "return b * 2, select(2, coroutine.running()) end) "
       "return {co(1), co(21)}"),
     "VALUE:[2,42,false]"},
};

static const struct trial signals[] = {
    {.name = "the CPU limit is a report",
     T("print('poke') while true do end"),
     "FAIL:RESOURCE_LIMIT:*:{\"limit\":\"cpu\",\"used\":*,\"allowed\":1500,"
     "\"unit\":\"ms\",\"whoCanRaise\":\"*\"}",
     .poke = SIGXCPU},
    {.name = "in the middle of a pattern as well",
     T("print('poke') return (('a'):rep(40)):find(('a?'):rep(40) .. "
       "('a'):rep(40))"),
     "FAIL:RESOURCE_LIMIT:*\"limit\":\"cpu\"*",
     .poke = SIGXCPU},
    {.name = "and in a __gc",
     T("print('poke') setmetatable({}, {__gc = function() while true do end "
       "end}) while true do local t = {} end"),
     "FAIL:RESOURCE_LIMIT:*\"limit\":\"cpu\"*",
     .poke = SIGXCPU},
};

/* What a caged worker must not need: everything but setitimer is allowed. */
static void trap_setitimer(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	if (ctx == NULL ||
	    seccomp_rule_add(ctx, SCMP_ACT_TRAP, SCMP_SYS(setitimer), 0) != 0 ||
	    seccomp_load(ctx) != 0)
		_exit(99);
}

static struct sock_fprog cage;

static void close_cage(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    filter_load(&cage) != 0)
		_exit(99);
}

static const struct trial violation = {
    .name = "a forbidden system call is named",
    .code = T("run.step('a', print, {timeout = 1000})"),
    .want = "+0:a >0#1 FAIL:SANDBOX_VIOLATION:*:{\"syscall\":\"setitimer\","
	    "\"arch\":\"*\",\"args\":[\"0x0\",\"0x*\",\"0x0\",*]}",
    .before = trap_setitimer};

static const struct trial *const tables[] = {
    results, no_json, decodings, errors,    steps,   timeouts,
    maps,    cancels, talk,	 artifacts, attacks, signals};
static const size_t sizes[] = {
    ARRAY_LEN(results),	  ARRAY_LEN(no_json), ARRAY_LEN(decodings),
    ARRAY_LEN(errors),	  ARRAY_LEN(steps),   ARRAY_LEN(timeouts),
    ARRAY_LEN(maps),	  ARRAY_LEN(cancels), ARRAY_LEN(talk),
    ARRAY_LEN(artifacts), ARRAY_LEN(attacks), ARRAY_LEN(signals)};

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
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		for (size_t j = 0; j < sizes[i]; j++) {
			struct trial t = tables[i][j];
			char *name = xasprintf("caged: %s", t.name);

			t.name = name;
			t.before = close_cage;
			check(&t);
			free(name);
		}
	}
}

static void check_random(void)
{
	struct trial t = {.code = T("return math.random(0)")};
	char *a = try_it(&t), *b = try_it(&t);

	ok(strncmp(a, "VALUE:", 6) == 0 && strcmp(a, b) != 0,
	   "two workers of one zygote roll different numbers");
	free(a);
	free(b);
}

int main(void)
{
	is_int(job_prepare(), 0, "what workers share can be prepared");
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		check_all(tables[i], sizes[i]);
	check_random();
	check(&violation);
	is_int(filter_make(FILTER_WORKER, &cage), 0, "the cage can be made");
	check_caged();
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_outcome.c - the outcome of a run, by the worker's messages and the worker's end.
 */
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ipc/zygote_proto.h"
#include "supervisor/run/limits.h"
#include "supervisor/run/outcome.h"
#include "tests/unit/tap_json.h"

#define CPU_MS 1000 /* the run's limit */

/* The status of wait(2), as on Linux. */
#define EXITED(code) ((code) << 8)
#define KILLED(sig) (sig)
#define DUMPED(sig) ((sig) | 0x80)

static const struct config_requestor unlimited;
static struct requestor anybody = {.name = (char *)"uid:0",
				   .section = &unlimited};
static struct validation conform;

/* ---- deaths without a result ---- */

static const struct death {
	int status;
	int64_t cpu_ms; /* used CPU time */
	const char *code, *details, *name;
} deaths[] = {
    {KILLED(SIGKILL), 10, "WORKER_CRASHED",
     "{\"signal\":\"SIGKILL\",\"number\":9}", "killed by somebody"},
    {DUMPED(SIGSEGV), 10, "WORKER_CRASHED",
     "{\"signal\":\"SIGSEGV\",\"number\":11}", "a crash"},
    {KILLED(SIGABRT), 10, "WORKER_CRASHED",
     "{\"signal\":\"SIGABRT\",\"number\":6}", "an abort"},
    {KILLED(40), 10, "WORKER_CRASHED", "{\"signal\":\"SIG?\",\"number\":40}",
     "a signal without a name"},
    {KILLED(SIGXCPU), 10, "RESOURCE_LIMIT", NULL, "the kernel's CPU signal"},
    {KILLED(SIGKILL), CPU_MS, "RESOURCE_LIMIT", NULL,
     "killed with all its CPU time used"},
    {KILLED(SIGKILL), CPU_MS - 1, "WORKER_CRASHED", NULL,
     "killed with nearly all of it used"},
    {KILLED(SIGSEGV), CPU_MS, "WORKER_CRASHED", NULL,
     "a crash counts more than CPU time"},
    {DUMPED(SIGSYS), 10, "SANDBOX_VIOLATION", "{\"syscall\":\"unknown\"}",
     "its filter killed it"},
    {EXITED(0), 10, "PROTOCOL_VIOLATION",
     "{\"offence\":\"exit without a result\"}", "an exit that says nothing"},
    {EXITED(1), 10, "PROTOCOL_VIOLATION", NULL, "another exit"},
    {EXITED(ZYGOTE_PROTO_EXIT_UNCAGED - 1), 10, "PROTOCOL_VIOLATION", NULL,
     "an exit that names no guard"},
    {EXITED(ZYGOTE_PROTO_EXIT_UNCAGED), 10, "WORKER_CRASHED", "{\"guard\":0}",
     "the first guard failed"},
    {EXITED(ZYGOTE_PROTO_EXIT_UNCAGED + 31), 10, "WORKER_CRASHED",
     "{\"guard\":31}", "the last guard failed"},
    {EXITED(ZYGOTE_PROTO_EXIT_UNCAGED + 32), 10, "PROTOCOL_VIOLATION", NULL,
     "an exit beyond all guards"},
};

static struct exit_facts ending(int status, int64_t cpu)
{
	struct exit_facts e = {.status = status};

	e.use.ru_utime.tv_sec = cpu / 1000;
	e.use.ru_stime.tv_usec = cpu % 1000 * 1000;
	e.use.ru_maxrss = 7; /* KiB */
	return e;
}

static struct run *new_run(struct template *t)
{
	struct run *r = xcalloc(1, sizeof(*r));

	r->requestor = &anybody;
	r->template = t;
	r->limits.cpu_ms = CPU_MS;
	return r;
}

static void free_run(struct run *r)
{
	run_steps_fini(&r->steps);
	json_object_put(r->output.value);
	json_object_put(r->error.details);
	free(r->error.code);
	free(r->error.message);
	free(r);
}

static void check_death(const struct death *d)
{
	struct template t = {.id = (char *)"t"};
	struct run *r = new_run(&t);
	struct exit_facts e = ending(d->status, d->cpu_ms);

	is_int(outcome_of(r, &e, &conform), EV_FAIL, "%s: a failure", d->name);
	is_str(r->error.code, d->code, "%s: its code", d->name);
	ok(r->error.message != NULL && r->error.message[0] != '\0',
	   "%s: and why", d->name);
	if (d->details != NULL)
		is_str(json_text(r->error.details, NULL), d->details,
		       "%s: details", d->name);
	is_int(r->use.cpu_ms, d->cpu_ms, "%s: CPU time is kept", d->name);
	free_run(r);
}

static void check_limit(void)
{
	struct template t = {.id = (char *)"t"};
	struct run *r = new_run(&t);
	struct exit_facts e = ending(KILLED(SIGXCPU), 1002);

	outcome_of(r, &e, &conform);
	is_str(json_text(r->error.details, NULL),
	       "{\"limit\":\"cpu\",\"used\":1002,\"allowed\":1000,"
	       "\"unit\":\"ms\",\"whoCanRaise\":\"the template's "
	       "author: limits.maxCpuMs, up to the server's max_cpu_ms, or the "
	       "operator: max_cpu_ms in [template \\\"t\\\"]\"}",
	       "a limit: which, how much, of what, and who can raise it");
	is_int(r->use.max_rss_bytes, 7 * 1024, "memory is kept in bytes");
	free_run(r);
}

/*
 * A process of the program was killed for memory, and the program went on or ended.
 */
static void check_memory(void)
{
	static const struct {
		const char *before, *want, *name;
		bool result;
	} cases[] = {
	    {NULL, "RESOURCE_LIMIT", "the shim itself", false},
	    {"EXECUTION_ERROR", "RESOURCE_LIMIT", "a program that exits",
	     false},
	    {"WORKER_CRASHED", "RESOURCE_LIMIT", "a program that is killed",
	     false},
	    {"RUN_TIMEOUT", "RUN_TIMEOUT", "one that was late anyway", false},
	    {NULL, NULL, "one that had a result all the same", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct template t = {.id = (char *)"t"};
		struct run *r = new_run(&t);
		struct exit_facts e = ending(KILLED(SIGKILL), 10);

		r->limits.memory_bytes = 4000;
		e.group = (struct cgroup_use){4096, 20000, 30000, 1, 0};
		e.have_result = cases[i].result;
		if (e.have_result)
			r->output.value = json_object_new_int(1);
		if (cases[i].before != NULL)
			run_set_error(r, cases[i].before, NULL, "x");
		outcome_of(r, &e, &conform);
		is_str(r->error.code, cases[i].want, "no memory: %s",
		       cases[i].name);
		if (i == 0)
			is_str(json_member_str(r->error.details, "limit"),
			       "memory",
			       "the error of a memory failure names the limit");
		is_int(json_object_get_int64(
			   json_member(r->error.details, "used")),
		       cases[i].want != NULL && *cases[i].want == 'R' &&
			       cases[i].want[1] == 'E'
			   ? 4096
			   : 0,
		       "the error of a memory failure says how much was used");
		is_int(r->use.cpu_ms, 50, "all processes' CPU time counts");
		is_int(r->use.peak_bytes, 4096,
		       "the peak of all processes counts");
		free_run(r);
	}
}

/*
 * The program was refused processes: the view tells of the refusals, and the error
 * names the limit if the run failed.
 */
static void check_processes(void)
{
	static const struct {
		const char *before, *want, *name;
	} cases[] = {
	    {"EXECUTION_ERROR", "RESOURCE_LIMIT", "a program that exits"},
	    {"WORKER_CRASHED", "RESOURCE_LIMIT", "a program that is killed"},
	    {"SANDBOX_VIOLATION", "SANDBOX_VIOLATION", "one that did worse"},
	    {NULL, NULL, "one that had a result all the same"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct template t = {.id = (char *)"t"};
		struct run *r = new_run(&t);
		struct exit_facts e = ending(EXITED(0), 10);
		struct json_object *was = json_object_new_object();
		struct json_object *met;

		json_object_object_add(was, "used", json_object_new_int(1));
		json_object_object_add(was, "exitCode", json_object_new_int(2));
		r->limits.processes = 8;
		e.group = CGROUP_USE_UNKNOWN;
		e.group.refused = 3;
		e.have_result = cases[i].before == NULL;
		if (e.have_result) {
			r->output.value = json_object_new_int(1);
			json_object_put(was);
		} else {
			run_set_error(r, cases[i].before, was,
				      "the program said so");
		}
		outcome_of(r, &e, &conform);
		is_str(r->error.code, cases[i].want, "no process: %s",
		       cases[i].name);
		if (i < 2)
			is_str(
			    json_text(r->error.details, NULL),
			    "{\"limit\":\"processes\",\"used\":9,"
			    "\"allowed\":8,\"unit\":\"processes\","
			    "\"whoCanRaise\":\"the template's author: "
			    "limits.maxProcesses, up to the server's "
			    "max_processes, or the operator: "
			    "max_processes in [template "
			    "\\\"t\\\"]\",\"exitCode\":2}",
			    "the error of refused processes has the limit and the exit status");
		if (i < 2)
			is_str(
			    r->error.message,
			    "the program had the 8 processes and threads that "
			    "it may have, and was refused more: the program said so",
			    "in words, too");
		met = limits_hit_details(r);
		is_int(json_object_array_length(met), 1,
		       "a refused process is reported as a limit that was met");
		json_object_put(met);
		free_run(r);
	}
}

/* ---- results ---- */

static const struct result {
	const char *value;
	const char *outputs; /* schema, or NULL */
	const char *steps; /* a letter each: s(ucceeded) f(ailed) p(ending) k */
	double threshold;
	const char *error; /* an earlier error, or NULL */
	const char *code, *name;
	enum run_event want;
	bool partial, is_reply, reply_failed;
} results[] = {
    {"1", .want = EV_SUCCEED, .name = "a value"},
    {"null", .want = EV_SUCCEED, .name = "null"},
    {"1", .error = "RUN_TIMEOUT", .want = EV_FAIL, .code = "RUN_TIMEOUT",
     .name = "a result that came too late"},
    {"1", .outputs = "{\"type\":\"integer\"}", .want = EV_SUCCEED,
     .name = "a value that fits the schema"},
    {"\"x\"", .outputs = "{\"type\":\"integer\"}", .want = EV_FAIL,
     .code = "OUTPUT_INVALID", .name = "one that does not"},
    {"1", .outputs = "false", .want = EV_FAIL, .code = "OUTPUT_INVALID",
     .name = "a schema that nothing fits"},
    {"{\"content\":[]}", .outputs = "false", .is_reply = true,
     .want = EV_SUCCEED, .name = "a reply is not judged by the schema"},
    {"{\"structuredContent\":{}}", .outputs = "false", .is_reply = true,
     .want = EV_FAIL, .code = "OUTPUT_INVALID",
     .name = "but its structured content is"},
    {"{\"content\":[{\"type\":\"text\"}]}", .is_reply = true, .want = EV_FAIL,
     .code = "OUTPUT_INVALID",
     .name = "a reply with a block that clients would refuse"},
    {"{}", .is_reply = true, .reply_failed = true, .want = EV_FAIL,
     .code = "EXECUTION_ERROR", .name = "a reply with isError"},
    {"1", .steps = "sss", .want = EV_SUCCEED, .name = "good steps"},
    {"1", .steps = "skk", .want = EV_SUCCEED,
     .name = "skipped steps have not failed"},
    {"1", .steps = "ssf", .want = EV_FAIL, .code = "STEP_EXECUTION_FAILED",
     .name = "a failed step, though the template says nothing of it"},
    {"1", .steps = "ssf", .partial = true, .threshold = 0.5, .want = EV_PARTIAL,
     .name = "more than enough steps"},
    {"1", .steps = "sf", .partial = true, .threshold = 0.5, .want = EV_PARTIAL,
     .name = "just enough"},
    {"1", .steps = "sff", .partial = true, .threshold = 0.5, .want = EV_FAIL,
     .code = "STEP_EXECUTION_FAILED", .name = "too few"},
    {"1", .steps = "skff", .partial = true, .threshold = 0.5, .want = EV_FAIL,
     .code = "STEP_EXECUTION_FAILED",
     .name = "skipped steps are not among the good"},
    {"1", .steps = "f", .partial = true, .threshold = 0, .want = EV_PARTIAL,
     .name = "a threshold of zero"},
    {"1", .steps = "ssf", .partial = true, .threshold = 1, .want = EV_FAIL,
     .code = "STEP_EXECUTION_FAILED", .name = "a threshold of one"},
    {"1", .steps = "sss", .partial = true, .threshold = 1, .want = EV_SUCCEED,
     .name = "all good is no part"},
    {"\"x\"", .outputs = "{\"type\":\"integer\"}", .steps = "ssf",
     .partial = true, .threshold = 0.5, .want = EV_FAIL,
     .code = "OUTPUT_INVALID", .name = "enough steps make no output good"},
};

static void add_steps(struct run *r, const char *letters)
{
	size_t n = letters == NULL ? 0 : strlen(letters);
	const char *errmsg;

	for (size_t i = 0; i < n; i++) {
		struct msg_step m = {.index = i, .count = 1, .name = {"s", 1}};

		run_steps_apply(&r->steps, &m, &errmsg);
		m = (struct msg_step){.index = i,
				      .attempts = 1,
				      .code = {"BAD", 3},
				      .message = {"luck", 4}};
		m.state =
		    letters[i] == 'k' ? MSG_STEP_SKIPPED : MSG_STEP_RUNNING;
		run_steps_apply(&r->steps, &m, &errmsg);
		m.state =
		    letters[i] == 'f' ? MSG_STEP_FAILED : MSG_STEP_SUCCEEDED;
		if (letters[i] != 'k')
			run_steps_apply(&r->steps, &m, &errmsg);
	}
}

static void check_result(const struct result *c)
{
	struct template t = {.partial = c->partial,
			     .partial_threshold = c->threshold};
	struct json_object *outputs = NULL;
	struct exit_facts e = ending(EXITED(0), 10);
	struct run *r = new_run(&t);

	if (c->outputs != NULL) {
		outputs = parse(c->outputs);
		is_int(schema_compile(&t.outputs, outputs, NULL, NULL), 0,
		       "%s: its schema", c->name);
	}
	r->output.value = parse(c->value);
	r->output.is_reply = c->is_reply;
	e.have_result = true;
	e.reply_failed = c->reply_failed;
	if (c->error != NULL)
		run_set_error(r, c->error, NULL, "before");
	add_steps(r, c->steps);
	is_int(outcome_of(r, &e, &conform), c->want, "%s", c->name);
	is_str(r->error.code, c->code, "%s: %s", c->name,
	       c->code != NULL ? c->code : "no error");
	free_run(r);
	schema_free(t.outputs);
	json_object_put(outputs);
}

static void check_details(void)
{
	struct template t = {.id = (char *)"t"};
	struct run *r = new_run(&t);
	struct exit_facts e = ending(EXITED(0), 10);

	e.have_result = true;
	add_steps(r, "sff");
	outcome_of(r, &e, &conform);
	is_str(json_text(r->error.details, NULL),
	       "{\"failedStep\":\"s\",\"stepErrorCode\":\"BAD\"}",
	       "failed steps: the first one, and its code");
	ok(strstr(r->error.message, "2 of 3") != NULL,
	   "failed steps: how many, of how many");
	free_run(r);
}

/* The verdict on VALUE, for a runtime with OUTPUTS; the caller frees the text. */
static char *said_of(enum runtime_kind runtime, const char *value,
		     bool is_reply, const char *outputs)
{
	struct template t = {.id = (char *)"says", .runtime = runtime};
	struct json_object *schema = parse(outputs);
	struct exit_facts e = ending(EXITED(0), 10);
	struct run *r = new_run(&t);
	char *text;

	schema_compile(&t.outputs, schema, NULL, NULL);
	e.have_result = true;
	r->output.value = parse(value);
	r->output.is_reply = is_reply;
	outcome_of(r, &e, &conform);
	text = xstrdup(r->error.message != NULL ? r->error.message : "");
	free_run(r);
	schema_free(t.outputs);
	json_object_put(schema);
	return text;
}

#define SAYS_NOTHING "the program wrote nothing to stdout"

static void check_nothing(void)
{
	static const struct {
		enum runtime_kind runtime;
		const char *value, *outputs;
		bool is_nothing;
		const char *name;
	} cases[] = {
	    {RUNTIME_PROGRAM, "null", "{\"type\":\"object\"}", true,
	     "a program that writes nothing"},
	    {RUNTIME_LUA, "null", "{\"type\":\"object\"}", false,
	     "a template in Lua that returns nothing"},
	    {RUNTIME_PROGRAM, "7", "{\"type\":\"object\"}", false,
	     "a program that writes a number"},
	    {RUNTIME_PROGRAM, "null", "{\"enum\":[1]}", false,
	     "a program that may write null, by its type"},
	    {RUNTIME_PROGRAM, "[null]", "{\"items\":{\"type\":\"object\"}}",
	     false, "a program that writes null within"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = said_of(cases[i].runtime, cases[i].value, false,
				     cases[i].outputs);

		ok((strstr(text, SAYS_NOTHING) != NULL) ==
			   cases[i].is_nothing &&
		       text[0] != '\0',
		   "%s: %s", cases[i].name, text);
		free(text);
	}
}

/* An output with a check too expensive for the loop has no verdict yet. */
static void check_costly(void)
{
	struct template t = {.id = (char *)"dear"};
	struct json_object *schema =
	    parse("{\"items\":{\"type\":\"integer\"}}");
	struct exit_facts e = ending(EXITED(0), 10);
	struct run *r = new_run(&t);

	schema_compile(&t.outputs, schema, NULL, NULL);
	e.have_result = true;
	r->output.value = json_object_new_array();
	for (int i = 0; i < 100000; i++)
		json_object_array_add(r->output.value, json_object_new_int(i));
	is_int(outcome_of(r, &e, &conform), RUN_EVENTS,
	       "a costly check: no verdict yet");
	is_str(r->error.code, NULL, "a costly check: no error yet");
	is_int(conform.budget.used, SCHEMA_STEPS_INLINE,
	       "a costly check: no more than a loop has time for");
	is_int(outcome_validated(r, &(struct validation){0}), EV_SUCCEED,
	       "a costly check: it passes in the end");
	is_int(outcome_validated(r, &conform), EV_FAIL,
	       "a costly check: or is given up");
	is_str(r->error.code, "RESOURCE_LIMIT", "a costly check: its code");
	is_str(json_text(r->error.details, NULL),
	       "{\"limit\":\"schema_steps\",\"used\":100000,\"allowed\":100000,"
	       "\"unit\":\"steps\",\"whoCanRaise\":\"nobody; the template's "
	       "author can make the schema simpler\",\"pointer\":\"\","
	       "\"schema\":\"/outputsSchema/items\"}",
	       "a costly check: what was met, and where");
	ok(strstr(r->error.message, "the outputsSchema of dear") != NULL,
	   "a costly check: whose it is: %s", r->error.message);
	free_run(r);
	schema_free(t.outputs);
	json_object_put(schema);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(deaths); i++)
		check_death(&deaths[i]);
	check_limit();
	check_memory();
	check_processes();
	for (size_t i = 0; i < ARRAY_LEN(results); i++)
		check_result(&results[i]);
	check_details();
	check_nothing();
	check_costly();
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.c - decides how a run ended, from its worker's messages, its worker's
 * exit and the kernel's counters. runs_output.c asks when the worker has been
 * reaped. The first error stays; an output that takes long to check is decided
 * on a thread.
 */
#include "supervisor/run/outcome.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text/quantity.h"
#include "base/mem.h"
#include "base/os/sandbox_layer.h"
#include "ipc/zygote_proto.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp.h"
#include "proto/schema/schema.h"
#include "supervisor/run/limits.h"
#include "supervisor/run/lost_artifacts.h"
#include "supervisor/runtime/runtime.h"

#define BLOCK_BYTES 512 /* getrusage(2): as the file system counts I/O */

static int64_t us_of(const struct timeval *tv)
{
	return (int64_t)tv->tv_sec * 1000000 + tv->tv_usec;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Fill U from E. A cgroup counts processes, too, that no parent waited for. */
static void weigh_use(struct run_use *u, const struct exit_facts *e)
{
	int64_t user = most(us_of(&e->use.ru_utime), e->group.cpu_user_us);
	int64_t system = most(us_of(&e->use.ru_stime), e->group.cpu_system_us);

	u->cpu_user_ms = user / 1000;
	u->cpu_system_ms = system / 1000;
	u->cpu_ms = (user + system) / 1000;
	u->max_rss_bytes = (int64_t)e->use.ru_maxrss * 1024;
	u->peak_bytes = most(e->group.peak_bytes, 0);
	u->read_bytes = (int64_t)e->use.ru_inblock * BLOCK_BYTES;
	u->written_bytes = (int64_t)e->use.ru_oublock * BLOCK_BYTES;
}

static struct json_object *detail(const char *key, const char *value)
{
	struct json_object *d = json_object_new_object();

	json_object_object_add(d, key, json_text_new(value));
	return d;
}

void outcome_signal(struct run *r, int sig)
{
	const char *abbrev = sigabbrev_np(sig);
	struct json_object *d = json_object_new_object();
	char name[16];

	snprintf(name, sizeof(name), "SIG%s", abbrev != NULL ? abbrev : "?");
	json_add(d, "signal:s number:i", name, sig);
	run_set_error(
	    r, "WORKER_CRASHED", d,
	    "the worker was ended by %s; the template, %ssomebody with "
	    "the right to signal it, caused that",
	    name,
	    sig == SIGKILL ? "the kernel when the machine had no "
			     "memory left, or "
			   : "or ");
}

/* Is R's error a possible effect of a limit that the kernel enforces? */
static bool is_effect(const struct run *r)
{
	static const char *const effects[] = {"EXECUTION_ERROR",
					      "WORKER_CRASHED"};

	for (size_t i = 0; i < ARRAY_LEN(effects) && r->error.code != NULL; i++)
		if (strcmp(r->error.code, effects[i]) == 0)
			return true;
	return false;
}

/*
 * Replace R's error, if any, by RESOURCE_LIMIT for limit B, of which USED was
 * wanted, with ERRMSG.
 */
static void outcome_limit(struct run *r, enum limit b, int64_t used,
			  const char *errmsg)
{
	struct json_object *d = limits_details(r, b, used);
	struct json_object *was = json_object_get(r->error.details);
	char *message = xstrdup_opt(r->error.message);

	if (was != NULL) { /* the worker's details do not name the limit */
		json_object_object_foreach(was, key, value)
			if (json_member(d, key) == NULL)
				json_object_object_add(d, key,
						       json_object_get(value));
	}
	run_clear_error(r);
	run_set_error(r, "RESOURCE_LIMIT", d, "%s%s%s", errmsg,
		      message != NULL ? ": " : "",
		      message != NULL ? message : "");
	json_object_put(was);
	free(message);
}

/*
 * Blame memory: the kernel killed processes of the program, or the shim. R's
 * error, if any, is the shim's view of the effect.
 */
static void outcome_memory(struct run *r, const struct exit_facts *e)
{
	int64_t allowed = r->limits.memory_bytes;
	int64_t used = most(e->group.peak_bytes, allowed);
	bool is_undone = r->notebook.ended && !r->notebook.kept;
	char errmsg[256], room[QUANTITY_SIZE];

	limits_hit(r, LIMIT_MEMORY, used);
	if ((e->have_result && !is_undone) ||
	    (r->error.code != NULL && !is_effect(r)))
		return;
	snprintf(errmsg, sizeof(errmsg),
		 "the program and what it started needed more memory than the "
		 "%s that they may have together, with what they write to "
		 "/work and /tmp",
		 quantity(room, allowed, "bytes"));
	outcome_limit(r, LIMIT_MEMORY, used, errmsg);
}

/*
 * Blame the process limit, if the program failed: fork() gave EAGAIN, but the
 * program may have gone on without.
 */
static void outcome_processes(struct run *r)
{
	int64_t allowed = r->limits.processes;
	char errmsg[256];

	limits_hit(r, LIMIT_PROCESSES, allowed + 1);
	if (!is_effect(r))
		return;
	snprintf(errmsg, sizeof(errmsg),
		 "the program had the %lld processes and threads that it may "
		 "have, and was refused more",
		 (long long)allowed);
	outcome_limit(r, LIMIT_PROCESSES, allowed + 1, errmsg);
}

void outcome_cpu(struct run *r, int64_t used_ms)
{
	char time[QUANTITY_SIZE];

	run_set_error(r, "RESOURCE_LIMIT",
		      limits_details(r, LIMIT_CPU, used_ms),
		      "the run used its %s of CPU time",
		      quantity(time, r->limits.cpu_ms, "ms"));
}

/* Set R's error for a worker that died without RESULT and FAIL. */
static void outcome_death(struct run *r, const struct exit_facts *e)
{
	int sig = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
	int guard = WEXITSTATUS(e->status) - ZYGOTE_PROTO_EXIT_UNCAGED;

	if (sig == SIGXCPU ||
	    (sig == SIGKILL && r->use.cpu_ms >= r->limits.cpu_ms))
		outcome_cpu(r, r->use.cpu_ms);
	else if (sig == SIGSYS)
		run_set_error(r, "SANDBOX_VIOLATION",
			      detail("syscall", "unknown"),
			      "the sandbox stopped a forbidden system call");
	else if (sig != 0)
		outcome_signal(r, sig);
	else if (guard >= 0 && guard < 32) /* never had the template's code */
		run_set_error(
		    r, "WORKER_CRASHED", json_pack("guard:i", guard),
		    guard == SANDBOX_SECCOMP
			? "the kernel took no filter of system calls for it, so "
			  "the worker ended before it ran anything; the memory "
			  "for filters may be used up (net.core.bpf_jit_limit), "
			  "which all programs of that machine share"
			: "a step of its cage failed, so the worker ended "
			  "before it ran anything; the server's start-up line "
			  "has more");
	else
		run_set_error(r, "PROTOCOL_VIOLATION",
			      detail("offence", "exit without a result"),
			      "the worker exited with status %d and gave no "
			      "result",
			      WEXITSTATUS(e->status));
}

/*
 * Did a program write nothing, or null? Such an output has an error text of its
 * own.
 */
static bool is_nothing(const struct run *r, const struct schema_error *err)
{
	return runtimes[r->template->runtime]->has_shim &&
	       !r->output.is_reply && r->output.value == NULL &&
	       r->output.text == NULL && err->pointer[0] == '\0' &&
	       strcmp(err->keyword, "type") == 0;
}

static bool output_invalid(struct run *r, const struct schema_error *err)
{
	if (is_nothing(r, err)) {
		run_set_error(r, "OUTPUT_INVALID",
			      json_pack("pointer:s keyword:s expected:s", "",
					err->keyword, err->expected),
			      "the program wrote nothing to stdout, or null, "
			      "where its outputsSchema promises %s",
			      err->expected);
		return false;
	}
	run_set_error(
	    r, "OUTPUT_INVALID",
	    json_pack("pointer:s keyword:s expected:s", err->pointer,
		      err->keyword, err->expected),
	    "the template's output breaks what was promised of it: %s",
	    err->text);
	return false;
}

/*
 * Check the blocks of a reply's content: clients check each block by MCP's
 * schema. False: R's error is set.
 */
static bool content_ok(struct run *r, const struct exit_facts *e)
{
	struct json_object *content = json_member(r->output.value, "content");
	struct schema_error err = {.keyword = "content"};
	const char *expected = e->content_expected;
	int at = e->content_at;

	if (expected == NULL && (content == NULL || r->output.text != NULL))
		return true; /* a large reply was checked before */
	if (expected == NULL)
		at = mcp_content_fault(content, &expected);
	if (at < 0)
		return true;
	snprintf(err.pointer, sizeof(err.pointer), "/content/%d", at);
	snprintf(err.expected, sizeof(err.expected), "%s", expected);
	snprintf(err.text, sizeof(err.text), "%s must be %s", err.pointer,
		 expected);
	json_object_put(
	    r->output.value); /* an invalid reply is not passed on */
	r->output.value = NULL;
	return output_invalid(r, &err);
}

struct json_object *outcome_output(const struct run *r)
{
	return r->output.is_reply
		   ? json_member(r->output.value, "structuredContent")
		   : r->output.value;
}

/*
 * Returns EV_SUCCEED when no step failed, EV_PARTIAL when enough steps
 * succeeded; else sets R's error.
 */
static enum run_event weigh_steps(struct run *r)
{
	const struct step *first = run_steps_first_failed(&r->steps);
	size_t failed = r->steps.count[MSG_STEP_FAILED];
	size_t good = r->steps.count[MSG_STEP_SUCCEEDED];

	if (first == NULL)
		return EV_SUCCEED;
	if (r->template->partial &&
	    (double)good >= r->template->partial_threshold * (double)r->steps.n)
		return EV_PARTIAL;
	run_set_error(
	    r, "STEP_EXECUTION_FAILED",
	    json_pack("failedStep:s stepErrorCode:s", first->name, first->code),
	    "%zu of %zu steps failed; the first is %s: %s", failed, r->steps.n,
	    first->name, first->message);
	return EV_FAIL;
}

enum run_event outcome_validated(struct run *r, const struct validation *c)
{
	char *text;

	if (c->rc == -EINVAL) {
		output_invalid(r, &c->err);
	} else if (c->rc != 0) {
		/* too costly: the schema and the output are the template's own */
		text = validation_message(c, r->template, "outputsSchema");
		run_set_error(r, "RESOURCE_LIMIT",
			      validation_details(c, "outputsSchema"), "%s",
			      text);
		free(text);
	}
	if (c->rc != 0)
		return EV_FAIL;
	run_steps_close(&r->steps, "EXECUTION_ERROR", "it was left running");
	return lost_artifacts_weigh(r, weigh_steps(r));
}

struct run_use outcome_used(const struct run *r, const struct exit_facts *e)
{
	struct run_use used = r->use;

	weigh_use(&used, e);
	return used;
}

void outcome_bad_result(struct run *r, const char *offence, const char *errmsg)
{
	if (!runtimes[r->template->runtime]->has_shim)
		run_set_error(r, "PROTOCOL_VIOLATION",
			      detail("offence", offence),
			      "the worker broke its protocol: %s", offence);
	else
		run_set_error(r, "OUTPUT_INVALID", NULL,
			      "the program wrote %s%s%s", offence,
			      errmsg[0] != '\0' ? ": " : "", errmsg);
}

static void reply_failed(struct run *r)
{
	struct json_object *error = json_member(r->output.value, "error");

	if (error == NULL)
		run_set_error(r, "EXECUTION_ERROR", NULL,
			      "the template answered with isError");
	else
		run_set_error(r, "EXECUTION_ERROR", NULL,
			      "the template answered with the error %lld of "
			      "JSON-RPC: %s",
			      (long long)json_member_int(error, "code"),
			      json_member_str(error, "message"));
}

enum run_event outcome_of(struct run *r, const struct exit_facts *e,
			  struct validation *c)
{
	weigh_use(&r->use, e);
	if (e->group.oom_kills > 0)
		outcome_memory(r, e);
	else if (e->group.refused > 0)
		outcome_processes(r);
	if (r->error.code == NULL && !e->have_result)
		outcome_death(r, e);
	if (r->error.code != NULL)
		return EV_FAIL;
	if (r->output.is_reply && !content_ok(r, e))
		return EV_FAIL;
	if (e->reply_failed) {
		reply_failed(r);
		return EV_FAIL;
	}
	*c = (struct validation){0};
	if (r->template->outputs != NULL &&
	    (!r->output.is_reply || outcome_output(r) != NULL) &&
	    !validation_try(c, r->requestor, r->template->outputs,
			    outcome_output(r)))
		return RUN_EVENTS;
	return outcome_validated(r, c);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Output of the code of a failed run: parts from a shim, and details of the error. */
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

static int print_bytes(uint64_t stream, uint64_t at, const char *p, size_t n)
{
	return hear(&(struct msg){
	    .type = MSG_PRINTED,
	    .printed = {.stream = stream, .at = at, .text = {p, n}}});
}

static int print(uint64_t stream, uint64_t at, const char *text)
{
	return print_bytes(stream, at, text, strlen(text));
}

static void begin_program(void)
{
	begin();
	it.r->template->runtime = RUNTIME_PROGRAM;
}

static void end_program(void)
{
	worker_printed_drop(it.w);
	it.r->template->runtime = RUNTIME_LUA;
	end();
}

/* Return the details of the error of R, with the printed text, until the next call. */
static const char *told(const char *details)
{
	struct json_object *o = NULL;

	run_clear_error(it.r);
	json_parse(&o, details, strlen(details), NULL);
	run_set_error(it.r, "X", o, "failed");
	worker_printed_tell(it.w);
	return json_text(it.r->error.details, NULL);
}

TEST(details)
{
	begin_program();
	is_str(told("{\"a\":1}"), "{\"a\":1}",
	       "details without printed text are as before");
	is_int(print(MSG_PRINTED_STDOUT, 0, "one\n"), 0,
	       "a part of stdout is kept");
	is_str(told("{\"stderr\":\"tail\"}"),
	       "{\"stderr\":\"\",\"stdout\":\"one\\n\"}",
	       "the details have both streams");
	is_int(print(MSG_PRINTED_STDOUT, 4, "two\n"), 0,
	       "a part that follows at once is kept");
	is_int(print(MSG_PRINTED_STDERR, 0, "bad\n"), 0,
	       "a part of stderr is kept");
	is_int(print(MSG_PRINTED_STDOUT, 108, "end\n"), 0,
	       "a part of the end is kept");
	is_str(told("{}"),
	       "{\"stdout\":\"one\\ntwo\\n\\n[100 bytes are left out here]\\n"
	       "end\\n\",\"stderr\":\"bad\\n\"}",
	       "the details say how much is missing between parts");
	is_str(told("{\"stdout\":\"own\",\"stderr\":\"\"}"),
	       "{\"stdout\":\"own\",\"stderr\":\"\"}",
	       "what a program tells of stdout stays");
	end_program();
}

TEST(any_bytes)
{
	begin_program();
	print_bytes(MSG_PRINTED_STDOUT, 0, "a\0b\xc3", 4);
	print(MSG_PRINTED_STDOUT, 90, "\xa4 c");
	is_str(told("{}"),
	       "{\"stdout\":\"a\\u0000b\\n[86 bytes are left out here]\\n c\","
	       "\"stderr\":\"\"}",
	       "halves of characters are left out");
	end_program();
}

TEST(bounds)
{
	char *half = xcalloc(1, MSG_PRINTED_MAX / 2 + 1);
	int64_t held;

	memset(half, 'x', MSG_PRINTED_MAX / 2);
	begin_program();
	held = it.r->requestor->memory.held;
	print(MSG_PRINTED_STDOUT, 0, half);
	print(MSG_PRINTED_STDOUT, 1 << 20, half);
	is_int(it.r->requestor->memory.held - held, MSG_PRINTED_MAX,
	       "printed text counts as memory of the requestor");
	is_int(print(MSG_PRINTED_STDOUT, 1 << 21, "x"), -EPROTO,
	       "more than 64 KiB of a stream are an offence");
	worker_printed_drop(it.w);
	is_int(it.r->requestor->memory.held, held,
	       "printed text that is forgotten costs nothing");
	is_str(told("{}"), "{}", "printed text that is forgotten is not told");
	end_program();
	begin_program();
	print(MSG_PRINTED_STDOUT, 0, "ab");
	is_int(print(MSG_PRINTED_STDOUT, 1, "b"), -EPROTO,
	       "a part before the end of the last part is an offence");
	end_program();
	free(half);
}

TEST(in_the_middle)
{
	begin_program();
	it.w->phase = PHASE_ARTIFACT;
	is_int(print(MSG_PRINTED_STDOUT, 0, "a"), 0,
	       "a part may come in the middle of an artifact");
	end_program();
	begin_program();
	it.w->phase = PHASE_DONE;
	print(MSG_PRINTED_STDOUT, 0, "a");
	is_str(told("{}"), "{}", "a part behind the last message is dropped");
	end_program();
}

TEST(of_a_worker_that_is_killed)
{
	begin_program();
	run_set_error(it.r, "RUN_TIMEOUT", NULL, "late");
	it.w->killed = true;
	is_int(print(MSG_PRINTED_STDOUT, 0, "a"), 0,
	       "a worker that is being killed may tell what was printed");
	is_int(print(MSG_PRINTED_STDOUT, 0, "b"), 0,
	       "a worker that is being killed is not killed for an offence");
	is_str(told("{}"), "{\"stdout\":\"a\",\"stderr\":\"\"}",
	       "the last words of a worker are told");
	end_program();
}

TEST(of_lua)
{
	begin();
	is_int(print(MSG_PRINTED_STDOUT, 0, "a"), -EPROTO,
	       "a Lua worker prints nothing");
	end();
	begin();
	run_set_error(it.r, "RUN_TIMEOUT", NULL, "late");
	it.w->killed = true;
	print(MSG_PRINTED_STDOUT, 0, "a");
	is_str(told("{}"), "{}", "a Lua worker has no last words");
	end();
}

int main(void)
{
	set_up();
	tap_run();
	return done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A browser's broker that sends any bytes, while the supervisor makes, sends and
 * forgets calls. Each step takes two bytes of the input; the text of a message takes
 * further bytes. A caller must get exactly one answer, in the form promised by the
 * header, unless the caller forgot the call.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "proto/json/json.h"
#include "supervisor/browser/browser_rpc.h"

#define CALLS_MAX 64
#define STEPS_MAX 300

static struct asked {
	struct browser_rpc_call *call; /* NULL: answered or forgotten */
	bool forgotten;
	unsigned told;
	uint8_t then; /* the caller's next step after the answer */
} asked[CALLS_MAX];

static struct browser_rpc calls;
static size_t n_asked;
static unsigned char frame[CHAN_FRAME_MAX];

/* The rest of the input. */
static const uint8_t *input;
static size_t left;

static struct str bytes(size_t n)
{
	struct str s = {(const char *)input, n < left ? n : left};

	input += s.n;
	left -= s.n;
	return s;
}

/* As browser_process_forget(). */
static void forget(uint8_t arg)
{
	struct asked *a = n_asked == 0 ? NULL : &asked[arg % n_asked];

	if (a == NULL || a->call == NULL)
		return;
	a->forgotten = true;
	a->call->done = NULL;
	if (!a->call->failing && a->call->seq == 0)
		browser_rpc_remove(a->call);
	else if (!a->call->failing)
		browser_rpc_add(&calls, "cancel", json_object_new_object());
	a->call = NULL;
}

static void ask(uint8_t arg);

static void on_done(void *arg, const struct browser_rpc_answer *answer)
{
	struct asked *a = arg;

	assert(!a->forgotten && a->told == 0);
	a->told++;
	a->call = NULL;
	assert(json_object_is_type(answer->body, json_type_object));
	assert(memchr(answer->json, '\0', answer->len) == NULL);
	assert(answer->ok ||
	       (json_member_str(answer->body, "code") != NULL &&
		json_member_str(answer->body, "message") != NULL));
	if (a->then % 4 == 1)
		ask(a->then);
	else if (a->then % 4 == 2)
		forget(a->then);
}

static void ask(uint8_t arg)
{
	static char text[3 * MSG_CHUNK_MAX];
	struct json_object *o = json_object_new_object();
	struct asked *a = &asked[n_asked];

	if (n_asked == CALLS_MAX) {
		json_object_put(o);
		return;
	}
	n_asked++;
	memset(text, 'x', sizeof(text));
	if (arg % 8 == 7)
		json_object_object_add(
		    o, "x",
		    json_object_new_string_len(text, (int)sizeof(text) - arg));
	*a = (struct asked){.then = arg / 8};
	a->call = browser_rpc_add(&calls, "navigate", o);
	a->call->done = on_done;
	a->call->arg = a;
	if (arg % 8 == 6) {
		a->call->code = "BROWSER_BUSY";
		a->call->errmsg = "busy";
	}
}

static void end(void)
{
	browser_rpc_fail_begun(&calls, "PAGE_CRASHED", "it has ended");
	browser_rpc_begin(&calls);
}

static void send_one(uint8_t arg)
{
	(void)arg;
	if (browser_rpc_frame(&calls, frame) > 0)
		browser_rpc_sent(&calls);
}

static void hear(const void *p, size_t n)
{
	const char *errmsg = NULL;

	if (browser_rpc_recv(&calls, p, n, &errmsg) == 0)
		return;
	assert(errmsg != NULL);
	end();
}

static void hear_any(uint8_t arg)
{
	struct str s = bytes(arg);

	hear(s.p, s.n);
}

static void hear_answer(uint8_t arg)
{
	size_t more = left > 0 ? bytes(1).p[0] % 32U : 0;
	struct str s = bytes(arg / 16);
	struct msg m = {.type = MSG_ANSWER,
			.answer = {arg % 8, arg % 16 > 7, s.n + more, s}};

	hear(frame, msg_put(frame, &m));
}

static void hear_chunk(uint8_t arg)
{
	struct msg m = {.type = MSG_CHUNK, .chunk = {bytes(arg % 32)}};

	if (m.chunk.data.n > 0)
		hear(frame, msg_put(frame, &m));
}

/* Send the rest of an answer whose beginning was sent. */
static void hear_rest(uint8_t arg)
{
	static const char text[] = "                                \"}}]";
	struct browser_rpc_call *c = calls.coming;
	size_t n = c == NULL ? 0 : c->total - buf_len(&c->answer);

	(void)arg;
	if (n > 0 && n < sizeof(text)) {
		struct msg m = {.type = MSG_CHUNK,
				.chunk = {{text + sizeof(text) - 1 - n, n}}};

		hear(frame, msg_put(frame, &m));
	}
}

static void die(uint8_t arg)
{
	(void)arg;
	end();
}

static void refuse(uint8_t arg)
{
	(void)arg;
	browser_rpc_fail_refused(&calls);
}

static void (*const steps[])(uint8_t arg) = {
    ask,       send_one, hear_any, hear_answer, hear_chunk,
    hear_rest, forget,	 die,	   refuse,	send_one};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	browser_rpc_init(&calls);
	browser_rpc_begin(&calls);
	n_asked = 0;
	input = data;
	left = size;
	for (int i = 0; left > 1 && i < STEPS_MAX; i++) {
		struct str s = bytes(2);

		steps[(uint8_t)s.p[0] % ARRAY_LEN(steps)]((uint8_t)s.p[1]);
	}
	while (calls.n > 0) { /* a caller may make a new call in its answer */
		end();
		browser_rpc_fail_out(&calls, "BROWSER_UNAVAILABLE", "none");
	}
	for (size_t i = 0; i < n_asked; i++)
		assert(asked[i].forgotten || asked[i].told == 1);
	assert(calls.unsent == 0 && calls.coming == NULL);
	browser_rpc_fini(&calls);
	return 0;
}

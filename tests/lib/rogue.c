/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rogue.c - a paddock-worker whose workers misbehave as the code of the template asks:
 * "rogue NAME". The workers run without a cage, since no foreign code is run.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/msg.h"
#include "tests/lib/rogue.h"

#define FRAME_MAX 65536
#define FLOOD 200000
#define READY "\x91\x10"
#define NULL_RESULT "\x97\x15\x00\x00\x00\x00\x04\xa4null"
#define KEPT "\x95\x1d\x01\x00\x00\xa0"
#define DECLARE(at, n) "\x99\x12" at n "\x00\x00\x00\xa1s\xa0\xa0"
#define INPUT(seq) "\x95\x18" seq "\x00\x02\xa2{}"
#define CALL(seq) "\x95\x17" seq "\xa1t\x02\xa2{}"
#define STEP(at, state) "\x99\x12" at "\x00" state "\x01\x00\xa0\xa0\xa0"

/*
 * The step after the frames; all steps except STAY and HANG_UP end the worker. ASK
 * sends questions without end and reads no answers. SPIN uses CPU time without end.
 */
enum then { EXIT_0, EXIT_3, STAY, HANG_UP, REPEAT, SEGV, ASK, SPIN };

#define SAY(bytes)                                                             \
	{                                                                      \
		(bytes), sizeof(bytes) - 1                                     \
	}

static const struct rogue {
	const char *name;
	struct {
		const char *bytes;
		size_t len;
	} frames[6];
	enum then then;
} rogues[] = {
    {"good", {SAY(READY), SAY(NULL_RESULT)}, EXIT_0},
    {"exit", {SAY(READY)}, EXIT_0},
    {"exit_3", {SAY(READY)}, EXIT_3},
    {"unborn", {{0}}, EXIT_0},
    {"mute", {{0}}, STAY},
    {"idle", {SAY(READY)}, STAY},
    {"stays", {SAY(READY), SAY(NULL_RESULT)}, STAY},
    {"boasts",
     {SAY(READY), SAY("\x97\x15\x00\xcf\x00\x1f\xff\xff\xff\xff\xff\xff\x00"
		      "\xce\xff\xff\xff\xff\x04\xa4null")},
     EXIT_0},
    {"crash_after", {SAY(READY), SAY(NULL_RESULT)}, SEGV},
    {"hangs_up", {SAY(READY)}, HANG_UP},
    {"unready", {SAY(NULL_RESULT)}, STAY},
    {"ready_late", {SAY("\x94\x11\x01\x02\xa0"), SAY(READY)}, STAY},
    {"unready_chunk", {SAY("\x92\x02\xa1x")}, STAY},
    {"ready_twice", {SAY(READY), SAY(READY)}, STAY},
    {"garbage", {SAY(READY), SAY("\xc1\xff\x00garbage")}, STAY},
    {"map", {SAY(READY), SAY("\x81\xa1k\x01")}, STAY},
    {"claims", {SAY(READY), SAY("\xdd\x10\x00\x00\x00")}, STAY},
    {"negative", {SAY(READY), SAY("\x94\x11\xff\x01\xa0")}, STAY},
    {"not_utf8", {SAY(READY), SAY("\x93\x13\x06\xa2\xff\xfe")}, STAY},
    {"trailing", {SAY(READY), SAY(READY "\x00")}, STAY},
    {"unknown", {SAY(READY), SAY("\x91\x63")}, STAY},
    {"supervisor", {SAY(READY), SAY("\x95\x03\x01\x01\x02\xa2{}")}, STAY},
    {"asks_again", {SAY(READY), SAY(INPUT("\x02")), SAY(CALL("\x02"))}, STAY},
    {"asks_back", {SAY(READY), SAY(CALL("\x02")), SAY(CALL("\x01"))}, STAY},
    {"asks_none", {SAY(READY), SAY(CALL("\x00"))}, STAY},
    {"asks_much",
     {SAY(READY), SAY("\x95\x18\x01\x00\xce\x00\x10\x00\x01\xa0")},
     STAY},
    {"asks_longer",
     {SAY(READY), SAY("\x95\x18\x01\x00\x03\xa2{}"), SAY("\x92\x02\xa2  ")},
     STAY},
    {"asks_between",
     {SAY(READY), SAY("\x95\x18\x01\x00\x03\xa2{}"),
      SAY("\x93\x13\x06\xa4spam")},
     STAY},
    {"asks_nonsense", {SAY(READY), SAY("\x95\x18\x01\x01\x04\xa4nope")}, STAY},
    {"asks_a_list", {SAY(READY), SAY("\x95\x17\x01\xa1t\x02\xa2[]")}, STAY},
    {"asks_nothing", {SAY(READY), SAY("\x95\x17\x01\xa1t\x00\xa0")}, STAY},
    {"drops_nothing", {SAY(READY), SAY("\x92\x19\x01")}, STAY},
    {"asks_and_ends",
     {SAY(READY), SAY(INPUT("\x01")), SAY(NULL_RESULT)},
     EXIT_0},
    {"asks_for_ever", {SAY(READY)}, ASK},
    {"chunk", {SAY(READY), SAY("\x92\x02\xa1x")}, STAY},
    {"too_long",
     {SAY(READY), SAY("\x97\x15\x00\x00\x00\x00\x02\xa4null")},
     STAY},
    {"overflow",
     {SAY(READY), SAY("\x97\x15\x00\x00\x00\x00\x06\xa4null"),
      SAY("\x92\x02\xa3xyz")},
     STAY},
    {"huge",
     {SAY(READY), SAY("\x97\x15\x00\x00\x00\x00\xce\x3f\xff\xff\xff\xa4null")},
     STAY},
    {"half", {SAY(READY), SAY("\x97\x15\x00\x00\x00\x00\x06\xa4null")}, EXIT_0},
    {"not_json",
     {SAY(READY), SAY("\x97\x15\x00\x00\x00\x00\x04\xa4nope")},
     STAY},
    {"bad_reply",
     {SAY(READY), SAY("\x97\x15\x01\x00\x00\x00\x02\xa2[]")},
     STAY},
    {"step_gap", {SAY(READY), SAY(DECLARE("\x05", "\x01"))}, STAY},
    {"step_many",
     {SAY(READY), SAY(DECLARE("\x00", "\xcd\x27\x10")),
      SAY(DECLARE("\xcd\x27\x10", "\x01"))},
     STAY},
    {"step_never", {SAY(READY), SAY(STEP("\x00", "\x01"))}, STAY},
    {"step_back",
     {SAY(READY), SAY(DECLARE("\x00", "\x01")), SAY(STEP("\x00", "\x01")),
      SAY(STEP("\x00", "\x02")), SAY(STEP("\x00", "\x01"))},
     STAY},
    {"step_skips",
     {SAY(READY), SAY(DECLARE("\x00", "\x01")), SAY(STEP("\x00", "\x02"))},
     STAY},
    {"forged_code",
     {SAY(READY), SAY("\x94\x16\xadRUN_NOT_FOUND\xa1x\xa0")},
     STAY},
    {"forged_cancel",
     {SAY(READY), SAY("\x94\x16\xacRUN_CANCELED\xa1x\xa0")},
     EXIT_0},
    {"forged_cancel_why",
     {SAY(READY), SAY("\x94\x16\xacRUN_CANCELED\xa1x\xa7{\"a\":1}")},
     EXIT_0},
    {"bad_details",
     {SAY(READY), SAY("\x94\x16\xaf"
		      "EXECUTION_ERROR\xa1x\xa2[]")},
     STAY},
    {"uses", {SAY(READY), SAY("\x92\x1c\x01")}, STAY},
    {"late", {SAY(READY), SAY(NULL_RESULT), SAY(READY), SAY("junk")}, EXIT_0},
    {"late_flood", {SAY(READY), SAY(NULL_RESULT), SAY(READY)}, REPEAT},
    {"lies",
     {SAY(READY), SAY(DECLARE("\x00", "\x01")), SAY(STEP("\x00", "\x01")),
      SAY("\x99\x12\x00\x00\x03\x01\x00\xa0\xa1"
	  "E\xa1m"),
      SAY(NULL_RESULT)},
     EXIT_0},
    {"kept", {SAY(READY), SAY(NULL_RESULT), SAY(KEPT)}, STAY},
    {"kept_early", {SAY(READY), SAY(KEPT)}, STAY},
    {"kept_twice", {SAY(READY), SAY(NULL_RESULT), SAY(KEPT), SAY(KEPT)}, STAY},
    {"kept_logs",
     {SAY(READY), SAY(NULL_RESULT), SAY(KEPT), SAY("\x93\x13\x06\xa4spam")},
     STAY},
    {"kept_waits",
     {SAY(READY), SAY(NULL_RESULT), SAY(KEPT), SAY("\x93\x1b\x00\x01")},
     STAY},
    {"kept_spins", {SAY(READY), SAY(NULL_RESULT), SAY(KEPT)}, SPIN},
    {"kept_boasts",
     {SAY(READY),
      SAY("\x97\x15\x00\xcf\x00\x1f\xff\xff\xff\xff\xff\xff\x00"
	  "\xce\xff\xff\xff\xff\x04\xa4null"),
      SAY("\x95\x1d\x01\xcf\x00\x1f\xff\xff\xff\xff\xff\xff"
	  "\xcf\x00\x1f\xff\xff\xff\xff\xff\xff\xa0")},
     STAY},
    {"flood", {SAY(READY), SAY("\x94\x11\x01\x02\xa0")}, REPEAT},
    {"log_flood", {SAY(READY), SAY("\x93\x13\x06\xa4spam")}, REPEAT},
};

#define ROGUES (sizeof(rogues) / sizeof(rogues[0]))

static void say(const char *bytes, size_t len)
{
	(void)!send(ZYGOTE_PROTO_RUN_FD, bytes, len, MSG_NOSIGNAL);
}

/*
 * Choose the rogue named in the code of the frame, a RUN; the first rogue if no name is
 * found.
 */
static const struct rogue *choose(const char *frame, size_t len)
{
	const char *at = memmem(frame, len, "rogue ", strlen("rogue "));
	size_t left = at == NULL ? 0 : len - (size_t)(at - frame) - 6;

	for (size_t i = 0; i < ROGUES; i++) {
		size_t n = strlen(rogues[i].name);

		if (n < left && memcmp(at + 6, rogues[i].name, n) == 0 &&
		    at[6 + n] == '\n')
			return &rogues[i];
	}
	return &rogues[0];
}

static void ask_for_ever(void)
{
	for (unsigned seq = 1; seq <= FLOOD; seq++) {
		char ask[] = "\x95\x17\xce....\xa1t\x02\xa2{}";

		for (int i = 0; i < 4; i++)
			ask[3 + i] = (char)(seq >> (24 - 8 * i));
		say(ask, sizeof(ask) - 1);
	}
}

static void misbehave(void)
{
	static char frame[FRAME_MAX];
	ssize_t n = recv(ZYGOTE_PROTO_RUN_FD, frame, sizeof(frame), 0);
	const struct rogue *r;
	size_t last = 0;

	if (n > 1 && frame[1] == MSG_STAY) /* before RUN */
		n = recv(ZYGOTE_PROTO_RUN_FD, frame, sizeof(frame), 0);
	r = choose(frame, n > 0 ? (size_t)n : 0);

	for (size_t i = 0; i < 6 && r->frames[i].bytes != NULL; i++) {
		say(r->frames[i].bytes, r->frames[i].len);
		last = i;
	}
	for (int i = 0; r->then == REPEAT && i < FLOOD; i++)
		say(r->frames[last].bytes, r->frames[last].len);
	if (r->then == ASK)
		ask_for_ever();
	if (r->then == SEGV)
		raise(SIGSEGV);
	if (r->then == HANG_UP)
		close(ZYGOTE_PROTO_RUN_FD);
	while (r->then == STAY || r->then == HANG_UP)
		pause();
	while (r->then == SPIN)
		;
	_exit(r->then == EXIT_3 ? 3 : 0);
}

int main(void)
{
	return rogue_serve(misbehave);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/msg.h"

#include "base/mem.h"
#include "tests/unit/ipc/msg_error.h"
#include "tests/unit/tap.h"

static unsigned char frame[CHAN_FRAME_MAX];
static char long_name[MSG_NAME_MAX + 1], long_text[MSG_DETAILS_MAX + 1];
static char long_head[MSG_CHUNK_MAX + 1];

#define LONG(text, max)                                                        \
	{                                                                      \
		text, max + 1                                                  \
	}
#define MSG(TYPE, member, ...)                                                 \
	{                                                                      \
		.type = MSG_##TYPE, .member = { __VA_ARGS__ }                  \
	}
#define LONG_NAME LONG(long_name, MSG_NAME_MAX)
#define LONG_TEXT LONG(long_text, MSG_TEXT_MAX)
#define LONG_HEAD LONG(long_head, MSG_CHUNK_MAX)
#define RUN(...) MSG(RUN, run, __VA_ARGS__)
#define PACED .messages_per_second = 100
#define NAMES PACED, .run_id = S("r"), .template_id = S("t"), .entry = S("e")
#define CHUNK(...) MSG(CHUNK, chunk, .data = __VA_ARGS__)
#define ANSWER(...) MSG(ANSWER, answer, __VA_ARGS__)
#define CALL(...) MSG(CALL, call, __VA_ARGS__)
#define INPUT(...) MSG(INPUT, input, __VA_ARGS__)
#define DROP(...) MSG(DROP, drop, __VA_ARGS__)
#define LOST(...) MSG(LOST, lost, __VA_ARGS__)
#define PRINTED(...) MSG(PRINTED, printed, __VA_ARGS__)
#define PROGRESS(...) MSG(PROGRESS, progress, __VA_ARGS__)
#define STEP(...) MSG(STEP, step, __VA_ARGS__)
#define LOG(...) MSG(LOG, log, __VA_ARGS__)
#define ARTIFACT(...) MSG(ARTIFACT, artifact, __VA_ARGS__)
#define TYPED .name = S("a"), .mime_type = S("b")
#define RESULT(...) MSG(RESULT, result, __VA_ARGS__)
#define FAIL(...) MSG(FAIL, fail, __VA_ARGS__)
#define CODED .error_code = S("X")
#define PENDING(...) STEP(.state = MSG_STEP_PENDING, __VA_ARGS__)
#define FAILED(...) STEP(.state = MSG_STEP_FAILED, __VA_ARGS__)
#define OK "accepted"
#define DIRTY " is not UTF-8 or has a control character"
#define FOUL " is not UTF-8 or has a NUL"

/* clang-format off: a row a case */
static const struct {
	struct msg m;
	const char *errmsg;
	const char *name;
} bounds[] = {
    {RUN(NAMES), OK, "RUN with an empty body"},
    {RUN(.run_id = S(""), .template_id = S("t"), .entry = S("e")),
     "run.run_id is empty or over 256 bytes", "RUN without an id"},
    {RUN(.run_id = S("r"), .template_id = LONG_NAME, .entry = S("e")),
     "run.template_id is empty or over 256 bytes",
     "RUN with a template id too long"},
    {RUN(.run_id = S("r"), .template_id = S("t"), .entry = S("\n")),
     "run.entry" DIRTY, "RUN with a control character"},
    {RUN(NAMES, .timeout_ms = MSG_INT_MAX + 1), "run.timeout_ms is over 2^53",
     "RUN with timeout 2^53 + 1"},
    {RUN(NAMES, .cancel_grace_ms = UINT64_MAX),
     "run.cancel_grace_ms is over 2^53", "RUN with grace 2^64 - 1"},
    {RUN(NAMES, .memory_bytes = UINT64_MAX), "run.memory_bytes is over 2^53",
     "RUN with memory 2^64 - 1"},
    {RUN(NAMES, .output_bytes = UINT64_MAX), "run.output_bytes is over 2^53",
     "RUN with output 2^64 - 1"},
    {RUN(NAMES, .artifact_bytes = UINT64_MAX),
     "run.artifact_bytes is over 2^53", "RUN with artifacts 2^64 - 1"},
    {RUN(.run_id = S("r"), .template_id = S("t"), .entry = S("e"),
	 .messages_per_second = 99),
     "run.messages_per_second is not from 100 to 1000000",
     "RUN with 99 messages a second"},
    {RUN(.run_id = S("r"), .template_id = S("t"), .entry = S("e"),
	 .messages_per_second = 1000001),
     "run.messages_per_second is not from 100 to 1000000",
     "RUN with 1000001 messages a second"},
    {RUN(NAMES, .code_bytes = MSG_BODY_MAX + 1), "run.code_bytes is over 1 GiB",
     "RUN with code over 1 GiB"},
    {RUN(NAMES, .inputs_bytes = MSG_BODY_MAX + 1),
     "run.inputs_bytes is over 1 GiB", "RUN with inputs over 1 GiB"},
    {RUN(NAMES, .code_bytes = MSG_BODY_MAX, .inputs_bytes = 1),
     "run.code_bytes, run.inputs_bytes and run.files_bytes are over 1 GiB",
     "RUN with both over 1 GiB"},
    {RUN(NAMES, .code_bytes = 1, .inputs_bytes = 1, .head = S("abc")),
     "run.head is longer than the body", "RUN with a head over its body"},

    {CHUNK(S("\0")), OK, "CHUNK of a NUL"},
    {CHUNK(S("")), "chunk.data is empty or over 63 KiB", "CHUNK of nothing"},
    {CHUNK({long_head, MSG_CHUNK_MAX}), OK, "CHUNK at its longest"},
    {CHUNK(LONG_HEAD), "chunk.data is empty or over 63 KiB", "CHUNK too long"},

    {ANSWER(.total = 0), OK, "ANSWER without a text"},
    {ANSWER(.total = MSG_TEXT_MAX, .head = {long_text, MSG_TEXT_MAX}), OK,
     "ANSWER to ARTIFACT of 8 KiB"},
    {ANSWER(.total = MSG_TEXT_MAX + 1, .head = LONG_TEXT),
     "answer.head is not all of an artifact's answer, or is over 8 KiB",
     "ANSWER to ARTIFACT too long"},
    {ANSWER(.total = 2, .head = S("a")),
     "answer.head is not all of an artifact's answer, or is over 8 KiB",
     "ANSWER to ARTIFACT in parts"},
    {ANSWER(.total = 1, .head = S("\0")), "answer.head" FOUL,
     "ANSWER to ARTIFACT with a NUL"},
    {ANSWER(.seq = 1, .total = 2, .head = S("\xc3")), OK,
     "ANSWER that is cut within a character"},
    {ANSWER(.seq = MSG_SEQ_MAX, .total = MSG_ANSWER_MAX), OK,
     "ANSWER of 4 MiB"},
    {ANSWER(.seq = 1, .total = MSG_ANSWER_MAX + 1),
     "answer.total is over 4 MiB", "ANSWER over 4 MiB"},
    {ANSWER(.seq = 1, .total = 1, .head = S("ab")),
     "answer.head is longer than answer.total",
     "ANSWER with a head over its total"},
    {ANSWER(.seq = 1, .total = MSG_ANSWER_MAX, .head = LONG_HEAD),
     "answer.head is over 63 KiB", "ANSWER with a head too long"},

    {CALL(.seq = 1, .tool = S("t")), OK, "CALL without parameters yet"},
    {CALL(.seq = 1), "call.tool is empty or over 256 bytes", "CALL of no tool"},
    {CALL(.seq = 1, .tool = S("a\nb")), "call.tool" DIRTY,
     "CALL of a tool with a line break"},
    {CALL(.seq = 0, .tool = S("t")), "call.seq is 0, which is ARTIFACT's",
     "CALL without a number"},
    {CALL(.seq = 1, .tool = S("t"), .total = MSG_ASK_MAX), OK,
     "CALL with parameters of 1 MiB"},
    {CALL(.seq = 1, .tool = S("t"), .total = MSG_ASK_MAX + 1),
     "call.total is over 1 MiB", "CALL over 1 MiB"},
    {CALL(.seq = 1, .tool = S("t"), .total = 1, .head = S("{}")),
     "call.head is longer than call.total", "CALL with a head over its total"},

    {INPUT(.seq = MSG_SEQ_MAX, .kind = MSG_INPUT_SAMPLE), OK,
     "INPUT with the last number"},
    {INPUT(.seq = 0), "input.seq is 0, which is ARTIFACT's",
     "INPUT without a number"},
    {INPUT(.seq = 1, .kind = MSG_INPUT_ROOTS), OK, "INPUT of the last kind"},
    {INPUT(.seq = 1, .kind = MSG_INPUT_KINDS),
     "input.kind is over 2, the last kind", "INPUT of kind 3"},
    {INPUT(.seq = 1, .total = MSG_ASK_MAX + 1), "input.total is over 1 MiB",
     "INPUT over 1 MiB"},
    {INPUT(.seq = 1, .total = 1, .head = S("{}")),
     "input.head is longer than input.total",
     "INPUT with a head over its total"},

    {DROP(.seq = MSG_SEQ_MAX), OK, "DROP of the last number"},
    {DROP(.seq = 0), "drop.seq is 0, which is ARTIFACT's",
     "DROP without a number"},

    {LOST(.count = 1, .name = S("a")), OK, "LOST of one that was refused"},
    {LOST(.kind = MSG_LOST_KINDS, .count = 1, .name = S("a")),
     "lost.kind is over 4, the last kind", "LOST of kind 5"},
    {LOST(.count = 0, .name = S("a")), "lost.count is 0", "LOST of none"},
    {LOST(.count = MSG_INT_MAX + 1, .name = S("a")), "lost.count is over 2^53",
     "LOST of too many"},
    {LOST(.count = 1), "lost.name is empty or over 256 bytes",
     "LOST without a name"},
    {LOST(.count = 1, .name = S("a\nb")),
     "lost.name is not UTF-8 or has a control character",
     "LOST of a name that begins a line"},

    {PRINTED(.stream = MSG_PRINTED_STDERR, .at = MSG_INT_MAX), OK,
     "PRINTED of nothing, of the last stream"},
    {PRINTED(.text = LONG_HEAD), "printed.text is over 63 KiB",
     "PRINTED of more than 63 KiB"},
    {PRINTED(.stream = MSG_PRINTED_STREAMS),
     "printed.stream is over 1, the last stream", "PRINTED of stream 2"},
    {PRINTED(.at = MSG_INT_MAX + 1), "printed.at is over 2^53",
     "PRINTED beyond 2^53"},

    {PROGRESS(.total = 0), OK, "PROGRESS of 0 in 0"},
    {PROGRESS(.done = 5, .total = 1), OK,
     "PROGRESS beyond its total: for the receiver to judge"},
    {PROGRESS(.done = MSG_INT_MAX, .total = MSG_INT_MAX), OK,
     "PROGRESS of 2^53"},
    {PROGRESS(.done = MSG_INT_MAX + 1, .total = 1),
     "progress.done is over 2^53", "PROGRESS done 2^53 + 1"},
    {PROGRESS(.total = UINT64_MAX), "progress.total is over 2^53",
     "PROGRESS total 2^64 - 1"},
    {PROGRESS(.message = {long_text, MSG_TEXT_MAX}), OK,
     "PROGRESS with a text of 8 KiB"},
    {PROGRESS(.message = LONG_TEXT), "progress.message is over 8 KiB",
     "PROGRESS with a longer text"},
    {PROGRESS(.message = S("\xff")), "progress.message" FOUL,
     "PROGRESS with 0xff"},

    {PENDING(.count = 1, .name = S("s")), OK, "STEP declaring 1"},
    {PENDING(.count = 10000, .name = S("s")), OK, "STEP declaring 10,000"},
    {PENDING(.count = 10001, .name = S("s")), "step.count is over 10000",
     "STEP declaring 10,001"},
    {PENDING(.count = 0, .name = S("s")), "step.count is 0, yet it is pending",
     "STEP declaring none"},
    {PENDING(.index = 999999, .count = 1, .name = S("s")), OK,
     "STEP declaring the last"},
    {PENDING(.index = 999999, .count = 2, .name = S("s")),
     "step.index and step.count go beyond 1000000 steps",
     "STEP declaring one beyond"},
    {PENDING(.index = 1000000, .count = 1, .name = S("s")),
     "step.index is over 999999", "STEP of index 1,000,000"},
    {PENDING(.count = 1), "step.name is empty, yet it is pending",
     "STEP declared without a name"},
    {PENDING(.count = 1, .name = LONG_NAME), "step.name is over 256 bytes",
     "STEP with a name too long"},
    {PENDING(.count = 1, .name = {long_name, MSG_NAME_MAX}), OK,
     "STEP with a name of 256 bytes"},
    {PENDING(.count = 1, .name = S("s"), .code = S("E")),
     "step.code or step.message, yet it has not failed",
     "STEP pending with a code"},
    {STEP(.state = MSG_STEP_RUNNING, .count = 1),
     "step.count is not 0, yet it is not pending", "STEP running with a count"},
    {STEP(.state = MSG_STEP_RUNNING, .name = S("s")),
     "step.name, yet it is not pending", "STEP running with a name"},
    {STEP(.state = MSG_STEP_SUCCEEDED, .message = S("m")),
     "step.code or step.message, yet it has not failed",
     "STEP succeeded with a message"},
    {STEP(.state = MSG_STEP_STATES), "step.state is over 4, the last state",
     "STEP in state 5"},
    {STEP(.state = MSG_STEP_SKIPPED, .attempts = UINT64_MAX),
     "step.attempts is over 2^53", "STEP with 2^64 - 1 attempts"},
    {STEP(.state = MSG_STEP_SKIPPED, .elapsed_ms = UINT64_MAX),
     "step.elapsed_ms is over 2^53", "STEP of 2^64 - 1 ms"},
    {FAILED(.code = S("E")), OK, "STEP failed without a message"},
    {FAILED(.message = S("m")), "step.code is empty, yet it has failed",
     "STEP failed without a code"},
    {FAILED(.code = S("a\x7f")), "step.code" DIRTY,
     "STEP with DEL in its code"},
    {FAILED(.code = LONG_NAME), "step.code is over 256 bytes",
     "STEP with a code too long"},
    {FAILED(.code = S("E"), .message = LONG_TEXT), "step.message is over 8 KiB",
     "STEP with a message too long"},

    {LOG(.level = 7), OK, "LOG of nothing, at debug"},
    {LOG(.level = 8), "log.level is over 7, the last severity",
     "LOG at level 8"},
    {LOG(.text = S("\x1b[2J\r\n")), OK,
     "LOG with control characters: for the reader to escape"},
    {LOG(.text = S("a\0b")), "log.text" FOUL, "LOG with a NUL"},
    {LOG(.text = S("\xc3")), "log.text" FOUL, "LOG with half a character"},
    {LOG(.text = S("\xed\xa0\x80")), "log.text" FOUL, "LOG with a surrogate"},
    {LOG(.text = S("\xc0\x80")), "log.text" FOUL, "LOG with an overlong NUL"},
    {LOG(.text = LONG_TEXT), "log.text is over 8 KiB", "LOG too long"},

    {ARTIFACT(TYPED), OK, "ARTIFACT of no bytes"},
    {ARTIFACT(TYPED, .total = MSG_BODY_MAX), OK, "ARTIFACT of 1 GiB"},
    {ARTIFACT(TYPED, .total = MSG_BODY_MAX + 1), "artifact.total is over 1 GiB",
     "ARTIFACT over 1 GiB"},
    {ARTIFACT(TYPED, .total = 1, .head = S("ab")),
     "artifact.head is longer than artifact.total",
     "ARTIFACT with a head over its total"},
    {ARTIFACT(TYPED, .total = MSG_BODY_MAX, .head = LONG_HEAD),
     "artifact.head is over 63 KiB", "ARTIFACT with a head too long"},
    {ARTIFACT(.mime_type = S("b")), "artifact.name is empty or over 256 bytes",
     "ARTIFACT without a name"},
    {ARTIFACT(.name = S("a")), "artifact.mime_type is empty or over 256 bytes",
     "ARTIFACT without a type"},
    {ARTIFACT(.name = S("a\0b"), .mime_type = S("b")), "artifact.name" DIRTY,
     "ARTIFACT with a NUL in its name"},
    {ARTIFACT(.name = S("\xc2\x9b"
			"2J"),
	      .mime_type = S("b")),
     "artifact.name" DIRTY, "ARTIFACT with a C1 control in its name"},
    {ARTIFACT(.name = S("\xc2\xa0\xc3\xa9"), .mime_type = S("b")), OK,
     "ARTIFACT with a name beyond ASCII"},
    {ARTIFACT(.name = S("a"), .mime_type = S("b\r\nx")),
     "artifact.mime_type" DIRTY, "ARTIFACT with a line break in its type"},

    {RESULT(.total = 0), OK, "RESULT of no bytes"},
    {RESULT(.kind = MSG_RESULT_KINDS), "result.kind is over 1, the last kind",
     "RESULT of kind 2"},
    {RESULT(.user_us = MSG_INT_MAX + 1), "result.user_us is over 2^53",
     "RESULT that took too long"},
    {RESULT(.system_us = MSG_INT_MAX + 1), "result.system_us is over 2^53",
     "RESULT that took the system too long"},
    {RESULT(.max_rss_kb = MSG_KB_MAX), OK, "RESULT of 4 TiB of memory"},
    {RESULT(.max_rss_kb = MSG_KB_MAX + 1ull),
     "result.max_rss_kb is over 2^32 - 1", "RESULT of more memory"},
    {RESULT(.total = MSG_BODY_MAX + 1), "result.total is over 1 GiB",
     "RESULT over 1 GiB"},
    {RESULT(.total = 1, .head = S("ab")),
     "result.head is longer than result.total",
     "RESULT with a head over its total"},
    {RESULT(.total = MSG_BODY_MAX, .head = LONG_HEAD),
     "result.head is over 63 KiB", "RESULT with a head too long"},

    {FAIL(CODED), OK, "FAIL with a code alone"},
    {FAIL(.message = S("m")), "fail.error_code is empty or over 64 bytes",
     "FAIL without a code"},
    {FAIL(.error_code = LONG_NAME), "fail.error_code is empty or over 64 bytes",
     "FAIL with a code too long"},
    {FAIL(.error_code = S("lower")), "fail.error_code is not of capitals and _",
     "FAIL with a code in small letters"},
    {FAIL(.error_code = S("E2BIG")), "fail.error_code is not of capitals and _",
     "FAIL with a digit in its code"},
    {FAIL(CODED, .message = LONG_TEXT), "fail.message is over 8 KiB",
     "FAIL with a message too long"},
    {FAIL(CODED, .details = {long_text, MSG_DETAILS_MAX}), OK,
     "FAIL with details of 16 KiB"},
    {FAIL(CODED, .details = {long_text, MSG_DETAILS_MAX + 1}),
     "fail.details is over 16 KiB", "FAIL with longer details"},
    {FAIL(CODED, .details = S("\xf5")), "fail.details" FOUL,
     "FAIL with details that are not UTF-8"},
};

#define BYTES(s) (s), sizeof(s) - 1

/* Frames of a hostile worker; t_msgpack_scan has most shapes. */
static const struct {
	const char *name;
	const char *bytes;
	size_t len;
	const char *errmsg;
} hostile[] = {
    {"an array32 of 2^28 in 5 bytes", BYTES("\xdd\x10\0\0\0"),
     "an array that claims more than the frame holds"},
    {"a map32 of 2^28 in 5 bytes", BYTES("\xdf\x10\0\0\0"), "a map"},
    {"LOG with a str32 of 4 GiB", BYTES("\x93\x13\x06\xdb\xff\xff\xff\xff"),
     "truncated"},
    {"LOG nested", BYTES("\x93\x13\x06\x91\x91\xa1x"), "an array in an array"},
    {"0xc1", BYTES("\xc1"), "not msgpack: the byte 0xc1"},
    {"LOG with the byte 0xc1", BYTES("\x93\x13\x06\xc1"),
     "not msgpack: the byte 0xc1"},
    {"LOG that is cut",
     BYTES("\x93\x13\x06\xa5"
	   "hell"),
     "truncated"},
    {"READY and another READY", BYTES("\x91\x10\x91\x10"), "trailing bytes"},
    {"a map with the same key twice", BYTES("\x82\xa1t\x10\xa1t\x10"), "a map"},
    {"a map with integers as keys", BYTES("\x81\x01\x10"), "a map"},
    {"LOG with a bin", BYTES("\x93\x13\x06\xc4\x01x"), "a bin"},
    {"LOG with an ext", BYTES("\x93\x13\x06\xd4\x01x"), "an ext"},
    {"PROGRESS of NaN", BYTES("\x94\x11\xcb\x7f\xf8\0\0\0\0\0\0\x01\xa0"),
     "a float"},
    {"PROGRESS of infinity", BYTES("\x94\x11\xca\x7f\x80\0\0\x01\xa0"),
     "a float"},
    {"PROGRESS of -1", BYTES("\x94\x11\xff\x01\xa0"), "a negative integer"},
    {"PROGRESS of 2^64 - 1",
     BYTES("\x94\x11\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x01\xa0"),
     "progress.done is over 2^53"},
    {"LOG that is not UTF-8", BYTES("\x93\x13\x06\xa2\xc3("), "log.text" FOUL},
    {"LOG with a NUL", BYTES("\x93\x13\x06\xa1\0"), "log.text" FOUL},
    {"ANSWER that is neither true nor false", BYTES("\x95\x03\0\x02\0\xa0"),
     "answer.ok is over 1"},
    {"ANSWER to number 2^32", BYTES("\x95\x03\xcf\0\0\0\x01\0\0\0\0\0\0\xa0"),
     "answer.seq is over 2^32 - 1"},
    {"CALL number 2^32 + 1",
     BYTES("\x95\x17\xcf\0\0\0\x01\0\0\0\x01\xa1t\0\xa0"),
     "call.seq is over 2^32 - 1"},
    {"STEP with a state over 2^32",
     BYTES("\x99\x12\0\0\xcf\0\0\0\x01\0\0\0\0\0\0\xa0\xa0\xa0"),
     "step.state is over 4, the last state"},
    {"no type", BYTES("\x90"), "no message type"},
    {"a type as text", BYTES("\x91\xa5READY"), "no message type"},
    {"type 0", BYTES("\x91\0"), "an unknown message type"},
    {"type 6", BYTES("\x91\x06"), "an unknown message type"},
    {"a STAY of nothing", BYTES("\x91\x05"), "STAY with other than 4 fields"},
    {"type 15", BYTES("\x91\x0f"), "an unknown message type"},
    {"a CALL of two strings", BYTES("\x93\x17\xa1x\xa1y"),
     "CALL with other than 4 fields"},
    {"an INPUT of nothing", BYTES("\x91\x18"),
     "INPUT with other than 4 fields"},
    {"a DROP of nothing", BYTES("\x91\x19"), "DROP with other than 1 field"},
    {"a LOST of nothing", BYTES("\x91\x1a"), "LOST with other than 6 fields"},
    {"a KEPT of nothing", BYTES("\x91\x1d"), "KEPT with other than 4 fields"},
    {"type 31", BYTES("\x91\x1f"), "an unknown message type"},
    {"type 2^32 + 16", BYTES("\x91\xcf\0\0\0\x01\0\0\0\x10"),
     "an unknown message type"},
    {"type 2^64 - 1", BYTES("\x91\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
     "an unknown message type"},
    {"a forged run id with READY", BYTES("\x92\x10\xa6run_02"),
     "READY with fields"},
    {"an HTTP request", BYTES("GET / HTTP/1.1\r\n\r\n"), "not an array"},
    {"a JSON text", BYTES("[16]"), "not an array"},
};
/* clang-format on */

TEST(keeps_bounds)
{
	memset(long_name, 'X', sizeof(long_name));
	memset(long_text, 'x', sizeof(long_text));
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
		is_str(offence(frame, msg_put(frame, &bounds[i].m)),
		       bounds[i].errmsg, "%s", bounds[i].name);
}

TEST(refuses_the_hostile)
{
	for (size_t i = 0; i < ARRAY_LEN(hostile); i++)
		is_str(offence(hostile[i].bytes, hostile[i].len),
		       hostile[i].errmsg, "refused: %s", hostile[i].name);
}

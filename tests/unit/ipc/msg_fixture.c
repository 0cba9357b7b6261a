/* SPDX-License-Identifier: Apache-2.0 */
/* msg_fixture.c - see msg_fixture.h. */
#include "tests/unit/ipc/msg_fixture.h"

unsigned char frame[CHAN_FRAME_MAX];

char bulk[CHAN_FRAME_MAX];

const struct msg samples[] = {
    {.type = MSG_RUN,
     .run = {.run_id = S("run_01"),
	     .template_id = S("csv_profile"),
	     .entry = S("main.lua"),
	     .timeout_ms = 60000,
	     .cancel_grace_ms = 2000,
	     .memory_bytes = 128 << 20,
	     .output_bytes = 262144,
	     .artifact_bytes = 1 << 20,
	     .messages_per_second = 10000,
	     .code_bytes = 8,
	     .inputs_bytes = 2,
	     .head = S("return 1{}")}},
    {.type = MSG_CHUNK, .chunk = {.data = S("\0\xff raw")}},
    {.type = MSG_ANSWER,
     .answer = {.ok = true, .total = 6, .head = S("art_01")}},
    {.type = MSG_ANSWER,
     .answer = {.ok = false, .total = 8, .head = S("too many")}},
    {.type = MSG_ANSWER,
     .answer = {.seq = 7, .ok = true, .total = 90000, .head = S("{\"a")}},
    {.type = MSG_READY},
    {.type = MSG_PREPARE,
     .prepare = {.entry = S("main"),
		 .cpu_ms = 5000,
		 .memory_bytes = 1 << 20,
		 .total = 3,
		 .head = S("-v\0")}},
    {.type = MSG_WAITING, .waiting = {.cpu_ms = 31, .memory_bytes = 9 << 20}},
    {.type = MSG_USED, .used = {.cpu_ms = 7}},
    {.type = MSG_STAY,
     .stay = {.cell = 3, .cpu_ms = 60000, .name = S("a.b-c"), .lost = S("")}},
    {.type = MSG_KEPT,
     .kept = {.kept = true, .cpu_ms = 12, .why = S("asked to end: timeout")}},
    {.type = MSG_PROGRESS,
     .progress = {.done = 1, .total = 9, .message = S("gelesen: \xc3\xa9")}},
    {.type = MSG_STEP, .step = {.index = 3, .count = 7, .name = S("column")}},
    {.type = MSG_STEP,
     .step = {.index = 4, .state = MSG_STEP_RUNNING, .attempts = 1}},
    {.type = MSG_STEP,
     .step = {.index = 4,
	      .state = MSG_STEP_FAILED,
	      .attempts = 3,
	      .elapsed_ms = 1200,
	      .code = S("BAD_ROW"),
	      .message = S("row 7:\nno columns")}},
    {.type = MSG_STEP,
     .step = {.state = MSG_STEP_SUCCEEDED, .attempts = 1, .elapsed_ms = 12}},
    {.type = MSG_STEP, .step = {.index = 999999, .state = MSG_STEP_SKIPPED}},
    {.type = MSG_LOG, .log = {.level = 6, .text = S("\x1b[31mred\ttext")}},
    {.type = MSG_ARTIFACT,
     .artifact = {.total = 70000,
		  .name = S("profile.csv"),
		  .mime_type = S("text/csv"),
		  .head = S("a,b\n\0\xfe")}},
    {.type = MSG_RESULT,
     .result = {.kind = MSG_RESULT_REPLY,
		.user_us = 1,
		.system_us = 2,
		.max_rss_kb = 3,
		.total = 2,
		.head = S("{}")}},
    {.type = MSG_FAIL,
     .fail = {.error_code = S("EXECUTION_ERROR"),
	      .message = S("main.lua:3: oops"),
	      .details = S("{\"templateCode\":\"X\"}")}},
    {.type = MSG_CALL,
     .call = {.seq = MSG_SEQ_MAX,
	      .tool = S("navigate"),
	      .total = 2,
	      .head = S("{}")}},
    {.type = MSG_INPUT,
     .input = {.seq = 1,
	       .kind = MSG_INPUT_SAMPLE,
	       .total = 70000,
	       .head = S("{\"m")}},
    {.type = MSG_DROP, .drop = {.seq = 7}},
    {.type = MSG_PRINTED,
     .printed = {.stream = MSG_PRINTED_STDERR,
		 .at = 100000,
		 .text = S("a\0\xff")}},
    {.type = MSG_LOST,
     .lost = {.kind = MSG_LOST_UNFIT,
	      .told = true,
	      .count = 2,
	      .size = 70000,
	      .name = S("a/b"),
	      .errmsg = S("too deep")}},
};

const size_t n_samples = ARRAY_LEN(samples);

const char *msg_type_name(enum msg_type type)
{
	static const char *const names[] = {
	    [MSG_READY] = "READY",
#define MESSAGE(type, ...) [MSG_##type] = #type,
#include "ipc/msg.def"
	};

	return names[type];
}

static bool same_str(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static bool same_run(const struct msg_run *a, const struct msg_run *b)
{
	return same_str(a->run_id, b->run_id) &&
	       same_str(a->template_id, b->template_id) &&
	       same_str(a->entry, b->entry) && a->timeout_ms == b->timeout_ms &&
	       a->cancel_grace_ms == b->cancel_grace_ms &&
	       a->memory_bytes == b->memory_bytes &&
	       a->output_bytes == b->output_bytes &&
	       a->artifact_bytes == b->artifact_bytes &&
	       a->messages_per_second == b->messages_per_second &&
	       a->id_by_line == b->id_by_line &&
	       a->code_bytes == b->code_bytes &&
	       a->inputs_bytes == b->inputs_bytes &&
	       a->files_bytes == b->files_bytes && same_str(a->head, b->head);
}

static bool same_step(const struct msg_step *a, const struct msg_step *b)
{
	return a->index == b->index && a->count == b->count &&
	       a->state == b->state && a->attempts == b->attempts &&
	       a->elapsed_ms == b->elapsed_ms && same_str(a->name, b->name) &&
	       same_str(a->code, b->code) && same_str(a->message, b->message);
}

bool same(const struct msg *a, const struct msg *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case MSG_RUN:
		return same_run(&a->run, &b->run);
	case MSG_CHUNK:
		return same_str(a->chunk.data, b->chunk.data);
	case MSG_ANSWER:
		return a->answer.seq == b->answer.seq &&
		       a->answer.ok == b->answer.ok &&
		       a->answer.total == b->answer.total &&
		       same_str(a->answer.head, b->answer.head);
	case MSG_READY:
		return true;
	case MSG_PREPARE:
		return same_str(a->prepare.entry, b->prepare.entry) &&
		       a->prepare.cpu_ms == b->prepare.cpu_ms &&
		       a->prepare.memory_bytes == b->prepare.memory_bytes &&
		       a->prepare.total == b->prepare.total &&
		       same_str(a->prepare.head, b->prepare.head);
	case MSG_WAITING:
		return a->waiting.cpu_ms == b->waiting.cpu_ms &&
		       a->waiting.memory_bytes == b->waiting.memory_bytes;
	case MSG_USED:
		return a->used.cpu_ms == b->used.cpu_ms;
	case MSG_STAY:
		return a->stay.cell == b->stay.cell &&
		       a->stay.cpu_ms == b->stay.cpu_ms &&
		       same_str(a->stay.name, b->stay.name) &&
		       same_str(a->stay.lost, b->stay.lost);
	case MSG_KEPT:
		return a->kept.kept == b->kept.kept &&
		       a->kept.cpu_ms == b->kept.cpu_ms &&
		       a->kept.memory_bytes == b->kept.memory_bytes &&
		       same_str(a->kept.why, b->kept.why);
	case MSG_PRINTED:
		return a->printed.stream == b->printed.stream &&
		       a->printed.at == b->printed.at &&
		       same_str(a->printed.text, b->printed.text);
	case MSG_PROGRESS:
		return a->progress.done == b->progress.done &&
		       a->progress.total == b->progress.total &&
		       same_str(a->progress.message, b->progress.message);
	case MSG_STEP:
		return same_step(&a->step, &b->step);
	case MSG_LOG:
		return a->log.level == b->log.level &&
		       same_str(a->log.text, b->log.text);
	case MSG_ARTIFACT:
		return a->artifact.total == b->artifact.total &&
		       same_str(a->artifact.name, b->artifact.name) &&
		       same_str(a->artifact.mime_type, b->artifact.mime_type) &&
		       same_str(a->artifact.head, b->artifact.head);
	case MSG_RESULT:
		return a->result.kind == b->result.kind &&
		       a->result.user_us == b->result.user_us &&
		       a->result.system_us == b->result.system_us &&
		       a->result.max_rss_kb == b->result.max_rss_kb &&
		       a->result.total == b->result.total &&
		       same_str(a->result.head, b->result.head);
	case MSG_FAIL:
		return same_str(a->fail.error_code, b->fail.error_code) &&
		       same_str(a->fail.message, b->fail.message) &&
		       same_str(a->fail.details, b->fail.details);
	case MSG_CALL:
		return a->call.seq == b->call.seq &&
		       same_str(a->call.tool, b->call.tool) &&
		       a->call.total == b->call.total &&
		       same_str(a->call.head, b->call.head);
	case MSG_INPUT:
		return a->input.seq == b->input.seq &&
		       a->input.kind == b->input.kind &&
		       a->input.total == b->input.total &&
		       same_str(a->input.head, b->input.head);
	case MSG_DROP:
		return a->drop.seq == b->drop.seq;
	case MSG_LOST:
		return a->lost.kind == b->lost.kind &&
		       a->lost.told == b->lost.told &&
		       a->lost.count == b->lost.count &&
		       a->lost.size == b->lost.size &&
		       same_str(a->lost.name, b->lost.name) &&
		       same_str(a->lost.errmsg, b->lost.errmsg);
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kept events of one stream, three bytes a step, compared with a simple model:
 * events must be dropped in the right order of kinds, oldest first, and the counters
 * must match the kept events. The target fuzz_http_stream.c tests the events that
 * connections receive.
 */
#include <stdint.h>
#include <stdio.h>

#include "tests/fuzz/fuzz.h"
#include "supervisor/clients/http/sse.h"

#define INSTANCE "inst_22222222222222222222222222"
#define EVENTS_MAX 128
#define STEPS_MAX 256
#define PIECE 128 /* bytes for each unit of a step's argument */

/* The model: the events that must be kept, oldest first. */
static struct {
	uint64_t seq;
	enum sse_kind kind;
	size_t len;
} model[EVENTS_MAX];
static size_t n_model, bytes, of[SSE_KINDS];
static char text[PIECE * (UINT8_MAX + 1)];

static void forget(size_t at)
{
	bytes -= model[at].len;
	of[model[at].kind] -= model[at].len;
	memmove(model + at, model + at + 1,
		(n_model - at - 1) * sizeof(*model));
	n_model--;
}

static void bound(enum sse_kind kind, size_t most)
{
	for (size_t i = 0; i < n_model && of[kind] > most;)
		if (model[i].kind == kind)
			forget(i);
		else
			i++;
}

static void add(struct sse *s, uint8_t kind, uint8_t size)
{
	enum sse_kind k = kind % SSE_KINDS;
	size_t len = (size_t)size * (k == SSE_PASSING ? PIECE : 1);

	if (n_model == EVENTS_MAX)
		return;
	sse_add(s, text, len, k);
	model[n_model].seq = s->last;
	model[n_model].kind = k;
	model[n_model++].len = len;
	bytes += len;
	of[k] += len;
	if (k == SSE_PASSING)
		bound(k, SSE_PASSING_MAX);
	else if (k == SSE_ASKED)
		bound(k, SSE_ASKED_MAX);
}

static void trim(struct sse *s, size_t most)
{
	sse_trim(s, most);
	while (n_model > 1 && bytes > most)
		forget(0);
}

/* An event as written to a connection must be read back unchanged. */
static void check_written(const struct sse *s, const struct sse_event *e)
{
	struct buf out = {0};
	struct sse_id id;
	char *end;

	sse_put_head(&out, s, e);
	buf_add(&out, "", 1);
	assert(strncmp(buf_data(&out), "id: ", 4) == 0);
	end = strchr(buf_data(&out), '\n');
	*end = '\0';
	assert(sse_read_id(buf_data(&out) + 4, &id) && id.seq == e->seq &&
	       id.number == s->number && id.push == s->push &&
	       strcmp(id.instance, s->instance != NULL ? s->instance : "") ==
		   0);
	buf_fini(&out);
}

static void check(const struct sse *s, uint64_t seq)
{
	const struct sse_event *e = TAILQ_FIRST(&s->events);
	const struct sse_event *after = sse_after(s, seq);
	size_t left = 0;

	for (size_t i = 0; i < n_model; i++, e = TAILQ_NEXT(e, link)) {
		assert(e != NULL && e->seq == model[i].seq &&
		       e->kind == model[i].kind && e->len == model[i].len);
		if (e->seq <= seq)
			continue;
		if (left == 0 && after != NULL && e->seq == after->seq)
			after = NULL; /* the first event after SEQ was found */
		left += e->len;
	}
	assert(e == NULL && after == NULL);
	assert(sse_bytes_after(s, seq) == left);
	assert(s->bytes == bytes);
	for (int kind = 0; kind < SSE_KINDS; kind++)
		assert(s->of[kind] == of[kind]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sse_id id;
	struct sse s;
	char given[128];

	n_model = bytes = 0;
	memset(of, 0, sizeof(of));
	snprintf(given, sizeof(given), "%.*s", (int)(size < 100 ? size : 100),
		 (const char *)data);
	(void)sse_read_id(given, &id);
	sse_init(&s, 1 + (size > 0 ? data[0] : 0));
	s.push = size % 2 == 1;
	s.instance = size % 3 == 1 ? INSTANCE : NULL;
	for (size_t i = 0; i + 2 < size && i < 3 * STEPS_MAX; i += 3) {
		switch (data[i] % 4) {
		case 0:
		case 1:
			add(&s, data[i + 1], data[i + 2]);
			break;
		case 2:
			trim(&s, (size_t)data[i + 1] * data[i + 2]);
			break;
		default:
			if (n_model == 0)
				break;
			check_written(&s, TAILQ_FIRST(&s.events));
			sse_drop(&s);
			forget(0);
			break;
		}
		check(&s, data[i + 1]);
	}
	sse_fini(&s);
	assert(TAILQ_EMPTY(&s.events) && s.bytes == 0);
	return 0;
}

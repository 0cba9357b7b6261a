/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_send.c - sends messages to a worker: RUN with code, inputs and files,
 * as the socket takes them, for worker.c; and each message for the worker's
 * other files. A failure shows in the worker's end.
 */
#include "supervisor/run/worker/worker_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/send_again.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "supervisor/packages/inputs/run_files.h"

int worker_send(struct worker *w, const struct msg *m)
{
	uint8_t frame[CHAN_FRAME_MAX];

	return chan_send(w->spawned->fd, frame, msg_put(frame, m));
}

static struct str str_of(const char *s)
{
	return (struct str){s, strlen(s)};
}

static size_t body_len(const struct worker *w)
{
	const struct run *r = w->run;

	return w->files != NULL ? worker_files_body(w->files)
				: r->template->code_len + r->inputs_len;
}

/* Return the next piece of the body, which is the code and then the inputs. */
static struct str body_piece(struct worker *w)
{
	static char whole[MSG_CHUNK_MAX];
	const struct run *r = w->run;
	size_t code_len = r->template->code_len;
	size_t total = code_len + r->inputs_len;
	struct str s;

	if (w->files != NULL) {
		ssize_t n =
		    worker_files_piece(w->files, w->sent, whole, sizeof(whole));

		if (n < 0) { /* RUN is never whole, so end the run */
			run_set_error(
			    w->run, "STORE_UNAVAILABLE", NULL,
			    "a file that the run is given cannot be read: %s",
			    store_says((int)n));
			worker_end(w->run);
		}
		return (struct str){whole, n > 0 ? (size_t)n : 0};
	}
	if (total <= sizeof(whole)) { /* in one frame: the usual case */
		if (code_len > 0)     /* a program's code lies in its package */
			memcpy(whole, r->template->code, code_len);
		if (r->inputs_len > 0)
			memcpy(whole + code_len, r->inputs, r->inputs_len);
		return (struct str){whole, total};
	}
	if (w->sent < code_len)
		s = (struct str){r->template->code + w->sent,
				 code_len - w->sent};
	else
		s = (struct str){r->inputs + (w->sent - code_len),
				 total - w->sent};
	if (s.n > MSG_CHUNK_MAX)
		s.n = MSG_CHUNK_MAX;
	return s;
}

static int send_run(struct worker *w, struct str head)
{
	const struct run *r = w->run;
	struct msg m = {
	    .type = MSG_RUN,
	    .run = {.run_id = str_of(r->id),
		    .template_id = str_of(r->template->id),
		    .entry = str_of(r->template->entry),
		    .timeout_ms = (uint64_t)r->limits.timeout_ms,
		    .cancel_grace_ms = (uint64_t)r->limits.cancel_grace_ms,
		    .memory_bytes = (uint64_t)r->limits.memory_bytes,
		    .output_bytes = (uint64_t)r->limits.output_bytes,
		    .artifact_bytes = (uint64_t)r->limits.artifact_bytes,
		    .messages_per_second =
			(uint64_t)r->limits.messages_per_second,
		    .id_by_line = r->template->prestart > 0,
		    .code_bytes = r->template->code_len,
		    .inputs_bytes =
			w->files != NULL ? r->files->inputs_len : r->inputs_len,
		    .files_bytes = worker_files_bytes(w->files),
		    .head = head}};

	return worker_send(w, &m);
}

/*
 * Free the inputs, unless another worker may need the inputs: until this worker is
 * known to live, or for the next attempt.
 */
void worker_drop_inputs(struct worker *w)
{
	struct run *r = w->run;

	if (w->phase == PHASE_SPAWNED || !w->run_whole || run_may_retry(r))
		return;
	free(r->inputs);
	r->inputs = NULL;
	r->inputs_len = 0;
	run_files_free(r->files);
	r->files = NULL;
}

/* Tell a resident that its program stays after the run. */
static int send_stay(struct worker *w)
{
	const struct run_notebook *n = &w->run->notebook;
	struct msg m = {.type = MSG_STAY,
			.stay = {.cell = (uint64_t)n->cell,
				 .cpu_ms = (uint64_t)w->run->limits.cpu_ms}};
	int rc;

	if (w->run->job.resident == NULL || w->stay_sent)
		return 0;
	m.stay.name = str_of(n->name);
	m.stay.lost = str_of(n->lost != NULL ? n->lost : "");
	rc = worker_send(w, &m);
	w->stay_sent = rc == 0;
	return rc;
}

/* Send as much as the socket takes, the rest when the socket is writable again. */
void worker_send_body(struct worker *w)
{
	int rc = send_stay(w);

	while (rc == 0 && (!w->run_sent || w->sent < body_len(w))) {
		struct str s = body_piece(w);
		struct msg chunk = {.type = MSG_CHUNK, .chunk = {s}};

		if (s.n == 0 && w->sent < body_len(w))
			return; /* the worker is killed */
		rc = w->run_sent ? worker_send(w, &chunk) : send_run(w, s);
		if (rc < 0)
			break;
		w->run_sent = true;
		w->sent += s.n;
	}
	if (send_again_may(rc)) {
		SEND_AGAIN(w->writable, w->spawned->fd, rc);
		return;
	}
	/* on any other failure the worker is dying, and the end of the run follows */
	w->unread |= rc < 0;
	w->run_whole = true;
	worker_files_free(w->files);
	w->files = NULL;
	worker_drop_inputs(w);
	worker_question_flush(w);
}

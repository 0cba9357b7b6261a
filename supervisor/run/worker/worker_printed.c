/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_printed.c - keeps what the code of a program printed, for the error of a failed
 * run: worker_recv.c adds what the shim sends, and worker.c has both streams told before
 * the outcome is decided. The bytes are a claim of the code, count in the requestor's
 * memory, and are bounded.
 */
#include "supervisor/run/worker/worker_private.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"

bool worker_printed_add(struct worker *w, const struct msg_printed *m)
{
	struct printed *p = &w->printed[m->stream];

	if (m->at < p->end || m->text.n > MSG_PRINTED_MAX - p->bytes)
		return false;
	if (m->at > p->end)
		buf_printf(&p->text,
			   "\n[%" PRIu64 " bytes are left out here]\n",
			   m->at - p->end);
	buf_add(&p->text, m->text.p, m->text.n);
	p->told = true;
	p->end = m->at + m->text.n;
	p->bytes += m->text.n;
	memory_add(&w->run->requestor->memory, m->text.n);
	return true;
}

static struct json_object *text_of(const struct printed *p)
{
	const char *text = buf_len(&p->text) > 0 ? buf_data(&p->text) : "";
	size_t len = buf_len(&p->text);
	/* parts may begin and end within a character */
	char *mended = utf8_mended(text, &len);
	struct json_object *v = json_object_new_string_len(
	    mended != NULL ? mended : text, (int)len);

	free(mended);
	return v;
}

void worker_printed_tell(const struct worker *w)
{
	static const char *const names[] = {
	    [MSG_PRINTED_STDOUT] = "stdout", [MSG_PRINTED_STDERR] = "stderr"};
	struct run_error *error = &w->run->error;

	if (error->code == NULL ||
	    json_member(error->details, "stdout") != NULL ||
	    (!w->printed[MSG_PRINTED_STDOUT].told &&
	     !w->printed[MSG_PRINTED_STDERR].told))
		return;
	if (error->details == NULL)
		error->details = json_object_new_object();
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		json_object_object_add(error->details, names[i],
				       text_of(&w->printed[i]));
}

void worker_printed_drop(struct worker *w)
{
	for (size_t i = 0; i < MSG_PRINTED_STREAMS; i++) {
		memory_give(&w->run->requestor->memory, w->printed[i].bytes);
		buf_fini(&w->printed[i].text);
		w->printed[i] = (struct printed){0};
	}
}

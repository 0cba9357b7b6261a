/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large answers, made on the threads of offload.c; call.c, tasks.c,
 * resources.c and the contract's tools call it. The call is held meanwhile, so
 * that a client that goes leaves it to be freed here. When too much is being
 * made for its requestor already the call is refused.
 */
#include "supervisor/call_make.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/intake.h"
#include "supervisor/offload.h"
#include "supervisor/server.h"

#define CPU_MS 5000 /* far above what the longest output can take */

struct made {
	struct call *call; /* held */
	struct making m;   /* with copies of its texts */
	struct buf answer;
	bool told;
};

/* ---- on a thread ---- */

static void work(struct offload_job *j, void *arg)
{
	struct made *d = arg;
	struct json_object *result = d->m.make(&d->m);

	(void)j;
	d->m.head = NULL;
	rpc_put_result(&d->answer, d->call->msg.id, result);
	json_object_put(result);
}

/* ---- on the loop ---- */

static void on_made(void *arg, const struct offload_end *end)
{
	struct made *d = arg;

	(void)end;
	d->told = true;
	if (call_release(d->call))
		call_send(d->call, &d->answer);
}

static void drop(void *arg)
{
	struct made *d = arg;

	if (!d->told) /* the server ends, and nobody waits */
		call_release(d->call);
	buf_fini(&d->answer);
	json_object_put(d->m.head);
	free((char *)d->m.text);
	free((char *)d->m.answer.id);
	free((char *)d->m.uri);
	free((char *)d->m.mime_type);
	free(d);
}

static const struct offload_kind kind = {
    .name = "answer", .cpu_ms = CPU_MS, .work = work, .done = on_made, .drop = drop};

static char *copy(const char *text, size_t len)
{
	char *to = xcalloc(len + 1, 1);

	memcpy(to, text, len);
	return to;
}

static void make_later(struct call *c, const struct making *m)
{
	struct made *d = xcalloc(1, sizeof(*d));

	d->call = c;
	d->m = *m;
	d->m.text = m->taken ? m->text : copy(m->text, m->len);
	d->m.answer.id = xstrdup_opt(m->answer.id);
	d->m.uri = xstrdup_opt(m->uri);
	d->m.mime_type = xstrdup_opt(m->mime_type);
	call_hold_read(c);
	if (offload_submit(c->server->offload, c->requestor, &kind, d) != NULL)
		return;
	drop(d);
	call_error(c, RPC_INTERNAL_ERROR, NULL,
		   "too many large answers of yours are being made; ask for "
		   "this one again when others have come");
}

void call_make(struct call *c, const struct making *m)
{
	struct making now = *m;
	struct json_object *result;

	if (intake_is_large(m->len)) {
		make_later(c, m);
		return;
	}
	result = now.make(&now);
	if (m->taken)
		free((char *)m->text);
	call_result(c, result);
}

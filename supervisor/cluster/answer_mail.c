/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_mail.c - hears messages of clients at other machines: runs_remote.c
 * hands in a few messages at a time, and reads more when the messages are heard.
 * A message takes a turn of the requestor's, as a request does; a large message
 * is parsed on a thread. A message to a run or session that is gone is passed
 * over. A message is lost when no thread takes it: the log says so, and the
 * client can be asked again.
 */
#include "supervisor/cluster/answer_mail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/cluster/cluster_private.h"
#include "supervisor/cluster/forwarded_response.h"
#include "supervisor/cluster/remote_questions.h"
#include "supervisor/requestor/fair_queue.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/run/threads/rpc_async.h"

struct message {
	struct answer_mail *all;
	struct requestor *who;
	char run_id[ID_SIZE];
	bool to_session;	    /* to a session, not to RUN_ID */
	char key[SESSION_KEY_SIZE]; /* the session's key, or "" */
	char *text;		    /* owned; NULL: the parser has it */
	size_t len;
	struct fair_queue_turn turn;
	struct rpc_async *parsing;
	LIST_ENTRY(message) link;
};

struct answer_mail {
	struct context *ctx;
	LIST_HEAD(, message) unheard;
	bool more; /* read more mail when UNHEARD is empty */
};

struct answer_mail *answer_mail_new(struct context *ctx)
{
	struct answer_mail *all = xcalloc(1, sizeof(*all));

	all->ctx = ctx;
	return all;
}

static void forget_message(struct message *l)
{
	LIST_REMOVE(l, link);
	fair_queue_cancel(&l->turn);
	rpc_async_cancel(l->parsing);
	free(l->text);
	free(l);
}

void answer_mail_free(struct answer_mail *all)
{
	struct message *l;

	if (all == NULL)
		return;
	while ((l = LIST_FIRST(&all->unheard)) != NULL)
		/*
		 * NOLINTNEXTLINE(clang-analyzer-unix.Malloc): forget_message() removes
		 * the message
		 */
		forget_message(l);
	free(all);
}

bool answer_mail_wanted(struct context *ctx)
{
	struct answer_mail *all = ctx->runs->cluster->answers;
	bool wanted = LIST_EMPTY(&all->unheard);

	all->more |= !wanted;
	return wanted;
}

static void read_more(struct answer_mail *all)
{
	if (!all->more || !LIST_EMPTY(&all->unheard))
		return;
	all->more = false;
	runs_remote_read(all->ctx->runs);
}

static void mark_heard(struct message *l)
{
	struct answer_mail *all = l->all;

	forget_message(l);
	read_more(all);
}

/* ---- a message ---- */

static void deliver(struct message *l, struct rpc_msg *m)
{
	struct context *ctx = l->all->ctx;
	struct requestor *who = l->who;
	struct run *r;

	if (l->to_session)
		forwarded_response_hear(ctx, who, l->key, m);
	else if ((r = runs_find(ctx->runs, who, l->run_id)) != NULL)
		remote_questions_answered(ctx, r, m->root, l->len);
	rpc_async_free(ctx->thread_pool, who, m);
	mark_heard(l);
}

static void on_parsed(void *arg, struct rpc_msg *m)
{
	struct message *l = arg;

	l->parsing = NULL;
	deliver(l, m);
}

static void parse_message(void *arg)
{
	struct message *l = arg;
	const struct context *ctx = l->all->ctx;
	bool awaited = l->to_session
			   ? forwarded_response_awaits(ctx, l->who, l->key)
			   : runs_find(ctx->runs, l->who, l->run_id) != NULL;
	char *text = l->text;
	struct rpc_msg m;

	if (!awaited) {
		mark_heard(l);
		return;
	}
	if (!rpc_async_is_large(l->len)) {
		rpc_parse(&m, text, l->len);
		deliver(l, &m);
		return;
	}
	l->text = NULL;
	l->parsing = rpc_async_parse(ctx->thread_pool, l->who, text, l->len,
				     on_parsed, l);
	if (l->parsing != NULL)
		return;
	log_rarely("session",
		   "requestor=%s response=lost err=\"too many large messages "
		   "of its are being read\"",
		   l->who->name);
	mark_heard(l);
}

/* ---- the messages of a read ---- */

/*
 * Queue FROM. A message of an unknown requestor is dropped: such a requestor has
 * no run or session here.
 */
static void add_message(struct answer_mail *all,
			const struct store_message *from)
{
	struct requestor *who =
	    requestors_find(all->ctx->requestors, from->requestor);
	struct message *l;

	if (who == NULL)
		return;
	l = xcalloc(1, sizeof(*l));
	l->all = all;
	l->who = who;
	memcpy(l->run_id, from->run_id, sizeof(l->run_id));
	l->text = xstrdup(forwarded_response_open(l->key, from));
	l->to_session = l->key[0] != '\0';
	l->len = strlen(l->text);
	l->turn.take = parse_message;
	l->turn.arg = l;
	LIST_INSERT_HEAD(&all->unheard, l, link);
}

void answer_mail_take(struct context *ctx, const struct store_result *res)
{
	struct answer_mail *all = ctx->runs->cluster->answers;
	struct message *l, *after;

	for (size_t i = 0; i < res->n_mail; i++) {
		if (res->mail[i].kind != STORE_MAIL_ANSWER)
			continue;
		store_drop_answer(ctx->store, &res->mail[i]);
		add_message(all, &res->mail[i]);
	}
	/*
	 * a message that the failing store cannot drop would be read again and
	 * again
	 */
	all->more |= res->more && store_failing(ctx->store) == NULL;
	for (l = LIST_FIRST(&all->unheard); l != NULL; l = after) {
		after = LIST_NEXT(l, link);
		fair_queue_submit(ctx->turns, &l->who->turns, &l->turn);
	}
	read_more(all);
}

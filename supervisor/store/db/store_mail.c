/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_mail.c - mail about open runs between instances on one state, and the view of a
 * run that the owner shows to other instances. The sender of mail that cannot be written
 * gets the error; a view that cannot be written is written again a second later.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/mem.h"

#define COLUMN(what, field) STORE_COLUMN(what, store_run, field)

/* the columns of STMT_SHOWN after the instance; the last two are the bulk */
static const struct store_column columns[] = {
    {STORE_NOT_READ, 0},
    COLUMN(FLAG, awaiting),
    COLUMN(TIME, shown_until_ms),
    COLUMN(TIME, log_until_ms),
    COLUMN(TIME, shown_seq),
    COLUMN(TIME, log_seq),
    COLUMN(TEXT, task_note),
    COLUMN(TEXT, asked),
    COLUMN(TEXT, node),
    COLUMN(TEXT, view),
    COLUMN(TEXT, log),
};

/* ---- shown views ---- */

static enum store_owner owner(struct store *s, const char *instance)
{
	if (instance[0] == '\0')
		return STORE_OWNER_QUEUE;
	if (strcmp(instance, s->instance) == 0)
		return STORE_OWNER_SELF;
	return store_instance_lives(s, instance) ? STORE_OWNER_OTHER
						 : STORE_OWNER_DEAD;
}

int store_read_shown(struct store *s, struct store_req *r,
		     struct store_run *run, bool bulk)
{
	struct store_cursor *st = store_query(
	    s, STMT_SHOWN, STORE_STR(r->requestor), STORE_STR(r->id));
	int rc = store_sql_step(s, st);

	if (rc != 1)
		return rc;
	run->owner = owner(s, store_text(st, 0));
	r->found_text = store_read_row(st, run, columns,
				       ARRAY_LEN(columns) - (bulk ? 0 : 2));
	store_sql_reset(st);
	return 0;
}

static int show(struct store *s, struct store_req *r)
{
	const struct store_run *run = &r->run;
	int rc = store_change(
	    s, STMT_SHOW, STORE_STR(run->requestor), STORE_STR(run->id),
	    STORE_STR(s->instance), STORE_NUM(run->awaiting),
	    STORE_NUM(run->shown_until_ms), STORE_NUM(run->log_until_ms),
	    STORE_STR(run->task_note), STORE_STR(run->view),
	    STORE_STR(run->log));

	return rc == 0 && store_is_shared(s)
		   ? store_change(s, STMT_SHOW_ASKED, STORE_STR(run->requestor),
				  STORE_STR(run->id), STORE_STR(run->asked))
		   : rc;
}

/* ---- mail ---- */

static int send_mail(struct store *s, struct store_req *r)
{
	struct store_cursor *st;
	int rc = 0;

	if (r->kind == STORE_MAIL_CANCEL && store_is_shared(s))
		rc = store_cancel_queued(s, r);
	if (rc != 0)
		return rc == 1 ? 0 : rc;
	st = store_query(s, STMT_SEND_MAIL, STORE_STR(r->requestor),
			 STORE_STR(r->id), STORE_STR(s->instance),
			 STORE_NUM(r->kind), STORE_NUM(r->time_ms));
	while ((rc = store_sql_step(s, st)) == 1) {
		free(r->found_text);
		r->found_text = xstrdup(store_text(st, 0));
	}
	return rc;
}

/* Wake the owner after the commit. An owner without a wake-up polls a moment later. */
static void nudge(struct store *s, struct store_req *r)
{
	char *path;

	if (r->found_text == NULL)
		return;
	if (store_is_shared(s)) {
		store_wake_node(s, r->found_text);
		return;
	}
	path = store_instance_path(s, r->found_text);
	(void)!utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
	free(path);
}

/*
 * Read all mail about open runs of this instance, at most three rows for each run; and a
 * few answers that clients gave at other instances, since there may be many.
 */
static int read_mail(struct store *s, struct store_req *r)
{
	struct store_cursor *st =
	    store_is_shared(s)
		? store_query(s, STMT_READ_MAIL, STORE_STR(s->instance),
			      STORE_NUM(r->limit))
		: store_query(s, STMT_READ_MAIL, STORE_STR(s->instance));
	size_t n = 0, answers = 0, bytes = 0;
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		struct store_message *l;

		if ((n & (n + 1)) == 0) /* grow to twice the size */
			r->messages = xrealloc(
			    r->messages, (2 * n + 1) * sizeof(*r->messages));
		l = &r->messages[n++];
		r->res.n_mail = n;
		snprintf(l->run_id, sizeof(l->run_id), "%s", store_text(st, 0));
		l->number = store_number(st, 1);
		l->kind = l->number < STORE_MAIL_ANSWER
			      ? (enum store_mail)l->number
			      : STORE_MAIL_ANSWER;
		l->until_ms = store_number(st, 2);
		l->body = l->requestor = NULL;
		if (l->kind < STORE_MAIL_END_RESIDENT)
			continue;
		l->body = xstrdup(store_text(st, 3));
		l->requestor = xstrdup(store_text(st, 4));
		if (l->kind != STORE_MAIL_ANSWER)
			continue;
		answers++;
		bytes += strlen(l->body);
	}
	r->res.mail = r->messages;
	r->res.more =
	    answers >= STORE_MESSAGES_READ || bytes >= STORE_MESSAGE_BYTES_READ;
	return rc;
}

/* Send R's message by the statement HOW; the statements have the same parameters. */
static int send_message(struct store *s, struct store_req *r,
			enum store_stmt how)
{
	bool is_full = false;
	struct store_cursor *st;
	uint64_t random; /* so that no message replaces another */
	int rc;

	if (!store_is_shared(s)) {
		store_req_fail(r, -EOPNOTSUPP, "instances of one machine");
		return 0;
	}
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return store_failed(s, -EIO, s->db_path);
	st = store_query(s, how, STORE_STR(r->requestor), STORE_STR(r->id),
			 STORE_STR(s->instance),
			 STORE_NUM((int64_t)(random >> 2) + STORE_MAIL_ANSWER),
			 STORE_NUM(r->time_ms), STORE_STR(r->key));
	while ((rc = store_sql_step(s, st)) == 1) {
		is_full = store_number(st, 1) == 0;
		free(r->found_text);
		r->found_text = is_full ? NULL : xstrdup(store_text(st, 0));
	}
	if (rc == 0 && is_full)
		store_req_fail(r, -ENOBUFS,
			       "%d messages or %d bytes of %s to other servers "
			       "have not been read yet, which is the most",
			       STORE_MESSAGES_MAX, STORE_MESSAGE_BYTES_MAX,
			       r->requestor);
	return rc;
}

static int send_answer(struct store *s, struct store_req *r)
{
	return send_message(s, r, STMT_SEND_ANSWER);
}

static int send_to(struct store *s, struct store_req *r)
{
	return send_message(s, r, STMT_SEND_TO);
}

static int drop_answer(struct store *s, struct store_req *r)
{
	return store_change(s, STMT_DROP_MAIL, STORE_STR(r->id),
			    STORE_NUM(r->offset));
}

STORE_OP(send_answer, .writes = true, .keep = nudge);
STORE_OP(send_to, .writes = true, .keep = nudge);
STORE_OP(drop_answer, .writes = true);
STORE_OP(show, .writes = true);
STORE_OP(send_mail, .writes = true, .keep = nudge);
STORE_OP(read_mail);

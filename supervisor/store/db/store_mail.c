/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_mail.c - what instances on one state ask of each other about open runs,
 * and what a run's owner shows of it meanwhile. Mail that cannot be written
 * fails to who sends it; what cannot be shown is shown again a second later.
 */
#include "supervisor/store/store_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

/* of STMT_SHOWN */
enum {
	COL_INSTANCE,
	COL_AWAITING,
	COL_UNTIL,
	COL_LOG_UNTIL,
	COL_SEQ,
	COL_LOG_SEQ,
	COL_NOTE,
	COL_VIEW,
	COL_LOG,
};

/* ---- what is shown ---- */

static enum store_owner owner(const struct store *s, const char *instance)
{
	if (strcmp(instance, s->instance) == 0)
		return STORE_OWNER_SELF;
	return store_instance_lives(s, instance) ? STORE_OWNER_OTHER
						 : STORE_OWNER_DEAD;
}

/* Note, view and log into R's block of text, which RUN borrows from. */
static void copy_shown(struct store_req *r, struct store_run *run,
		       sqlite3_stmt *st, bool bulk)
{
	const char **to[] = {&run->task_note, &run->view, &run->log};
	size_t n = bulk ? ARRAY_LEN(to) : 1, size = 1;
	char *at;

	for (size_t i = 0; i < n; i++)
		size += (size_t)sqlite3_column_bytes(st, COL_NOTE + (int)i) + 1;
	at = r->found_text = xcalloc(1, size);
	for (size_t i = 0; i < n; i++) {
		int col = COL_NOTE + (int)i;
		size_t len = (size_t)sqlite3_column_bytes(st, col);

		if (sqlite3_column_type(st, col) == SQLITE_NULL)
			continue;
		memcpy(at, store_text(st, col), len);
		*to[i] = at;
		at += len + 1;
	}
}

int store_read_shown(struct store *s, struct store_req *r,
		     struct store_run *run, bool bulk)
{
	sqlite3_stmt *st = store_sql(s, STMT_SHOWN);
	int rc;

	if (st == NULL)
		return store_sql_failed(s);
	store_bind_text(st, 1, r->requestor);
	store_bind_text(st, 2, r->id);
	rc = store_sql_step(s, st);
	if (rc != 1)
		return rc;
	run->owner = owner(s, store_text(st, COL_INSTANCE));
	run->awaiting = sqlite3_column_int(st, COL_AWAITING) != 0;
	run->shown_until_ms = sqlite3_column_int64(st, COL_UNTIL);
	run->log_until_ms = sqlite3_column_int64(st, COL_LOG_UNTIL);
	run->shown_seq = sqlite3_column_int64(st, COL_SEQ);
	run->log_seq = sqlite3_column_int64(st, COL_LOG_SEQ);
	copy_shown(r, run, st, bulk);
	sqlite3_reset(st);
	return 0;
}

static int show(struct store *s, struct store_req *r)
{
	sqlite3_stmt *st = store_sql(s, STMT_SHOW);
	const struct store_run *run = &r->run;

	if (st == NULL)
		return store_sql_failed(s);
	store_bind_text(st, 1, run->requestor);
	store_bind_text(st, 2, run->id);
	store_bind_text(st, 3, s->instance);
	sqlite3_bind_int(st, 4, run->awaiting);
	sqlite3_bind_int64(st, 5, run->shown_until_ms);
	sqlite3_bind_int64(st, 6, run->log_until_ms);
	store_bind_text(st, 7, run->task_note);
	store_bind_text(st, 8, run->view);
	store_bind_text(st, 9, run->log);
	return store_sql_step(s, st);
}

/* ---- mail ---- */

static int send_mail(struct store *s, struct store_req *r)
{
	sqlite3_stmt *st = store_sql(s, STMT_SEND_MAIL);
	int rc;

	if (st == NULL)
		return store_sql_failed(s);
	store_bind_text(st, 1, r->requestor);
	store_bind_text(st, 2, r->id);
	store_bind_text(st, 3, s->instance);
	sqlite3_bind_int(st, 4, (int)r->kind);
	sqlite3_bind_int64(st, 5, r->time_ms);
	while ((rc = store_sql_step(s, st)) == 1) {
		free(r->found_text);
		r->found_text = xstrdup(store_text(st, 0));
	}
	return rc;
}

/* It is durable. An owner that is not nudged looks by itself in a moment. */
static void nudge(struct store *s, struct store_req *r)
{
	char *path;

	if (r->found_text == NULL)
		return;
	path = store_instance_path(s, r->found_text);
	(void)!utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
	free(path);
}

/* All of it: three letters at most for each run that we have not ended. */
static int read_mail(struct store *s, struct store_req *r)
{
	sqlite3_stmt *st = store_sql(s, STMT_READ_MAIL);
	size_t n = 0;
	int rc;

	if (st == NULL)
		return store_sql_failed(s);
	store_bind_text(st, 1, s->instance);
	while ((rc = store_sql_step(s, st)) == 1) {
		struct store_letter *l;

		if ((n & (n + 1)) == 0) /* room for twice as many */
			r->letters = xrealloc(
			    r->letters, (2 * n + 1) * sizeof(*r->letters));
		l = &r->letters[n++];
		snprintf(l->run_id, sizeof(l->run_id), "%s", store_text(st, 0));
		l->kind = (enum store_mail)sqlite3_column_int(st, 1);
		l->until_ms = sqlite3_column_int64(st, 2);
	}
	r->res.mail = r->letters;
	r->res.n_mail = n;
	return rc;
}

const struct store_op store_op_show = {
    .name = "show", .writes = true, .exec = show};
const struct store_op store_op_send_mail = {
    .name = "send_mail", .writes = true, .exec = send_mail, .keep = nudge};
const struct store_op store_op_read_mail = {.name = "read_mail",
					    .exec = read_mail};

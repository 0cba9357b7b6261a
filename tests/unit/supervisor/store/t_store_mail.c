/* SPDX-License-Identifier: Apache-2.0 */
/* Mail between instances with one state, and views shown to other instances. */
#include "supervisor/store/store.h"

#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define SOON INT64_C(5000)
#define MESSAGES 8
#define LARGE (STORE_MESSAGE_BYTES_READ / 2 + 1)

struct mail {
	int calls;
	size_t n, answers;
	bool more;
	struct store_message all[MESSAGES];
	/*
	 * of answers: one character of each sender, and the body of the first message
	 */
	char whose[STORE_MESSAGES_READ + 1], body[64];
	/* the messages to drop */
	struct store_message read[STORE_MESSAGES_READ];
};

struct seen { /* a row read by id */
	int calls, rc;
	struct store_run run;
	char note[64], view[64], log[64];
};

static void on_mail(void *arg, const struct store_result *res)
{
	struct mail *m = arg;

	m->calls++;
	m->n = res->n_mail;
	m->more = res->more;
	for (size_t i = 0; i < res->n_mail && i < MESSAGES; i++)
		m->all[i] = res->mail[i];
	for (size_t i = 0; i < res->n_mail; i++) {
		const struct store_message *l = &res->mail[i];

		if (l->kind != STORE_MAIL_ANSWER ||
		    m->answers >= STORE_MESSAGES_READ)
			continue;
		if (m->answers == 0)
			snprintf(m->body, sizeof(m->body), "%s", l->body);
		m->whose[m->answers] = l->requestor[0];
		m->read[m->answers++] = *l;
	}
}

static void wait_for(struct store *s, const int *calls)
{
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};

	while (*calls == 0 && poll(&p, 1, HELP_WAIT_MS) > 0)
		store_dispatch(s);
}

static struct mail mail_of(struct store *s)
{
	struct mail m = {0};

	store_read_mail(s, true, on_mail, &m);
	wait_for(s, &m.calls);
	return m;
}

static void drop(struct store *s, const struct mail *m)
{
	for (size_t i = 0; i < m->answers; i++)
		store_drop_answer(s, &m->read[i]);
}

static void keep(char to[64], const char *text)
{
	snprintf(to, 64, "%s", text != NULL ? text : "-");
}

static void on_row(void *arg, const struct store_result *res)
{
	struct seen *seen = arg;

	seen->calls++;
	seen->rc = res->rc;
	if (res->rc != 0)
		return;
	seen->run = res->runs[0];
	keep(seen->note, res->runs[0].task_note);
	keep(seen->view, res->runs[0].view);
	keep(seen->log, res->runs[0].log);
}

static struct seen look(struct store *s, const char *requestor, const char *id,
			bool bulk)
{
	struct seen seen = {0};

	(bulk ? store_get_run : store_get_task)(s, requestor, id, on_row,
						&seen);
	wait_for(s, &seen.calls);
	return seen;
}

static int ask_for(struct store *s, const char *requestor, const char *id,
		   enum store_mail kind, int64_t until_ms)
{
	struct answer a = {0};

	store_send_mail(s, requestor, id, kind, until_ms, help_done, &a);
	help_wait(s, &a);
	return a.rc;
}

/* Was S nudged since the last call? */
static bool nudged(struct store *s)
{
	struct pollfd p = {.fd = store_nudge_fd(s), .events = POLLIN};
	char events[1024];
	bool any = poll(&p, 1, 0) == 1;

	if (help_is_postgres())
		return (store_woken(s) & STORE_WOKEN_MAIL) != 0;
	while (any && read(p.fd, events, sizeof(events)) > 0)
		;
	return any;
}

/* On several machines a nudge takes a moment. */
static bool gets_nudged(struct store *s)
{
	bool is = nudged(s);

	for (int i = 0; !is && help_is_postgres() && i < 6000; i++) {
		poll(NULL, 0, HELP_WAIT_MS / 6000);
		is = nudged(s);
	}
	return is;
}

/* ---- responses of clients to another instance ---- */

static int send_to(struct store *s, const char *requestor, const char *instance,
		   const char *body)
{
	struct answer a = {0};

	store_send_to(s, requestor, instance, body, SOON, help_done, &a);
	help_wait(s, &a);
	return a.rc;
}

/* A message is there at once, and the reader is woken. */
static void test_messages(struct store *owner, struct store *other)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0};
	struct mail m;

	help_put(owner, &run, STORE_SYNC);
	gets_nudged(owner);
	(void)nudged(other);
	store_send_answer(other, "alice", run.id, "{\"an\":1}", SOON, help_done,
			  &a);
	help_wait(other, &a);
	ok(a.rc == 0 && gets_nudged(owner), "an answer wakes the run's owner");
	m = mail_of(owner);
	ok(m.n == 1 && m.answers == 1 && strcmp(m.body, "{\"an\":1}") == 0 &&
	       strcmp(m.all[0].run_id, run.id) == 0 && m.whose[0] == 'a',
	   "the owner reads the answer and the sender");
	drop(owner, &m);
	is_int(send_to(other, "bob", "inst_mail_owner", "said"), 0,
	       "a message to a session of another instance is stored");
	ok(gets_nudged(owner), "a message to a session wakes the instance");
	m = mail_of(owner);
	ok(m.n == 1 && strcmp(m.body, "said") == 0 && m.whose[0] == 'b' &&
	       strcmp(m.all[0].run_id, STORE_MESSAGE_TO_SESSION) == 0,
	   "the instance reads the message to a session");
	drop(owner, &m);
	is_int(mail_of(owner).n, 0, "a dropped message is not read again");
	is_int(send_to(other, "bob", "inst_none", "said"), 0,
	       "a message to an unknown instance is dropped");
	ok(!nudged(other), "the sender of a message is not woken");
	run.status = STORE_CANCELED;
	help_put(owner, &run, STORE_SYNC);
}

/* Store N messages for inst_mail_owner in DIR's database. */
static void put_messages(const char *dir, const char *whose, size_t n,
			 size_t bytes)
{
	static int from = 100;
	struct help_db *db = help_open(dir);
	char *sql = xasprintf("INSERT INTO mail SELECT 'session', i,"
			      " 'inst_mail_owner', 9, repeat('x', %zu), '%s'"
			      " FROM generate_series(%d, %d) AS i",
			      bytes, whose, from, from + (int)n - 1);

	from += (int)n;
	help_sql(db, sql);
	help_close(db);
	free(sql);
}

static size_t count(const char *text, char c)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == c;
	return n;
}

/* Much mail of one requestor is read in parts, and does not delay other mail. */
static void test_many(const char *dir, struct store *owner, struct store *other)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct mail m = {0};

	help_put(owner, &run, STORE_SYNC);
	put_messages(dir, "alice", 3 * STORE_MESSAGES_READ, 1);
	put_messages(dir, "bob", 2, 1);
	ask_for(other, "alice", run.id, STORE_MAIL_CANCEL, INT64_MAX);
	m = mail_of(owner);
	ok(m.answers == STORE_MESSAGES_READ && m.n == m.answers + 1 && m.more,
	   "of many answers some are read at a time, and all that is asked");
	is_int(count(m.whose, 'b'), 2, "some of each who says any");
	for (int i = 0; i < 2; i++) {
		drop(owner, &m);
		m = mail_of(owner);
	}
	drop(owner, &m);
	m = mail_of(owner);
	ok(m.answers == 2 && !m.more, "the rest when these were dropped");
	drop(owner, &m);
	put_messages(dir, "alice", 3, LARGE);
	m = (struct mail){0};
	store_read_mail(owner, false, on_mail, &m);
	wait_for(owner, &m.calls);
	ok(m.n == 1 && m.answers == 0,
	   "no answers are read by an instance which has some");
	m = mail_of(owner);
	ok(m.answers == 2 && m.more, "fewer large answers are read at once");
	drop(owner, &m);
	m = mail_of(owner);
	ok(m.answers == 1 && !m.more, "the remaining answers are read next");
	drop(owner, &m);
	run.status = STORE_CANCELED;
	help_put(owner, &run, STORE_SYNC);
}

/*
 * The messages of a requestor have a bound, which does not affect other requestors.
 */
static void test_full(const char *dir, struct store *owner, struct store *other)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0};
	struct mail m;

	help_put(owner, &run, STORE_SYNC);
	put_messages(dir, "alice", 1, STORE_MESSAGE_BYTES_MAX - 4);
	gets_nudged(owner);
	is_int(send_to(other, "alice", "inst_mail_owner", "12345"), -ENOBUFS,
	       "a message beyond the requestor's bound is refused");
	store_send_answer(other, "alice", run.id, "12345", SOON, help_done, &a);
	help_wait(other, &a);
	ok(a.rc == -ENOBUFS && strstr(a.errmsg, "alice") != NULL,
	   "an answer beyond the bound is refused with the requestor's name");
	is_int(send_to(other, "alice", "inst_mail_owner", "1234"), 0,
	       "a message within the bound is stored");
	is_int(send_to(other, "bob", "inst_mail_owner", "12345"), 0,
	       "another requestor's message is stored");
	is_int(ask_for(other, "alice", run.id, STORE_MAIL_CANCEL, INT64_MAX), 0,
	       "a request about a run has no such bound");
	m = mail_of(owner);
	ok(m.all[0].kind == STORE_MAIL_CANCEL, "a request about a run is read");
	do {
		drop(owner, &m);
		m = mail_of(owner);
	} while (m.answers > 0);
	is_int(send_to(other, "alice", "inst_mail_owner", "12345"), 0,
	       "read messages make room for new messages");
	put_messages(dir, "alice", STORE_MESSAGES_MAX - 1, 1);
	is_int(send_to(other, "alice", "inst_mail_owner", "1"), -ENOBUFS,
	       "many small ones are too many, too");
	run.status = STORE_CANCELED;
	help_put(owner, &run, STORE_SYNC);
	help_swept(owner);
}

/* OWNER has ended, so no instance will read the messages. */
static void test_left(const char *dir, struct store *other)
{
	struct help_db *db = help_open(dir);

	is_int(help_number(db, "SELECT count(*) FROM mail"
			       " WHERE instance = 'inst_mail_owner'"),
	       0, "messages to an ended instance are removed");
	help_close(db);
	is_int(send_to(other, "alice", "inst_mail_owner", "12345"), 0,
	       "messages to an ended instance do not count");
}

static struct store_run shown(const struct store_run *run, const char *view,
			      const char *log)
{
	struct store_run row = {.requestor = run->requestor,
				.awaiting = true,
				.task_note = "half",
				.view = view,
				.log = log,
				.shown_until_ms = 70,
				.log_until_ms = 80};

	memcpy(row.id, run->id, sizeof(row.id));
	return row;
}

/* Wait until a view of RUN is stored, or until a session waits for a lock. */
static void wait_for_view(const char *dir, const struct store_run *run)
{
	struct help_db *db = help_open(dir);
	char *sql = xasprintf("SELECT (SELECT count(*) FROM shown WHERE run ="
			      " '%s') + (SELECT count(*) FROM pg_locks"
			      " WHERE NOT granted)",
			      run->id);

	while (help_number(db, sql) == 0)
		usleep(1000);
	help_close(db);
	free(sql);
}

/* A view that is stored while another session ends the run is removed, too. */
static void test_late_view(const char *dir, struct store *owner)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct help_db *db = help_open(dir);
	struct store_run row;
	char *sql;

	help_put(owner, &run, STORE_SYNC);
	sql = xasprintf("UPDATE runs SET status = 5, ended = 1 WHERE id = '%s'",
			run.id);
	help_sql(db, "BEGIN");
	help_sql(db, sql);
	row = shown(&run, "{}", NULL);
	store_show(owner, &row);
	wait_for_view(dir, &run);
	help_sql(db, "COMMIT");
	look(owner, "alice", run.id, false); /* wait for the view */
	free(sql);
	sql = xasprintf("SELECT count(*) FROM shown WHERE run = '%s'", run.id);
	is_int(help_number(db, sql), 0,
	       "no view of a run is left which ended at the same time");
	help_close(db);
	free(sql);
}

static void test_mail(struct store *owner, struct store *other)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store_run done = help_run("alice", STORE_SUCCEEDED);
	struct mail m;

	help_put(owner, &run, STORE_SYNC);
	help_put(owner, &done, STORE_SYNC);
	if (help_is_postgres()) /* take the nudge for earlier mail */
		gets_nudged(owner);
	ok(store_poll_ms(owner) == STORE_POLL_WOKEN_MS && !nudged(owner),
	   "an owner can be nudged");
	is_int(ask_for(other, "bob", run.id, STORE_MAIL_CANCEL, SOON), 0,
	       "a request about another requestor's run is unknown");
	is_int(ask_for(other, "alice", "run_none", STORE_MAIL_CANCEL, SOON), 0,
	       "a request about an unknown run is unknown");
	ask_for(other, "alice", done.id, STORE_MAIL_CANCEL, SOON);
	ask_for(owner, "alice", run.id, STORE_MAIL_CANCEL, SOON);
	if (help_is_postgres())
		gets_nudged(other);
	ok(!nudged(owner) && mail_of(owner).n == 0,
	   "neither is written, nor for a run that is over, nor for one's own");

	is_int(ask_for(other, "alice", run.id, STORE_MAIL_CANCEL, INT64_MAX), 0,
	       "a request about a run of another instance is stored");
	ok(gets_nudged(owner), "a request about a run nudges the owner");
	ok(!nudged(other), "a request about a run nudges no other instance");
	for (int64_t until = SOON; until >= SOON - 2; until--)
		ask_for(other, "alice", run.id, STORE_MAIL_WATCH, until);
	m = mail_of(owner);
	is_int(m.n, 2, "two requests of one kind are one message");
	ok(m.all[0].kind == STORE_MAIL_CANCEL &&
	       strcmp(m.all[0].run_id, run.id) == 0 &&
	       m.all[0].until_ms == INT64_MAX && m.all[1].until_ms == SOON,
	   "a request has the run and the latest time");
	is_int(mail_of(other).n, 0, "a request is read by the owner alone");
	store_sweep(owner, SOON + 1);
	m = mail_of(owner);
	ok(m.n == 1 && m.all[0].kind == STORE_MAIL_CANCEL,
	   "an expired request is removed");
	run.status = STORE_CANCELED;
	help_put(owner, &run, STORE_SYNC);
	is_int(mail_of(owner).n, 0, "the end of the run removes the requests");
}

static void test_shown(struct store *owner, struct store *other)
{
	struct store_run run = help_run("alice", STORE_RUNNING), row;
	struct seen seen;

	help_put(owner, &run, STORE_SYNC);
	seen = look(other, "alice", run.id, true);
	ok(seen.run.owner == STORE_OWNER_OTHER &&
	       seen.run.shown_until_ms == 0 && seen.run.log_until_ms == 0 &&
	       strcmp(seen.view, "-") == 0,
	   "an open run is its owner's, who shows nothing yet");
	is_int(look(owner, "alice", run.id, false).run.owner, STORE_OWNER_SELF,
	       "the owner of a run knows the run as its own");
	row = shown(&run, "{}", NULL);
	store_show(other, &row);
	is_str(look(other, "alice", run.id, true).view, "-",
	       "an instance shows no other instance's run");
	store_show(owner, &row);
	row = shown(&run, NULL, "a line\n");
	store_show(owner, &row);
	look(owner, "alice", run.id, false); /* wait for the shown view */
	seen = look(other, "alice", run.id, true);
	is_str(seen.view, "{}",
	       "the part which was not shown again is unchanged");
	ok(strcmp(seen.log, "a line\n") == 0 &&
	       strcmp(seen.note, "half") == 0 && seen.run.awaiting &&
	       seen.run.shown_until_ms == 70 && seen.run.log_until_ms == 80,
	   "the rest as its owner said");
	ok(seen.run.shown_seq == 1 && seen.run.log_seq == 1,
	   "each change of the view is counted");
	seen = look(other, "alice", run.id, false);
	ok(seen.run.awaiting && strcmp(seen.note, "half") == 0 &&
	       strcmp(seen.view, "-") == 0 && strcmp(seen.log, "-") == 0,
	   "a task is read without the bulk");
	is_int(look(other, "bob", run.id, true).rc, -ENOENT,
	       "another requestor sees none of it");
	run.status = STORE_FAILED;
	run.inputs = run.options = NULL;
	help_put(owner, &run, STORE_SYNC);
	store_show(owner, &row);
	look(owner, "alice", run.id, false);
	seen = look(other, "alice", run.id, true);
	ok(strcmp(seen.view, "-") == 0 && !seen.run.awaiting &&
	       seen.run.owner == STORE_OWNER_NONE,
	   "the view of an ended run is gone");
}

static int recover(struct store *s,
		   void (*how)(struct store *s, store_done done, void *arg))
{
	struct answer a = {0};
	int n;

	how(s, help_done, &a);
	help_wait(s, &a);
	if (how == store_recover)
		help_claim(s, &a);
	n = a.rc != 0 ? a.rc : (int)a.n;
	help_clear(&a);
	return n;
}

static enum store_status status_of(struct store *s, const struct store_run *run)
{
	return look(s, "alice", run->id, false).run.status;
}

/* OWNER ends with open runs, as a dead instance; OTHER takes the runs over. */
static void test_death(const char *dir, struct store *other)
{
	enum { TO_CANCEL, WATCHED, WAITS, WAITS_TO_CANCEL, RUNS };
	struct store *owner = store_start(dir, "inst_dying");
	struct store_run runs[RUNS];
	struct mail m;

	for (int i = 0; i < RUNS; i++) {
		runs[i] =
		    help_run("alice", i < WAITS ? STORE_RUNNING : STORE_QUEUED);
		help_put(owner, &runs[i], STORE_SYNC);
		ask_for(other, "alice", runs[i].id,
			i == TO_CANCEL || i == WAITS_TO_CANCEL
			    ? STORE_MAIL_CANCEL
			    : STORE_MAIL_WATCH,
			INT64_MAX);
	}
	store_stop(owner, 10000);
	is_int(look(other, "alice", runs[WATCHED].id, false).run.owner,
	       STORE_OWNER_DEAD, "an instance with a free lock is dead");
	is_int(recover(other, store_recover_begun), 0,
	       "waiting runs are left to other instances");
	is_int(status_of(other, &runs[TO_CANCEL]), STORE_CANCELED,
	       "a run to be cancelled is canceled");
	is_int(status_of(other, &runs[WATCHED]), STORE_FAILED,
	       "a watched run is interrupted");
	is_int(status_of(other, &runs[WAITS_TO_CANCEL]), STORE_CANCELED,
	       "a waiting run to be cancelled is canceled");
	ok(look(other, "alice", runs[WAITS].id, false).run.owner ==
		   (help_is_postgres() ? STORE_OWNER_QUEUE
				       : STORE_OWNER_DEAD) &&
	       status_of(other, &runs[WAITS]) == STORE_QUEUED,
	   "the waiting run goes on waiting");
	is_int(recover(other, store_recover), 1,
	       "another instance takes the waiting run over");
	m = mail_of(other);
	ok(m.n == 1 && strcmp(m.all[0].run_id, runs[WAITS].id) == 0,
	   "the requests about a run go to the new owner");
	is_int(look(other, "alice", runs[WAITS].id, false).run.owner,
	       STORE_OWNER_SELF, "the new owner of the run is known");
}

int main(void)
{
	char *dir = help_dir();
	struct store *owner = store_start(dir, "inst_mail_owner");
	struct store *other = store_start(dir, "inst_mail_other");

	test_mail(owner, other);
	test_shown(owner, other);
	test_death(dir, other);
	if (help_is_postgres()) {
		test_messages(owner, other);
		test_many(dir, owner, other);
		test_full(dir, owner, other);
		test_late_view(dir, owner);
	}
	store_stop(owner, 10000);
	if (help_is_postgres())
		test_left(dir, other);
	store_stop(other, 10000);
	help_remove(dir);
	return tap_done();
}

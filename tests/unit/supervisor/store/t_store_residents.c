/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of residents: one node for each, ends, lost states, and runs in the common queue. */
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define SERVED "template d1gest\nrequestor alice"
#define NOTE "cells/n"

static char *base;

/* The kept result about a resident. */
struct said {
	int calls, rc;
	char text[64]; /* the reason of a loss, or the views */
};

static void on_said(void *arg, const struct store_result *res)
{
	struct said *a = arg;

	a->calls++;
	a->rc = res->rc;
	snprintf(a->text, sizeof(a->text), "%s",
		 res->text != NULL ? res->text : "-");
	for (size_t i = 0; i < res->n_residents; i++)
		snprintf(a->text, sizeof(a->text), "%zu %s", res->n_residents,
			 res->residents[i].view);
}

/* Dispatch until the earlier requests of S are done. */
static void settle(struct store *s)
{
	struct answer a = {0};

	store_probe(s, help_done, &a);
	help_wait(s, &a);
	help_clear(&a);
}

static struct store *node(const char *name)
{
	char *own = xasprintf("%s/%s", base, name);
	struct store *s = help_start_beside(own, base, name);
	struct answer a = {0};

	store_serve(s, SERVED, help_done, &a);
	help_wait(s, &a);
	help_clear(&a);
	free(own);
	return s;
}

static struct said home(struct store *s, const char *resident)
{
	struct said a = {0};

	store_home_resident(s, "alice", resident, on_said, &a);
	settle(s);
	return a;
}

static struct said ends(struct store *s)
{
	struct said a = {0};

	store_resident_ends(s, "alice", NOTE, on_said, &a);
	settle(s);
	return a;
}

static int64_t number(const char *sql)
{
	struct help_db *db = help_open(base);
	int64_t n = help_number(db, sql);

	help_close(db);
	return n;
}

static void sql(const char *text)
{
	struct help_db *db = help_open(base);

	help_sql(db, text);
	help_close(db);
}

static void test_home(void)
{
	struct store *s = node("inst_a"), *t = node("inst_b");
	struct said a = home(s, NOTE);

	is_int(a.rc, 0, "a resident without a node gets the node that asks");
	is_str(a.text, "-", "a new resident has lost no state");
	is_int(home(t, NOTE).rc, -EREMOTE,
	       "a resident that lives on a node lives on no other");
	is_int(home(s, NOTE).rc, 0, "the node may ask again");
	store_leave_resident(t, "alice", NOTE, "another node says so");
	settle(t);
	is_int(home(t, NOTE).rc, -EREMOTE,
	       "another node cannot end the stay of a resident");
	store_leave_resident(s, "alice", NOTE, "nobody used it");
	settle(s);
	a = home(t, NOTE);
	is_int(a.rc, 0, "a resident that has left may live on another node");
	is_str(a.text, "nobody used it",
	       "the other node is told why the state was lost");
	store_leave_resident(t, "alice", NOTE, NULL);
	settle(t);
	is_int(number("SELECT count(*) FROM residents"), 0,
	       "a resident that has lost nothing leaves no row");
	home(s, NOTE);
	sql("DELETE FROM node WHERE id = 'inst_a'");
	a = home(t, NOTE);
	is_int(a.rc, 0, "the resident of a dead node may live on another");
	is_str(a.text, "its node died", "the other node is told of the death");
	store_stop(s, 10000);
	store_stop(t, 10000);
}

static void test_shown(void)
{
	struct store *s = node("inst_a"), *t = node("inst_b");
	struct said a = {0};

	home(s, NOTE);
	store_list_residents(t, NULL, on_said, &a);
	settle(t);
	is_str(a.text, "-", "a resident without a view is not listed");
	store_show_resident(s, "alice", NOTE, "{}", NULL, NULL);
	settle(s);
	store_list_residents(t, "alice", on_said, &a);
	settle(t);
	is_str(a.text, "1 {}", "another node lists the resident");
	store_list_residents(t, "bob", on_said, &a);
	settle(t);
	is_str(a.text, "-", "the residents of a requestor are listed alone");
	store_list_residents(s, NULL, on_said, &a);
	settle(s);
	is_str(a.text, "-", "the node itself does not list its own");
	store_stop(s, 10000);
	store_stop(t, 10000);
}

static void test_end(void)
{
	struct store *s = node("inst_a"), *t = node("inst_b");
	struct answer mail = {0};
	struct said a = {0};

	store_end_resident(t, "alice", NOTE, on_said, &a);
	settle(t);
	is_int(a.rc, -ENOENT, "a resident on no node cannot be ended");
	home(s, NOTE);
	store_end_resident(t, "alice", NOTE, on_said, &a);
	settle(t);
	is_int(a.rc, 0, "the end of a resident on another node is asked for");
	is_int(ends(t).rc, -EINPROGRESS, "the end is awaited");
	store_read_mail(s, false, help_done, &mail);
	help_wait(s, &mail);
	is_int(number("SELECT count(*) FROM residents WHERE ending = 1"), 1,
	       "the node reads the mail until the end is decided");
	store_keep_resident(s, "alice", NOTE);
	settle(s);
	is_int(ends(t).rc, -EBUSY, "the node may refuse the end");
	store_leave_resident(s, "alice", NOTE, "ended");
	settle(s);
	is_int(ends(t).rc, 0, "the end is known once the resident has left");
	help_clear(&mail);
	store_stop(s, 10000);
	store_stop(t, 10000);
}

static void test_bounds(void)
{
	struct store *s = node("inst_a");

	for (int i = 0; i < STORE_RESIDENTS_LOST + 6; i++) {
		char *resident = xasprintf("cells/n%d", i);

		home(s, resident);
		store_leave_resident(s, "alice", resident, "ended");
		free(resident);
	}
	settle(s);
	is_int(number("SELECT count(*) FROM residents"), STORE_RESIDENTS_LOST,
	       "the lost states of a requestor are remembered up to a bound");
	home(s, NOTE);
	sql("UPDATE residents SET at_ms = at_ms - " STORE_TEXT(
	    STORE_RESIDENTS_LOST_MS) " - 1000");
	store_sweep(s, clock_wall_ms());
	help_swept(s);
	is_int(number("SELECT count(*) FROM residents"), 1,
	       "a sweep removes old lost states, and no resident on a node");
	store_stop(s, 10000);
}

static size_t claimed(struct store *s, const char *busy)
{
	struct answer a = {0};
	size_t n;

	store_claim(s, 8, "", busy, help_done, &a);
	help_wait(s, &a);
	n = a.n;
	help_clear(&a);
	return n;
}

static void test_queue(void)
{
	struct store *s = node("inst_a"), *t = node("inst_b");
	struct store_run run = help_run("alice", STORE_QUEUED);

	run.template_id = "cells";
	run.digest = "d1gest";
	run.inputs = "{}";
	run.waits = STORE_WAITS_ANYWHERE;
	run.weight = 1;
	run.notebook = "n";
	home(s, NOTE);
	is_int(help_put(t, &run, STORE_SYNC), 0,
	       "a run for the resident is queued");
	is_int(claimed(t, ""), 0,
	       "the node that queued the run cannot claim the run");
	is_int(claimed(s, "alice\t" NOTE "\n"), 0,
	       "the node of the resident leaves runs of a busy resident");
	is_int(claimed(s, "alice\tcells/m\n"), 1,
	       "the node of the resident claims the run");
	store_stop(s, 10000);
	store_stop(t, 10000);
}

int main(void)
{
	static void (*const tests[])(void) = {test_home, test_shown, test_end,
					      test_bounds, test_queue};

	if (!help_is_postgres()) {
		skip("SQLite", "one machine has no rows of residents");
		return tap_done();
	}
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		base = help_dir();
		tests[i]();
		help_remove(base);
	}
	return tap_done();
}

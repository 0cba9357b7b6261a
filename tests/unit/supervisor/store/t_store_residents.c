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

static struct said home_of(struct store *s, const char *resident, int64_t most)
{
	struct said a = {0};

	store_home_resident(s, "alice", resident, most, on_said, &a);
	settle(s);
	return a;
}

static struct said home(struct store *s, const char *resident)
{
	return home_of(s, resident, 1000);
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

static void show(struct store *s, const char *resident, const char *state,
		 int used_ms)
{
	char *view =
	    xasprintf("{\"state\":\"%s\",\"lastUsedAt\":%d}", state, used_ms);

	store_show_resident(s, "alice", resident, view, NULL, NULL);
	settle(s);
	free(view);
}

static char evicted[64]; /* from the last mail read */

static void on_mail(void *arg, const struct store_result *res)
{
	(void)arg;
	evicted[0] = '\0';
	for (size_t i = 0; i < res->n_mail; i++)
		if (res->mail[i].kind == STORE_MAIL_EVICT_RESIDENT)
			snprintf(evicted, sizeof(evicted), "%s",
				 res->mail[i].body);
}

static const char *read_evicted(struct store *s)
{
	store_read_mail(s, false, on_mail, NULL);
	settle(s);
	return evicted;
}

static void test_most(void)
{
	struct store *s = node("inst_a"), *t = node("inst_b");

	home_of(s, "cells/a", 2);
	home_of(t, "cells/b", 2);
	show(s, "cells/a", "running", 1);
	show(t, "cells/b", "idle", 2);
	is_int(home_of(s, "cells/a", 2).rc, 0,
	       "a resident that has a node needs no more room");
	is_int(home_of(t, "cells/a", 2).rc, -EREMOTE,
	       "a full number of residents does not hide the node of one");
	is_int(home_of(s, "cells/c", 2).rc, -EINPROGRESS,
	       "a resident beyond the number waits for room");
	is_str(read_evicted(s), "", "a resident with a run is not asked first");
	is_str(read_evicted(t), "cells/b", "an idle resident is asked to end");
	is_int(home_of(t, "cells/d", 2).rc, -EINPROGRESS,
	       "a second resident waits for the same room");
	is_str(read_evicted(s), "", "one resident is asked at a time");
	store_keep_resident(t, "alice", "cells/b");
	settle(t);
	is_int(home_of(s, "cells/c", 2).rc, -EINPROGRESS,
	       "after a refusal another resident is asked");
	is_str(read_evicted(s), "cells/a",
	       "the mail goes to the node of the other");
	store_keep_resident(s, "alice", "cells/a");
	settle(s);
	is_int(home_of(t, "cells/c", 2).rc, -EDQUOT,
	       "a resident is refused when all others are in use");
	is_int(home_of(s, "cells/d", 2).rc, -EINPROGRESS,
	       "the next resident beyond the number asks again");
	is_str(read_evicted(t), "cells/b", "an idle resident first");
	store_keep_resident(t, "alice", "cells/b");
	show(t, "cells/b", "running", 3);
	home_of(s, "cells/d", 2);
	is_str(read_evicted(t), "",
	       "a resident that refused and is in use is asked no more");
	show(t, "cells/b", "idle", 4);
	store_keep_resident(s, "alice", "cells/a");
	settle(s);
	is_int(home_of(s, "cells/d", 2).rc, -EINPROGRESS,
	       "a resident that is idle again may be asked again");
	store_leave_resident(t, "alice", "cells/b", "no room");
	settle(t);
	is_int(home_of(t, "cells/c", 2).rc, 0, "the freed room is taken");
	is_int(number("SELECT count(*) FROM residents WHERE node <> ''"), 2,
	       "no more residents live on nodes than may");
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

	store_claim(s, &(struct store_claim){8, .except = "", .busy = busy},
		    help_done, &a);
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
	static void (*const tests[])(void) = {test_home,   test_most,
					      test_shown,  test_end,
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

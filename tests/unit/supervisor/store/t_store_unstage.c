/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_unstage.c - staged rows of SQLite are moved: the time, the mover, and the
 * results of reads while a move is impossible.
 */
#include <signal.h>
#include <sys/mount.h>

#include "base/os/log.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define FULL_BYTES "size=12m"

static void test_due(const char *dir)
{
	struct store *s = store_start(dir, "inst_a");

	s->worked = true;
	s->staged = STORE_STAGED_MANY - 1;
	is_int(store_unstage_due_ms(s, STORE_FOREVER), STORE_FOREVER,
	       "a few wait while there may be more");
	s->staged = STORE_STAGED_MANY;
	is_int(store_unstage_due_ms(s, 5), 0, "many do not");
	s->staged = 1;
	s->worked = false;
	is_int(store_unstage_due_ms(s, 5), STORE_FOREVER,
	       "a move waits while the store has work");
	is_int(store_unstage_due_ms(s, STORE_FOREVER), 0,
	       "a move is due after a while without work");
	s->unstage_ms = 7;
	is_int(store_unstage_due_ms(s, STORE_FOREVER), 7,
	       "a move waits after a failure");
	s->staged = 0;
	is_int(store_unstage_due_ms(s, STORE_FOREVER), STORE_FOREVER,
	       "nothing wakes for nothing");
	store_stop(s, 10000);
}

static void test_by_itself(const char *dir)
{
	struct store *s = store_start(dir, "inst_a");
	int64_t until_ms = clock_mono_ms() + HELP_WAIT_MS;
	struct answer a = {0};
	struct store_run run;

	help_put_ended(s);
	while (help_moved(dir) == 0 && clock_mono_ms() < until_ms)
		sched_yield();
	is_int(help_moved(dir), 1, "a staged run is moved without any request");
	is_int(help_staged(dir), 0, "no run is staged after the move");
	store_stop(s, 10000);
	s = help_start_still(dir, "inst_b");
	run = help_put_ended(s);
	is_int(help_staged(dir), 1, "a second run is staged");
	store_stop(s, 10000);
	is_int(help_staged(dir), 0,
	       "the end of the store moves the staged run");
	is_int(help_moved(dir), 2, "both runs are moved");
	s = help_start_still(dir, "inst_c");
	is_int(help_get(s, &a, "alice", run.id), 0,
	       "the moved run is found after a restart");
	store_stop(s, 10000);
	help_clear(&a);
}

static void end_some(const char *dir, int out)
{
	struct store *s = help_start_still(dir, "inst_dead");
	struct store_run open = help_run("alice", STORE_RUNNING), run = open;

	help_put(s, &open, STORE_SYNC);
	run.status = STORE_SUCCEEDED;
	help_put(s, &run, STORE_RETRY);
	for (int i = 0; i < 3; i++)
		help_put_ended(s);
	(void)!write(out, run.id, sizeof(run.id));
	for (;;)
		pause();
}

/* The test forks, and so runs before there are threads. */
static void test_killed(const char *dir)
{
	char id[ID_SIZE] = "";
	struct answer a = {0};
	struct store *s;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0)
		end_some(dir, fds[1]);
	close(fds[1]);
	(void)!read(fds[0], id, sizeof(id));
	close(fds[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is_int(help_staged(dir), 4, "killed with what it had staged");
	s = store_start(dir, "inst_next");
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	is_int((int64_t)a.interrupted, 0,
	       "a take-over finds that the staged run ended");
	is_int(help_get(s, &a, "alice", id), 0,
	       "a take-over finds the staged run");
	is_int(a.status[0], STORE_SUCCEEDED,
	       "the staged run has the reported status");
	is_int(help_moved(dir), 4,
	       "all staged runs are moved at the take-over");
	store_stop(s, 10000);
	help_clear(&a);
}

/* ---- while a move is impossible ---- */

/* A foreign lock prevents the move; a read by id finds the staged run. */
static void test_locked(const char *dir)
{
	struct store *s = help_start_still(dir, "inst_a");
	struct store_filter all = {
	    .requestor = "alice", .status = -1, .limit = 99};
	struct store_run run = help_run("alice", STORE_RUNNING), other;
	struct answer a = {0};
	struct help_db *hold;

	help_put(s, &run, STORE_SYNC);
	run.status = STORE_FAILED;
	run.inputs = NULL;
	run.inputs_before = 14;
	help_put(s, &run, STORE_RETRY);
	run.status = STORE_SUCCEEDED;
	run.view = "{\"v\":2}";
	help_put(s, &run, STORE_RETRY);
	hold = help_lock(dir);
	is_int(help_get(s, &a, "alice", run.id), 0,
	       "a staged run is read during a lock");
	is_int(a.status[0], STORE_SUCCEEDED, "the read has the last status");
	is_str(a.view, run.view, "the read has the view");
	is_str(a.inputs, NULL, "the read has no inputs");
	help_clear(&a);
	store_get_inputs(s, "alice", run.id, help_done, &a);
	help_wait(s, &a);
	is_str(a.inputs, "{\"text\":\"a b\"}",
	       "the inputs of the staged run are known");
	is_int(help_get(s, &a, "bob", run.id), -ENOENT,
	       "another requestor does not find the staged run");
	is_int(help_list(s, &a, &all), 0, "a list is read during a lock");
	is_str(store_failing(s), NULL,
	       "a prevented move is no failure of the store");
	is_int(help_staged(dir), 2, "the runs are still staged");
	help_unlock(hold);
	other = help_run("bob", STORE_RUNNING);
	help_put(s, &other, STORE_SYNC);
	is_int(help_staged(dir), 0, "the next write moves the staged runs");
	store_stop(s, 10000);
	help_clear(&a);
}

/* Mount a small file system which this process alone sees. */
static bool mount_tmpfs(const char *at)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", at, "tmpfs", 0, FULL_BYTES) == 0;
}

/* Fill the rest of the disk; the path of the file. */
static char *fill_disk(const char *dir)
{
	char *path = xasprintf("%s/ballast", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	static char block[4096];

	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	return path;
}

static void test_full(const char *dir)
{
	struct store *s = help_start_still(dir, "inst_a");
	struct store_filter all = {
	    .requestor = "alice", .status = -1, .limit = 99};
	struct store_run runs[5];
	struct answer a = {0};
	char *ballast;

	for (size_t i = 0; i < ARRAY_LEN(runs); i++)
		runs[i] = help_put_ended(s);
	ballast = fill_disk(dir);
	for (int i = 0; i < 3; i++) {
		is_int(help_list(s, &a, &all), 0,
		       "a list is read on a full disk");
		is_int(a.total, 5, "the list on a full disk has all runs");
		is_int((int64_t)a.n, 5, "the list on a full disk has each run");
		is_int(help_get(s, &a, "alice", runs[i].id), 0,
		       "a staged run is found on a full disk");
		help_clear(&a);
		store_usage(s, "alice", help_done, &a);
		help_wait(s, &a);
		is_int(a.row_bytes, 5 * (STORE_ROW_BYTES + 14 + 7),
		       "the staged runs are counted on a full disk");
	}
	ok(store_failing(s) != NULL &&
	       strstr(store_failing(s), "free space") != NULL,
	   "the store says that it is sick");
	is_int(help_staged(dir), 5, "no run is moved on a full disk");
	unlink(ballast);
	is_int(help_list(s, &a, &all), 0, "a list is read with room again");
	is_int(a.total, 5, "the list with room again is the same");
	is_int(help_staged(dir), 0,
	       "the staged runs are moved with room again");
	is_str(store_failing(s), NULL, "the store works with room again");
	store_stop(s, 10000);
	help_clear(&a);
	free(ballast);
}

/* More staged rows than SQLite caches pages. */
static void test_full_large(const char *dir)
{
	struct store *s = help_start_still(dir, "inst_a");
	struct store_filter all = {
	    .requestor = "alice", .status = -1, .limit = 9};
	static char view[15000];
	struct answer a = {0};
	char *ballast;

	memset(view, 'v', sizeof(view) - 1);
	for (int i = 0; i < 150; i++) {
		struct store_run run = help_ended("alice");

		run.view = view;
		help_put(s, &run, STORE_RETRY);
	}
	is_int(help_staged(dir), 150, "many runs are staged");
	ballast = fill_disk(dir);
	is_int(help_list(s, &a, &all), 0,
	       "a list of many runs is read on a full disk");
	is_int(a.total, 150,
	       "the list of many runs is complete on a full disk");
	is_int(help_staged(dir), 150,
	       "none of many runs is moved on a full disk");
	unlink(ballast);
	help_list(s, &a, &all);
	is_int(a.total, 150, "the list of many runs is the same with room");
	is_int(help_staged(dir), 0,
	       "many staged runs are moved with room again");
	store_stop(s, 10000);
	help_clear(&a);
	free(ballast);
}

int main(void)
{
	char *dir = help_dir(), *sub;
	static void (*const tests[])(const char *) = {
	    test_killed, test_due, test_by_itself, test_locked};

	if (help_is_postgres()) {
		help_remove(dir);
		skip("that is SQLite's", "what is staged");
		return tap_done();
	}
	log_set_level(LOG_LEVEL_ERROR);
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		sub = xasprintf("%s/%zu", dir, i);
		mkdir(sub, 0700);
		tests[i](sub);
		free(sub);
	}
	sub = xasprintf("%s/disk", dir);
	mkdir(sub, 0700);
	if (mount_tmpfs(sub)) {
		for (int i = 0; i < 2; i++) {
			char *state = xasprintf("%s/%d", sub, i);

			(i == 0 ? test_full : test_full_large)(state);
			free(state);
		}
		umount2(sub, MNT_DETACH);
	} else {
		skip("no right to mount", "a full disk");
	}
	free(sub);
	help_remove(dir);
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_artifact_copies.c - copies of artifacts for runs, on a disk with room for one copy:
 * the test replaces statvfs(3).
 */
#include "supervisor/run/artifacts/artifact_copies.h"

#include <event2/event.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "supervisor/config/config.h"
#include "supervisor/context.h"
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/store/state/artifact_file.h"
#include "supervisor/run/threads/thread_pool.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define SIZE 3000000	/* three parts of an artifact's way */
#define RESERVE 1000000 /* less than a tenth of the disk */
#define DISK 100000000

static int64_t room; /* free bytes, without the bytes of copies */

int statvfs(const char *path, struct statvfs *fs)
{
	(void)path;
	*fs = (struct statvfs){.f_frsize = 1,
			       .f_bsize = 1,
			       .f_blocks = DISK,
			       .f_bavail = (fsblkcnt_t)room};
	return 0;
}

static struct store_artifact put(struct store *s, const char *dir)
{
	static char sha256[2][65];
	static int n;
	struct store_run run = help_run("alice", STORE_SUCCEEDED);
	struct store_artifact art = help_artifact(&run, SIZE);
	struct artifact_file *f = artifact_file_new(dir, "inst_a");
	struct answer a = {0};
	char *bytes = xcalloc(1, SIZE), *path;

	help_put(s, &run, STORE_SYNC);
	artifact_file_write(f, bytes, SIZE);
	art.sha256 = sha256[n];
	path = artifact_file_finish(f, sha256[n++]);
	store_put_artifact(s, &art, path, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	is_int(a.rc, 0, "an artifact is there");
	free(path);
	free(bytes);
	return art;
}

static struct run_files files_of(struct run_file *one,
				 const struct store_artifact *art)
{
	*one = (struct run_file){.size = SIZE};
	memcpy(one->artifact, art->id, sizeof(one->artifact));
	return (struct run_files){.v = one, .n = 1};
}

static void on_here(void *arg, const char *run_id)
{
	(void)run_id;
	++*(int *)arg;
}

static void on_store(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	store_dispatch(arg);
}

static void until(struct event_base *base, const int *here, int n)
{
	while (*here < n && event_base_loop(base, EVLOOP_ONCE) == 0)
		;
	is_int(*here, n, "the expected number of copies arrives");
}

static int rc_of(struct artifact_copies *all, const char *run,
		 struct run_files *files)
{
	artifact_copies_name(all, run, files);
	return files->v[0].copy_rc;
}

TEST(room)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");
	struct config *config = config_new(0);
	struct event_base *base = event_base_new();
	struct event *on =
	    event_new(base, store_fd(s), EV_READ | EV_PERSIST, on_store, s);
	struct context ctx = {.config = config,
			      .store = s,
			      .base = base,
			      .thread_pool = thread_pool_new(base, 1),
			      .instance = "inst_a"};
	struct store_artifact a = put(s, dir), b = put(s, dir);
	struct run_file one[3];
	struct run_files files[3] = {files_of(&one[0], &a),
				     files_of(&one[1], &b),
				     files_of(&one[2], &a)};
	struct artifact_copies *all;
	char *was = config->state_dir;
	int here = 0;

	event_add(on, NULL);
	config->state_dir = dir;
	config->disk_reserve_bytes = RESERVE;
	room = RESERVE + SIZE + SIZE / 2;
	all = artifact_copies_new(&ctx, on_here, &here);
	ok(!artifact_copies_take(all, "run_1", "alice", &files[0]),
	   "a copy that there is room for is on its way");
	ok(artifact_copies_take(all, "run_2", "alice", &files[1]),
	   "another beside it is settled at once");
	is_int(rc_of(all, "run_2", &files[1]), -ENOSPC,
	       "since what the first has yet to write is no room");
	ok(!artifact_copies_take(all, "run_3", "alice", &files[2]),
	   "the same one once more takes none");
	artifact_copies_release(all, "run_2");
	until(base, &here, 2);
	is_int(rc_of(all, "run_1", &files[0]), 0, "the first is there");
	is_int(rc_of(all, "run_3", &files[2]), 0, "for both");
	ok(!artifact_copies_take(all, "run_2", "alice", &files[1]),
	   "the second copy is started when the first is done");
	until(base, &here, 3);
	is_int(rc_of(all, "run_2", &files[1]), 0, "the second copy is there");
	room = RESERVE + SIZE - 1;
	artifact_copies_release(all, "run_1");
	artifact_copies_release(all, "run_2");
	artifact_copies_release(all, "run_3");
	ok(artifact_copies_take(all, "run_1", "alice", &files[0]) &&
	       rc_of(all, "run_1", &files[0]) == -ENOSPC,
	   "one that is too large by itself is refused as before");
	artifact_copies_release(all, "run_1");
	event_free(on);
	store_stop(s, HELP_WAIT_MS);
	artifact_copies_free(all);
	thread_pool_free(ctx.thread_pool);
	event_base_free(base);
	config->state_dir = was;
	config_free(config);
	help_remove(dir);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_file_sink.c - a thread writes bytes to a file: blocks, room, the end, and failures.
 */
#include "supervisor/run/threads/file_sink.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/config/config.h"
#include "supervisor/run/threads/thread_pool.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define MIB ((int64_t)1 << 20)

static struct event_base *base;
static struct thread_pool *pool;
static struct config *config;
static char *dir, *was, no_dir[] = "/proc/self";
static int64_t free_bytes = 1 << 30;

int statvfs(const char *path, struct statvfs *fs)
{
	(void)path;
	*fs = (struct statvfs){.f_frsize = 1,
			       .f_bsize = 1,
			       .f_blocks = 1 << 30,
			       .f_bavail = (fsblkcnt_t)free_bytes,
			       .f_files = 1000,
			       .f_favail = 1000};
	return 0;
}

struct seen {
	int rooms, dones, gone;
	int rc;
	const char *says;
	char *path;
	char sha256[65];
};

static void on_room(void *arg)
{
	((struct seen *)arg)->rooms++;
}

static void on_done(void *arg, const struct file_sink_end *end)
{
	struct seen *v = arg;

	v->dones++;
	v->rc = end->rc;
	v->says = end->says;
	v->path = end->path;
	snprintf(v->sha256, sizeof(v->sha256), "%s", end->sha256);
}

static void on_gone(void *arg)
{
	((struct seen *)arg)->gone++;
}

static const struct file_sink_ops ops = {on_room, on_done};

static struct file_sink *sink(int64_t size, struct seen *v)
{
	const struct file_sink_ask ask = {
	    .pool = pool, .config = config, .instance = "inst_a", .size = size};

	*v = (struct seen){0};
	return file_sink_new(&ask, &ops, v);
}

static void begin(void)
{
	base = event_base_new();
	pool = thread_pool_new(base, 1);
	dir = help_dir();
	config = config_new(0);
	was = config->state_dir;
	config->state_dir = dir;
	config->disk_reserve_bytes = MIB;
	free_bytes = 1 << 30;
}

static void end(void)
{
	thread_pool_free(pool);
	event_base_free(base);
	config->state_dir = was;
	config_free(config);
	help_remove(dir);
}

static void until(const int *n)
{
	while (*n == 0 && event_base_loop(base, EVLOOP_ONCE) == 0)
		;
}

/* Wait for the end of the jobs. */
static void settle(void)
{
	while (thread_pool_jobs(pool) > 0 &&
	       event_base_loop(base, EVLOOP_ONCE) == 0)
		;
}

static size_t files_in_tmp(void)
{
	char *command =
	    xasprintf("exit $(ls '%s/artifacts/tmp' 2>/dev/null | wc -l)", dir);
	int status = system(command); /* NOLINT(cert-env33-c): ours */

	free(command);
	return (size_t)WEXITSTATUS(status);
}

/* Put N bytes of C, as room becomes free. */
static void put(struct file_sink *s, struct seen *v, int c, int64_t n)
{
	while (n > 0) {
		size_t room;
		char *to = file_sink_room(s, &room);
		size_t some = n < (int64_t)room ? (size_t)n : room;

		if (room == 0) {
			v->rooms = 0;
			until(&v->rooms);
			continue;
		}
		memset(to, c, some);
		is_int(file_sink_wrote(s, some), 0, "bytes are taken");
		n -= (int64_t)some;
	}
}

static int64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

TEST(whole)
{
	struct seen v;
	struct file_sink *s;

	begin();
	s = sink(5 * MIB / 2, &v);
	put(s, &v, 'a', 5 * MIB / 2);
	is_int(v.dones, 0, "nothing is told before the end is");
	is_int(file_sink_finish(s), 0, "the end of a file is taken");
	until(&v.dones);
	is_int(v.rc, 0, "a file of three blocks is written");
	is_int(size_of(v.path), 5 * MIB / 2,
	       "a written file has the expected size");
	is_str(
	    v.sha256,
	    "b19fda75b6c96f0cd6a27a6c371352dbe76e5a5f4ac1a10fb1352df725eb04be",
	    "a written file has the expected digest");
	file_sink_free(s, on_gone, &v);
	is_int(v.gone, 1, "what is left of it has no file");
	is_int(size_of(v.path), 5 * MIB / 2,
	       "freeing a finished sink removes no file");
	file_sink_remove(pool, NULL, v.path, on_gone, &v);
	is_int(v.gone, 1, "one that is removed is not gone at once");
	settle();
	is_int(v.gone, 2, "a file is removed by a thread");
	is_int((int64_t)files_in_tmp(), 0, "no file is left after the removal");
	end();
}

TEST(empty)
{
	struct seen v;
	struct file_sink *s;

	begin();
	s = sink(0, &v);
	ok(file_sink_wants(s), "one of no bytes has room for them");
	is_int(file_sink_finish(s), 0, "the end of an empty file is taken");
	until(&v.dones);
	is_int(size_of(v.path), 0, "an empty file is there");
	is_str(
	    v.sha256,
	    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	    "an empty file has the digest of nothing");
	file_sink_remove(pool, NULL, v.path, NULL, NULL);
	file_sink_free(s, NULL, NULL);
	end();
	is_int((int64_t)access(dir, F_OK), -1, "nothing stays");
}

TEST(room)
{
	struct seen v;
	struct file_sink *s;
	size_t room;

	begin();
	s = sink(FILE_SINK_UNKNOWN, &v);
	(void)file_sink_room(s, &room);
	is_int((int64_t)room, MIB, "there is room for a block");
	is_int(file_sink_wrote(s, (size_t)MIB - FILE_SINK_LEAST), 0,
	       "but what"
	       " may come at once");
	ok(file_sink_wants(s), "a sink with less than a block wants more");
	is_int(file_sink_wrote(s, 1), 0, "a byte fills the block");
	ok(file_sink_wants(s), "goes to a thread, and there is another block");
	(void)file_sink_room(s, &room);
	is_int((int64_t)room, MIB, "an empty one");
	is_int(file_sink_wrote(s, (size_t)MIB), 0, "when it is full, too");
	ok(!file_sink_wants(s), "no more is wanted");
	until(&v.rooms);
	is_int(v.rooms, 1, "the sink tells that there is room");
	ok(file_sink_wants(s), "a sink with a written block wants more");
	file_sink_free(s, on_gone, &v);
	settle();
	is_int(v.gone, 1, "one that nobody wants goes");
	is_int(v.dones, 0, "a freed sink tells no end");
	is_int((int64_t)files_in_tmp(), 0,
	       "the file of an unwanted sink is removed");
	end();
}

TEST(small)
{
	struct seen v;
	struct file_sink *s;
	size_t room;

	begin();
	s = sink(100000, &v);
	(void)file_sink_room(s, &room);
	is_int((int64_t)room, 100000, "a small one takes no more than it is");
	is_int(file_sink_wrote(s, 65536), 0,
	       "the first part of a small file is taken");
	ok(file_sink_wants(s), "and it wants the rest, which is less than may "
			       "come at once");
	is_int(file_sink_wrote(s, 100000 - 65536), 0, "the rest");
	file_sink_finish(s);
	until(&v.dones);
	is_int(size_of(v.path), 100000, "the parts make the whole file");
	file_sink_remove(pool, NULL, v.path, NULL, NULL);
	file_sink_free(s, NULL, NULL);
	end();
}

TEST(begun)
{
	struct seen v;
	struct file_sink *s;

	begin();
	s = sink(FILE_SINK_UNKNOWN, &v);
	is_int(file_sink_begin(s), 0, "one that is begun");
	settle();
	is_int((int64_t)files_in_tmp(), 1,
	       "a begun sink has a file before the bytes");
	is_int(v.dones, 0, "a begun sink has told nothing");
	file_sink_free(s, on_gone, &v);
	is_int(v.gone, 0, "a begun sink goes on a thread");
	settle();
	is_int(v.gone, 1, "before that is told");
	is_int((int64_t)files_in_tmp(), 0,
	       "the file of a freed sink is removed");
	end();
}

TEST(failures)
{
	struct seen v;
	struct file_sink *s;

	begin();
	free_bytes = MIB / 2; /* half of the disk's reserve */
	s = sink(10, &v);
	put(s, &v, 'a', 10);
	file_sink_finish(s);
	until(&v.dones);
	is_int(v.rc, -ENOSPC, "on a disk without room none is written");
	ok(v.says != NULL && v.path == NULL, "a write that failed says why");
	file_sink_free(s, NULL, NULL);
	free_bytes = 1 << 30;
	s = sink(10, &v);
	file_sink_begin(s);
	settle();
	free_bytes = MIB / 2;
	put(s, &v, 'a', 10);
	file_sink_finish(s);
	until(&v.dones);
	is_int((int64_t)files_in_tmp(), 0,
	       "a file that cannot be written on is gone before that is told");
	file_sink_free(s, NULL, NULL);
	free_bytes = 1 << 30;
	chmod(dir, 0500);
	config->state_dir = no_dir;
	s = sink(10, &v);
	put(s, &v, 'a', 10);
	file_sink_finish(s);
	until(&v.dones);
	ok(v.rc < 0 && v.says == NULL,
	   "where no file can be made that is told");
	file_sink_free(s, on_gone, &v);
	is_int(v.gone, 1, "a sink without a file goes at once");
	chmod(dir, 0700);
	config->state_dir = dir;
	end();
}

TEST(stopped)
{
	struct seen v;
	struct file_sink *s;
	char *tmp;

	begin();
	tmp = xasprintf("%s/artifacts/tmp", dir);
	s = sink(FILE_SINK_UNKNOWN, &v);
	file_sink_begin(s);
	settle();
	file_sink_free(s, on_gone, &v);
	thread_pool_free(pool);
	is_int(v.gone, 1, "a file to be removed is removed with the server");
	is_int((int64_t)files_in_tmp(), 0, "no file is left with the server");
	pool = thread_pool_new(base, 1);
	free(tmp);
	end();
}

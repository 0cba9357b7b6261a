/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_space.c - measures free space of the state's file system, by statvfs(3).
 * Asked before artifacts and large rows are written, and before runs are made;
 * for readyz and the profile. Nothing here fails: space that cannot be measured
 * counts as room.
 */
#include "supervisor/store/state/disk_space.h"

#include <stdlib.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/mem.h"
#include "base/os/log.h"

#define LATELY_MS 250
#define TELL_EVERY_MS 10000

static int64_t times(uint64_t blocks, uint64_t size)
{
	int64_t bytes;

	return __builtin_mul_overflow(blocks, size, &bytes) ? INT64_MAX : bytes;
}

void disk_space_of_init(struct disk_space_of *of, const struct config *c)
{
	of->dir = xstrdup(c->state_dir);
	of->reserve = c->disk_reserve_bytes;
}

void disk_space_of_fini(struct disk_space_of *of)
{
	free(of->dir);
}

/*
 * Judge HAS of ALL, where WANTED are reserved, but no more than a tenth of ALL.
 */
static enum disk_space judge_space(int64_t has, int64_t all, int64_t wanted)
{
	int64_t kept =
	    wanted < all / DISK_SPACE_PART ? wanted : all / DISK_SPACE_PART;

	if (has >= kept)
		return DISK_SPACE_OK;
	return has >= kept / 2 ? DISK_SPACE_LOW : DISK_SPACE_SPENT;
}

static enum disk_space look_at_space(const char *dir, int64_t reserve,
				     int64_t size)
{
	enum disk_space bytes, files = DISK_SPACE_OK;
	struct statvfs fs;
	bool told;

	if (reserve <= 0)
		return DISK_SPACE_OK;
	loop_guard_allow("numbers that a file system has in memory");
	told = statvfs(dir, &fs) == 0 && fs.f_blocks > 0;
	loop_guard_forbid();
	if (!told)
		return DISK_SPACE_OK;
	bytes = judge_space(times(fs.f_bavail, fs.f_frsize) - size,
			    times(fs.f_blocks, fs.f_frsize), reserve);
	/* some file systems make files as long as there is room, and count none */
	if (fs.f_files > 0)
		files = judge_space(times(fs.f_favail, 1), times(fs.f_files, 1),
				    DISK_SPACE_FILES);
	return files > bytes ? files : bytes;
}

enum disk_space disk_space_at(const struct disk_space_of *of, int64_t size)
{
	return look_at_space(of->dir, of->reserve, size);
}

enum disk_space disk_space(const struct config *c, int64_t size)
{
	return look_at_space(c->state_dir, c->disk_reserve_bytes, size);
}

/* Tell the operator; clients are not told where, and how much. */
static void log_space(const struct config *c, enum disk_space room, int64_t now)
{
	static enum disk_space told;
	static int64_t told_ms = -TELL_EVERY_MS;

	if (room == told || now - told_ms < TELL_EVERY_MS)
		return;
	told = room;
	told_ms = now;
	if (room == DISK_SPACE_OK)
		log_info("disk", "room=ok dir=\"%s\"", c->state_dir);
	else
		log_warn("disk",
			 "room=%s dir=\"%s\" disk_reserve_bytes=%lld "
			 "msg=\"%s; make room there, also for files (df -i), "
			 "or set a lower disk_reserve_bytes\"",
			 disk_space_name(room), c->state_dir,
			 (long long)c->disk_reserve_bytes,
			 disk_space_message(room));
}

enum disk_space disk_space_lately(const struct config *c)
{
	static const struct config *of;
	static enum disk_space room;
	static int64_t asked_ms;
	int64_t now = clock_mono_ms();

	if (of == NULL || of != c || now - asked_ms >= LATELY_MS) {
		room = disk_space(c, 0);
		asked_ms = now;
		of = c;
		log_space(c, room, now);
	}
	return room;
}

const char *disk_space_name(enum disk_space room)
{
	static const char *const names[] = {[DISK_SPACE_OK] = "ok",
					    [DISK_SPACE_LOW] = "low",
					    [DISK_SPACE_SPENT] = "spent"};

	return names[room];
}

const char *disk_space_message(enum disk_space room)
{
	switch (room) {
	case DISK_SPACE_OK:
		break;
	case DISK_SPACE_LOW:
		return "its disk is nearly full: artifacts, and inputs and "
		       "results of 64 KiB and more, are refused until there is "
		       "room";
	case DISK_SPACE_SPENT:
		return "its disk is nearly full: no run is started until there "
		       "is room";
	}
	return NULL;
}

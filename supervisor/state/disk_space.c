/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_space.c - free space of the state's file system, by statvfs(3). Asked before
 * artifacts and large rows are written, and before runs are made; for readyz
 * and the profile. It fails never: what cannot be told is taken for room.
 */
#include "supervisor/state/disk_space.h"

#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/os/log.h"

#define LATELY_MS 250
#define TELL_EVERY_MS 10000

static int64_t times(uint64_t blocks, uint64_t size)
{
	int64_t bytes;

	return __builtin_mul_overflow(blocks, size, &bytes) ? INT64_MAX : bytes;
}

enum disk_space disk_space(const struct config *c, int64_t size)
{
	int64_t reserve = c->disk_reserve_bytes, free_bytes, tenth;
	struct statvfs fs;

	if (reserve <= 0 || statvfs(c->state_dir, &fs) != 0 || fs.f_blocks == 0)
		return DISK_SPACE_OK;
	free_bytes = times(fs.f_bavail, fs.f_frsize);
	tenth = times(fs.f_blocks, fs.f_frsize) / DISK_SPACE_PART;
	if (reserve > tenth)
		reserve = tenth;
	if (free_bytes - size >= reserve)
		return DISK_SPACE_OK;
	return free_bytes - size >= reserve / 2 ? DISK_SPACE_LOW
						: DISK_SPACE_SPENT;
}

/* To the operator: to clients nothing is said of where, and how much. */
static void tell(const struct config *c, enum disk_space room, int64_t now)
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
			 "msg=\"%s; make room there, or set a lower "
			 "disk_reserve_bytes\"",
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
		tell(c, room, now);
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

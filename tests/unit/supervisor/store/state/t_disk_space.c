/* SPDX-License-Identifier: Apache-2.0 */
/* t_disk_space.c - room by bytes and by files: statvfs(3) is the test's. */
#include "supervisor/store/state/disk_space.h"

#include <errno.h>
#include <sys/statvfs.h>

#include "tests/unit/tap.h"

#define MIB ((int64_t)1 << 20)

static struct statvfs disk;
static int rc;

int statvfs(const char *path, struct statvfs *fs)
{
	(void)path;
	*fs = disk;
	errno = EIO;
	return rc;
}

static enum disk_space now(struct config *c, int64_t free_bytes, int64_t files,
			   int64_t size)
{
	disk = (struct statvfs){.f_frsize = 1024,
				.f_blocks = 1000 * MIB / 1024,
				.f_bavail = (fsblkcnt_t)free_bytes / 1024,
				.f_files = 100000,
				.f_favail = (fsfilcnt_t)files};
	return disk_space(c, size);
}

TEST(bytes)
{
	struct config *c = config_new(0);

	c->disk_reserve_bytes = 10 * MIB;
	is_int(now(c, 10 * MIB, 90000, 0), DISK_SPACE_OK,
	       "a disk with just the reserve is sufficient");
	is_int(now(c, 10 * MIB, 90000, 1024), DISK_SPACE_LOW,
	       "a disk with just the reserve has no room for more");
	is_int(now(c, 10 * MIB - 1024, 90000, 0), DISK_SPACE_LOW,
	       "a disk with less than the reserve is low");
	is_int(now(c, 5 * MIB, 90000, 0), DISK_SPACE_LOW, "down to half of it");
	is_int(now(c, 5 * MIB - 1024, 90000, 0), DISK_SPACE_SPENT,
	       "below which no run is started");
	c->disk_reserve_bytes = 500 * MIB;
	is_int(now(c, 100 * MIB, 90000, 0), DISK_SPACE_OK,
	       "the reserve is at most a tenth of the disk");
	is_int(now(c, 99 * MIB, 90000, 0), DISK_SPACE_LOW,
	       "less than a tenth of the disk is low");
	c->disk_reserve_bytes = 0;
	is_int(now(c, 0, 0, 0), DISK_SPACE_OK,
	       "without a reserve no disk is low");
	config_free(c);
}

TEST(files)
{
	struct config *c = config_new(0);
	struct disk_space_of of;

	c->disk_reserve_bytes = 10 * MIB;
	is_int(now(c, 500 * MIB, 4096, 0), DISK_SPACE_OK,
	       "some files can be made there yet");
	is_int(now(c, 500 * MIB, 4095, 0), DISK_SPACE_LOW,
	       "a disk with few free files is low");
	is_int(now(c, 500 * MIB, 2048, 0), DISK_SPACE_LOW,
	       "half of the reserved files is still low");
	is_int(now(c, 500 * MIB, 2047, 0), DISK_SPACE_SPENT,
	       "less than half of the reserved files is spent");
	is_int(now(c, 0, 2048, 0), DISK_SPACE_SPENT,
	       "the worse verdict of bytes and files counts");
	disk_space_of_init(&of, c);
	is_int(disk_space_at(&of, 0), DISK_SPACE_SPENT,
	       "a thread gets the same verdict");
	disk_space_of_fini(&of);
	disk.f_files = 1000;
	disk.f_favail = 100;
	disk.f_bavail = disk.f_blocks;
	is_int(disk_space(c, 0), DISK_SPACE_OK,
	       "the reserve is at most a tenth of the files");
	disk.f_favail = 99;
	is_int(disk_space(c, 0), DISK_SPACE_LOW,
	       "less than a tenth of the files is low");
	disk.f_files = disk.f_favail = 0;
	is_int(disk_space(c, 0), DISK_SPACE_OK,
	       "a disk which counts no files has room for files");
	rc = -1;
	is_int(disk_space(c, 1 << 30), DISK_SPACE_OK,
	       "a disk without known figures has room");
	rc = 0;
	config_free(c);
}

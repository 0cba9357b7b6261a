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
	       "as much as is kept is enough");
	is_int(now(c, 10 * MIB, 90000, 1024), DISK_SPACE_LOW,
	       "and not enough for more");
	is_int(now(c, 10 * MIB - 1024, 90000, 0), DISK_SPACE_LOW,
	       "less is little");
	is_int(now(c, 5 * MIB, 90000, 0), DISK_SPACE_LOW, "down to half of it");
	is_int(now(c, 5 * MIB - 1024, 90000, 0), DISK_SPACE_SPENT,
	       "below which no run is started");
	c->disk_reserve_bytes = 500 * MIB;
	is_int(now(c, 100 * MIB, 90000, 0), DISK_SPACE_OK,
	       "no more than a tenth of a disk is kept");
	is_int(now(c, 99 * MIB, 90000, 0), DISK_SPACE_LOW, "but that is");
	c->disk_reserve_bytes = 0;
	is_int(now(c, 0, 0, 0), DISK_SPACE_OK, "of none nothing is said");
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
	       "few are little, whatever there is of bytes");
	is_int(now(c, 500 * MIB, 2048, 0), DISK_SPACE_LOW, "down to half");
	is_int(now(c, 500 * MIB, 2047, 0), DISK_SPACE_SPENT,
	       "then none is left");
	is_int(now(c, 0, 2048, 0), DISK_SPACE_SPENT,
	       "the worse of both counts");
	disk_space_of_init(&of, c);
	is_int(disk_space_at(&of, 0), DISK_SPACE_SPENT, "also on a thread");
	disk_space_of_fini(&of);
	disk.f_files = 1000;
	disk.f_favail = 100;
	disk.f_bavail = disk.f_blocks;
	is_int(disk_space(c, 0), DISK_SPACE_OK,
	       "no more than a tenth of all files is kept");
	disk.f_favail = 99;
	is_int(disk_space(c, 0), DISK_SPACE_LOW, "but that is");
	disk.f_files = disk.f_favail = 0;
	is_int(disk_space(c, 0), DISK_SPACE_OK,
	       "a disk that counts no files has room for them");
	rc = -1;
	is_int(disk_space(c, 1 << 30), DISK_SPACE_OK,
	       "where nobody can say there is room");
	rc = 0;
	config_free(c);
}

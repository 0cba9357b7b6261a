/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a process beside the resident pages, by /proc. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "worker/program/watch/shim_watch.h"

static const char status[] = "Name:\tVmSwap: 99 kB\n"
			     "FDSize:\t64\n"
			     "VmRSS:\t       0 kB\n"
			     "VmPTE:\t      48 kB\n"
			     "VmSwap:\t  200000 kB\n"
			     "Threads:\t1\n";

static const char shared_out[] = "55d0-7ffe ---p 00000000 00:00 0   [rollup]\n"
				 "Pss:                 204 kB\n"
				 "Pss_Anon:            116 kB\n"
				 "Pss_File:             88 kB\n"
				 "Pss_Shmem:             4 kB\n"
				 "Swap:             200000 kB\n"
				 "SwapPss:          100000 kB\n";
static const char no_share[] = "55d0-7ffe ---p 00000000 00:00 0   [rollup]\n"
			       "Pss_Anon:            116 kB\n"
			       "Pss_Shmem:             4 kB\n";

static const char rollup[] = "7/task/7/smaps_rollup";

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	bool ok =
	    fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok ? 0 : -1;
}

/* Make a folder like /proc, with one process. */
static int make_proc(const char *dir)
{
	if (chdir(dir) != 0 || mkdir("7", 0700) != 0 ||
	    mkdir("7/task", 0700) != 0 || mkdir("7/task/7", 0700) != 0 ||
	    write_file("7/task/7/status", status) != 0)
		return -1;
	return open(".", O_RDONLY | O_DIRECTORY);
}

static void remove_proc(const char *dir)
{
	unlink("7/task/7/status");
	unlink(rollup);
	rmdir("7/task/7");
	rmdir("7/task");
	rmdir("7");
	rmdir(dir);
}

int main(void)
{
	char dir[] = "/tmp/t_shim_kernel-XXXXXX";
	struct shim s = {.proc = -1};
	struct shim_held held = {0};

	ok(mkdtemp(dir) != NULL && (s.proc = make_proc(dir)) >= 0,
	   "a folder like /proc");
	shim_add_held(&s, 7, 7, 0, &held);
	shim_add_held(&s, 8, 8, 1u << 30, &held);
	ok(held.tables == 0 && held.swapped == 0,
	   "a process without addresses, and one that has ended, have nothing");
	shim_add_held(&s, 7, 7, 4096, &held);
	is_int(
	    (long)held.tables, (48L << 10) + 64 * 9,
	    "tables of pages and of descriptors count, also of a process with "
	    "few addresses");
	is_int((long)held.swapped, 200000L << 10, "swapped pages count");

	is_int((long)shim_own_bytes(&s, 7, 7, 5 << 10), 200005L << 10,
	       "a process that shows no share counts with all that it has");
	write_file(rollup, shared_out);
	is_int((long)shim_own_bytes(&s, 7, 7, 5 << 10), 100120L << 10,
	       "of shared swapped pages, the share counts");
	write_file(rollup, no_share);
	is_int((long)shim_own_bytes(&s, 7, 7, 5 << 10), 200120L << 10,
	       "without a share of swap, all swapped pages count");
	close(s.proc);
	remove_proc(dir);
	return tap_done();
}

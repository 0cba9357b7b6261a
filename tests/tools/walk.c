/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.c - linked into the paddockd of make walk, whose functions of supervisor/ were
 * compiled with -finstrument-functions: records the address of each function that is
 * entered on the thread of the loop, in the order of entry.
 *
 * The addresses go to a file in WALKS, which tests/tools/walk reads. A process that
 * cannot map the file records nothing; neither do other threads and children of the
 * server, nor the server once the file is full.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRIES ((size_t)1 << 22)

/* The content of the file: the number of entries, then offsets into the program. */
struct walk {
	_Atomic uint64_t count;
	uint32_t offset[ENTRIES];
};

extern const char __executable_start[];
/* The compiler calls these two; no header has them. */
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
static struct walk *walk;
static pid_t owner;

__attribute__((constructor, no_instrument_function)) static void walk_open(void)
{
	char path[256];
	int fd;

	owner = getpid();
	snprintf(path, sizeof path, WALKS "/walk.%d", (int)owner);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)sizeof *walk))
		return;
	walk =
	    mmap(NULL, sizeof *walk, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (walk == MAP_FAILED)
		walk = NULL;
}

__attribute__((no_instrument_function)) void
__cyg_profile_func_enter(void *function, void *site)
{
	uint64_t n;

	(void)site;
	if (!walk || gettid() != owner)
		return;
	n = atomic_fetch_add(&walk->count, 1);
	if (n < ENTRIES)
		walk->offset[n] =
		    (uint32_t)((const char *)function - __executable_start);
}

__attribute__((no_instrument_function)) void
__cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
}

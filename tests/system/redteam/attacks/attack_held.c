/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_held.c - what the kernel holds for a program beside its pages, and no
 * resident size has: tables of pages of small processes, buffers of open files of
 * /proc. Nothing but a limit ends the run.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

_Noreturn static void rest(void)
{
	for (;;)
		pause();
}

/* Processes of some MiB of addresses: each page that is read needs two tables. */
static void tables_of_small(void)
{
	const size_t n = 1000, apart = (size_t)1 << 30, page = 4096;
	char *const from = (char *)((size_t)1 << 44);

	for (int i = 0; i < 28; i++)
		if (fork() == 0)
			break;
	for (size_t k = 0; k < n; k++) {
		char *at = mmap(
		    from + k * apart, page, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (at == MAP_FAILED)
			break;
		(void)*(volatile char *)at;
	}
	rest();
}

/* The text of a file of /proc stays with the open file: here a line a lock. */
static void proc_buffers(void)
{
	struct flock range = {
	    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int file = open("./locked", O_CREAT | O_RDWR, 0600);
	char path[64], byte;

	if (file < 0)
		abort();
	for (int i = 4000; i > 0; i--) {
		range.l_start = (off_t)2 * i;
		if (fcntl(file, F_OFD_SETLK, &range) != 0)
			abort();
	}
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", file);
	for (int i = 0; i < 900; i++) {
		int fd = open(path, O_RDONLY);

		if (fd < 0 || read(fd, &byte, 1) != 1)
			abort();
	}
	rest();
}

const struct attack held_attacks[] = {{"tables_of_small", tables_of_small},
				      {"proc_buffers", proc_buffers},
				      {NULL, NULL}};

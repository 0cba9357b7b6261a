/* SPDX-License-Identifier: Apache-2.0 */
/* The files with printed text of a program: whole, long, cut short, odd. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "ipc/msg.h"
#include "tests/unit/tap.h"
#include "worker/program/told/shim_told.h"

static int file = -1;	  /* stdout's; stderr has no file */
static ssize_t most = -1; /* bytes of a read; -1: all bytes */
static char told[4][64];  /* "AT LENGTH FIRST..LAST" of each part */
static int parts;

int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at);
ssize_t __real_pread(int fd, void *p, size_t n, off_t at);
void __wrap_channel_send_at_once(const struct msg *m);

int __wrap_open(const char *path, int flags, ...)
{
	(void)flags;
	return strcmp(path, SHIM_PRINTED ".stdout") == 0 && file >= 0
		   ? fcntl(file, F_DUPFD_CLOEXEC, 0)
		   : -1;
}

ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at)
{
	if (most >= 0 && (size_t)most < n)
		n = (size_t)most;
	return __real_pread(fd, p, n, at);
}

void __wrap_channel_send_at_once(const struct msg *m)
{
	const struct msg_printed *part = &m->printed;

	if (m->type != MSG_PRINTED || parts == ARRAY_LEN(told))
		return;
	snprintf(told[parts++], sizeof(told[0]), "%llu %zu %.1s..%.1s",
		 (unsigned long long)part->at, part->text.n,
		 part->text.n > 0 ? part->text.p : "",
		 part->text.n > 0 ? part->text.p + part->text.n - 1 : "");
}

/* A file with the number SIZE of printed bytes, and with the first N bytes. */
static void print(uint64_t size, size_t n)
{
	char *text = xcalloc(1, n + 1);

	memset(text, 'b', n);
	text[0] = 'a';
	text[n > 0 ? n - 1 : 0] = 'z';
	file = memfd_create("printed", MFD_CLOEXEC);
	if (write(file, &size, sizeof(size)) != (ssize_t)sizeof(size) ||
	    write(file, text, n) != (ssize_t)n)
		abort();
	free(text);
}

static void tell(void)
{
	memset(told, 0, sizeof(told));
	parts = 0;
	shim_tell_printed();
	sys_close(file);
	file = -1;
	most = -1;
}

TEST(whole)
{
	tell();
	is_int(parts, 0, "without a file no part is told");
	print(5, 5);
	tell();
	is_str(told[0], "0 5 a..z", "a short text is one part");
	is_int(parts, 1, "no second part follows a short text");
	print(40000, 40000);
	tell();
	is_str(told[0], "0 32768 a..b", "of a longer text the first half");
	is_str(told[1], "32768 7232 b..z", "then the rest of the longer text");
	print(1000000, MSG_PRINTED_MAX);
	tell();
	is_str(told[1], "967232 32768 b..z",
	       "of a text beyond the bound the end, with its place");
}

TEST(short_reads)
{
	print(5, 5);
	most = 4;
	tell();
	is_str(told[0], "0 0 ..", "a read within the size tells no text");
	print(5, 5);
	most = 8 + 2;
	tell();
	is_str(told[0], "0 2 a..b", "a short read tells the bytes that came");
	print(1000000, MSG_PRINTED_MAX);
	most = 8 + 32768 + 100;
	tell();
	is_str(told[1], "967232 100 b..b",
	       "a short read of the end has the place of the end");
	print(1000000, MSG_PRINTED_MAX);
	most = 8 + 100;
	tell();
	is_str(told[0], "0 100 a..b", "a short read of the beginning");
	is_int(parts, 1, "no end is told after a short beginning");
	print(5, 5);
	most = 0;
	tell();
	is_str(told[0], "0 0 ..", "an empty read tells no text");
}

TEST(odd)
{
	print(3, 5);
	tell();
	is_str(told[0], "0 3 a..b", "no more is told than the size says");
	print(500, 5);
	tell();
	is_str(told[0], "0 5 a..z", "no more is told than the file has");
	print(UINT64_MAX, MSG_PRINTED_MAX);
	tell();
	is_int(parts, 0, "a size that no message can have tells no part");
	file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	tell();
	is_int(parts, 0, "a file that is no regular file tells no part");
}

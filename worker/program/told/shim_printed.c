/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_printed.c - what the code printed that a program runs, when the run fails: the
 * program keeps the beginning and the end in two files, which outlive the program, and
 * the shim sends both before FAIL. A missing or odd file is left out: the code can
 * write to the files as well.
 */
#include "worker/program/told/shim_told.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "worker/channel.h"

#define HALF (MSG_PRINTED_MAX / 2)

static const char *const paths[] = {
    [MSG_PRINTED_STDOUT] = SHIM_PRINTED ".stdout",
    [MSG_PRINTED_STDERR] = SHIM_PRINTED ".stderr",
};

/*
 * A file: the first bytes, and the last bytes if the size is beyond MSG_PRINTED_MAX. A
 * new file has no size yet.
 */
static struct {
	uint64_t size; /* of all that was printed */
	char bytes[MSG_PRINTED_MAX];
} file;

/* Read the file at PATH. Returns the bytes there are, at most SIZE of FILE; -1: none. */
static ssize_t read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, &file, sizeof(file), 0);
	sys_close(fd);
	if (n < (ssize_t)sizeof(file.size))
		return n < 0 ? -1 : 0;
	n -= (ssize_t)sizeof(file.size);
	return (uint64_t)n < file.size ? n : (ssize_t)file.size;
}

static void send_part(enum msg_printed_stream stream, uint64_t at,
		      const char *p, size_t n)
{
	channel_send_at_once(&(struct msg){
	    .type = MSG_PRINTED,
	    .printed = {.stream = stream, .at = at, .text = {p, n}}});
}

static void send_stream(enum msg_printed_stream stream)
{
	ssize_t n;
	size_t first;
	bool is_cut;

	file.size = 0;
	n = read_file(paths[stream]);
	if (n < 0 || file.size > MSG_INT_MAX)
		return;
	first = n < (ssize_t)HALF ? (size_t)n : HALF;
	is_cut = file.size > MSG_PRINTED_MAX;
	send_part(stream, 0, file.bytes, first);
	if ((size_t)n > first)
		send_part(stream, is_cut ? file.size - HALF : HALF,
			  file.bytes + HALF, (size_t)n - first);
}

void shim_tell_printed(void)
{
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		send_stream((enum msg_printed_stream)i);
}

void shim_forget_printed(void)
{
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		(void)unlinkat(AT_FDCWD, paths[i], 0);
}

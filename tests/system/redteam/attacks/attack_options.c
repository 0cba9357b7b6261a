/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_options.c - calls and options that a cage refuses whole, since no limit counts
 * what the kernel keeps for them: timers and signals by descriptors, options of sockets,
 * large sets of polled descriptors, questions about the shared page cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

/* ---- missing calls and options ---- */

#define ABSENT(name, ...)                                                      \
	static void name(void)                                                 \
	{                                                                      \
		tell_errno(syscall(__VA_ARGS__) < 0);                          \
	}

ABSENT(no_timerfd, SYS_timerfd_create, 1, 0)
ABSENT(no_signalfd, SYS_signalfd4, -1, &(unsigned long){1}, 8, 0)

/* Try all options of all possible levels: the settable options. */
static void socket_options(void)
{
	static const int levels[] = {0,	  1,   6,   17,	 41,  132, 136, 263,
				     270, 271, 279, 280, 281, 282, 284};
	struct sock_filter pass = {0x06, 0, 0, 0xffff};
	struct sock_fprog prog = {1, &pass};
	int ends[2], n = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	printf("[");
	for (size_t l = 0; l < sizeof(levels) / sizeof(levels[0]); l++)
		for (int option = 0; option < 256; option++)
			if (setsockopt(ends[0], levels[l], option, &prog,
				       sizeof(prog)) == 0 ||
			    errno != ENOPROTOOPT)
				printf("%s\"%d:%d\"", n++ > 0 ? "," : "",
				       levels[l], option);
	printf("]");
}

static void socket_buffers(void)
{
	int ends[2], was, is, want = 64 << 20;
	socklen_t size = sizeof(was);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
	    getsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &was, &size) != 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &want, size) != 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVBUF, &want, size) != 0 ||
	    getsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &is, &size) != 0)
		abort();
	printf("{\"grown\":%s}", is > was ? "true" : "false");
}

/* Fill pairs of sockets up to the limit. */
static void sockets_filled(void)
{
	static char block[1 << 16];
	int ends[2];

	for (int i = 0; i < 400; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) !=
		    0)
			abort();
		for (int end = 0; end < 2; end++)
			while (write(ends[end], block, sizeof(block)) > 0)
				;
	}
	thread_rest(NULL);
}

/* ---- the page cache ---- */

/* A place in poll(2) takes uncounted memory, and time of each wake-up. */
static void many_polled(void)
{
	static struct pollfd all[2000];
	struct timespec none = {0};
	bool refused = true;

	for (int i = 0; i < 2000; i++)
		all[i].fd = -1;
	refused &= syscall(SYS_poll, all, 2000, 0) < 0 && errno == EINVAL;
	refused &= syscall(SYS_ppoll, all, 2000, &none, NULL, 0) < 0 &&
		   errno == EINVAL;
	refused &= syscall(SYS_select, 1100, NULL, NULL, NULL, NULL) < 0 &&
		   errno == EINVAL;
	refused &=
	    syscall(SYS_pselect6, 1100, NULL, NULL, NULL, &none, NULL) < 0 &&
	    errno == EINVAL;
	printf("{\"refused\":%s,\"few\":%d}", refused ? "true" : "false",
	       poll(all, 1024, 0));
}

static void cached_pages(void)
{
	char byte;
	struct iovec iov = {&byte, 1};
	int fd = open("/bin/sh", O_RDONLY);

	tell_errno(preadv2(fd, &iov, 1, 0, RWF_NOWAIT) < 0);
}

static const char *how(long rc)
{
	return rc < 0 ? strerrorname_np(errno) : "0";
}

/*
 * On a mapped file, whose owner the kernel knows, and whose pages can be dropped.
 */
static void mapped_pages(void)
{
	unsigned char in;
	int fd = open("/bin/sh", O_RDONLY);
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		abort();
	printf("{\"told\":\"%s\"", how(syscall(SYS_mincore, at, 4096, &in)));
	printf(",\"cold\":\"%s\"", how(madvise(at, 4096, MADV_COLD)));
	printf(",\"out\":\"%s\"}", how(madvise(at, 4096, MADV_PAGEOUT)));
}

const struct attack option_attacks[] = {
    {"no_timerfd", no_timerfd},
    {"no_signalfd", no_signalfd},
    {"socket_options", socket_options},
    {"socket_buffers", socket_buffers},
    {"sockets_filled", sockets_filled},
    {"many_polled", many_polled},
    {"cached_pages", cached_pages},
    {"mapped_pages", mapped_pages},
    {NULL, NULL},
};

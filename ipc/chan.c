/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chan.c - frames over a SOCK_SEQPACKET pair, between the supervisor and a
 * worker (worker/worker.c, worker/channel.c) or paddock-browser. Errors are
 * -errno; an oversized or empty frame is -EMSGSIZE, upon which the supervisor
 * kills the worker. A descriptor that a peer sends never arrives.
 */
#include "ipc/chan.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/sys.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* asm-generic/socket.h, Linux 6.16 */
#endif

/* Frames under way each way: unix(7) charges the sender's buffer alone. */
#define SEND_BUFFER (8 * (int)CHAN_FRAME_MAX)

static int set_up(const int ends[2])
{
	int size = SEND_BUFFER, on = 1, off = 0;

	if (ioctl(ends[0], FIONBIO, &on) < 0)
		return -errno;
	for (int i = 0; i < 2; i++)
		if (setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &size,
			       sizeof(size)) < 0)
			return -errno;
	/* where the kernel cannot refuse descriptors, recv(2) drops them unseen */
	return setsockopt(ends[0], SOL_SOCKET, SO_PASSRIGHTS, &off,
			  sizeof(off)) == 0 ||
		       errno == ENOPROTOOPT
		   ? 0
		   : -errno;
}

int chan_pair(int ends[2])
{
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	rc = set_up(ends);
	if (rc < 0) {
		close(ends[0]);
		close(ends[1]);
		ends[0] = ends[1] = -1;
	}
	return rc;
}

/*
 * Is ERR to be ignored? A peer that left frames of ours unread causes a single
 * ECONNRESET, before the frames that the peer had sent; those must not be lost.
 */
static bool passing(int err)
{
	return err == EINTR || err == ECONNRESET;
}

static ssize_t receive_frame(int fd, void *buf, size_t len, int flags)
{
	ssize_t n;

	do
		n = recv(fd, buf, len, flags | MSG_TRUNC);
	while (n < 0 && passing(errno));
	return n < 0 ? -errno : n;
}

static ssize_t recv_frame(int fd, void *buf, int flags)
{
	ssize_t n = receive_frame(fd, buf, CHAN_FRAME_MAX, flags);
	char byte;

	/*
	 * Tell the end from an empty frame: both read as 0, but only the end does so
	 * again. Two empty frames in a row pass for the end, which is no loss: neither
	 * is legal.
	 */
	if (n == 0 && receive_frame(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
		return -EMSGSIZE;
	return n > (ssize_t)CHAN_FRAME_MAX ? -EMSGSIZE : n;
}

ssize_t chan_recv(int fd, void *buf)
{
	return recv_frame(fd, buf, 0);
}

ssize_t chan_recv_now(int fd, void *buf)
{
	return recv_frame(fd, buf, MSG_DONTWAIT);
}

bool chan_left_unread(int fd)
{
	int err = 0;
	socklen_t n = sizeof(err);

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) == 0 &&
	       err == ECONNRESET;
}

int chan_send(int fd, const void *frame, size_t len)
{
	ssize_t n;

	assert(len >= 1 && len <= CHAN_FRAME_MAX);
	do
		n = send(fd, frame, len, MSG_NOSIGNAL);
	while (n < 0 && passing(errno));
	return n < 0 ? sys_send_error() : 0;
}

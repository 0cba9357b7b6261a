/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fdpass.c - sends a packet with descriptors, and receives one with at most one, by
 * sendmsg(2) and recvmsg(2). The spawner passes workers' sockets to the zygote,
 * privsep.c and the browser's starter pass files and pipes. Errors are -errno;
 * a cut packet is reported, and there is no room for a second descriptor.
 */
#include "base/os/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define FDS_MAX 2

/* Send N descriptors, FDS_MAX at the most. */
static int send_fds(int sock, const void *data, size_t len, const int *fds,
		    size_t n, int flags)
{
	_Alignas(
	    struct cmsghdr) char space[CMSG_SPACE(FDS_MAX * sizeof(int))] = {0};
	struct iovec iov = {.iov_base = (void *)data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (n > 0) {
		msg.msg_control = space;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL | flags) < 0 ? -errno : 0;
}

int fdpass_send(int sock, const void *data, size_t len, int fd, int flags)
{
	return send_fds(sock, data, len, &fd, fd >= 0 ? 1 : 0, flags);
}

int fdpass_send_two(int sock, const void *data, size_t len, const int fds[2],
		    int flags)
{
	return send_fds(sock, data, len, fds, fds[0] >= 0 ? FDS_MAX : 0, flags);
}

ssize_t fdpass_recv(int sock, void *data, size_t size, int *fd, bool *whole)
{
	/* Without padding there is no room for a second descriptor. */
	_Alignas(struct cmsghdr) char space[CMSG_LEN(sizeof(int))];
	struct iovec iov = {.iov_base = data, .iov_len = size};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c != NULL && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	if (whole != NULL)
		*whole = (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
	return n;
}

bool fdpass_is_control(int fd)
{
	int domain = -1, type = -1;
	socklen_t len = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       domain == AF_UNIX && type == SOCK_SEQPACKET;
}

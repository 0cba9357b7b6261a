/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_mounts.c - sockets in whose queues shims leave mount namespaces, for zygote.c. No
 * process ever receives a namespace: closing the socket drops the namespace, and the
 * closing process unmounts, and deletes all files. Without a socket the namespace ends
 * with the shim.
 */
#include "worker/held_mounts.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "ipc/zygote_proto.h"
#include "sandbox/fds.h"

/*
 * By slot; NULL until the first socket, so that clones of Lua's zygote do not copy the
 * array.
 */
static struct held {
	int fd; /* or 0 */
	uint32_t seq;
} * held;

/*
 * Drop FD by a child that closes FD last, since a run may leave ten thousands of files,
 * and other runs must not wait for the deletion.
 */
static void close_held(int fd)
{
	int ends[2] = {-1, -1};
	char c;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		; /* reap earlier children */
	if (pipe2(ends, O_CLOEXEC) == 0 && fork() == 0) {
		/* hold only FD, until the parent has closed the parent's copy */
		close(ends[1]);
		(void)!read(ends[0], &c, 1);
		if (dup2(fd, ZYGOTE_PROTO_CONTROL_FD) >= 0)
			(void)fds_close_from(ZYGOTE_PROTO_CONTROL_FD + 1);
		_exit(0);
	}
	close(fd);
	sys_close(ends[0]);
	sys_close(ends[1]);
}

int held_mounts_open(uint32_t slot, uint32_t seq)
{
	int ends[2];

	if (held == NULL)
		held = xcalloc(ZYGOTE_PROTO_SLOTS, sizeof(*held));
	held_mounts_release(slot, held[slot].seq);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return 0;
	held[slot].fd = ends[0];
	held[slot].seq = seq;
	return ends[1];
}

void held_mounts_release(uint32_t slot, uint32_t seq)
{
	if (held == NULL || slot >= ZYGOTE_PROTO_SLOTS || held[slot].fd == 0 ||
	    held[slot].seq != seq)
		return;
	close_held(held[slot].fd);
	held[slot].fd = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_mounts.c - the sockets in whose queues shims leave their mount namespaces,
 * for zygote.c. Nobody ever receives one: it is gone when the socket is closed,
 * and the process that closes it takes the mounts down, with all files in them.
 * Where there is no socket the namespace ends with its shim.
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

/* By slot; NULL until one is held, for what Lua's zygote has its workers copy. */
static struct held {
	int fd; /* 0: none */
	uint32_t seq;
} * held;

/* In a child: hold the socket FD alone, until our parent has let go of its own. */
_Noreturn static void let_go_later(int fd, const int parent[2])
{
	char c;

	close(parent[1]);
	(void)!read(parent[0], &c, 1);
	if (dup2(fd, ZYGOTE_PROTO_CONTROL_FD) >= 0)
		(void)fds_close_from(ZYGOTE_PROTO_CONTROL_FD + 1);
	_exit(0);
}

/*
 * A run may leave files by the ten thousand, and nobody else's is to wait until they
 * are gone: a child is the last that has FD.
 */
static void let_go(int fd)
{
	int ends[2] = {-1, -1};

	while (waitpid(-1, NULL, WNOHANG) > 0)
		; /* those that have done so */
	if (pipe2(ends, O_CLOEXEC) == 0 && fork() == 0)
		let_go_later(fd, ends);
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
	let_go(held[slot].fd);
	held[slot].fd = 0;
}

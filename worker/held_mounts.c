/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_mounts.c - the sockets in whose queues shims leave their mount namespaces,
 * for zygote.c. Nobody ever receives one: it is gone when the socket is closed,
 * and the process that closes it takes the mounts down. Where there is no socket
 * the namespace ends with its shim.
 */
#include "worker/held_mounts.h"

#include <sys/socket.h>
#include <unistd.h>

#include "ipc/zygote_proto.h"

static struct {
	int fd; /* 0: none */
	uint32_t seq;
} held[ZYGOTE_PROTO_SLOTS];

int held_mounts_open(uint32_t slot, uint32_t seq)
{
	int ends[2];

	held_mounts_release(slot, held[slot].seq);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return 0;
	held[slot].fd = ends[0];
	held[slot].seq = seq;
	return ends[1];
}

void held_mounts_release(uint32_t slot, uint32_t seq)
{
	if (slot >= ZYGOTE_PROTO_SLOTS || held[slot].fd == 0 ||
	    held[slot].seq != seq)
		return;
	close(held[slot].fd);
	held[slot].fd = 0;
}

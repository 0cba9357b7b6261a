/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rogue.h - stands in for paddock-worker in tests: takes the supervisor's orders and
 * starts misbehaving workers, without a cage, since no foreign code is run.
 */
#ifndef TESTS_LIB_ROGUE_H
#define TESTS_LIB_ROGUE_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/zygote_proto.h"

/*
 * Start a child of the supervisor, as the zygote starts a worker, and run MISBEHAVE in
 * the child.
 */
static pid_t rogue_birth(int fd, void (*misbehave)(void))
{
	pid_t parent = getppid();
	pid_t pid =
	    (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	dup2(fd, ZYGOTE_PROTO_RUN_FD);
	if (fd != ZYGOTE_PROTO_RUN_FD)
		close(fd);
	misbehave();
	_exit(0);
}

/* Read the next order and descriptor; false at the end of the channel. */
static bool rogue_order(struct zygote_proto_request *order, int *fd)
{
	char space[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {.iov_base = order, .iov_len = sizeof(*order)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	struct cmsghdr *c;

	if (recvmsg(ZYGOTE_PROTO_CONTROL_FD, &msg, MSG_CMSG_CLOEXEC) !=
	    (ssize_t)sizeof(*order))
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (c == NULL || c->cmsg_type != SCM_RIGHTS)
		return false;
	memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return true;
}

/* The zygote's life, until the supervisor's ends. */
static int rogue_serve(void (*misbehave)(void))
{
	struct zygote_proto_event note = {.type = ZYGOTE_PROTO_REPORT,
					  .layers = 0xffff};
	struct zygote_proto_request order;
	int fd;

	if (send(ZYGOTE_PROTO_CONTROL_FD, &note, sizeof(note), MSG_NOSIGNAL) <
	    0)
		return EXIT_FAILURE;
	while (rogue_order(&order, &fd)) {
		note = (struct zygote_proto_event){
		    .type = ZYGOTE_PROTO_SPAWNED,
		    .seq = order.seq,
		    .pid = rogue_birth(fd, misbehave)};
		close(fd);
		if (send(ZYGOTE_PROTO_CONTROL_FD, &note, sizeof(note),
			 MSG_NOSIGNAL) < 0)
			break;
	}
	return EXIT_SUCCESS;
}

#endif

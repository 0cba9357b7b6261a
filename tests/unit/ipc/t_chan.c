/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/chan.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/unit/tap.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* asm-generic/socket.h, Linux 6.16 */
#endif

static int fails_by; /* errno of the next send(2); 0: success */

/* In place of the C library's. */
ssize_t send(int fd, const void *p, size_t n, int flags)
{
	if (fails_by == 0)
		return sendto(fd, p, n, flags, NULL, 0);
	errno = fails_by;
	fails_by = 0;
	return -1;
}

static char frame[CHAN_FRAME_MAX + 1], got[CHAN_FRAME_MAX];

static void pair(int ends[2])
{
	if (chan_pair(ends) < 0) {
		printf("Bail out! no socketpair\n");
		exit(1);
	}
}

static void unpair(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

TEST(makes_ends)
{
	int ends[2];

	is_int(chan_pair(ends), 0, "chan_pair() makes a pair");
	ok((fcntl(ends[0], F_GETFL) & O_NONBLOCK) != 0,
	   "the supervisor's end does not block");
	ok((fcntl(ends[1], F_GETFL) & O_NONBLOCK) == 0,
	   "the worker's end blocks");
	ok(fcntl(ends[0], F_GETFD) == FD_CLOEXEC &&
	       fcntl(ends[1], F_GETFD) == FD_CLOEXEC,
	   "both ends are closed on exec");
	is_int(chan_recv(ends[0], got), -EAGAIN, "nothing has come yet");
	unpair(ends);
}

TEST(keeps_frames_apart)
{
	int ends[2];

	pair(ends);
	is_int(chan_send(ends[1], "one", 3), 0, "a worker sends a frame");
	is_int(chan_send(ends[1], "three", 5), 0,
	       "a worker sends a second frame");
	is_int(chan_recv(ends[0], got), 3, "the first comes whole");
	ok(memcmp(got, "one", 3) == 0, "the first frame has the same bytes");
	is_int(chan_recv(ends[0], got), 5, "the second comes apart from it");
	is_int(chan_send(ends[0], "back", 4), 0, "the supervisor sends too");
	is_int(chan_recv(ends[1], got), 4,
	       "the worker receives the supervisor's frame");
	unpair(ends);
}

TEST(bounds_frames)
{
	int ends[2];

	pair(ends);
	memset(frame, 'x', sizeof(frame));
	is_int(chan_send(ends[1], frame, CHAN_FRAME_MAX), 0,
	       "the largest frame is sent");
	is_int(chan_recv(ends[0], got), CHAN_FRAME_MAX,
	       "the largest frame is received");
	ok(memcmp(got, frame, CHAN_FRAME_MAX) == 0,
	   "the largest frame has the same bytes");

	send(ends[1], frame, sizeof(frame), 0);
	is_int(chan_recv(ends[0], got), -EMSGSIZE,
	       "one byte over the largest is an offence");
	is_int(chan_recv(ends[0], got), -EAGAIN,
	       "an oversized frame leaves no rest behind");

	send(ends[1], frame, 0, 0);
	is_int(chan_recv(ends[0], got), -EMSGSIZE,
	       "an empty frame is an offence");
	send(ends[1], frame, 0, 0);
	chan_send(ends[1], "z", 1);
	is_int(chan_recv(ends[0], got), -EMSGSIZE,
	       "an empty frame before a good frame is an offence");
	is_int(chan_recv(ends[0], got), 1,
	       "the good frame after an empty frame is received");

	send(ends[0], frame, 0, 0);
	alarm(30); /* ends a wait without end */
	is_int(chan_recv(ends[1], got), -EMSGSIZE,
	       "the end that blocks does not wait behind an empty frame");
	alarm(0);
	unpair(ends);
}

/* A frame of 64 KiB each: several must fit before anyone reads. */
TEST(buffers)
{
	int ends[2], sent = 0, received = 0, rc;

	pair(ends);
	while ((rc = chan_send(ends[0], frame, CHAN_FRAME_MAX)) == 0)
		sent++;
	is_int(rc, -EAGAIN, "a full socket does not block the supervisor");
	ok(sent >= 3, "a socket takes a few of the largest frames");
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	while (chan_recv(ends[1], got) == CHAN_FRAME_MAX)
		received++;
	is_int(received, sent, "no frame of a full socket is lost");
	is_int(chan_send(ends[0], frame, 1), 0,
	       "a drained socket takes frames again");
	unpair(ends);
}

TEST(ends_cleanly)
{
	int ends[2];

	pair(ends);
	chan_send(ends[1], "last", 4);
	close(ends[1]);
	is_int(chan_recv(ends[0], got), 4,
	       "a frame before the end is received");
	is_int(chan_recv(ends[0], got), 0,
	       "the end comes after the last frame");
	is_int(chan_recv(ends[0], got), 0, "a second read is the end again");
	is_int(chan_send(ends[0], "x", 1), -EPIPE,
	       "sending to a closed end is EPIPE");
	close(ends[0]);
}

/* The kernel reports ECONNRESET ahead of queued frames in such a case. */
TEST(ends_with_unread_frames)
{
	int ends[2];

	pair(ends);
	chan_send(ends[0], "never read", 10);
	chan_send(ends[1], "last words", 10);
	close(ends[1]);
	is_int(chan_recv(ends[0], got), 10,
	       "a frame of a worker which read nothing is received");
	is_int(chan_recv(ends[0], got), 0,
	       "the end follows the frame of a worker which read nothing");
	close(ends[0]);

	pair(ends);
	chan_send(ends[0], "never read", 10);
	chan_send(ends[1], "last words", 10);
	close(ends[1]);
	is_int(chan_send(ends[0], "x", 1), -EPIPE,
	       "sending to a worker which has exited is EPIPE");
	is_int(chan_recv(ends[0], got), 10,
	       "a frame is received after the failed send");
	close(ends[0]);
}

TEST(shuts_down)
{
	int ends[2];

	pair(ends);
	shutdown(ends[1], SHUT_RD);
	is_int(chan_send(ends[0], "x", 1), -EPIPE,
	       "a worker that shuts its reading down: EPIPE, no SIGPIPE");
	is_int(chan_send(ends[1], "x", 1), 0,
	       "a worker with its reading shut down can still send");
	is_int(
	    chan_recv(ends[0], got), 1,
	    "the supervisor receives from a worker with its reading shut down");
	unpair(ends);
}

TEST(reports_a_wrong_descriptor)
{
	int ends[2];

	pair(ends);
	unpair(ends);
	is_int(chan_recv(ends[0], got), -EBADF, "a closed end: EBADF");
	is_int(chan_send(ends[0], "x", 1), -EBADF,
	       "sending on a closed descriptor is EBADF");
}

static int sender = -1, signals;

static void on_alarm(int sig)
{
	(void)sig;
	if (++signals == 3)
		(void)!write(sender, "at last", 7);
}

/* The third signal sends the frame that the interrupted chan_recv() waits for. */
TEST(survives_signals)
{
	struct sigaction act = {.sa_handler = on_alarm}, old;
	struct itimerval often = {{0, 1000}, {0, 1000}};
	struct itimerval never = {{0, 0}, {0, 0}};
	int ends[2];

	pair(ends);
	sender = ends[0];
	sigaction(SIGALRM, &act, &old);
	setitimer(ITIMER_REAL, &often, NULL);
	is_int(chan_recv(ends[1], got), 7, "signals do not end a wait");
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	unpair(ends);
}

/* Send FD with one byte. 0 or -errno. */
static int send_descriptor(int sock, int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {.iov_base = frame, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static bool kernel_can_refuse(int fd)
{
	int on;
	socklen_t len = sizeof(on);

	return getsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &on, &len) == 0;
}

TEST(refuses_descriptors)
{
	int ends[2];

	pair(ends);
	if (kernel_can_refuse(ends[0])) {
		is_int(send_descriptor(ends[1], STDOUT_FILENO), -EPERM,
		       "a worker may not send a descriptor");
		is_int(chan_recv(ends[0], got), -EAGAIN,
		       "the frame with a descriptor does not arrive");
	} else {
		skip("a kernel before 6.16",
		     "a worker may not send a descriptor");
	}
	unpair(ends);
}

TEST(has_no_memory)
{
	static const struct {
		int err, rc;
	} cases[] = {{ENOBUFS, -ENOBUFS}, {ENOMEM, -ENOBUFS}, {EPIPE, -EPIPE}};
	int ends[2];

	pair(ends);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fails_by = cases[i].err;
		is_int(chan_send(ends[0], "x", 1), cases[i].rc,
		       "a frame that has no memory now may be sent again");
	}
	fails_by = EINTR;
	is_int(chan_send(ends[0], "x", 1), 0,
	       "a frame is sent at once after EINTR");
	unpair(ends);
}

/*
 * As on a kernel without SO_PASSRIGHTS: a pipe tells whether a descriptor is open.
 */
TEST(drops_descriptors)
{
	int ends[2], pipes[2], on = 1;
	char byte;

	pair(ends);
	setsockopt(ends[0], SOL_SOCKET, SO_PASSRIGHTS, &on, sizeof(on));
	is_int(pipe2(pipes, O_CLOEXEC | O_NONBLOCK), 0,
	       "a pipe for the test is made");
	is_int(send_descriptor(ends[1], pipes[1]), 0,
	       "the pipe's writing end is sent");
	close(pipes[1]);
	is_int(chan_recv(ends[0], got), 1,
	       "the frame with the descriptor is received");
	is_int(read(pipes[0], &byte, 1), 0,
	       "no process holds the pipe's writing end");
	close(pipes[0]);
	unpair(ends);
}

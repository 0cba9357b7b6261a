/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cage.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"
#include "ipc/chan.h"
#include "ipc/zygote_proto.h"

#define CAGE_RUNS 3000

static void order(int control, uint32_t seq, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} anc = {0};
	struct zygote_proto_request o = {.type = ZYGOTE_PROTO_SPAWN,
					 .seq = seq,
					 .slot = seq % ZYGOTE_PROTO_SLOTS,
					 .cpu_ms = 1000,
					 .memory_bytes = 64 << 20};
	struct iovec iov = {&o, sizeof(o)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = anc.space,
			   .msg_controllen = sizeof(anc.space)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	if (sendmsg(control, &m, 0) < 0)
		die("sendmsg");
}

/* Born, caged, waiting for its run; what comes is none, and it goes. */
static void cage_once(int control, uint32_t seq)
{
	struct zygote_proto_event note;
	int ends[2], status;

	if (chan_pair(ends) < 0)
		die("chan_pair");
	order(control, seq, ends[1]);
	close(ends[1]);
	if (recv(control, &note, sizeof(note), 0) != sizeof(note) ||
	    note.type != ZYGOTE_PROTO_SPAWNED || note.pid <= 0)
		die("spawn");
	if (chan_send(ends[0], "", 1) != 0)
		die("send");
	waitpid(note.pid, &status, 0);
	close(ends[0]);
}

double measure_cage(const char *worker)
{
	char *argv[] = {(char *)worker, (char *)"ids=60600", NULL},
	     *envp[] = {NULL};
	struct zygote_proto_event note;
	int control[2];
	int64_t cpu;
	double each;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		die("socketpair");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		dup2(control[1], ZYGOTE_PROTO_CONTROL_FD);
		if (control[1] == ZYGOTE_PROTO_CONTROL_FD)
			fcntl(ZYGOTE_PROTO_CONTROL_FD, F_SETFD, 0);
		execve(worker, argv, envp);
		_exit(127);
	}
	close(control[1]);
	if (recv(control[0], &note, sizeof(note), 0) != sizeof(note) ||
	    note.type != ZYGOTE_PROTO_REPORT)
		die("no report");
	for (uint32_t i = 0; i < WARM_RUNS; i++)
		cage_once(control[0], i);
	cpu = cpu_us(RUSAGE_CHILDREN); /* workers are our children */
	for (uint32_t i = 0; i < CAGE_RUNS; i++)
		cage_once(control[0], i);
	each = (double)(cpu_us(RUSAGE_CHILDREN) - cpu) / CAGE_RUNS;
	close(control[0]);
	while (wait(NULL) > 0)
		;
	return each;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_shim.c - whatever a program writes to descriptor 3, or another process of the
 * program to a connection of its own (after a byte 1), the shim must send only messages of
 * the protocol, and must exit by itself. Each session has a shim in a process of its own,
 * so coverage of the shim does not guide a fuzzer.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "ipc/chan.h"
#include "ipc/zygote_proto.h"
#include "worker/program/shim_private.h"

#define CALLER 1   /* the first byte of lines of another process */
#define PIECE 1500 /* bytes in one read of the shim: lines are cut anywhere */
#define SESSION_MAX (256u << 10)
#define ARTIFACT_ID "art_00000000000000000000000000"

/* A wrong line of such a process ends nothing, and the id is a part of the line. */
static void serve_caller(struct shim *s, const char *text, size_t size)
{
	for (size_t at = 0, n; at < size; at += n + 1) {
		const char *end = memchr(text + at, '\n', size - at);
		struct str id = {0};

		n = end != NULL ? (size_t)(end - text) - at : size - at;
		(void)shim_line_of_caller(s, (struct str){text + at, n}, &id);
		if (id.n > n)
			abort();
	}
}

_Noreturn static void be_shim(const uint8_t *data, size_t size, int sock)
{
	struct shim s = {
	    .run = {.output_bytes = 64u << 10, .artifact_bytes = 64u << 10},
	    .pipes = {-1, -1, -1, -1, -1, -1}};
	int ends[2];

	if (dup2(sock, ZYGOTE_PROTO_RUN_FD) < 0 || pipe(ends) != 0 ||
	    fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
		abort();
	s.pipes.lines = ends[0];
	if (size > 0 && data[0] == CALLER) {
		serve_caller(&s, (const char *)data + 1, size - 1);
		_exit(SHIM_EXIT_SENT);
	}
	for (size_t at = 0; at < size; at += PIECE) {
		size_t n = size - at < PIECE ? size - at : PIECE;

		if (write(ends[1], data + at, n) != (ssize_t)n)
			abort();
		while (shim_recv(&s, SHIM_LINES))
			;
	}
	close(ends[1]);
	shim_drain(&s);
	_exit(SHIM_EXIT_SENT);
}

static void answer_artifact(int sock)
{
	static uint8_t frame[CHAN_FRAME_MAX];
	struct msg m = {.type = MSG_ANSWER};

	m.answer.ok = true;
	m.answer.total = strlen(ARTIFACT_ID);
	m.answer.head = (struct str){ARTIFACT_ID, strlen(ARTIFACT_ID)};
	(void)chan_send(sock, frame, msg_put(frame, &m));
}

/* Receive each message of the shim until the shim has exited. */
static void hear(int sock)
{
	static uint8_t frame[CHAN_FRAME_MAX];
	uint64_t owed = 0;
	bool artifact = false;
	const char *errmsg;
	struct msg m;
	ssize_t n;

	while ((n = chan_recv(sock, frame)) > 0) {
		if (msg_get(&m, frame, (size_t)n, &errmsg) < 0)
			abort();
		switch (m.type) {
		case MSG_ARTIFACT:
			artifact = true;
			owed = m.artifact.total - m.artifact.head.n;
			break;
		case MSG_CALL:
			owed = m.call.total - m.call.head.n;
			break;
		case MSG_INPUT:
			owed = m.input.total - m.input.head.n;
			break;
		case MSG_CHUNK:
			if (m.chunk.data.n > owed)
				abort();
			owed -= m.chunk.data.n;
			break;
		case MSG_PROGRESS:
		case MSG_STEP:
		case MSG_LOG:
		case MSG_LOST:
		case MSG_USED:
		case MSG_PRINTED:
		case MSG_FAIL:
			if (owed != 0)
				abort();
			break;
		default:
			abort();
		}
		if (artifact && owed == 0) {
			answer_artifact(sock);
			artifact = false;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int ends[2], status;
	pid_t pid;

	if (size > SESSION_MAX)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		abort();
	pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		close(ends[0]);
		be_shim(data, size, ends[1]);
	}
	close(ends[1]);
	hear(ends[0]);
	close(ends[0]);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != SHIM_EXIT_SENT)
		abort();
	return 0;
}

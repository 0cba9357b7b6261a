/* SPDX-License-Identifier: Apache-2.0 */
/* zygote_fixture.c - see zygote_fixture.h. */
#include "tests/unit/worker/zygote_fixture.h"

static int binary = -1; /* paddock-worker, open */

const char *worker_path(void)
{
	const char *path = getenv("PADDOCK_WORKER");

	return path != NULL ? path : "build/paddock-worker";
}

void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void refuse(const struct refusal *r)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	for (; r->nr > 0; r++) {
		if (r->flags == 0)
			seccomp_rule_add(ctx, SCMP_ACT_ERRNO(r->err), r->nr, 0);
		for (unsigned int bit = 1; bit != 0; bit <<= 1)
			if ((r->flags & bit) != 0)
				seccomp_rule_add(
				    ctx, SCMP_ACT_ERRNO(r->err), r->nr, 1,
				    SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit));
	}
	if (seccomp_load(ctx) != 0)
		_exit(99);
	seccomp_release(ctx);
}

/* As the supervisor does: an empty environment, null, and the control fd. */
_Noreturn static void exec_worker(int control, uid_t uid,
				  const struct refusal *r)
{
	char *argv[] = {(char *)"paddock-worker", (char *)"ids=60600", NULL};
	char *envp[] = {NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	control = fcntl(control, F_DUPFD_CLOEXEC, FDS_FREE);
	for (int fd = 0; fd < ZYGOTE_PROTO_CONTROL_FD; fd++)
		dup2(null, fd);
	dup2(control, ZYGOTE_PROTO_CONTROL_FD);
	if (uid != 0 &&
	    (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 ||
	     setresuid(uid, uid, uid) != 0))
		_exit(98);
	if (r != NULL)
		refuse(r);
	syscall(SYS_execveat, binary, "", argv, envp, AT_EMPTY_PATH);
	_exit(97);
}

void start(struct zygote *z, uid_t uid, const struct refusal *r)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		die("socketpair");
	z->pid = fork();
	if (z->pid < 0)
		die("fork");
	if (z->pid == 0)
		exec_worker(ends[1], uid, r);
	close(ends[1]);
	z->control = ends[0];
}

ssize_t take(int fd, void *buf, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, PATIENCE_MS) <= 0)
		return -1;
	return recv(fd, buf, size, 0);
}

struct zygote_proto_event take_note(const struct zygote *z)
{
	struct zygote_proto_event event = {0};

	if (take(z->control, &event, sizeof(event)) != sizeof(event))
		event = (struct zygote_proto_event){0};
	return event;
}

int reap(pid_t pid, struct rusage *ru)
{
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0),
			   .events = POLLIN};
	int status = -1;

	if (poll(&p, 1, PATIENCE_MS) != 1)
		kill(pid, SIGKILL);
	else if (wait4(pid, &status, 0, ru) != pid)
		status = -1;
	if (status == -1)
		waitpid(pid, NULL, 0);
	close(p.fd);
	return status;
}

int stop(struct zygote *z)
{
	close(z->control);
	return reap(z->pid, NULL);
}

void order_worker(const struct zygote *z,
		  const struct zygote_proto_request *request, const int *fds,
		  size_t n)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {
	    0};
	struct iovec iov = {.iov_base = (void *)request,
			    .iov_len = sizeof(*request)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (n > 0) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		if (c == NULL)
			die("CMSG_FIRSTHDR");
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	if (sendmsg(z->control, &msg, MSG_NOSIGNAL) < 0)
		die("sendmsg");
}

struct zygote_proto_request order_for(unsigned int slot)
{
	return (struct zygote_proto_request){.type = ZYGOTE_PROTO_SPAWN,
					     .seq = 1000 + slot,
					     .slot = slot,
					     .cpu_ms = CPU_MS,
					     .memory_bytes = MEMORY_BYTES};
}

struct zygote_proto_event spawn(const struct zygote *z, unsigned int slot,
				struct worker *w)
{
	struct zygote_proto_request request = order_for(slot);
	struct zygote_proto_event event;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		die("socketpair");
	order_worker(z, &request, &ends[1], 1);
	close(ends[1]);
	event = take_note(z);
	w->run = ends[0];
	w->pid = event.pid;
	return event;
}

int finish(struct worker *w, struct rusage *ru)
{
	close(w->run);
	return reap(w->pid, ru);
}

const char *status_of(pid_t pid, const char *key)
{
	static char values[2][128], line[256];
	static int turn;
	char path[64], *value = values[turn ^= 1];
	FILE *f;

	value[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		size_t n = strlen(key);

		if (strncmp(line, key, n) != 0 || line[n] != ':')
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(value, sizeof(values[0]), "%s",
			 line + n + 1 + strspn(line + n + 1, "\t "));
	}
	if (f != NULL)
		fclose(f);
	return value;
}

bool is_ready(const struct worker *w)
{
	const char *state = "R";

	for (int i = 0; i < PATIENCE_MS && strchr("RD", *state) != NULL; i++) {
		state = status_of(w->pid, "State");
		if (*state == '\0' || *state == 'Z' || *state == 'S')
			break;
		usleep(1000);
	}
	return *state == 'S';
}

int done(void)
{
	is_int(waitpid(-1, NULL, WNOHANG), -1,
	       "no child process is left behind");
	close(binary);
	return tap_done();
}

bool begin(void)
{
	binary = open(worker_path(), O_RDONLY | O_CLOEXEC);
	if (binary >= 0) /* out of the way of what exec_worker() sets up */
		binary = fcntl(binary, F_DUPFD_CLOEXEC, FDS_FREE);
	return ok(binary >= 0, "a worker to test exists at %s", worker_path());
}

/*
 * resolver.c - forked by main.c. A child's memory is thrown away with its
 * lookup, whatever a name server did to it. What cannot be forked or answered
 * is a name that was not found in time: the page's loss alone.
 */
#include "broker/resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORDER_FD 3

static struct { /* id 0 and pid 0: free */
	uint32_t id;
	pid_t pid;
} children[RESOLVER_AT_ONCE];

static void answer(const struct resolver_answer *a)
{
	(void)!send(ORDER_FD, a, sizeof(*a), MSG_NOSIGNAL);
}

static void answer_late(uint32_t id)
{
	const struct resolver_answer a = {.id = id, .error = EAI_AGAIN};

	answer(&a);
}

/* ---- a lookup's child ---- */

static void take(struct resolver_answer *a, const struct addrinfo *list)
{
	for (; list != NULL && a->n < RESOLVER_ADDRESSES; list = list->ai_next)
		if (list->ai_addrlen <= sizeof(a->all[0]))
			memcpy(&a->all[a->n++], list->ai_addr,
			       list->ai_addrlen);
}

static _Noreturn void look_up(const struct resolver_order *o)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC,
				       .ai_socktype = SOCK_STREAM};
	struct resolver_answer a = {.id = o->id};
	struct addrinfo *list = NULL;

	alarm(RESOLVER_S);
	a.error = getaddrinfo(o->host, NULL, &hints, &list);
	if (a.error == 0)
		take(&a, list);
	answer(&a);
	_exit(0);
}

/* ---- all of them ---- */

static size_t find(uint32_t id)
{
	size_t i = 0;

	while (i < RESOLVER_AT_ONCE && children[i].id != id)
		i++;
	return i;
}

static void begin(const struct resolver_order *o)
{
	size_t i = find(0);
	sigset_t none;
	pid_t pid;

	if (i == RESOLVER_AT_ONCE || o->id == 0 ||
	    find(o->id) < RESOLVER_AT_ONCE) {
		answer_late(o->id);
		return;
	}
	pid = fork();
	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		look_up(o);
	}
	if (pid < 0) {
		answer_late(o->id);
		return;
	}
	children[i].id = o->id;
	children[i].pid = pid;
}

/* One that ended by itself has answered; one that was ended has not. */
static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < RESOLVER_AT_ONCE; i++)
			if (children[i].pid == pid) {
				if (!WIFEXITED(status))
					answer_late(children[i].id);
				children[i].id = 0;
				children[i].pid = 0;
			}
}

static bool obey(void)
{
	struct resolver_order o;
	ssize_t n = recv(ORDER_FD, &o, sizeof(o), 0);
	size_t i;

	if (n != sizeof(o))
		return n < 0 && errno == EINTR;
	o.host[sizeof(o.host) - 1] = '\0';
	i = find(o.id);
	if (o.look_up != 0)
		begin(&o);
	else if (o.id != 0 && i < RESOLVER_AT_ONCE)
		kill(children[i].pid, SIGKILL);
	return true;
}

static void end_all(void)
{
	for (size_t i = 0; i < RESOLVER_AT_ONCE; i++)
		if (children[i].pid > 0)
			kill(children[i].pid, SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void on_child(int sig)
{
	(void)sig; /* it ends ppoll() */
}

static _Noreturn void serve(int sock, int (*prepare)(void))
{
	struct sigaction sa = {.sa_handler = on_child};
	struct pollfd p = {.fd = ORDER_FD, .events = POLLIN};
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL); /* it ends with its socket */
	sigaction(SIGCHLD, &sa, NULL);
	sigdelset(&set, SIGCHLD);
	prctl(PR_SET_NAME, "paddock-names");
	/* one server after the other, within the time of a lookup */
	setenv("RES_OPTIONS", "timeout:1 attempts:2", 1);
	if (dup2(sock, ORDER_FD) < 0)
		_exit(1);
	syscall(SYS_close_range, ORDER_FD + 1u, ~0u, 0u);
	if (prepare != NULL && prepare() < 0)
		_exit(1);
	for (;;) {
		int n = ppoll(&p, 1, NULL, &set);

		if (n < 0 && errno != EINTR)
			break;
		reap();
		if (n > 0 && !obey())
			break;
	}
	end_all();
	_exit(0);
}

int resolver_fork(int (*prepare)(void), pid_t *pid)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	*pid = fork();
	if (*pid == 0)
		serve(ends[1], prepare);
	close(ends[1]);
	if (*pid < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
		int rc = -errno;

		close(ends[0]);
		return rc;
	}
	return ends[0];
}

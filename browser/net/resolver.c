/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver.c - the process that resolves names, forked by main.c, with a child
 * for each name: damage by a name server's answer ends with the child. A name
 * that cannot be resolved in time gets an error.
 */
#include "browser/net/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "browser/process/helper_process.h"

static struct { /* the running lookups; id 0 and pid 0: a free place */
	uint32_t id;
	pid_t pid;
} children[RESOLVER_AT_ONCE];

static void send_answer(const struct resolver_answer *a)
{
	(void)!send(HELPER_PROCESS_FD, a, sizeof(*a), MSG_NOSIGNAL);
}

static void answer_late(uint32_t id)
{
	const struct resolver_answer a = {.id = id, .error = EAI_AGAIN};

	send_answer(&a);
}

/* ---- a lookup's child ---- */

static _Noreturn void run_lookup(const struct resolver_order *o)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC,
				       .ai_socktype = SOCK_STREAM};
	struct resolver_answer a = {.id = o->id};
	struct addrinfo *list = NULL;

	alarm(RESOLVER_S);
	a.error = getaddrinfo(o->host, NULL, &hints, &list);
	for (; a.error == 0 && list != NULL && a.n < RESOLVER_ADDRESSES;
	     list = list->ai_next)
		if (list->ai_addrlen <= sizeof(a.all[0]))
			memcpy(&a.all[a.n++], list->ai_addr, list->ai_addrlen);
	send_answer(&a);
	_exit(0);
}

/* ---- the lookups ---- */

static size_t find_order(uint32_t id)
{
	size_t i = 0;

	while (i < RESOLVER_AT_ONCE && children[i].id != id)
		i++;
	return i;
}

static void begin_order(const struct resolver_order *o)
{
	size_t i = find_order(0);
	sigset_t none;
	pid_t pid;

	if (i == RESOLVER_AT_ONCE || o->id == 0 ||
	    find_order(o->id) < RESOLVER_AT_ONCE) {
		answer_late(o->id);
		return;
	}
	pid = fork();
	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		run_lookup(o);
	}
	if (pid < 0) {
		answer_late(o->id);
		return;
	}
	children[i].id = o->id;
	children[i].pid = pid;
}

/*
 * Reap children. A child that exited has answered; for a killed child answer
 * now.
 */
static void reap_lookups(void)
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

static void on_request(const void *request)
{
	struct resolver_order o;
	size_t i;

	memcpy(&o, request, sizeof(o));
	o.host[sizeof(o.host) - 1] = '\0';
	i = find_order(o.id);
	if (o.look_up != 0)
		begin_order(&o);
	else if (o.id != 0 && i < RESOLVER_AT_ONCE)
		kill(children[i].pid, SIGKILL);
}

static void end_all(void)
{
	for (size_t i = 0; i < RESOLVER_AT_ONCE; i++)
		if (children[i].pid > 0)
			kill(children[i].pid, SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

int resolver_fork(int (*prepare)(void), pid_t *pid)
{
	static const struct helper_process kind = {
	    .order_size = sizeof(struct resolver_order),
	    .on_request = on_request,
	    .reap = reap_lookups,
	    .end = end_all};
	int sock = helper_process_fork("paddock-names", pid);

	if (sock < 0 || *pid > 0)
		return sock;
	/* two servers can be tried within a lookup */
	setenv("RES_OPTIONS", "timeout:1 attempts:2", 1);
	if (prepare != NULL && prepare() < 0)
		_exit(1);
	helper_process_serve(&kind);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clone.c - a clone of the zygote that enters the sandbox before anything else, for
 * zygote.c and the self-tests. A clone that cannot be sandboxed exits with the layer in
 * the status; -errno when the clone fails.
 */
#include "worker/clone.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/zygote_proto.h"

/* As fork(2), but with a choice of the parent, and without atfork handlers. */
static pid_t clone_self(enum clone_caller parent, unsigned long flags)
{
	flags |= SIGCHLD;
	if (parent == CLONE_OF_SUPERVISOR)
		flags |= CLONE_PARENT;
	return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
}

/* Unblock all signals, which the zygote blocks so that none is pending in a clone. */
static void unblock_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

pid_t clone_worker(const struct sandbox *sb, const struct sandbox_worker *w,
		   enum clone_caller parent, clone_life *life)
{
	enum sandbox_layer failed;
	pid_t pid = clone_self(parent, 0);

	if (pid < 0)
		return -errno;
	if (pid > 0)
		return pid;
	if (sandbox_enter(sb, w, &failed) != 0)
		_exit(ZYGOTE_PROTO_EXIT_UNCAGED + (int)failed);
	unblock_signals();
	life(sb, w);
	_exit(EXIT_FAILURE);
}

pid_t clone_program(const struct sandbox *sb, struct sandbox_program *p,
		    enum clone_caller parent, clone_program_life *life)
{
	enum sandbox_layer failed;
	/* in a shared namespace /proc/self/net would show sockets of other runs */
	unsigned long net = sb->host_network ? 0 : CLONE_NEWNET;
	pid_t pid = clone_self(parent, sandbox_program_clone | net);
	int proc = -1;

	if (pid < 0)
		return -errno;
	if (pid > 0)
		return pid;
	if (sandbox_enter_program(sb, p, &proc, &failed) != 0)
		_exit(ZYGOTE_PROTO_EXIT_UNCAGED + (int)failed);
	unblock_signals();
	life(sb, p, proc);
	_exit(EXIT_FAILURE);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_fixture.h - children that we can spare. */
#ifndef TESTS_UNIT_SANDBOX_SANDBOX_FIXTURE_H
#define TESTS_UNIT_SANDBOX_SANDBOX_FIXTURE_H

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "tests/unit/tap.h"

#define EXIT_TRAPPED 33
#define S SANDBOX_RUN_FD
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

/* A child's life: 0 or the number of what went wrong. */
static int in_child(int (*life)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(life());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void on_sigsys(int sig)
{
	(void)sig;
	_exit(EXIT_TRAPPED);
}

#endif

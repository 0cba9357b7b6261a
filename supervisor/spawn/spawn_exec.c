/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn_exec.c - starts a zygote or a helper program by posix_spawn(3), or has
 * privsep do so. spawner_zygote.c and the starters of helpers call the functions.
 * The result is 0 or -errno; the callers log an error and try again later.
 */
#include "supervisor/spawn/spawn_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "ipc/browser_proto.h"
#include "ipc/egress_proto.h"
#include "ipc/zygote_proto.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/spawn/ids/uid_range.h"

_Static_assert((int)ZYGOTE_PROTO_CONTROL_FD == BROWSER_PROTO_FD &&
		   BROWSER_PROTO_FD == EGRESS_FD,
	       "one way to start all");

static pid_t helpers[CGROUP_LEAVES]; /* pids; 0: not running */

/* ERR becomes the standard error. */
static int spawn_actions(posix_spawn_file_actions_t *fa, int control, int err)
{
	int rc =
	    posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDWR, 0);

	rc = rc ? rc : posix_spawn_file_actions_adddup2(fa, 0, 1);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(fa, err, 2);
	rc = rc ? rc
		: posix_spawn_file_actions_adddup2(fa, control,
						   ZYGOTE_PROTO_CONTROL_FD);
	rc = rc ? rc
		: posix_spawn_file_actions_addclosefrom_np(
		      fa, ZYGOTE_PROTO_CONTROL_FD + 1);
	return -rc;
}

static int spawn_process(const char *path, char *const argv[],
			 char *const envp[], int control, int err, pid_t *pid)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
					    POSIX_SPAWN_SETSIGDEF);
	rc = spawn_actions(&fa, control, err);
	if (rc == 0)
		rc = -posix_spawn(pid, path, &fa, &attr, argv, envp);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

int spawn_exec_zygote(const char *path, char *const argv[], int control,
		      pid_t *pid)
{
	int rc = privsep_exec(argv, control, pid);
	char *envp[] = {NULL}, **all;

	if (rc == -EPERM)
		log_error("crew",
			  "zygote=refused why=\"the configuration, as "
			  "root reads it, does not have these template "
			  "folders and read_paths: a restart, or a "
			  "reload when its files are readable, helps\"");
	if (rc != -ENOTCONN)
		return rc;
	all = uid_range_argv(argv);
	rc = spawn_process(path, all, envp, control, 0, pid);
	free(all);
	return rc;
}

int spawn_exec_helper(enum cgroup_leaf leaf, const char *path,
		      char *const argv[], int end, int log, pid_t *pid)
{
	static char usual[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	char *envp[] = {usual, NULL};
	int rc = privsep_exec_helper(leaf, argv, end, log, pid);

	if (rc == -ENOTCONN)
		rc = spawn_process(path, argv, envp, end, log, pid);
	if (rc != 0)
		return rc;
	(void)cgroup_place(leaf, *pid); /* before the first request */
	helpers[leaf] = *pid;
	return 0;
}

bool spawn_exec_is_helper(pid_t pid)
{
	for (size_t i = 0; i < ARRAY_LEN(helpers); i++)
		if (helpers[i] == pid)
			return true;
	return false;
}

void spawn_exec_ended(pid_t pid)
{
	for (size_t i = 0; i < ARRAY_LEN(helpers); i++)
		if (helpers[i] == pid)
			helpers[i] = 0;
}

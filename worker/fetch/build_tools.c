/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_tools.c - pip and npm, as a build runs the tools: from a lock with hashes,
 * without executing fetched code, so that the same lock gives the same bytes. A failed or
 * missing tool is reported to the command with the printed text.
 */
#include "worker/fetch/build_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/file_stream.h"
#include "base/os/sys.h"
#include "base/os/system_paths.h"
#include "sandbox/fds.h"
#include "worker/fetch/build.h"

#define ARGS_MAX 40
#define EXIT_UNSTARTED 127
#define PATH_BYTES 64
#define CERTIFICATES "/etc/ssl/certs/ca-certificates.crt"
#define SITE "site-packages"

struct step {
	const char *const *argv; /* the first is looked up */
	const char *index_flag;	 /* NULL: without an index */
	bool may_fail;
};

struct build_tool {
	const char *name, *folder, *skipped;
	struct step steps[2]; /* run in order */
};

static const char target[] = "--target=" SITE;
static const char shown_at[] = ROOTFS_TEMPLATE "/" SITE;
static const char cache[] = "--cache=" ROOTFS_WORK "/tmp/cache";

/* Without building from source, which would execute a setup.py. */
static const char *const pip[] = {"python3",
				  "-I",
				  "-m",
				  "pip",
				  "install",
				  "--require-hashes",
				  "--only-binary=:all:",
				  "--no-compile",
				  "--no-cache-dir",
				  "--disable-pip-version-check",
				  "--no-input",
				  "--no-warn-script-location",
				  "--progress-bar=off",
				  "--retries=2",
				  "--timeout=30",
				  target,
				  "--requirement=requirements.txt",
				  NULL};

/*
 * A run cannot keep the bytecode that Python compiles, so the build compiles the modules,
 * without a time or a folder of the build in the result. A module that does not compile
 * is not imported.
 */
static const char *const compileall[] = {
    "python3",	  "-s",	  "-m",
    "compileall", "-qqf", "--invalidation-mode=checked-hash",
    "-s",	  SITE,	  "-p",
    shown_at,	  SITE,	  NULL};

/*
 * Without running a script, cloning a repository or reading configuration. An old npm
 * ignores unknown options: in any version the lock names only packages of registries
 * (cli/template/npm_lock.c), and nothing else can be executed (sandbox_leave_to_build()).
 */
static const char *const npm[] = {"npm",
				  "ci",
				  "--ignore-scripts",
				  "--no-bin-links",
				  "--omit=dev",
				  "--no-audit",
				  "--no-fund",
				  "--no-update-notifier",
				  "--no-progress",
				  "--loglevel=error",
				  "--logs-max=0",
				  "--git=/nonexistent/git",
				  "--allow-git=none",
				  "--allow-file=none",
				  "--allow-directory=none",
				  "--userconfig=" ROOTFS_WORK "/tmp/userconfig",
				  "--globalconfig=" ROOTFS_WORK
				  "/tmp/globalconfig",
				  "--fetch-retries=2",
				  "--fetch-retry-mintimeout=1000",
				  "--fetch-retry-factor=2",
				  "--fetch-timeout=30000",
				  cache,
				  NULL};

static const struct build_tool tools[] = {
    {"pip",
     SITE,
     NULL,
     {{pip, "--index-url", false}, {compileall, NULL, true}}},
    {"npm", "node_modules", ".package-lock.json", {{npm, "--registry", false}}},
};

bool build_tools_find(struct build *b, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		if (strcmp(tools[i].name, name) != 0)
			continue;
		b->tool = &tools[i];
		b->folder = tools[i].folder;
		b->skipped = tools[i].skipped;
		return true;
	}
	return false;
}

/*
 * ---- a step ----
 */

/*
 * Folders of the machine's programs: with two Pythons, first the usual one of templates.
 */
static const char *const places[] = {"/usr/bin", "/usr/local/bin", "/bin"};

static char **make_environment(const struct build *b)
{
	static const char *const fixed[] = {
	    "PATH=" SYSTEM_PATHS_ENV,	  "HOME=" ROOTFS_WORK,
	    "TMPDIR=" ROOTFS_WORK "/tmp", "LANG=C.UTF-8",
	    "PYTHONHASHSEED=0",		  "PYTHONSAFEPATH=1",
	    "PIP_CONFIG_FILE=/dev/null",  "PIP_ROOT_USER_ACTION=ignore"};
	static const char *const proxies[] = {"http_proxy", "https_proxy",
					      "HTTP_PROXY", "HTTPS_PROXY"};
	char **env =
	    xcalloc(ARRAY_LEN(fixed) + ARRAY_LEN(proxies) + 2, sizeof(*env));
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		env[n++] = (char *)fixed[i];
	for (size_t i = 0; b->proxy != NULL && i < ARRAY_LEN(proxies); i++)
		env[n++] = xasprintf("%s=%s", proxies[i], b->proxy);
	/* pip finds certificates without the variable */
	if (access(CERTIFICATES, R_OK) == 0)
		env[n++] = (char *)"NODE_EXTRA_CA_CERTS=" CERTIFICATES;
	return env;
}

/* Set PATH to the path of the machine's program NAME; false: not found. */
static bool find_tool(char path[PATH_BYTES], const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		snprintf(path, PATH_BYTES, "%s/%s", places[i], name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/*
 * Does the script at PATH start the interpreter by env(1)? The interpreter would be a
 * second program to execute, so PATH becomes the path of the interpreter.
 */
static bool is_by_env(char path[PATH_BYTES])
{
	static const char env[] = "#!/usr/bin/env ";
	char line[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;

	sys_close(fd);
	if (n <= 0 || strncmp(line, env, strlen(env)) != 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return strpbrk(line + strlen(env), " /\t") == NULL &&
	       find_tool(path, line + strlen(env));
}

_Noreturn static void exec_tool(const struct build *b, const struct step *step,
				const struct sandbox *sb,
				const struct sandbox_program *p, int out)
{
	char **env = make_environment(b);
	const char *argv[ARGS_MAX], *start;
	char path[PATH_BYTES], script[PATH_BYTES];
	size_t n = 0;

	if (!find_tool(path, step->argv[0]))
		_exit(EXIT_UNSTARTED);
	memcpy(script, path, sizeof(script));
	argv[n++] = step->argv[0];
	if (is_by_env(path))
		argv[n++] = script;
	for (size_t i = 1; step->argv[i] != NULL; i++)
		argv[n++] = step->argv[i];
	if (step->index_flag != NULL && b->index != NULL)
		argv[n++] = xasprintf("%s=%s", step->index_flag, b->index);
	argv[n] = NULL;
	start = path;
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0 ||
	    fds_close_from(BUILD_FD) != 0 ||
	    sandbox_leave_to_build(sb, p, &start) != 0 ||
	    sandbox_bound_files(p) != 0)
		_exit(EXIT_UNSTARTED - 1);
	execve(start, (char *const *)argv, env);
	_exit(EXIT_UNSTARTED);
}

/* Forward all text from FD, while waiting for the end of PIDFD's process. */
static void follow_tool(int fd, int pidfd)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN},
			      {.fd = pidfd, .events = POLLIN}};
	char text[FILE_STREAM_HEAD_MAX];
	ssize_t n = 1;

	while (n > 0) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		if (p[1].revents != 0) { /* then no other process may go on */
			kill(-1, SIGKILL);
			p[1].fd = -1;
		}
		if (p[0].revents == 0)
			continue;
		n = read(fd, text, sizeof(text));
		if (n > 0 && file_stream_put(BUILD_FD, FILE_STREAM_SAID, text,
					     (size_t)n) != 0)
			return;
	}
}

/* Run a step. Returns the wait status, or -errno. */
static int start_tool(const struct build *b, const struct step *step,
		      const struct sandbox *sb, const struct sandbox_program *p)
{
	int ends[2], pidfd, status = 0, one;
	pid_t pid, who;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		exec_tool(b, step, sb, p, ends[1]);
	close(ends[1]);
	pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (pidfd < 0) {
		close(ends[0]);
		return -errno;
	}
	follow_tool(ends[0], pidfd);
	close(ends[0]);
	close(pidfd);
	/* no other process is left afterwards */
	kill(-1, SIGKILL);
	while ((who = waitpid(-1, &one, 0)) > 0 || errno == EINTR)
		if (who == pid)
			status = one;
	return status;
}

int build_tools_run(const struct build *b, const struct sandbox *sb,
		    const struct sandbox_program *p)
{
	const char *name;

	for (size_t i = 0; i < ARRAY_LEN(b->tool->steps); i++) {
		const struct step *step = &b->tool->steps[i];
		int status =
		    step->argv != NULL ? start_tool(b, step, sb, p) : 0;

		if (status == 0 || step->may_fail)
			continue;
		name = step->argv[0];
		if (status < 0)
			build_fail("%s could not be started: %s", name,
				   strerror(-status));
		else if (WIFSIGNALED(status))
			build_fail("%s was ended by signal %d", name,
				   WTERMSIG(status));
		else if (WEXITSTATUS(status) == EXIT_UNSTARTED)
			build_fail("there is no %s", name);
		else
			build_fail("%s ended with status %d", name,
				   WEXITSTATUS(status));
		return -1;
	}
	return 0;
}

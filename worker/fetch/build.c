/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c - builds the cage of a package's build, and in the cage, as PID 1, receives the
 * lock, runs the programs that fetch, and sends the result. The command starts the build
 * as an ordinary user; every failure is a sentence for the command.
 */
#include "worker/fetch/build.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/dir_walk.h"
#include "base/os/errname.h"
#include "base/os/file_stream.h"
#include "base/os/no_core.h"
#include "base/os/nofollow.h"
#include "base/os/oom_victim.h"
#include "base/os/sys.h"
#include "sandbox/fds.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_program.h"
#include "sandbox/uids.h"
#include "worker/fetch/build_private.h"
#include "worker/clone.h"

#define EXIT_USAGE 2

/* Memory holds all files: half of the bytes for fetched and made files. */
static struct sandbox_program bounds = {
    .w = {.run_fd = BUILD_FD, .cpu_ms = 600000, .memory_bytes = 2ull << 30},
    .package = ROOTFS_NO_PACKAGE,
    .limits = {.processes = 128, .open_files = 1024, .files = 262144}};

static struct build build; /* the only build of the process */

int build_fail(const char *fmt, ...)
{
	char text[FILE_STREAM_HEAD_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(text))
		n = (int)sizeof(text) - 1;
	/* a command that is gone needs no answer */
	(void)file_stream_put(BUILD_FD, FILE_STREAM_FAIL, text,
			      n > 0 ? (size_t)n : 0);
	return EXIT_FAILURE;
}

/* ---- in the cage ---- */

/* Receive the lock's files into the open folder OUT. */
static int receive_order(int out)
{
	static char block[1 << 16];
	struct file_stream s;
	int rc = 0;

	file_stream_init(&s, out);
	while (rc == 0 && !s.done) {
		ssize_t n = read(BUILD_FD, block, sizeof(block));

		if (n == 0)
			rc = -EPIPE;
		else if (n > 0)
			rc = file_stream_take(&s, block, (size_t)n);
		else if (errno != EINTR)
			rc = -errno;
	}
	if (rc < 0)
		build_fail("the lock did not arrive: %s",
			   s.errmsg[0] != '\0' ? s.errmsg : strerror(-rc));
	file_stream_fini(&s);
	return rc;
}

static int send_tree(const struct build *b, int at, const struct dir_walk *f)
{
	int rc = 0;

	for (size_t i = 0; i < f->n && rc == 0; i++) {
		if (b->skipped != NULL && strcmp(f->names[i], b->skipped) == 0)
			continue;
		rc = nofollow_is_plain(f->names[i])
			 ? file_stream_put_file(BUILD_FD, at, f->names[i],
						f->names[i])
			 : -EILSEQ;
		if (rc < 0)
			build_fail("%s: %s", f->names[i], strerror(-rc));
	}
	return rc == 0 ? file_stream_put(BUILD_FD, FILE_STREAM_DONE, "", 0)
		       : rc;
}

/*
 * Send the files of B's folder, which lies in OUT: plain files alone, sorted by name, with
 * names and bytes. 0, or -1 after a report, and then nothing more is sent.
 */
static int send_result(const struct build *b, int out)
{
	char errmsg[1024];
	struct dir_walk *f = NULL;
	int at = nofollow_open_here(out, b->folder, O_RDONLY | O_DIRECTORY);
	int rc;

	if (at == -ENOENT) /* the lock names no package */
		return file_stream_put(BUILD_FD, FILE_STREAM_DONE, "", 0);
	rc = at;
	if (at < 0)
		build_fail("%s: %s", b->folder, strerror(-at));
	else if ((rc = dir_walk_list(at, &f, errmsg, sizeof(errmsg))) < 0)
		build_fail("what was fetched cannot be in a package: %s",
			   errmsg);
	else
		rc = send_tree(b, at, f);
	dir_walk_free(f);
	sys_close(at);
	return rc < 0 ? -1 : 0;
}

static void live(const struct sandbox *sb, const struct sandbox_program *p,
		 int proc)
{
	int out;

	(void)proc;
	umask(022);
	if (chdir(ROOTFS_WORK) != 0 || mkdir("out", 0755) != 0 ||
	    mkdir("tmp", 0700) != 0 || chdir("out") != 0)
		_exit(build_fail("the cage's folders: %s", strerror(errno)));
	out = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out < 0)
		_exit(build_fail("the cage's folders: %s", strerror(errno)));
	if (receive_order(out) != 0 || build_tools_run(&build, sb, p) != 0)
		_exit(EXIT_FAILURE);
	_exit(send_result(&build, out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- the cage ---- */

static bool take_arguments(int argc, char **argv)
{
	static const char index[] = "index=", proxy[] = "proxy=";

	if (argc < 1 || !build_tools_find(&build, argv[0]))
		return false;
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], index, strlen(index)) == 0)
			build.index = xstrdup(argv[i] + strlen(index));
		else if (strncmp(argv[i], proxy, strlen(proxy)) == 0)
			build.proxy = xstrdup(argv[i] + strlen(proxy));
		else
			return false;
		memset(argv[i], 0, strlen(argv[i])); /* possibly a password */
	}
	return true;
}

/* Keep nothing of the parent's: no terminal, signal, descriptor or variable. */
static int detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < BUILD_FD; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			return -errno;
	(void)no_core();
	(void)oom_victim();
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	setsid();
	clearenv();
	return fds_close_from(BUILD_FD + 1);
}

static int cage(struct sandbox *sb)
{
	struct rootfs t = {.network = true};
	enum sandbox_layer failed;
	const char *at;
	int rc = sandbox_build_program(sb, 1, 0, &t, &failed, &at);

	if (rc == 0)
		return 0;
	build_fail("the cage cannot be built: %s: %s (%s)",
		   sandbox_layer_name(failed), errname_text(-rc),
		   failed == SANDBOX_ROOT && at != NULL
		       ? at
		       : sandbox_layer_remedy(failed, rc));
	return rc;
}

int build_run(int argc, char **argv)
{
	static struct sandbox sb;
	socklen_t len = sizeof(int);
	int rc, type, status = 0;
	pid_t pid;

	if (!take_arguments(argc, argv) ||
	    getsockopt(BUILD_FD, SOL_SOCKET, SO_TYPE, &type, &len) != 0 ||
	    type != SOCK_STREAM) {
		fprintf(stderr, "paddock-worker: only \"paddock template "
				"build\" has it build\n");
		return EXIT_USAGE;
	}
	rc = detach();
	if (rc < 0)
		return build_fail("the build cannot begin: %s", strerror(-rc));
	if (geteuid() == 0)
		return build_fail("a build is nothing for root");
	if (cage(&sb) != 0)
		return EXIT_FAILURE;
	rc = pdeathsig_set(BUILD_FD);
	if (rc != 0)
		return EXIT_FAILURE;
	pid = clone_program(&sb, &bounds, CLONE_OF_ZYGOTE, live);
	if (pid < 0)
		return build_fail("the cage cannot be built: %s",
				  strerror(-(int)pid));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_FAILURE)
		return WEXITSTATUS(status); /* the child has reported */
	return build_fail("the cage was lost (wait status %d)", status);
}

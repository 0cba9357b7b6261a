/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_cage.c - starts paddock-worker as an ordinary user, sends a lock and
 * keeps the files that come back, for template_build.c. file_stream.c checks
 * the files; a build that takes too long, or is interrupted, is killed.
 */
#include "cli/template/build_cage.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/file_stream.h"
#include "base/os/sys.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"

#define PROGRAM "paddock-worker"
#define WORKER_FD 3 /* as in paddock-worker */
#define NOBODY 65534
#define PATIENCE_MS (INT64_C(15) * 60 * 1000)
#define LINES_SHOWN 12

/* ---- why a build failed ---- */

#define UNREACHED                                                               \
	"the index of packages could not be reached: is there a network? "      \
	"--index-url (of pip) and --registry (of npm) name another index, and " \
	"--proxy URL a proxy"
#define TOO_MUCH                                                               \
	"the fetched and unpacked files have more bytes (1 GiB) or are more "  \
	"in number than a build may have"
#define OTHER_BYTES                                                            \
	"the hash of a fetched file is not the hash in the lock file"
#define BROKEN                                                                 \
	"the index of packages answered with an error of its own: try "        \
	"again later, or name another index by --index-url (of pip) or "       \
	"--registry (of npm)"
#define INSECURE                                                               \
	"an index by http: is taken from this machine alone, since others on " \
	"the way could change what it says; --index-url names one by https:"
#define NO_WHEEL                                                                 \
	"there is no wheel of that version for this machine's Python, or there " \
	"is no index at that URL; what is only there as source is not built, "   \
	"since that would execute it"
#define NO_PACKAGE                                                             \
	"a package is not where the lock or --registry says that it is"
#define LOCK_LACKS                                                             \
	"a package needs another that requirements.txt does not list; "        \
	"pip-compile --generate-hashes lists them all"

/* Causes by the tool's words; the first row whose words were printed counts. */
static const struct {
	const char *said, *why;
} causes[] = {
    {"No module named pip",
     "python3 has no pip on this machine: apt install python3-pip"},
    {"No space left on device", TOO_MUCH},
    {"ENOSPC", TOO_MUCH},
    {"DO NOT MATCH THE HASHES", OTHER_BYTES},
    {"EINTEGRITY", OTHER_BYTES},
    {"error responses", BROKEN},
    {"code E5", BROKEN},
    {"code E404", NO_PACKAGE},
    {"Max retries exceeded", UNREACHED},
    {"NewConnectionError", UNREACHED},
    {"Temporary failure in name resolution", UNREACHED},
    {"ECONNREFUSED", UNREACHED},
    {"ECONNRESET", UNREACHED},
    {"ENOTFOUND", UNREACHED},
    {"EAI_AGAIN", UNREACHED},
    {"ETIMEDOUT", UNREACHED},
    {"ENETUNREACH", UNREACHED},
    {"versions pinned with ==", LOCK_LACKS},
    {"not a trusted or secure host", INSECURE},
    {"No matching distribution found", NO_WHEEL},
    {"npm ci can only install packages when",
     "package.json and package-lock.json do not fit each other; npm install "
     "--package-lock-only mends that"},
    {"`npm ci` can only install packages when",
     "package.json and package-lock.json do not fit each other; npm install "
     "--package-lock-only mends that"},
};

static const struct {
	const char *errmsg, *hint;
} absent[] = {
    {"there is no python3", "apt install python3 python3-pip"},
    {"there is no npm", "apt install npm"},
};

/* Print the last MOST lines of SAID, the output of the tool. */
static void show_said(const struct buf *said, size_t most)
{
	const char *p = buf_data(said), *end, *from;

	if (p == NULL)
		return;
	end = from = p + buf_len(said);
	for (size_t n = 0; from > p; from--)
		if (from[-1] == '\n' && from != end && ++n == most)
			break;
	while (from < end) {
		const char *stop = memchr(from, '\n', (size_t)(end - from));
		size_t n = (size_t)((stop != NULL ? stop : end) - from);

		if (n > 0)
			message_more("  %.*s", (int)n, from);
		from += n + 1;
	}
}

static int explain_build(const struct build_lock *l,
			 const struct file_stream *s, bool verbose)
{
	const char *why = NULL, *hint = NULL;

	for (size_t i = 0; i < ARRAY_LEN(absent); i++)
		if (strcmp(s->errmsg, absent[i].errmsg) == 0)
			hint = absent[i].hint;
	for (size_t i = 0;
	     buf_len(&s->said) > 0 && i < ARRAY_LEN(causes) && why == NULL; i++)
		if (memmem(buf_data(&s->said), buf_len(&s->said),
			   causes[i].said, strlen(causes[i].said)) != NULL)
			why = causes[i].why;
	message_print("%s: %s%s%s", l->kind->files[0],
		      why != NULL ? why : s->errmsg, hint != NULL ? ": " : "",
		      hint != NULL ? hint : "");
	if (!verbose && hint == NULL && buf_len(&s->said) > 0) {
		message_more("what %s printed last:", l->kind->tool);
		show_said(&s->said, LINES_SHOWN);
	}
	return CLI_FAILED;
}

/* ---- the worker's process ---- */

int build_cage_open(void)
{
	static const char *const places[] = {"", "../libexec/paddock/"};
	char path[PATH_MAX + sizeof(PROGRAM) + 32];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
	int fd = -1;
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	for (size_t i = 0; slash != NULL && fd < 0 && i < ARRAY_LEN(places);
	     i++) {
		snprintf(slash + 1, sizeof(PROGRAM) + 32, "%s" PROGRAM,
			 places[i]);
		fd = open(path, O_PATH | O_CLOEXEC);
	}
	if (fd < 0)
		fd = open("/usr/libexec/paddock/" PROGRAM, O_PATH | O_CLOEXEC);
	if (fd < 0)
		message_print(PROGRAM " is neither beside this program nor "
				      "installed");
	return fd;
}

/* Give up root's rights, if the user is root: a build needs none of them. */
static int become_ordinary(void)
{
	return geteuid() != 0 || (setgroups(0, NULL) == 0 &&
				  setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
				  setresuid(NOBODY, NOBODY, NOBODY) == 0)
		   ? 0
		   : -errno;
}

_Noreturn static void exec_build_tool(const struct build_cage *b,
				      const char *tool, int end)
{
	static char *const none[] = {NULL};
	char *argv[6] = {(char *)PROGRAM, (char *)"build", (char *)tool};
	size_t n = 3;
	int worker;

	signals_reset();
	if (b->index != NULL)
		argv[n++] = xasprintf("index=%s", b->index);
	if (b->proxy != NULL)
		argv[n++] = xasprintf("proxy=%s", b->proxy);
	argv[n] = NULL;
	setpgid(0, 0); /* ctrl-C goes to the command, which kills the build */
	/* so that dup2() cannot overwrite the worker's descriptor */
	worker = fcntl(b->worker, F_DUPFD_CLOEXEC, WORKER_FD + 1);
	if (worker >= 0 && dup2(end, WORKER_FD) >= 0 &&
	    close_range(WORKER_FD + 1, ~0u, CLOSE_RANGE_CLOEXEC) == 0 &&
	    become_ordinary() == 0)
		(void)syscall(SYS_execveat, worker, "", argv, none,
			      AT_EMPTY_PATH);
	_exit(CLI_TROUBLE);
}

static pid_t start_build_tool(const struct build_cage *b, const char *tool,
			      int ends[2])
{
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		message_print("a build cannot begin: %s", strerror(errno));
		return -1;
	}
	pid = fork();
	if (pid == 0)
		exec_build_tool(b, tool, ends[1]);
	if (pid < 0)
		message_print("a build cannot begin: %s", strerror(errno));
	close(ends[1]);
	return pid;
}

/* ---- lock out, files in ---- */

/* Wait until FD is readable: 0. At UNTIL or a signal: an exit status. */
static int wait_for(int fd, int64_t until)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN},
			      {.fd = signals_fd(), .events = POLLIN}};

	for (;;) {
		int64_t left = until - clock_mono_ms();

		if (signals_noted() != 0)
			return CLI_SIGNALED + signals_noted();
		if (left <= 0)
			return message_fail(CLI_TIMEOUT,
					    "the build was not over after 15 "
					    "minutes, and was ended");
		if (poll(p, 2, (int)left) > 0 && p[0].revents != 0)
			return 0;
	}
}

static int receive_build_file(int fd, struct file_stream *s)
{
	static char block[1 << 16];
	int64_t until = clock_mono_ms() + PATIENCE_MS;
	int rc = 0;

	while (rc == 0 && !s->done && !s->failed) {
		ssize_t n;

		rc = wait_for(fd, until);
		if (rc != 0)
			return rc;
		n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return message_fail(
			    CLI_TROUBLE, "the build's cage was lost%s%s",
			    s->errmsg[0] != '\0' ? ": " : "", s->errmsg);
		if (file_stream_take(s, block, (size_t)n) < 0)
			return message_fail(
			    CLI_TROUBLE,
			    "what was fetched could not be kept: %s",
			    s->errmsg);
	}
	return 0;
}

int build_cage_run(struct build_cage *b, const struct build_lock *l)
{
	struct file_stream s;
	int ends[2], rc = 0;
	pid_t pid;

	signals_watch();
	pid = start_build_tool(b, l->kind->tool, ends);
	if (pid < 0)
		return CLI_TROUBLE;
	file_stream_init(&s, b->into);
	for (size_t i = 0; i < BUILD_LOCK_FILES && rc == 0; i++)
		if (l->kind->files[i] != NULL)
			rc = file_stream_put_bytes(ends[0], l->kind->files[i],
						   buf_data(&l->text[i]),
						   buf_len(&l->text[i]));
	if (rc == 0)
		(void)file_stream_put(ends[0], FILE_STREAM_DONE, "", 0);
	/* notices a lost worker, too */
	rc = receive_build_file(ends[0], &s);
	close(ends[0]);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (b->verbose)
		show_said(&s.said, SIZE_MAX);
	if (rc == 0 && s.failed)
		rc = explain_build(l, &s, b->verbose);
	b->files = s.files;
	b->bytes = s.bytes;
	file_stream_fini(&s);
	return rc;
}

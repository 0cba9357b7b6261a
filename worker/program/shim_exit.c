/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_exit.c - the end of a program's run, for shim.c: kills remaining processes, reads
 * the pipes to the end, keeps the artifacts in out/, and sends RESULT or FAIL, without
 * returning.
 */
#include "worker/program/shim_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "base/text/missing_module.h"
#include "worker/channel.h"
#include "worker/report.h"
#include "worker/signals.h"
#include "worker/text.h"

/* kill(-1) reaches a whole PID namespace: only PID 1 of a namespace may call kill(-1). */
void shim_end_all(void)
{
	if (getpid() != 1)
		return;
	kill(-1, SIGKILL);
	while (wait4(-1, NULL, 0, NULL) > 0 || errno == EINTR)
		;
}

static const char *const spaces[] = {ROOTFS_WORK, "/tmp", "/dev/shm"};

static bool read_output(int fd, struct shim_space *r)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return false;
	if (fs.f_ffree == 0) {
		r->limit = "files";
		r->used = fs.f_files;
		return true;
	}
	r->limit = "memory";
	r->used = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
	return fs.f_bfree == 0;
}

bool shim_full(struct shim_space *r)
{
	bool full = false;

	for (size_t i = 0; i < ARRAY_LEN(spaces) && !full; i++) {
		int fd = open(spaces[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		r->path = spaces[i];
		full = fd >= 0 && read_output(fd, r);
		if (fd >= 0)
			close(fd);
	}
	return full;
}

static void sum_written(uint64_t *bytes, uint64_t *files)
{
	for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
		int fd = open(spaces[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct statfs fs;

		if (fd >= 0 && fstatfs(fd, &fs) == 0) {
			*bytes += (uint64_t)(fs.f_blocks - fs.f_bfree) *
				  (uint64_t)fs.f_bsize;
			*files += (uint64_t)(fs.f_files - fs.f_ffree);
		}
		sys_close(fd);
	}
}

uint64_t shim_written_bytes(void)
{
	uint64_t bytes = 0, files = 0;

	sum_written(&bytes, &files);
	return bytes;
}

uint64_t shim_written_files(void)
{
	uint64_t bytes = 0, files = 0;

	sum_written(&bytes, &files);
	return files;
}

static void add_tail(struct text *t)
{
	struct str tail = shim_tail();

	text_add(t, ",\"stderr\":");
	text_add_quoted(t, tail.p, tail.n);
	text_add(t, "}");
}

/* Add a full file system; the supervisor adds the limit, and who can raise the limit. */
static void add_full(struct text *t, const struct shim_space *r)
{
	text_add(t, ",\"limit\":\"");
	text_add(t, r->limit);
	text_add(t, "\",\"room\":\"");
	text_add(t, r->path);
	text_add(t, "\",\"used\":");
	text_add_int(t, r->used);
}

/* The program failed for want of a module: name the cure for the responsible person. */
static void exited_for_import(int code, const char *details)
{
	struct str tail = shim_tail();
	char cure[MISSING_MODULE_CURE_MAX];
	struct missing_module m;

	if (!missing_module_find(tail.p, tail.n, &m))
		return;
	missing_module_cure(&m, cure);
	shim_fail("EXECUTION_ERROR", details,
		  "the program exited with status %d, since it found no module "
		  "%s: %s",
		  code, m.name, cure);
}

static void exited(int code)
{
	static char buffer[MSG_DETAILS_MAX];
	struct text t = {.p = buffer, .size = sizeof(buffer) - 1};
	struct shim_space r;
	bool full = shim_full(&r);
	struct str tail = shim_tail();
	size_t n = tail.n;
	const char *last;

	text_add(&t, "{\"exitCode\":");
	text_add_int(&t, (uint64_t)code);
	if (full)
		add_full(&t, &r);
	add_tail(&t);
	buffer[t.n] = '\0';
	if (!full)
		exited_for_import(code, t.full ? NULL : buffer);
	while (n > 0 && tail.p[n - 1] == '\n')
		n--;
	last = n > 0 ? memrchr(tail.p, '\n', n) : NULL;
	last = last != NULL ? last + 1 : tail.p;
	n -= (size_t)(last - tail.p);
	shim_fail(full ? "RESOURCE_LIMIT" : "EXECUTION_ERROR",
		  t.full ? NULL : buffer,
		  "the program exited with status %d%s%s%s%s%.*s", code,
		  full ? "; its " : "", full ? r.path : "",
		  full ? " is full" : "", n > 0 ? ": " : "", (int)n, last);
}

static void signalled(const struct shim *s, int sig)
{
	static char buffer[MSG_DETAILS_MAX];
	struct text t = {.p = buffer, .size = sizeof(buffer) - 1};
	const char *abbrev = sigabbrev_np(sig);
	uint64_t ms =
	    shim_rusage_ms(RUSAGE_CHILDREN); /* every process has ended */

	ms -= s->start_cpu_ms < ms ? s->start_cpu_ms : ms;

	/* the program may have sent SIGXCPU by kill(2) */
	if (sig == SIGXCPU && ms >= s->p->w.cpu_ms)
		shim_limit("cpu", ms, s->p->w.cpu_ms, "ms",
			   "template limits.maxCpuMs, or the server's [limits]",
			   "the program used all of its CPU time");
	text_add(&t, "{\"signal\":\"SIG");
	text_add(&t, abbrev != NULL ? abbrev : "?");
	text_add(&t, "\",\"number\":");
	text_add_int(&t, (uint64_t)sig);
	add_tail(&t);
	buffer[t.n] = '\0';
	shim_fail("WORKER_CRASHED", t.full ? NULL : buffer,
		  "the program was ended by SIG%s",
		  abbrev != NULL ? abbrev : "?");
}

static bool is_blank_output(const struct buf *b)
{
	static const char blanks[] = {' ', '\t', '\r', '\n'};

	for (size_t i = 0; i < buf_len(b); i++)
		if (memchr(blanks, buf_data(b)[i], sizeof(blanks)) == NULL)
			return false;
	return true;
}

_Noreturn static void send_result(void)
{
	const struct buf *reply = shim_reply(), *output = shim_output();

	shim_doubt();
	if (reply != NULL)
		report_result(MSG_RESULT_REPLY, NULL, buf_data(reply),
			      buf_len(reply));
	else if (is_blank_output(output))
		report_result(MSG_RESULT_VALUE, NULL, "null", strlen("null"));
	else
		report_result(MSG_RESULT_VALUE, NULL, buf_data(output),
			      buf_len(output));
	_exit(SHIM_EXIT_SENT);
}

void shim_finish(struct shim *s, int status)
{
	channel_while_waiting(NULL); /* the program has ended in time */
	if (status != 0 && !signals_cancelled())
		shim_watch_failed(s);
	shim_end_all();
	shim_watch_ended(s);
	shim_drain(s);
	shim_collect(s);
	if (signals_cancelled())
		shim_fail("RUN_CANCELED", NULL, "the run was cancelled");
	if (WIFSIGNALED(status))
		signalled(s, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		exited(WEXITSTATUS(status));
	send_result();
}

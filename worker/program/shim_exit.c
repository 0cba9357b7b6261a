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

static bool read_space(const char *path, struct statfs *fs)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool read = fd >= 0 && fstatfs(fd, fs) == 0;

	sys_close(fd);
	return read;
}

bool shim_full(struct shim_space *r)
{
	struct statfs fs;

	for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
		if (!read_space(spaces[i], &fs) ||
		    (fs.f_ffree > 0 && fs.f_bfree > 0))
			continue;
		r->path = spaces[i];
		r->limit = fs.f_ffree == 0 ? "files" : "memory";
		r->used = fs.f_ffree == 0
			      ? fs.f_files
			      : (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
		return true;
	}
	return false;
}

struct shim_written shim_written(void)
{
	struct shim_written w = {0};
	struct statfs fs;

	for (size_t i = 0; i < ARRAY_LEN(spaces); i++) {
		if (!read_space(spaces[i], &fs))
			continue;
		w.bytes +=
		    (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
		w.files += (uint64_t)(fs.f_files - fs.f_ffree);
	}
	return w;
}

static void add_tail(struct text *t)
{
	struct str tail = shim_tail();

	text_add(t, ",\"stderr\":");
	text_add_quoted(t, tail.p, tail.n);
	text_add(t, "}");
}

static void exited(int code)
{
	static char buffer[MSG_DETAILS_MAX];
	struct text t = {.p = buffer, .size = sizeof(buffer) - 1};
	struct shim_space r = {0};
	bool full = shim_full(&r);
	struct str tail = shim_tail();
	char cure[MISSING_MODULE_CURE_MAX];
	struct missing_module m;
	size_t n = tail.n;
	const char *last;

	text_add(&t, "{\"exitCode\":");
	text_add_int(&t, (uint64_t)code);
	if (full) { /* the supervisor adds the limit, and who can raise the limit */
		text_add(&t, ",\"limit\":\"");
		text_add(&t, r.limit);
		text_add(&t, "\",\"room\":\"");
		text_add(&t, r.path);
		text_add(&t, "\",\"used\":");
		text_add_int(&t, r.used);
	}
	add_tail(&t);
	buffer[t.n] = '\0';
	if (!full && missing_module_find(tail.p, tail.n, &m)) {
		missing_module_cure(&m, cure);
		shim_fail("EXECUTION_ERROR", t.full ? NULL : buffer,
			  "the program exited with status %d, since it found "
			  "no module %s: %s",
			  code, m.name, cure);
	}
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
	if (sig == SIGXCPU && ms >= s->cpu_ms)
		shim_limit("cpu", ms, s->cpu_ms, "ms",
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

void shim_finish(struct shim *s, int status)
{
	const struct buf *reply, *output;

	channel_while_waiting(NULL); /* the program has ended in time */
	if (status != 0 && !signals_cancelled())
		shim_watch_failed(s);
	shim_end_all();
	shim_watch_ended(s);
	shim_drain(s);
	shim_collect(s);
	shim_fail_by_cause();
	if (signals_cancelled())
		shim_fail("RUN_CANCELED", NULL, "the run was cancelled");
	if (WIFSIGNALED(status))
		signalled(s, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0 || shim_stays())
		exited(WEXITSTATUS(status));
	shim_doubt();
	reply = shim_reply();
	output = shim_output();
	if (reply != NULL)
		report_result(MSG_RESULT_REPLY, NULL, buf_data(reply),
			      buf_len(reply));
	else if (shim_is_blank(buf_data(output), buf_len(output)))
		report_result(MSG_RESULT_VALUE, NULL, "null", strlen("null"));
	else
		report_result(MSG_RESULT_VALUE, NULL, buf_data(output),
			      buf_len(output));
	_exit(SHIM_EXIT_SENT);
}

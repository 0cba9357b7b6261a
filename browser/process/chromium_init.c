/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_init.c - PID 1 of Chromium's namespaces, from the last step of
 * chromium_launch.c on. An event is sent before a process is killed, so the
 * death has a reason. An unreadable measure counts as 0: cgroups and the
 * processes' own limits still hold.
 */
#include "browser/process/chromium_init.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "browser/process/chromium_pages.h"

#define PROC_FILE_MAX 4096 /* bytes read of a file, with the NUL */
#define TICK_MS 250
#define TICKS_A_LOOK 4 /* ticks between checks of the pages' sandbox */
/* ticks for a killed process to die, before another is killed */
#define TICKS_TO_DIE 8

struct process {
	pid_t pid;
	uint64_t bytes, threads;
};

struct usage {
	uint64_t bytes, tasks;
	struct process main; /* Chromium itself */
	/* the other processes with the most bytes, threads */
	struct process most_bytes, most_threads;
};

static struct {
	int to;
	pid_t chromium;
	const struct chromium_init_limits *limits;
	int held; /* value of HELD sent last; -1: none */
	pid_t killed;
	int ticks_left;
	unsigned ticks;
} it;

static void send_event(enum chromium_init_kind kind, uint64_t used,
		       uint64_t allowed)
{
	struct chromium_init_event n = {
	    .kind = kind, .used = used, .allowed = allowed};

	(void)!send(it.to, &n, sizeof(n), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- measuring ---- */

/*
 * Read the start of /proc/PID/NAME, with a NUL. Return the length; 0:
 * unreadable.
 */
static size_t proc_file(pid_t pid, const char *name, char text[PROC_FILE_MAX])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, PROC_FILE_MAX - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static bool has_argument(pid_t pid, const char *start)
{
	char text[PROC_FILE_MAX];
	size_t n = proc_file(pid, "cmdline", text);

	return memmem(text, n, start, strlen(start)) != NULL;
}

/* Return PID's own memory; shared memory is counted as files, or not at all. */
static uint64_t own_bytes(pid_t pid)
{
	char text[PROC_FILE_MAX], *end;
	uint64_t resident, shared;

	if (proc_file(pid, "statm", text) == 0)
		return 0;
	strtoull(text, &end, 10); /* skip the whole address space */
	resident = strtoull(end, &end, 10);
	shared = strtoull(end, &end, 10);
	return resident > shared
		   ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE)
		   : 0;
}

/* Return the CPU time of all PID's threads, with ended threads. */
static uint64_t own_cpu_ms(pid_t pid)
{
	char text[PROC_FILE_MAX], *end;
	uint64_t ticks;
	size_t n = proc_file(pid, "stat", text);
	const char *at = n > 0 ? memrchr(text, ')', n) : NULL;

	for (int i = 0; i < 12 && at != NULL; i++) /* go to the field utime */
		at = strchr(at + 1, ' ');
	if (at == NULL)
		return 0;
	ticks = strtoull(at, &end, 10);
	ticks += strtoull(end, NULL, 10); /* skip to the field stime */
	return ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

static uint64_t own_threads(pid_t pid)
{
	static const char key[] = "\nThreads:";
	char text[PROC_FILE_MAX];
	const char *at =
	    proc_file(pid, "status", text) > 0 ? strstr(text, key) : NULL;

	return at == NULL ? 0 : strtoull(at + sizeof(key) - 1, NULL, 10);
}

static uint64_t files_at(const char *path)
{
	struct statvfs v;

	return statvfs(path, &v) == 0
		   ? (uint64_t)(v.f_blocks - v.f_bfree) * v.f_frsize
		   : 0;
}

static void count_process(struct usage *w, pid_t pid)
{
	struct process p = {pid, own_bytes(pid), own_threads(pid)};

	w->bytes += p.bytes;
	w->tasks += p.threads;
	/* Chromium itself, or a script that starts it */
	if (!has_argument(pid, "--type=")) {
		if (p.bytes >= w->main.bytes)
			w->main = p;
		return;
	}
	if (has_argument(pid, "--type=renderer"))
		chromium_pages_saw(pid, p.threads, own_cpu_ms(pid));
	else
		chromium_pages_saw_helper(pid, own_cpu_ms(pid));
	if (p.bytes > w->most_bytes.bytes)
		w->most_bytes = p;
	if (p.threads > w->most_threads.threads)
		w->most_threads = p;
}

static void measure_use(struct usage *w)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;

	*w = (struct usage){.bytes = files_at("/tmp") + files_at("/dev/shm")};
	chromium_pages_look(clock_mono_ms());
	while (d != NULL && (e = readdir(d)) != NULL) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid > 1)
			count_process(w, pid);
	}
	if (d != NULL)
		closedir(d);
}

/* ---- the sandbox of pages ---- */

struct isolation {
	unsigned seccomp, namespaces; /* pid namespaces around the process */
};

static const char *line_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at != NULL ? at + strlen(key) : "";
}

static struct isolation look_at_isolation(pid_t pid)
{
	struct isolation p = {0};
	char text[PROC_FILE_MAX];
	const char *ids;

	proc_file(pid, "status", text);
	p.seccomp = (unsigned)strtoul(line_of(text, "\nSeccomp:"), NULL, 10);
	for (ids = line_of(text, "\nNSpid:"); *ids == '\t'; p.namespaces++)
		ids += 1 + strcspn(ids + 1, "\t\n");
	return p;
}

/*
 * Are the pages sandboxed? 1: each page's process has a filter of system calls
 * and a pid namespace below Chromium's; 0: at least one has not; -ENOENT: no
 * page.
 */
static int pages_are_sandboxed(void)
{
	unsigned above = look_at_isolation(1).namespaces;
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int rc = -ENOENT;

	while (d != NULL && rc != 0 && (e = readdir(d)) != NULL) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		struct isolation p;

		if (pid <= 1 || !has_argument(pid, "--type=renderer"))
			continue;
		p = look_at_isolation(pid);
		rc = p.seccomp == 2 && p.namespaces > above;
	}
	if (d != NULL)
		closedir(d);
	return rc;
}

/* ---- killing ---- */

/*
 * Choose the process to kill. Chromium itself, and all pages with it, is killed
 * only when it uses more than half of ALLOWED.
 */
static const struct process *victim(const struct process *other,
				    const struct process *main, uint64_t its,
				    uint64_t allowed)
{
	return other->pid == 0 || its > allowed / 2 ? main : other;
}

static void end_busiest(const struct process *p, enum chromium_init_kind kind,
			uint64_t used, uint64_t allowed)
{
	if (p->pid <= 1)
		return;
	send_event(kind, used, allowed);
	kill(p->pid, SIGKILL);
	it.killed = p->pid;
	it.ticks_left = TICKS_TO_DIE;
}

static bool end_page(const struct chromium_pages_one *page,
		     enum chromium_init_kind kind, uint64_t used,
		     uint64_t allowed)
{
	const struct process p = {.pid = page->pid};

	end_busiest(&p, kind, used, allowed);
	return page->pid > 1;
}

/*
 * End a process when all use too much, a page above its own limit of threads, or
 * a page that keeps Chromium from answering.
 */
static void check_usage(void)
{
	const struct chromium_init_limits *l = it.limits;
	const struct process *p;
	struct chromium_init_order o;
	struct chromium_pages_one page;
	int64_t silent = 0; /* for how long Chromium has not answered */
	struct usage w;

	/* the newest order counts */
	while (recv(it.to, &o, sizeof(o), MSG_DONTWAIT) == sizeof(o))
		silent = o.silent_ms;

	if (it.ticks_left > 0 && kill(it.killed, 0) == 0) {
		it.ticks_left--;
		return;
	}
	measure_use(&w);
	if (w.bytes > l->memory_bytes) {
		p = victim(&w.most_bytes, &w.main, w.main.bytes,
			   l->memory_bytes);
		end_busiest(p, CHROMIUM_INIT_MEMORY, p->bytes, l->memory_bytes);
	} else if (w.tasks > l->tasks) {
		p = victim(&w.most_threads, &w.main, w.main.threads, l->tasks);
		end_busiest(p, CHROMIUM_INIT_TASKS, p->threads, l->tasks);
	} else {
		page = chromium_pages_crowded();
		if (end_page(&page, CHROMIUM_INIT_THREADS, page.threads,
			     CHROMIUM_PAGES_THREADS) ||
		    silent <= 0)
			return;
		page = chromium_pages_busiest(silent);
		end_page(&page, CHROMIUM_INIT_BUSY, page.cpu_ms,
			 (uint64_t)silent);
	}
}

/* Can a priority that was lowered to NICE be had again, without a right? */
static bool can_raise_to(int nice)
{
	struct rlimit now;

	return getrlimit(RLIMIT_NICE, &now) == 0 &&
	       now.rlim_cur >= (rlim_t)(20 - nice);
}

/* ---- the main loop ---- */

static void reap_chromium(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == it.chromium)
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	if (pid < 0 && errno == ECHILD)
		_exit(128);
}

static void on_child(int sig)
{
	(void)sig; /* the signal interrupts ppoll() */
}

_Noreturn void chromium_init_run(int to, pid_t chromium,
				 const struct chromium_init_limits *limits)
{
	int64_t due = clock_mono_ms();
	struct sigaction sa = {.sa_handler = on_child};
	sigset_t child, none;
	int held;

	it.to = to;
	it.chromium = chromium;
	it.limits = limits;
	it.held = -1;
	chromium_pages_init((unsigned)sysconf(_SC_NPROCESSORS_ONLN),
			    can_raise_to(CHROMIUM_PAGES_NICE));
	sigaction(SIGCHLD, &sa, NULL);
	sigemptyset(&none);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	for (;;) {
		int64_t left = due - clock_mono_ms();
		struct timespec ts = {.tv_nsec = left * 1000000};

		reap_chromium();
		if (left > 0) { /* wait, or until a child ends */
			ppoll(NULL, 0, &ts, &none);
			continue;
		}
		due = clock_mono_ms() + TICK_MS;
		check_usage();
		if (it.ticks++ % TICKS_A_LOOK != 0)
			continue;
		held = pages_are_sandboxed();
		if (held >= 0 && held != it.held) {
			it.held = held;
			send_event(CHROMIUM_INIT_HELD, (uint64_t)held, 1);
		}
	}
}

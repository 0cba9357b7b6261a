/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_watch.c - measures the use of all processes of a run together, by /proc, ten times
 * a second from the shim's loop. A reached limit ends the run with RESOURCE_LIMIT; an
 * unreadable figure counts as nothing, or as the maximum.
 */
#include "worker/program/watch/shim_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Without a cgroup for CPU time, the kernel gives each session an equal share (sched(7),
 * autogroup), so many sessions of a run slow other processes down.
 */
#define SESSIONS_MAX 8

/*
 * No figure of /proc shows the kernel's buffers of sockets and pipes: without a cgroup
 * all processes together may have so many times the descriptors of a process.
 */
#define DESCRIPTORS_TIMES 4
/* The bound with a cgroup, since the machine's open files are limited (fs.file-max). */
#define DESCRIPTORS_MOST (UINT64_C(1) << 17)

/* The use of all processes of the run but the shim. */
struct use {
	uint64_t cpu_ticks;
	uint64_t threads;
	uint64_t resident; /* bytes; shared pages count for each process */
	uint64_t descriptors;
	uint64_t memory; /* bytes of address space; 0: no memory */
	struct shim_held held;
	uint64_t session[SESSIONS_MAX + 1];
	size_t sessions; /* different sessions, up to the bound plus one */
};

static void add_session(struct use *u, uint64_t id)
{
	for (size_t i = 0; i < u->sessions; i++)
		if (u->session[i] == id)
			return;
	if (u->sessions <= SESSIONS_MAX)
		u->session[u->sessions++] = id;
}

static bool has_many_sessions(const struct shim *s, const struct use *u)
{
	return !s->p->divided && u->sessions > SESSIONS_MAX;
}

ssize_t shim_read_proc(const struct shim *s, long pid, const char *name,
		       char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%ld/%s", pid, name);
	fd = openat(s->proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

void shim_comm(const struct shim *s, pid_t pid, char *comm, size_t size)
{
	ssize_t n = shim_read_proc(s, pid, "comm", comm, size);

	if (n <= 0)
		snprintf(comm, size, "?");
	else
		comm[strcspn(comm, "\n")] = '\0';
}

/* Parse proc(5)'s stat: the fields after the name, which may contain anything. */
static void add_stat(struct use *u, const char *stat)
{
	enum {
		STATE = 3,
		SESSION = 6,
		UTIME = 14,
		CSTIME = 17,
		THREADS = 20,
		MEMORY = 23,
		RSS = 24
	};
	static long page;
	const char *p = strrchr(stat, ')');
	char *end;

	if (p == NULL)
		return;
	if (page == 0)
		page = sysconf(_SC_PAGESIZE);
	p += strlen(") S");
	for (int field = STATE + 1; field <= RSS; field++, p = end) {
		uint64_t v = strtoull(p, &end, 10);

		if (field == SESSION)
			add_session(u, v);
		else if (field >= UTIME && field <= CSTIME)
			u->cpu_ticks += v;
		else if (field == THREADS)
			u->threads += v;
		else if (field == MEMORY)
			u->memory += v;
		else if (field == RSS)
			u->resident += v * (uint64_t)page;
	}
}

/*
 * The count for PID, whose descriptors are hidden: none if PID's last thread has ended, so
 * that PID only waits to be reaped. A process that hides descriptors still has memory, and
 * so has a thread whose leader ended.
 */
static uint64_t unseen(const struct shim *s, long pid)
{
	struct use u = {0};
	char text[1024];

	if (shim_read_proc(s, pid, "stat", text, sizeof(text)) <= 0)
		return 0;
	add_stat(&u, text);
	return u.memory == 0 && u.threads <= 1 ? 0 : s->p->limits.open_files;
}

/* Count descriptors of PID at PATH; a process that hides descriptors counts in full. */
static uint64_t descriptors_at(const struct shim *s, long pid, const char *path)
{
	const struct dirent *e;
	struct stat st;
	uint64_t n = 0;
	DIR *d;
	int fd;

	if (fstatat(s->proc, path, &st, 0) != 0) /* ENOENT: ended */
		return errno == ENOENT || errno == ESRCH ? 0 : unseen(s, pid);
	if (st.st_size > 0) /* since Linux 6.2 */
		return (uint64_t)st.st_size;
	fd = openat(s->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	if (d == NULL)
		return errno == EACCES ? unseen(s, pid) : 0;
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

void shim_each_thread(const struct shim *s, long pid,
		      bool (*each)(void *arg, long tid), void *arg)
{
	char path[32];
	struct dirent *e;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "%ld/task", pid);
	fd = openat(s->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	while (d != NULL && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' &&
		    !each(arg, strtol(e->d_name, NULL, 10)))
			break;
	if (d != NULL)
		closedir(d);
}

struct living {
	const struct shim *s;
	long pid, tid;
	struct use use;
};

static bool is_without_memory(void *arg, long tid)
{
	struct living *l = arg;
	char name[48], text[1024];

	snprintf(name, sizeof(name), "task/%ld/stat", tid);
	l->use = (struct use){0};
	if (shim_read_proc(l->s, l->pid, name, text, sizeof(text)) > 0)
		add_stat(&l->use, text);
	l->tid = tid;
	return l->use.memory == 0;
}

struct tables {
	const struct shim *s;
	long pid;
	/* the first thread with a table; other threads may share the table */
	long shown;
	uint64_t n;
};

bool shim_is_ending(const struct shim *s, long pid, long tid)
{
	struct living l = {.s = s, .pid = pid};

	return is_without_memory(&l, tid);
}

/* Does TID share the counted table, or have no comparable table? */
static bool has_shown_table(struct tables *t, long tid, const char *path)
{
	struct stat st;
	long rc;

	if (t->shown == 0)
		return false;
	rc = syscall(SYS_kcmp, t->shown, tid, KCMP_FILES, 0, 0);
	if (rc < 0 && errno == ESRCH && fstatat(t->s->proc, path, &st, 0) == 0)
		t->shown = tid; /* SHOWN has ended, but the table is counted */
	if (rc > 0 &&
	    shim_is_ending(t->s, t->pid, t->shown)) { /* SHOWN was ending */
		t->shown = tid;
		rc = 0;
	}
	return rc == 0 || (rc < 0 && (errno == ENOSYS || errno == ESRCH));
}

static bool add_table(void *arg, long tid)
{
	struct tables *t = arg;
	char path[64];
	uint64_t n;

	snprintf(path, sizeof(path), "%ld/task/%ld/fd", t->pid, tid);
	if (shim_is_ending(t->s, t->pid, tid) || has_shown_table(t, tid, path))
		return true;
	n = descriptors_at(t->s, t->pid, path);
	if (t->shown == 0 && n > 0)
		t->shown = tid;
	t->n += n;
	return true;
}

/*
 * Find a thread of PID with memory figures, since a first thread that has ended has none.
 * The memory of the found thread is added to U, unless U is NULL.
 */
static long with_memory(const struct shim *s, long pid, const char *stat,
			struct use *u)
{
	struct living l = {.s = s, .pid = pid, .tid = pid};
	struct use one = {0};

	add_stat(&one, stat);
	if (one.memory > 0 || one.threads <= 1)
		return pid;
	shim_each_thread(s, pid, is_without_memory, &l);
	if (u != NULL) {
		u->memory += l.use.memory;
		u->resident += l.use.resident;
	}
	return l.tid;
}

static uint64_t descriptors_allowed(const struct shim *s)
{
	return s->p->grouped ? DESCRIPTORS_MOST
			     : DESCRIPTORS_TIMES * s->p->limits.open_files;
}

/* Add the use that STAT does not show. */
static void add_unseen(const struct shim *s, struct use *u, long pid,
		       const char *stat)
{
	struct tables t = {.s = s, .pid = pid};
	struct use one = {0};
	char path[32];
	long tid;

	add_stat(&one, stat);
	snprintf(path, sizeof(path), "%ld/fd", pid);
	if (one.threads <= 1)
		t.n = descriptors_at(s, pid, path);
	else /* in the common table or in tables of threads */
		shim_each_thread(s, pid, add_table, &t);
	u->descriptors += t.n;
	tid = with_memory(s, pid, stat, u);
	if (s->p->grouped)
		return;
	(void)with_memory(s, pid, stat, &one);
	shim_add_held(s, pid, tid, one.memory, &u->held);
}

/* Add each process of the run; PID 1 is the shim. */
static void each_process(const struct shim *s, struct use *u, uint64_t *own)
{
	int fd = openat(s->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	bool counts = u != NULL && !s->p->grouped; /* else the cgroup counts */
	char text[1024];

	if (counts)
		shim_cpu_begin();
	while (d != NULL && (e = readdir(d)) != NULL) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid <= 1 ||
		    shim_read_proc(s, pid, "stat", text, sizeof(text)) <= 0)
			continue;
		if (u != NULL)
			add_stat(u, text);
		if (counts)
			shim_cpu_see(pid, text);
		if (u != NULL)
			add_unseen(s, u, pid, text);
		if (own != NULL) { /* the charged bytes */
			struct use one = {0};
			long tid = with_memory(s, pid, text, &one);

			add_stat(&one, text);
			*own += shim_own_bytes(s, pid, tid, one.resident);
		}
	}
	if (d != NULL)
		closedir(d);
	if (counts)
		shim_cpu_end();
}

/* Memory in the kernel, unless a cgroup charges the memory. */
static uint64_t held_by_kernel(const struct shim *s, const struct use *u)
{
	return s->p->grouped
		   ? 0
		   : u->held.tables + shim_mapping_bytes(s, u->memory) +
			 shim_file_bytes(s, u->descriptors);
}

/*
 * As the kernel does where a cgroup bounds the memory: a resident itself may go on. Nothing
 * is killed when the processes have let go of the memory meanwhile.
 */
static void kill_largest(const struct shim *s)
{
	int fd = openat(s->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	uint64_t most = 0, sum = 0;
	struct dirent *e;
	char text[1024];
	long victim = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		long pid = strtol(e->d_name, NULL, 10);
		struct use u = {0};

		if (pid <= 1 ||
		    shim_read_proc(s, pid, "stat", text, sizeof(text)) <= 0)
			continue;
		add_stat(&u, text);
		sum += u.resident;
		if (u.resident > most) {
			most = u.resident;
			victim = pid;
		}
	}
	if (d != NULL)
		closedir(d);
	if (victim > 1 && sum > s->p->w.memory_bytes)
		(void)kill((pid_t)victim, SIGKILL);
}

static void watch_memory(const struct shim *s, const struct use *u)
{
	uint64_t allowed = s->p->w.memory_bytes;
	uint64_t own = held_by_kernel(s, u);

	if (u->resident + u->held.swapped + own <= allowed)
		return;
	each_process(s, NULL, &own);
	if (own <= allowed)
		return;
	if (shim_has_resident_run() && !s->p->grouped)
		kill_largest(s);
	shim_limit("memory", own, allowed, "bytes",
		   "template limits.maxMemoryBytes, or the server's [limits]",
		   "the program's processes need more memory than they may "
		   "have");
}

static void watch_processes(const struct shim *s, uint64_t threads)
{
	if (threads > s->p->limits.processes)
		shim_limit("processes", threads, s->p->limits.processes,
			   "processes",
			   "template limits.maxProcesses, or the server's "
			   "[limits]",
			   "the program has more processes than it may have");
}

/*
 * No figure shows the fill of sockets. So without a cgroup for sockets, a run may have
 * only as many sockets as could hold the run's memory once more.
 */
static uint64_t unbounded_sockets(const struct shim *s)
{
	uint64_t bytes = s->p->grouped ? 0 : shim_socket_bytes(s);

	return bytes > s->p->w.memory_bytes ? bytes : 0;
}

void shim_watch_failed(const struct shim *s)
{
	struct use u = {0};

	each_process(s, &u, NULL);
	watch_processes(s, u.threads + 1);
}

struct shim_use shim_measure(const struct shim *s, uint64_t least_bytes)
{
	struct use u = {0};
	struct shim_use r = {0};
	uint64_t written = least_bytes < UINT64_MAX ? shim_written().bytes : 0;

	shim_hold_begin();
	each_process(s, &u, NULL);
	if (least_bytes < UINT64_MAX)
		written += held_by_kernel(s, &u);
	if (u.resident + u.held.swapped + written > least_bytes) {
		each_process(s, NULL, &r.own_bytes);
		r.own_bytes += written;
	}
	shim_hold_end(s);
	r.cpu_ms = shim_cpu_ms(u.cpu_ticks);
	r.resident = u.resident;
	r.too_many =
	    u.threads > s->p->limits.processes || has_many_sessions(s, &u) ||
	    u.descriptors > descriptors_allowed(s) || unbounded_sockets(s) > 0;
	return r;
}

void shim_watch(const struct shim *s)
{
	struct use u = {0};
	uint64_t ms, sockets;

	shim_hold_begin();
	each_process(s, &u, NULL);
	ms = shim_cpu_since_start(s, shim_cpu_ms(u.cpu_ticks));
	if (ms > s->cpu_ms)
		shim_limit("cpu", ms, s->cpu_ms, "ms",
			   "template limits.maxCpuMs, or the server's [limits]",
			   "the program used all of its CPU time");
	watch_processes(s, u.threads);
	if (has_many_sessions(s, &u))
		shim_limit("sessions", u.sessions, SESSIONS_MAX, "sessions",
			   "who starts the server: with cgroups, these divide "
			   "CPU time",
			   "the program has more sessions (setsid) than it may "
			   "have");
	if (u.descriptors > descriptors_allowed(s))
		shim_limit(
		    "descriptors", u.descriptors, descriptors_allowed(s),
		    "files",
		    "template limits.maxOpenFiles, of which all processes "
		    "together have four times, or the server's [limits]",
		    "the program's processes have more files open than "
		    "they may have together");
	sockets = unbounded_sockets(s);
	if (sockets > 0)
		shim_limit("memory", sockets, s->p->w.memory_bytes, "bytes",
			   "template limits.maxMemoryBytes, or the server's "
			   "[limits]",
			   "the program's sockets can hold more memory than "
			   "it may have");
	watch_memory(s, &u);
	shim_hold_end(s);
}

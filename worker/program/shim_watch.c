/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_watch.c - measures what all processes of a run use together, by /proc,
 * ten times a second from the shim's loop. A limit that is met ends the run
 * with RESOURCE_LIMIT; what cannot be read counts as nothing, or as much as is
 * allowed.
 */
#include "worker/program/shim_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIB 1024u

/*
 * Where no cgroup divides CPU time, the kernel gives each session as much as
 * any other (sched(7), autogroup), so many sessions of one run slow others
 * down.
 */
#define SESSIONS_MAX 8

/*
 * No figure of /proc has what the kernel holds in the buffers of sockets and
 * pipes: where no cgroup limits that, all processes together may have so many
 * times the descriptors of one.
 */
#define DESCRIPTORS_TIMES 4

/* What all processes of the run but the shim use together. */
struct use {
	uint64_t cpu_ticks;
	uint64_t threads;
	uint64_t resident; /* bytes; shared ones count for each process */
	uint64_t descriptors;
	uint64_t memory; /* bytes of addresses; 0: none has any */
	uint64_t session[SESSIONS_MAX + 1];
	size_t sessions; /* different ones, up to one more than is allowed */
};

static void add_session(struct use *u, uint64_t id)
{
	for (size_t i = 0; i < u->sessions; i++)
		if (u->session[i] == id)
			return;
	if (u->sessions <= SESSIONS_MAX)
		u->session[u->sessions++] = id;
}

/* The first bytes of /proc/PID/NAME, NUL-ended. How many, or -1. */
static ssize_t read_proc(const struct shim *s, long pid, const char *name,
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
	ssize_t n = read_proc(s, pid, "comm", comm, size);

	if (n <= 0)
		snprintf(comm, size, "?");
	else
		comm[strcspn(comm, "\n")] = '\0';
}

/* proc(5): the fields behind the name, which may contain anything. */
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
 * Has PID, the last of its threads, ended, so that it only waits to be reaped? Who
 * hides what it has open has memory still, and so has a thread whose leader ended.
 */
static bool has_ended(const struct shim *s, long pid)
{
	struct use u = {0};
	char text[1024];

	if (read_proc(s, pid, "stat", text, sizeof(text)) <= 0)
		return true;
	add_stat(&u, text);
	return u.memory == 0 && u.threads <= 1;
}

/* What counts for PID, whose descriptors are not to be seen. */
static uint64_t unseen(const struct shim *s, long pid)
{
	return has_ended(s, pid) ? 0 : s->p->limits.open_files;
}

/* Open descriptors of PID; one that hides them counts with all it may have. */
static uint64_t descriptors_of(const struct shim *s, long pid)
{
	char path[64];
	struct stat st;
	uint64_t n = 0;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "%ld/fd", pid);
	if (fstatat(s->proc, path, &st, 0) != 0)
		return unseen(s, pid);
	if (st.st_size > 0) /* since Linux 6.2 */
		return (uint64_t)st.st_size;
	fd = openat(s->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	if (d == NULL)
		return errno == EACCES ? unseen(s, pid) : 0;
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

/* The proportional share of a process: "Pss_Anon: 12 kB". 0: unknown. */
static uint64_t own_bytes(const struct shim *s, long pid)
{
	static const char *const kinds[] = {"Pss_Anon:", "Pss_Shmem:"};
	char text[2048];
	uint64_t sum = 0;

	if (read_proc(s, pid, "smaps_rollup", text, sizeof(text)) <= 0)
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *p = strstr(text, kinds[i]);

		if (p != NULL)
			sum += strtoull(p + strlen(kinds[i]), NULL, 10) * KIB;
	}
	return sum;
}

/* Each process of the run; PID 1 is us. */
static void each_process(const struct shim *s, struct use *u, uint64_t *own)
{
	int fd = openat(s->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	char text[1024];

	while (d != NULL && (e = readdir(d)) != NULL) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid <= 1 ||
		    read_proc(s, pid, "stat", text, sizeof(text)) <= 0)
			continue;
		if (u != NULL)
			add_stat(u, text);
		if (u != NULL && !s->sb->own_ids)
			u->descriptors += descriptors_of(s, pid);
		if (own != NULL) {
			struct use one = {0};
			uint64_t bytes = own_bytes(s, pid);

			/* one that hides it counts with all that is resident */
			add_stat(&one, text);
			*own += bytes > 0 ? bytes : one.resident;
		}
	}
	if (d != NULL)
		closedir(d);
}

uint64_t shim_rusage_ms(int whose)
{
	struct rusage r;

	if (getrusage(whose, &r) != 0)
		return 0;
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000 +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1000;
}

/* Theirs, and ours, which we use for them. */
static uint64_t cpu_ms(const struct use *u)
{
	return u->cpu_ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK) +
	       shim_rusage_ms(RUSAGE_CHILDREN) + shim_rusage_ms(RUSAGE_SELF);
}

static void watch_memory(const struct shim *s, uint64_t resident)
{
	uint64_t allowed = s->p->w.memory_bytes, own = 0;

	if (resident <= allowed)
		return;
	each_process(s, NULL, &own);
	if (own > allowed)
		shim_limit("memory", own, allowed, "bytes",
			   "template limits.maxMemoryBytes, or the server's "
			   "[limits]",
			   "the program's processes need more memory than "
			   "they may have");
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
	uint64_t written = least_bytes < UINT64_MAX ? shim_written_bytes() : 0;

	each_process(s, &u, NULL);
	if (u.resident + written > least_bytes) {
		each_process(s, NULL, &r.own_bytes);
		r.own_bytes += written;
	}
	r.cpu_ms = cpu_ms(&u);
	r.too_many =
	    u.threads > s->p->limits.processes ||
	    (!s->sb->own_ids && u.sessions > SESSIONS_MAX) ||
	    u.descriptors > DESCRIPTORS_TIMES * s->p->limits.open_files;
	return r;
}

void shim_watch(const struct shim *s)
{
	struct use u = {0};
	uint64_t ms;

	each_process(s, &u, NULL);
	ms = cpu_ms(&u);
	ms -= s->start_cpu_ms < ms ? s->start_cpu_ms : ms;
	if (ms > s->p->w.cpu_ms)
		shim_limit("cpu", ms, s->p->w.cpu_ms, "ms",
			   "template limits.maxCpuMs, or the server's [limits]",
			   "the program used all of its CPU time");
	watch_processes(s, u.threads);
	if (!s->sb->own_ids && u.sessions > SESSIONS_MAX)
		shim_limit("sessions", u.sessions, SESSIONS_MAX, "sessions",
			   "who starts the server: as root it divides CPU time "
			   "by cgroups",
			   "the program has more sessions (setsid) than it may "
			   "have");
	if (u.descriptors > DESCRIPTORS_TIMES * s->p->limits.open_files)
		shim_limit(
		    "descriptors", u.descriptors,
		    DESCRIPTORS_TIMES * s->p->limits.open_files, "files",
		    "template limits.maxOpenFiles, of which all processes "
		    "together have four times, or the server's [limits]",
		    "the program's processes have more files open than "
		    "they may have together");
	watch_memory(s, u.resident);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_records.c - counts small records of a run in the kernel that no limit and no
 * cgroup counts: locks, watches of epolls, files kept by mappings, and modprobe, which
 * older kernels start for an unknown file format. The program's filter reports each call
 * that may make a record, for shim.c and shim_wait.c. Above the bound the call fails.
 * While a process hides descriptors, may move descriptors, or has too many to examine, no
 * count is reduced.
 */
#include "worker/program/watch/shim_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/kcmp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/sys.h"
#include "base/pace.h"
#include "sandbox/filter.h"
#include "sandbox/shared_locks.h"

/* The time after a refusal during which further calls are refused without a look. */
#define REFUSED_MS 100
#define PAUSE_FACTOR 10
#define ROOM_PART 16 /* the part of the bound that must be free; else refused */
/* Cost of a look at most, in lines of half a microsecond: the shim has other work. */
#define LOOK_LINES 400000
#define MAPPINGS_LINES 65536 /* a look at mappings, twice a second */
#define FILE_LINES 12	     /* to open and close a file of /proc */
#define PAGE 4096u
#define STAT_LINES 2	    /* to query the kind of an open file */
#define BUFFER_BYTES 32768u /* a line of maps, with the longest path */
#define LINE_BYTES 256u	    /* a line of fdinfo, in a doubled buffer */
#define DEPTH_MOST 1024	    /* most ancestors of a process */
/* in maps; runs have no such device */
#define SHARED_NAME " /dev/zero (deleted)"

enum record { RANGE, FILE_RANGE, WATCH, MAPPING, SHARED, EXEC, RECORDS };

static const struct {
	/* prefix in /proc/PID/fdinfo/N, a line for each record; NULL: not shown */
	const char *line;
	uint64_t most;	  /* in all processes of the run together */
	uint64_t by_call; /* of a single call: a lock may split another lock */
	int err;	  /* as at the machine's own limit */
} records[RECORDS] = {
    [RANGE] = {"lock:", 8192, 2, ENOLCK},
    /* a mapping keeps such locks after close(2), so each call counts */
    [FILE_RANGE] = {NULL, 65536, 2, ENOLCK},
    [WATCH] = {"tfd:", 4096, 1, ENOSPC},
    /* a mapping keeps a file open, and the machine's number is limited (fs.file-max) */
    [MAPPING] = {NULL, 65536, 1, ENOMEM},
    /*
     * Pages of memory without a file: has_record_room(). The rest of a partly unmapped
     * mapping keeps all pages, outside of any resident size; so the count drops only
     * when no mapping is left.
     */
    [SHARED] = {NULL, 0, 0, ENOMEM},
    /* a call may start modprobe before Linux 6.14, charged to no account */
    [EXEC] = {NULL, 16384, 1, EAGAIN},
};

/* Upper bounds: the count of the last look, plus later calls. */
static uint64_t counted[RECORDS];
static int64_t refused_until_ms[RECORDS];

/*
 * The kernel frees what ended processes had later, on no account, and all processes of
 * the machine wait meanwhile: the program has 1,000 births at once, and 1,000 a second.
 */
static struct pace births = {.at_once = 1000, .each_us = 1000};

bool shim_births_are_ahead(void)
{
	return pace_is_ahead(&births);
}

struct look {
	const struct shim *s;
	uint64_t n[RECORDS];
	int64_t left;	/* lines left to read */
	bool hidden;	/* a process denies access, or has too many */
	uint64_t hide;	/* number of processes that do */
	uint64_t links; /* of mappings to mappings of ancestors */
	bool mapped;	/* a thread has shown the mappings of the process */
	void (*line)(struct look *l, const char *line);
	dev_t proc;	     /* the program's /proc */
	uint64_t proc_files; /* open files of the program's /proc */
	uint64_t denied;     /* open files that a thread does not show */
	long first;	     /* the first examined thread of a process */
};

/* Note a failed read: an ended process has nothing; any other failure hides records. */
static void note_failure(struct look *l)
{
	l->hidden |= errno != ENOENT && errno != ESRCH;
}

/* Are no lines left? Then the rest counts as hidden. */
static bool is_spent(struct look *l)
{
	l->hidden |= l->left <= 0;
	return l->left <= 0;
}

/* Call EACH with the path of each entry of the folder PATH whose name is a number. */
static void each_number(struct look *l, const char *path,
			void (*each)(struct look *l, const char *path))
{
	int fd = openat(l->s->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	char below[64];
	struct dirent *e;

	if (d == NULL) {
		note_failure(l);
		sys_close(fd);
	}
	l->left -= FILE_LINES;
	while (d != NULL && !is_spent(l) && (e = readdir(d)) != NULL) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		snprintf(below, sizeof(below), "%s/%.16s", path, e->d_name);
		each(l, below);
	}
	if (d != NULL)
		closedir(d);
}

static void count_descriptor_line(struct look *l, const char *line)
{
	for (size_t i = 0; i < RECORDS; i++)
		if (records[i].line != NULL &&
		    strncmp(line, records[i].line, strlen(records[i].line)) ==
			0)
			l->n[i]++;
}

/* Parse "55d0-55d2 r--p 00000000 00:2a 1234 /usr/bin/env"; without a file: inode 0. */
static void count_mapping(struct look *l, const char *line)
{
	l->mapped = true;
	for (int field = 0; field < 4 && line != NULL; field++) {
		line = strchr(line, ' ');
		line += line != NULL;
	}
	if (line != NULL && *line != '0')
		l->n[MAPPING]++;
	if (line != NULL && strstr(line, SHARED_NAME) != NULL)
		l->n[SHARED]++;
}

static void count_any_mapping(struct look *l, const char *line)
{
	(void)line;
	l->mapped = true;
	l->n[MAPPING]++;
}

/* Call L->line with each line; many lines exist only for many records. */
static void count_fdinfo_lines(struct look *l, const char *path)
{
	static char text[1 << 16];
	int fd = openat(l->s->proc, path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n = 0;

	if (fd < 0)
		note_failure(l);
	l->left -= FILE_LINES;
	while (fd >= 0 && !is_spent(l) &&
	       (n = read(fd, text + have, sizeof(text) - have - 1)) > 0) {
		char *line = text, *end;

		have += (size_t)n;
		text[have] = '\0';
		for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
			l->line(l, line);
			l->left--;
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
		if (have == sizeof(text) - 1)
			have = 0; /* too long to be a line of a record */
	}
	if (n < 0)
		note_failure(l);
	sys_close(fd);
}

/* Count mappings once for a process, by the first thread that shows mappings. */
static void count_thread_mappings(struct look *l, const char *path)
{
	char below[80];

	snprintf(below, sizeof(below), "%s/maps", path);
	if (!l->mapped)
		count_fdinfo_lines(l, below);
}

/* Count a thread, since a thread can have separate descriptors. */
static void count_thread(struct look *l, const char *path)
{
	char below[80];

	snprintf(below, sizeof(below), "%s/fdinfo", path);
	l->line = count_descriptor_line;
	each_number(l, below, count_fdinfo_lines);
	l->line = count_mapping;
	count_thread_mappings(l, path);
}

/*
 * The number of ancestors of PID in the run, plus one. A process whose parent has ended
 * may be as deep as the deepest seen.
 */
static uint64_t depth_of(const struct shim *s, long pid)
{
	static uint64_t deepest = 1;
	uint64_t depth = 1;
	char text[1024];
	long up = pid;

	while (depth < DEPTH_MOST &&
	       shim_read_proc(s, up, "stat", text, sizeof(text)) > 0) {
		const char *p = strrchr(text, ')');

		up = p != NULL ? strtol(p + strlen(") S"), NULL, 10) : 0;
		if (up <= 1)
			break;
		depth++;
	}
	if (depth > deepest)
		deepest = depth;
	return depth == 1 && pid != s->pid ? deepest : depth;
}

static void count_process_mappings(struct look *l, const char *path)
{
	uint64_t before = l->n[MAPPING];
	char below[80];

	if (strcmp(path, "./1") == 0)
		return;
	if (!shim_hold_on(l->s)) {
		l->hide++;
		return;
	}
	snprintf(below, sizeof(below), "%s/task", path);
	l->mapped = l->hidden = false;
	each_number(l, below, count_thread_mappings);
	l->hide += l->hidden;
	l->links += (l->n[MAPPING] - before) *
		    depth_of(l->s, strtol(path + strlen("./"), NULL, 10));
}

uint64_t shim_count_mappings(const struct shim *s, uint64_t *hide,
			     uint64_t *links)
{
	struct look l = {
	    .s = s, .line = count_any_mapping, .left = MAPPINGS_LINES};

	each_number(&l, ".", count_process_mappings);
	*hide = is_spent(&l) ? s->p->limits.processes : l.hide;
	*links = l.links;
	return l.n[MAPPING];
}

static void count_process(struct look *l, const char *path)
{
	char below[80];

	if (strcmp(path, "./1") == 0)
		return;
	snprintf(below, sizeof(below), "%s/task", path);
	l->mapped = false;
	each_number(l, below, count_thread);
}

/* Count the records of all processes. */
static void count_all(void *arg)
{
	struct look *l = arg;

	*l = (struct look){.s = l->s, .left = LOOK_LINES};
	each_number(l, ".", count_process);
}

/*
 * Look at all processes. Records shared by threads count for each thread, which costs a
 * program with many threads a part of the bound, and hides nothing.
 */
static void count_records(const struct shim *s)
{
	struct look l = {.s = s};

	if (!shim_stand_still(s, count_all, &l))
		return;
	l.n[FILE_RANGE] = counted[FILE_RANGE];
	l.n[EXEC] = counted[EXEC];
	if (l.n[SHARED] > 0)
		l.n[SHARED] = counted[SHARED];
	for (size_t i = 0; i < RECORDS; i++)
		if (!l.hidden || l.n[i] > counted[i])
			counted[i] = l.n[i];
}

/* Are N records free? Little space is a refusal, or each call would soon cost a look. */
static bool has_record_room(const struct shim *s, enum record r, uint64_t n)
{
	uint64_t most =
	    r == SHARED ? s->p->w.memory_bytes / PAGE : records[r].most;
	int64_t begun = clock_mono_ms(), now, pause;

	if (n > most)
		return false;
	if (counted[r] + n <= most)
		return true;
	if (r == EXEC || begun < refused_until_ms[r])
		return false;
	count_records(s);
	if (counted[r] <= most - most / ROOM_PART && counted[r] + n <= most)
		return true;
	/* longer than the look, for the shim's other work */
	now = clock_mono_ms();
	pause = (now - begun) * PAUSE_FACTOR;
	refused_until_ms[r] = now + (pause > REFUSED_MS ? pause : REFUSED_MS);
	return false;
}

/* The records of a call: N of kind R, and PAGES of SHARED. */
struct taken {
	enum record r;
	uint64_t n, pages;
};

/* Does a lock belong to the open file, not to the process? */
static bool is_of_file(int command)
{
	return command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

/* False: CALL takes no counted record. */
static bool takes(const struct seccomp_data *call, struct taken *t)
{
	const uint64_t shared = MAP_SHARED | MAP_ANONYMOUS;

	*t = (struct taken){0};
	if (call->nr == SYS_fcntl)
		t->r = is_of_file((int)call->args[1]) ? FILE_RANGE : RANGE;
	else if (call->nr == SYS_flock)
		return true; /* a lock for each open file, which is counted */
	else if (call->nr == SYS_mmap)
		t->r = MAPPING;
	else if (call->nr == SYS_epoll_ctl)
		t->r = WATCH;
	else if (call->nr == SYS_execve || call->nr == SYS_execveat)
		t->r = EXEC;
	else { /* a birth takes no record */
		t->r = EXEC;
		return filter_is_birth(call->nr);
	}
	t->n = records[t->r].by_call;
	if (t->r == MAPPING && (call->args[3] & shared) == shared)
		t->pages = call->args[1] / PAGE + (call->args[1] % PAGE != 0);
	return true;
}

bool shim_records_allow(const struct shim *s, const struct seccomp_notif *n)
{
	struct seccomp_notif_resp answer = {
	    .id = n->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	enum shared_locks others = SHARED_LOCKS_NONE;
	struct taken t;
	bool allowed;

	if (!takes(&n->data, &t))
		return false;
	if (n->data.nr == SYS_flock || n->data.nr == SYS_fcntl)
		others = shared_locks_judge(
		    s->proc, n->pid, (int)n->data.args[0], s->pipes.listener);
	if (others == SHARED_LOCKS_FOUND)
		return false;
	allowed = others == SHARED_LOCKS_NONE &&
		  (t.pages == 0 || has_record_room(s, SHARED, t.pages)) &&
		  has_record_room(s, t.r, t.n);
	if (!allowed) {
		answer.flags = 0;
		answer.error = -records[t.r].err;
	}
	/*
	 * The caller may have been killed meanwhile, or interrupted by a signal, where
	 * the kernel allows: then the caller calls again.
	 */
	if (ioctl(s->pipes.listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 ||
	    !allowed)
		return true;
	counted[t.r] += t.n;
	counted[SHARED] += t.pages;
	if (filter_is_birth(n->data.nr))
		pace_note(&births);
	return true;
}

/* ---- open files of /proc ---- */

/* Locks and watches are lines of fdinfo; a buffer never shrinks. */
uint64_t shim_most_buffered(void)
{
	static uint64_t most;
	uint64_t lines = counted[RANGE] + counted[FILE_RANGE] + counted[WATCH];

	if (lines > most)
		most = lines;
	return BUFFER_BYTES + most * LINE_BYTES;
}

static void count_proc_file(struct look *l, const char *path)
{
	struct stat st;

	l->left -= STAT_LINES;
	if (fstatat(l->s->proc, path, &st, 0) != 0)
		l->denied += errno == EACCES;
	else
		l->proc_files += st.st_dev == l->proc;
}

/*
 * Threads that share descriptors count once. An ending thread shows no descriptors any
 * more; any other thread that shows none counts with as many as allowed.
 */
static void count_thread_files(struct look *l, const char *path)
{
	long pid = strtol(path + strlen("./"), NULL, 10);
	long tid = strtol(strrchr(path, '/') + 1, NULL, 10);
	char below[80];

	if (l->first == 0)
		l->first = tid;
	else if (syscall(SYS_kcmp, l->first, tid, KCMP_FILES, 0, 0) == 0)
		return;
	snprintf(below, sizeof(below), "%s/fd", path);
	l->hidden = false;
	l->denied = 0;
	each_number(l, below, count_proc_file);
	if (l->hidden)
		l->denied = l->s->p->limits.open_files;
	if (l->denied > 0 && !shim_is_ending(l->s, pid, tid))
		l->proc_files += l->denied;
}

static void count_process_files(struct look *l, const char *path)
{
	char below[80];

	if (strcmp(path, "./1") == 0)
		return;
	snprintf(below, sizeof(below), "%s/task", path);
	l->first = 0;
	each_number(l, below, count_thread_files);
}

uint64_t shim_count_proc_files(const struct shim *s, uint64_t descriptors)
{
	struct look l = {.s = s, .left = MAPPINGS_LINES};
	struct stat st;

	if (fstatat(AT_FDCWD, "/proc", &st, 0) != 0)
		return descriptors;
	l.proc = st.st_dev;
	each_number(&l, ".", count_process_files);
	return is_spent(&l) ? descriptors : l.proc_files;
}

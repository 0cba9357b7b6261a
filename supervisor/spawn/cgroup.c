/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.c - makes the cgroups in which the kernel limits and counts workers,
 * zygotes and the browser, in version 1 or 2. main.c calls cgroup_init() before
 * root is given up. Without cgroups runs go on without their limits, and
 * cgroup_why() tells the reason to health and doctor.
 */
#include "supervisor/spawn/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/os/errname.h"
#include "base/os/log.h"
#include "base/os/sys.h"
#include "base/mem.h"
#include "supervisor/spawn/cgroup_private.h"
#include "base/id.h"
#include "supervisor/runtime/runtime.h"

/* with a suffix: the folder of a server */
#define SERVER_PREFIX "paddock-inst_"
/* in a folder that the service manager delegated */
#define SELF "supervisor"
/*
 * CPU shares (a program's run has 1) of all Lua workers or a zygote, and of the server.
 */
#define LEAF_SHARES 8
#define SELF_SHARES 50
#define MAKE_TRIES 10
#define LEAVE_TRIES 500 /* ten seconds, since the machine may be busy */
#define LEAVE_WAIT_NS 20000000L
#define MOUNTINFO_MAX (1u << 20)

struct cgroups cgroups;

static const char *leaf_name(size_t leaf)
{
	static const char *const helpers[] = {"browser", "egress"};

	return leaf < RUNTIMES ? runtimes[leaf]->group
			       : helpers[leaf - RUNTIMES];
}

enum cgroup_version cgroup_version(void)
{
	return cgroups.version;
}

const char *cgroup_name(void)
{
	static const char *const names[] = {
	    [CGROUP_NONE] = "none", [CGROUP_V1] = "v1", [CGROUP_V2] = "v2"};

	return names[cgroups.version];
}

const char *cgroup_why(void)
{
	return cgroups.errmsg;
}

bool cgroup_divides_cpu(void)
{
	char text[CGROUP_TEXT_MAX];

	return cgroups.version == CGROUP_V1
		   ? cgroups.base[CGROUP_CPU] != NULL
		   : cgroups.version == CGROUP_V2 &&
			 cgroup_get(cgroups.base[CGROUP_UNIFIED], leaf_name(0),
				    "cpu.weight", text) > 0;
}

static void __attribute__((format(printf, 1, 2))) because(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cgroups.errmsg, sizeof(cgroups.errmsg), fmt, ap);
	va_end(ap);
}

/* ---- removing ---- */

/* Call FN with each group in DIR that MATCHes. Returns the last result that is not 0. */
static int each_group(const char *dir, bool (*match)(const char *name),
		      int (*fn)(const char *path))
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char *path;
		int one;

		if (e->d_type != DT_DIR || !match(e->d_name))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		one = fn(path);
		rc = one != 0 ? one : rc;
		free(path);
	}
	if (d != NULL)
		closedir(d);
	return rc;
}

static bool is_leaf(const char *name)
{
	for (size_t i = 0; i < CGROUP_LEAVES; i++)
		if (strcmp(name, leaf_name(i)) == 0)
			return true;
	return strncmp(name, "run-", 4) == 0;
}

static bool is_servers(const char *name)
{
	return strncmp(name, SERVER_PREFIX, strlen(SERVER_PREFIX)) == 0;
}

static int remove_group(const char *path)
{
	return rmdir(path) != 0 && errno != ENOENT ? -errno : 0;
}

/* Remove the leaves in BASE, and BASE if WHOLE. -EBUSY: some groups are still in use. */
static int remove_base(const char *base, bool whole)
{
	int rc = each_group(base, is_leaf, remove_group);

	return rc == 0 && whole ? remove_group(base) : rc;
}

void cgroup_remove(void)
{
	const struct timespec delay = {.tv_nsec = LEAVE_WAIT_NS};

	for (int t = 0; t < CGROUP_TREES; t++) {
		int rc = -EBUSY;

		/* the last worker of a killed server is still dying */
		for (int i = 0;
		     cgroups.base[t] != NULL && rc == -EBUSY && i < LEAVE_TRIES;
		     i++) {
			rc = remove_base(cgroups.base[t], cgroups.made[t]);
			if (rc == -EBUSY)
				nanosleep(&delay, NULL);
		}
		if (cgroups.lock[t] > 0)
			close(cgroups.lock[t]);
		cgroups.lock[t] = 0;
		free(cgroups.base[t]);
		cgroups.base[t] = NULL;
	}
	cgroups.version = CGROUP_NONE;
}

/* Remove a group whose lock is free: the server is dead, or will just make it again. */
static int remove_dead(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_base(path, true);
	sys_close(fd);
	return 0;
}

/* ---- making ---- */

/*
 * Give NAME in T's base (NULL: the base) TIMES the default share of CPU time; T without
 * the CPU controller: do nothing. Version 1 limits shares to 2^18, version 2 to 10,000.
 */
static void set_weight(enum cgroup_tree t, const char *name, uint64_t times)
{
	const char *base = cgroups.base[t];

	if (t == CGROUP_CPU)
		(void)cgroup_put_number(base, name, "cpu.shares",
					times < 256 ? 1024 * times : 1 << 18);
	else if (t == CGROUP_UNIFIED)
		(void)cgroup_put_number(base, name, "cpu.weight",
					times < 100 ? 100 * times : 10000);
}

/* Make and lock PATH: the descriptor of the lock, or -errno. */
static int make_locked(const char *path)
{
	int fd;

	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* another server may have removed the folder as a dead server's just before */
	if (flock(fd, LOCK_EX) == 0 && access(path, F_OK) == 0)
		return fd;
	close(fd);
	return -ENOENT;
}

/* Make and lock NAME in DIR. 0 or -errno. */
static int make_base(const char *dir, const char *name, enum cgroup_tree t)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = -ENOENT;

	for (int i = 0; fd == -ENOENT && i < MAKE_TRIES; i++)
		fd = make_locked(path);
	if (fd < 0) {
		free(path);
		return fd;
	}
	cgroups.base[t] = path;
	cgroups.made[t] = true;
	cgroups.lock[t] = fd;
	return 0;
}

static int make_leaves(enum cgroup_tree t)
{
	int rc = 0;

	for (int i = 0; rc >= 0 && i < CGROUP_LEAVES; i++) {
		rc = cgroups.procs[i][t] =
		    cgroup_make(cgroups.base[t], leaf_name(i));
		set_weight(t, leaf_name(i), LEAF_SHARES);
	}
	return rc < 0 ? rc : 0;
}

static int make_tree(const struct cgroup_home *home, const char *name,
		     enum cgroup_tree t)
{
	int rc;

	each_group(home->own[t], is_servers, remove_dead);
	rc = make_base(home->own[t], name, t);
	return rc == 0 ? make_leaves(t) : rc;
}

static void make_if_possible(const struct cgroup_home *home, const char *name,
			     enum cgroup_tree t)
{
	if (home->own[t] == NULL || make_tree(home, name, t) == 0)
		return;
	free(cgroups.base[t]);
	cgroups.base[t] = NULL;
}

/* Make version 1's groups, and a unified group, which kills at once and counts CPU. */
static int make_v1(const struct cgroup_home *home, const char *name)
{
	int rc = make_tree(home, name, CGROUP_MEMORY);

	if (rc == 0)
		rc = make_tree(home, name, CGROUP_PIDS);
	if (rc < 0)
		return rc;
	make_if_possible(home, name, CGROUP_UNIFIED);
	make_if_possible(home, name, CGROUP_CPU);
	if (cgroups.base[CGROUP_CPU] != NULL) /* as a process for each CPU */
		set_weight(CGROUP_CPU, NULL,
			   (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	return 0;
}

static bool controls(const char *dir, const char *file)
{
	char text[CGROUP_TEXT_MAX];

	if (cgroup_get(dir, NULL, file, text) <= 0)
		return false;
	return strstr(text, "memory") != NULL && strstr(text, "pids") != NULL;
}

/* Enable the controllers for children of DIR, which must have no processes. */
static int delegate_controllers(const char *dir)
{
	if (controls(dir, "cgroup.subtree_control"))
		return 0;
	return cgroup_put(dir, NULL, "cgroup.subtree_control", "+memory +pids");
}

/* Enable the CPU controller as well, in a folder of this server alone. */
static int pass_all_on(const char *dir)
{
	int rc = delegate_controllers(dir);

	if (rc == 0)
		(void)cgroup_put(dir, NULL, "cgroup.subtree_control", "+cpu");
	return rc;
}

/* Does DIR belong to this server alone, as a service manager delegates a folder? */
static bool is_given(const char *dir)
{
	char text[CGROUP_TEXT_MAX], *end;
	char *procs = xasprintf("%s/cgroup.procs", dir);
	bool may = access(procs, W_OK) == 0 && access(dir, W_OK) == 0;

	free(procs);
	if (!may || cgroup_get(dir, NULL, "cgroup.procs", text) <= 0)
		return false;
	return strtol(text, &end, 10) == getpid() && strcmp(end, "\n") == 0;
}

/* Use the own folder OWN, and leave OWN, since with controllers no process may stay. */
static int use_own(const char *own)
{
	int fd = cgroup_make(own, SELF);
	int rc = fd < 0 ? fd : cgroup_move(fd, getpid());

	sys_close(fd);
	if (rc == 0)
		rc = pass_all_on(own);
	if (rc < 0)
		return rc;
	cgroups.base[CGROUP_UNIFIED] = xstrdup(own);
	set_weight(CGROUP_UNIFIED, SELF, SELF_SHARES);
	return make_leaves(CGROUP_UNIFIED);
}

/* Use the top folder, the only one that may have both processes and controllers. */
static int use_top(const char *top, const char *name)
{
	int rc;

	each_group(top, is_servers, remove_dead);
	rc = delegate_controllers(top);
	if (rc == 0)
		rc = make_base(top, name, CGROUP_UNIFIED);
	if (rc == 0)
		rc = pass_all_on(cgroups.base[CGROUP_UNIFIED]);
	return rc == 0 ? make_leaves(CGROUP_UNIFIED) : rc;
}

static int make_v2(const struct cgroup_home *home, const char *name)
{
	const char *own = home->own[CGROUP_UNIFIED];
	const char *top = home->top[CGROUP_UNIFIED];

	if (strcmp(own, top) != 0 && is_given(own))
		return use_own(own);
	return geteuid() == 0 ? use_top(top, name) : -EACCES;
}

void cgroup_init(void)
{
	struct cgroup_home home;
	char *self = buf_file("/proc/self/cgroup", MOUNTINFO_MAX);
	char *mounts = buf_file("/proc/self/mountinfo", MOUNTINFO_MAX);
	char id[ID_SIZE], *name;
	enum cgroup_version v = CGROUP_NONE;
	int rc = 0;

	cgroup_find(self, mounts, &home);
	free(self);
	free(mounts);
	id_new(id, "inst");
	name = xasprintf("paddock-%s", id);
	if (home.own[CGROUP_UNIFIED] != NULL &&
	    controls(home.top[CGROUP_UNIFIED], "cgroup.controllers")) {
		v = CGROUP_V2;
		rc = make_v2(&home, name);
	} else if (home.own[CGROUP_MEMORY] != NULL &&
		   home.own[CGROUP_PIDS] != NULL) {
		v = CGROUP_V1;
		rc = make_v1(&home, name);
	} else {
		because("no cgroups with memory and pids are mounted here");
	}
	if (rc < 0) {
		because("%s (start as root, or in a unit with Delegate=yes)",
			errname(-rc));
		cgroup_remove();
		v = CGROUP_NONE;
	}
	cgroups.version = v;
	free(name);
	cgroup_home_fini(&home);
}

/* ---- the leaves ---- */

int cgroup_bound(const char *name, const struct cgroup_limits *l)
{
	const char *memory = cgroup_base(CGROUP_MEMORY);
	const char *pids = cgroup_base(CGROUP_PIDS);
	int rc;

	if (cgroups.version == CGROUP_V1) {
		/* with swap is never below without swap; the file may be missing */
		(void)cgroup_put(memory, name, "memory.memsw.limit_in_bytes",
				 "-1");
		rc = cgroup_put_number(memory, name, "memory.limit_in_bytes",
				       l->memory_bytes);
		(void)cgroup_put_number(memory, name,
					"memory.memsw.limit_in_bytes",
					l->memory_bytes);
	} else {
		rc = cgroup_put_number(memory, name, "memory.max",
				       l->memory_bytes);
		/* no swap */
		(void)cgroup_put(memory, name, "memory.swap.max", "0");
	}
	if (rc == 0)
		rc = cgroup_put_number(pids, name, "pids.max", l->processes);
	return rc;
}

void cgroup_limit(enum cgroup_leaf leaf, const struct cgroup_limits *limits)
{
	int rc = cgroups.version == CGROUP_NONE
		     ? 0
		     : cgroup_bound(leaf_name(leaf), limits);

	if (rc < 0)
		log_warn("server", "cgroup=%s limited=no err=\"%s\"",
			 leaf_name(leaf), strerror(-rc));
}

void cgroup_hand_over(void)
{
	for (int t = 0; t < CGROUP_TREES; t++)
		for (int i = 0; cgroups.base[t] != NULL && i < CGROUP_LEAVES;
		     i++)
			cgroup_give(cgroups.base[t], leaf_name(i));
}

struct search {
	pid_t pid;
	bool found;
};

static bool is_other(void *arg, pid_t pid)
{
	struct search *s = arg;

	s->found = pid == s->pid;
	return !s->found;
}

static bool is_member(const char *base, const char *group, pid_t pid)
{
	struct search s = {.pid = pid};

	cgroup_members(base, group, is_other, &s);
	return s.found;
}

int cgroup_place(enum cgroup_leaf leaf, pid_t pid)
{
	int rc = 0;

	if (cgroups.version == CGROUP_NONE || pid <= 0)
		return 0;
	for (int t = 0; t < CGROUP_TREES && rc == 0; t++)
		if (cgroups.base[t] != NULL &&
		    !is_member(cgroups.base[t], leaf_name(leaf), pid))
			rc = cgroup_move(cgroups.procs[leaf][t], pid);
	if (rc < 0)
		log_warn("server", "cgroup=%s pid=%d moved=no err=\"%s\"",
			 leaf_name(leaf), (int)pid, strerror(-rc));
	return rc;
}

pid_t cgroup_clone(enum cgroup_leaf leaf, unsigned long flags)
{
	int fd = cgroup_open(cgroups.base[CGROUP_UNIFIED], leaf_name(leaf), ".",
			     O_PATH | O_DIRECTORY);
	long pid = -1;

	if (fd >= 0) {
		struct clone_args into = {.flags = flags | CLONE_INTO_CGROUP,
					  .cgroup = (uint64_t)fd};

		/* with CLONE_PARENT clone3(2) accepts no exit signal */
		if ((flags & CLONE_PARENT) == 0)
			into.exit_signal = SIGCHLD;
		pid = syscall(SYS_clone3, &into, sizeof(into));
		if (pid != 0)
			close(fd);
	}
	if (pid < 0) /* an older kernel, or a filter around us */
		pid =
		    syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	/* in version 1 a thread moves itself, since then the kernel does not wait */
	for (int t = 0;
	     pid == 0 && cgroups.version == CGROUP_V1 && t < CGROUP_TREES; t++)
		if (t != CGROUP_UNIFIED)
			(void)cgroup_put(cgroups.base[t], leaf_name(leaf),
					 "tasks", "0");
	return pid < 0 ? -errno : (pid_t)pid;
}

bool cgroup_holds(enum cgroup_leaf leaf, pid_t pid)
{
	const char *memory = cgroup_base(CGROUP_MEMORY);
	const char *pids = cgroup_base(CGROUP_PIDS);
	const char *bound = cgroups.version == CGROUP_V1
				? "memory.limit_in_bytes"
				: "memory.max";

	if (cgroups.version == CGROUP_NONE || pid <= 0)
		return false;
	/* the kernel's "no limit" is just below 2^63, or "max" */
	return is_member(memory, leaf_name(leaf), pid) &&
	       is_member(pids, leaf_name(leaf), pid) &&
	       cgroup_number(pids, leaf_name(leaf), "pids.max", NULL) > 0 &&
	       (uint64_t)cgroup_number(memory, leaf_name(leaf), bound, NULL) <
		   (uint64_t)INT64_MAX / 2;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_cgroup.c - where we are in the trees of cgroups; and, as root, limits. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "ipc/zygote_proto.h"
#include "supervisor/spawn/cgroup_private.h"
#include "tests/unit/tap.h"

#define GROUP_OF_LUA ((enum cgroup_leaf)RUNTIME_LUA)

#define V2                                                                     \
	"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define NOISE                                                                  \
	"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n25 22 0:5 / /proc rw - proc proc rw\n"
#define MIB (1u << 20)

static const struct {
	const char *name, *self, *mounts;
	const char *memory, *pids, *unified, *top; /* "": not seen */
} cases[] = {
    {"version 2", "0::/user.slice/session-1.scope\n", NOISE V2, "", "",
     "/sys/fs/cgroup/user.slice/session-1.scope", "/sys/fs/cgroup"},
    {"a service with its own folder", "0::/system.slice/paddockd.service\n", V2,
     "", "", "/sys/fs/cgroup/system.slice/paddockd.service", "/sys/fs/cgroup"},
    {"a container's namespace", "0::/\n", V2, "", "", "/sys/fs/cgroup",
     "/sys/fs/cgroup"},
    {"version 1",
     "9:name=systemd:/x\n8:pids:/a\n4:cpu,cpuacct:/b\n3:memory:/m/1\n",
     "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
     "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
     "/sys/fs/cgroup/memory/m/1", "/sys/fs/cgroup/pids/a", "", ""},
    {"both, the second for killing", "8:pids:/\n4:memory:/m\n0::/\n",
     "35 31 0:32 / /sys/fs/cgroup/memory rw shared:1 master:2 - cgroup cgroup rw,memory\n"
     "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
     "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
     "/sys/fs/cgroup/memory/m", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified",
     "/sys/fs/cgroup/unified"},
    {"a part of the tree, as a container is given it",
     "4:memory:/docker/c1/in\n",
     "35 31 0:32 /docker/c1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
     "/sys/fs/cgroup/memory/in", "", "", ""},
    {"two controllers in one tree", "4:pids,memory:/x\n",
     "35 31 0:32 / /cg rw - cgroup none rw,pids,memory\n", "/cg/x", "/cg/x", "",
     ""},
    {"a part that we are not in", "4:memory:/else\n",
     "35 31 0:32 /docker/c1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
     "", "", "", ""},
    {"a part whose name begins alike", "4:memory:/docker/c12\n",
     "35 31 0:32 /docker/c1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
     "", "", "", ""},
    {"outside of our namespace", "0::/../other\n", V2, "", "", "", ""},
    {"a blank in the name", "0::/a b\n",
     "30 23 0:26 / /mnt/c\\040g rw - cgroup2 cgroup2 rw\n", "", "",
     "/mnt/c g/a b", "/mnt/c g"},
    {"not mounted", "0::/x\n", NOISE, "", "", "", ""},
    {"nothing to read", "", "", "", "", "", ""},
    {"nonsense", "::\n:\n0\nx:memory\n4:memory:\n", "1 2 3\n- - - - - - - -\n",
     "", "", "", ""},
};

static const char *text(const char *s)
{
	return s != NULL ? s : "";
}

static void finds(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cgroup_home h;

		cgroup_find(cases[i].self, cases[i].mounts, &h);
		is_str(text(h.own[CGROUP_MEMORY]), cases[i].memory,
		       "%s: memory", cases[i].name);
		is_str(text(h.own[CGROUP_PIDS]), cases[i].pids, "%s: pids",
		       cases[i].name);
		is_str(text(h.own[CGROUP_UNIFIED]), cases[i].unified,
		       "%s: unified", cases[i].name);
		is_str(text(h.top[CGROUP_UNIFIED]), cases[i].top, "%s: its top",
		       cases[i].name);
		cgroup_home_fini(&h);
	}
}

/* ---- live ---- */

/* Start a child which waits for a byte, runs WHAT, and exits with the result. */
static pid_t child(int go[2], int (*what)(void))
{
	pid_t pid;

	if (pipe(go) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		char byte;

		close(go[1]);
		(void)!read(go[0], &byte, 1);
		_exit(what());
	}
	close(go[0]);
	return pid;
}

static int eat(void)
{
	char *p = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 1, 64 * MIB);
	return 0;
}

static int fork_eight(void)
{
	int failed = 0;

	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			setsid();
			pause();
			_exit(0);
		}
		failed += pid < 0 && errno == EAGAIN;
	}
	return failed;
}

/* 100 ms of CPU time. */
static int burn(void)
{
	while (clock() < CLOCKS_PER_SEC / 10)
		;
	return 0;
}

static int run_in(uint32_t slot, const struct cgroup_limits *l,
		  int (*what)(void), struct cgroup_use *use)
{
	int go[2], status;
	pid_t pid = child(go, what);

	is_int(cgroup_run_begin(slot, l, pid), 0, "a run has a group");
	(void)!write(go[1], "", 1);
	close(go[1]);
	waitpid(pid, &status, 0);
	cgroup_run_end(slot, use);
	return status;
}

static long long read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	long long n = -1;

	if (f != NULL && fscanf(f, "%lld", &n) != 1)
		n = -1;
	if (f != NULL)
		fclose(f);
	return n;
}

/* The CPU share of NAME's group; -1: this machine does not divide CPU time. */
static long long fair_share(const char *name)
{
	bool v1 = cgroups.version == CGROUP_V1;
	const char *base = cgroups.base[v1 ? CGROUP_CPU : CGROUP_UNIFIED];
	char *path = xasprintf("%s/%s/%s", base != NULL ? base : "/none", name,
			       v1 ? "cpu.shares" : "cpu.weight");
	long long n = read_number(path);

	free(path);
	return n;
}

/* Is PID in NAME's group of the hierarchy that divides CPU time? */
static bool is_in(const char *name, pid_t pid)
{
	bool v1 = cgroups.version == CGROUP_V1;
	char *path =
	    xasprintf("%s/%s/cgroup.procs",
		      cgroups.base[v1 ? CGROUP_CPU : CGROUP_UNIFIED], name);
	bool is = read_number(path) == pid;

	free(path);
	return is;
}

/* Of each tree? */
static bool is_in_all(const char *name, pid_t pid)
{
	bool is = true;

	for (int t = 0; t < CGROUP_TREES; t++) {
		char *path =
		    xasprintf("%s/%s/cgroup.procs", cgroups.base[t], name);

		is &= cgroups.base[t] == NULL || read_number(path) == pid;
		free(path);
	}
	return is;
}

/*
 * Clone as privsep does: the new process is a child of the parent. The status of the
 * clone.
 */
static int clone_for_parent(void)
{
	pid_t privsep = fork(), pid;
	int status = -1, theirs = -1;

	if (privsep == 0) {
		pid = cgroup_clone(GROUP_OF_LUA, CLONE_PARENT);
		if (pid == 0)
			_exit(is_in_all("lua", getpid()) ? 0 : 1);
		_exit(pid > 0 ? 0 : 1);
	}
	while ((pid = wait(&status)) > 0)
		if (pid != privsep)
			theirs = status;
	return theirs;
}

/* Two runs get equal CPU time, whatever the number of processes. */
static void shares(void)
{
	const struct cgroup_limits big = {256 * MIB, 64};
	int go[3][2], status;
	struct cgroup_use use;
	pid_t pid[3];

	for (int i = 0; i < 3; i++)
		pid[i] = child(go[i], fork_eight);
	cgroup_place(GROUP_OF_LUA, pid[0]);
	cgroup_run_begin(1, &big, pid[1]);
	cgroup_run_begin(2, &big, pid[2]);
	if (fair_share("run-1") < 0) {
		skip("CPU time is not divided here", "shares of it");
	} else {
		ok(is_in("lua", pid[0]) && is_in("run-1", pid[1]) &&
		       is_in("run-2", pid[2]),
		   "each process is in the group of its run");
		is_int(fair_share("run-1"), fair_share("run-2"),
		       "two runs have equal shares");
		is_int(fair_share("lua"), 8 * fair_share("run-1"),
		       "all Lua workers together those of eight");
	}
	for (int i = 0; i < 3; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], &status, 0);
		close(go[i][1]);
	}
	cgroup_run_end(1, &use);
	cgroup_run_end(2, &use);
}

/* The end of a run without a group must not kill processes in other groups. */
static void ends_none(void)
{
	struct cgroup_use use;
	int go[2], status;
	pid_t pid = child(go, burn);

	cgroup_place(GROUP_OF_LUA, pid);
	cgroup_run_end(ZYGOTE_PROTO_SLOTS - 1, &use);
	(void)!write(go[1], "", 1);
	close(go[1]);
	waitpid(pid, &status, 0);
	is_int(status, 0, "a run without a group ends no other's processes");
	ok(use.cpu_user_us == -1 && use.peak_bytes == -1,
	   "a run without a group has no known use");
}

/* Remove the group NAME, as an operator may do. */
static void remove_group(const char *name)
{
	for (int t = 0; t < CGROUP_TREES; t++) {
		char *path;

		if (cgroups.base[t] == NULL)
			continue;
		path = xasprintf("%s/%s", cgroups.base[t], name);
		while (rmdir(path) != 0 && errno == EBUSY)
			sched_yield(); /* the last process is still ending */
		is_int(access(path, F_OK), -1, "a run's group is removed");
		free(path);
	}
}

/* An operator's empty group beside the server's, with a similar name, must stay. */
static void keeps_others(void)
{
	char *path;

	cgroup_init();
	path = xasprintf("%s-paddock-other", cgroups.base[0]);
	strcpy(strrchr(path, '/') + 1, "paddock-other");
	is_int(mkdir(path, 0755), 0, "an operator makes a group");
	cgroup_remove();
	cgroup_init();
	is_int(rmdir(path), 0, "a server's start leaves that group there");
	cgroup_remove();
	free(path);
}

static void live(void)
{
	const struct cgroup_limits small = {16 * MIB, 4}, big = {256 * MIB, 64};
	struct cgroup_use use;
	int status, go[2];
	pid_t pid;

	cgroup_init();
	if (cgroup_version() == CGROUP_NONE) {
		skip(cgroup_why(), "no group is made");
		return;
	}
	cgroup_limit(GROUP_OF_LUA, &big);
	pid = child(go, fork_eight);
	ok(!cgroup_holds(GROUP_OF_LUA, pid),
	   "a process outside of the group is not held");
	is_int(cgroup_place(GROUP_OF_LUA, pid), 0,
	       "a zygote is placed in a group");
	ok(cgroup_holds(GROUP_OF_LUA, pid), "a placed zygote is held");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(go[1]);

	pid = cgroup_clone(GROUP_OF_LUA, 0);
	if (pid == 0)
		_exit(cgroup_holds(GROUP_OF_LUA, getpid()) ? 0 : 1);
	waitpid(pid, &status, 0);
	is_int(status, 0, "a process cloned into a group is held from birth");
	is_int(clone_for_parent(), 0,
	       "in all its trees, for a parent that it is to be a child of");

	status = run_in(3, &small, eat, &use);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	   "a process with too much memory is killed");
	is_int(use.oom_kills, 1, "the kill for memory is counted");
	ok(use.peak_bytes > 8 * MIB && use.peak_bytes <= 16 * MIB,
	   "the peak of memory is told: %lld", (long long)use.peak_bytes);

	status = run_in(3, &big, eat, &use);
	is_int(status, 0, "the next run in the slot has limits of its own");
	is_int(use.oom_kills, 0, "the next run in the slot has no kills");
	ok(use.peak_bytes >= 64 * MIB,
	   "the next run in the slot has a peak of its own");

	status = run_in(3, &small, fork_eight, &use);
	is_int(WEXITSTATUS(status), 5,
	       "no more processes than the limit can be started");
	is_int(use.refused, 5, "refused processes are counted");
	run_in(3, &big, fork_eight, &use);
	is_int(use.refused, 0,
	       "refused processes of an earlier run do not count");
	shares();
	ends_none();
	remove_group("run-3");
	run_in(3, &big, burn, &use);
	ok(use.cpu_user_us < 0 || use.cpu_user_us + use.cpu_system_us >= 90000,
	   "CPU time is counted where a group can: %lld us",
	   (long long)use.cpu_user_us);
	run_in(3, &big, fork_eight, &use);
	ok(use.cpu_user_us + use.cpu_system_us < 90000,
	   "CPU time of an earlier run does not count");
	while (waitpid(-1, &status, 0) > 0)
		; /* reap the children; an orphan's children belong to init */
	cgroup_remove();
	cgroup_init();
	is_int(cgroup_version() != CGROUP_NONE, 1,
	       "the groups can be made again after removal");
	cgroup_remove();
	keeps_others();
}

int main(void)
{
	finds();
	live();
	return tap_done();
}

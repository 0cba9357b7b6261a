/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest_program.c - measures the sandbox of programs: zygote.c clones a worker, whose
 * child checks each layer and makes system calls that the filter must refuse. No answer
 * is -errno, and then no program runs.
 */
#include "worker/selftest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/no_core.h"
#include "base/os/sys.h"
#include "ipc/zygote_proto.h"
#include "sandbox/caps.h"
#include "sandbox/landlock.h"
#include "sandbox/rlimits.h"
#include "worker/clone.h"

#define SELFTEST_PROCESSES 8
#define SELFTEST_FILES 64

/* ---- checks ---- */

static bool alone(const struct sandbox *sb)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	bool others = d == NULL;

	(void)sb;
	while (d != NULL && (e = readdir(d)) != NULL)
		if (strtol(e->d_name, NULL, 10) > 2)
			others = true;
	if (d != NULL)
		closedir(d);
	return !others && getpid() == 2 && access("/proc/kcore", F_OK) != 0;
}

/* Paths of the host that may exist only as far as granted. */
static const char *const out_of_sight[] = {"/.paddock/package",
					   "/etc/shadow",
					   "/root",
					   "/home",
					   "/var",
					   "/sys",
					   "/run",
					   "/dev/mem",
					   "/srv",
					   "/opt",
					   "/mnt",
					   "/boot"};

#define DEEPEST 32 /* most folders on the way to a granted path */

/* paths granted to the programs of all templates */
static const struct rootfs *granted;
static dev_t root_dev;
static char seen[PATH_MAX]; /* the first path that should not exist */

static bool may_be_there(const char *path, int depth);

/* Does a folder of paddock's root have only the way to a granted path? */
static bool is_way(DIR *d, const char *path, int depth)
{
	char below[PATH_MAX];
	bool good = true;
	struct dirent *e;

	while (good && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		good = snprintf(below, sizeof(below), "%s/%s", path,
				e->d_name) < (int)sizeof(below) &&
		       may_be_there(below, depth + 1);
	}
	return good;
}

/*
 * May PATH exist? The run has no grants, so PATH may be at most an empty mount point on
 * the run's own root, where other runs see granted paths.
 */
static bool may_be_there(const char *path, int depth)
{
	struct stat st;
	bool good;
	DIR *d;

	if (lstat(path, &st) != 0)
		return true;
	good =
	    st.st_dev == root_dev && depth <= DEEPEST &&
	    !rootfs_is_foreign(granted, path) &&
	    (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_size == 0));
	d = good && S_ISDIR(st.st_mode) ? opendir(path) : NULL;
	if (d != NULL) {
		good = is_way(d, path, depth);
		closedir(d);
	}
	if (!good && seen[0] == '\0')
		snprintf(seen, sizeof(seen), "%s", path);
	return good;
}

static bool read_only_root(const struct sandbox *sb)
{
	struct statvfs fs;
	struct stat st;

	if (statvfs("/", &fs) != 0 || (fs.f_flag & ST_RDONLY) == 0 ||
	    statvfs("/usr", &fs) != 0 || (fs.f_flag & ST_RDONLY) == 0 ||
	    (fs.f_flag & ST_NOSUID) == 0 || stat("/", &st) != 0)
		return false;
	root_dev = st.st_dev;
	for (size_t i = 0; i < ARRAY_LEN(out_of_sight); i++)
		if (!may_be_there(out_of_sight[i], 0))
			return false;
	return sb->err[SANDBOX_ROOT] == 0;
}

static bool own_uid(const struct sandbox *sb)
{
	return sb->own_ids && getuid() == sb->first_id &&
	       getgid() == sb->first_id && getgroups(0, NULL) == 0;
}

static bool limited(const struct sandbox *sb)
{
	struct rlimit core, data, files, signals, processes;

	return sb->err[SANDBOX_RLIMITS] == 0 &&
	       getrlimit(RLIMIT_CORE, &core) == 0 &&
	       core.rlim_max <= NO_CORE_BYTES &&
	       getrlimit(RLIMIT_DATA, &data) == 0 &&
	       data.rlim_max != RLIM_INFINITY &&
	       getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	       files.rlim_max == SELFTEST_FILES &&
	       getrlimit(RLIMIT_SIGPENDING, &signals) == 0 &&
	       signals.rlim_max <= RLIMITS_SIGNALS &&
	       getrlimit(RLIMIT_NPROC, &processes) == 0 &&
	       processes.rlim_max <= SELFTEST_PROCESSES + 2;
}

/* A program must not signal the shim; older kernels deny a program only ports. */
static bool scoped(const struct sandbox *sb)
{
	return sb->landlock_abi >= LANDLOCK_ABI_NET &&
	       (sb->landlock_abi < LANDLOCK_ABI_SCOPE ||
		(kill(1, 0) != 0 && errno == EPERM));
}

static const struct {
	enum sandbox_layer layer;
	bool (*holds)(const struct sandbox *sb);
} facts[] = {
    {SANDBOX_PIDNS, alone},
    {SANDBOX_ROOT, read_only_root},
    {SANDBOX_UID, own_uid},
    {SANDBOX_UTSNS, selftest_own_utsns},
    {SANDBOX_NNP, selftest_no_new_privs},
    {SANDBOX_RLIMITS, limited},
    {SANDBOX_LANDLOCK, scoped},
};

/* Layers that ns.c verified while building, by comparing inodes. */
static const enum sandbox_layer built[] = {SANDBOX_USERNS, SANDBOX_NETNS,
					   SANDBOX_IPCNS, SANDBOX_MNTNS};

/* ---- system calls that the filter refuses ---- */

#define P(x) ((long)(x))

static char byte[64];

/* Without a listener, reported calls fail with ENOSYS. */
static const struct selftest_act acts[] = {
    {"socket inet", SYS_socket, EAFNOSUPPORT, {AF_INET, SOCK_STREAM, 0}},
    {"socket unix", SYS_socket, EAFNOSUPPORT, {AF_UNIX, SOCK_STREAM, 0}},
    {"socket netlink", SYS_socket, EAFNOSUPPORT, {AF_NETLINK, SOCK_RAW, 0}},
    {"ptrace", SYS_ptrace, ENOSYS, {PTRACE_TRACEME}},
    {"process_vm_readv", SYS_process_vm_readv, ENOSYS, {1, 0, 0, 0, 0, 0}},
    {"mount", SYS_mount, ENOSYS, {P("none"), P("/work"), P("tmpfs"), 0, 0}},
    {"umount", SYS_umount2, ENOSYS, {P("/.paddock"), 0}},
    {"unshare", SYS_unshare, ENOSYS, {CLONE_NEWUSER}},
    {"setns", SYS_setns, ENOSYS, {0, 0}},
    {"sendmsg", SYS_sendmsg, EPERM, {SANDBOX_RUN_FD, 0, 0}},
    {"clone into a namespace", SYS_clone, EPERM, {CLONE_NEWUSER | SIGCHLD}},
    {"clone3", SYS_clone3, ENOSYS, {P(byte), sizeof(byte)}},
    {"setuid", SYS_setresuid, EPERM, {0, 0, 0}},
    {"chroot", SYS_chroot, EPERM, {P("/")}},
    {"mknod", SYS_mknodat, EPERM, {AT_FDCWD, P("x"), S_IFCHR, 259}},
    {"TIOCSTI", SYS_ioctl, EPERM, {0, 0x5412, P(byte)}},
    {"seccomp", SYS_seccomp, ENOSYS, {1, 0, 0}},
    {"personality", SYS_personality, ENOSYS, {0x0400000}},
    {"memfd_create", SYS_memfd_create, ENOSYS, {P("x"), 0}},
    {"io_uring_setup", SYS_io_uring_setup, ENOSYS, {1, 0}},
    {"bpf", SYS_bpf, ENOSYS, {0, 0, 0}},
    {"perf_event_open", SYS_perf_event_open, ENOSYS, {0, 0, -1, -1, 0}},
    {"userfaultfd", SYS_userfaultfd, ENOSYS, {0}},
    {"keyctl", SYS_keyctl, ENOSYS, {0, -3, 0}},
    {"splice", SYS_splice, ENOSYS, {0, 0, 1, 0, 1, 0}},
    {"open_by_handle_at", SYS_open_by_handle_at, ENOSYS, {0, 0, 0}},
    {"raise limits", SYS_prlimit64, ENOSYS, {1, 0, 0, 0}},
};

/* In the process that would execute a program. */
_Noreturn static void measure_program_cage(const struct sandbox *sb,
					   const struct sandbox_program *p)
{
	struct selftest found = {0};
	int fd = sandbox_leave_to_program(sb, p);

	found.err = fd < 0 ? fd : sandbox_bound_files(p);
	sys_close(fd);
	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		if (facts[i].holds(sb))
			found.held |= SANDBOX_BIT(facts[i].layer);
	for (size_t i = 0; i < ARRAY_LEN(built); i++)
		if (sb->err[built[i]] == 0)
			found.held |= SANDBOX_BIT(built[i]);
	if (fd >= 0 && selftest_denied(acts, ARRAY_LEN(acts), &found))
		found.held |= SANDBOX_BIT(SANDBOX_SECCOMP);
	if (seen[0] != '\0')
		snprintf(found.text, sizeof(found.text),
			 "%.160s is in sight of programs, and nothing that was "
			 "granted leads there",
			 seen);
	send(SANDBOX_RUN_FD, &found, sizeof(found), MSG_NOSIGNAL);
	_exit(EXIT_SUCCESS);
}

/*
 * In the shim, which must have every privilege of the program: so the program gains none.
 */
static void measure_shim(const struct sandbox *sb,
			 const struct sandbox_program *p, int proc)
{
	struct selftest found = {0};
	int sig = 0;
	pid_t pid;

	(void)proc;
	if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
		found.held |= SANDBOX_BIT(SANDBOX_UNDUMPABLE);
	found.bare = p->bare;
	if (caps_are_none())
		found.held |= SANDBOX_BIT(SANDBOX_CAPS);
	if (prctl(PR_GET_PDEATHSIG, &sig, 0, 0, 0) == 0 && sig == SIGKILL)
		found.held |= SANDBOX_BIT(SANDBOX_PDEATHSIG);
	send(SANDBOX_RUN_FD, &found, sizeof(found), MSG_NOSIGNAL);
	pid = fork();
	if (pid == 0)
		measure_program_cage(sb, p);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	_exit(EXIT_SUCCESS);
}

int selftest_program(const struct sandbox *sb, const struct rootfs *t,
		     struct selftest *found)
{
	struct sandbox_program p = {
	    .w = {.cpu_ms = 1000, .memory_bytes = 16u << 20},
	    .package = ROOTFS_NO_PACKAGE,
	    .limits = {.processes = SELFTEST_PROCESSES,
		       .open_files = SELFTEST_FILES,
		       .files = 64}};
	int ends[2], status = 0, rc;
	const char *layer;
	pid_t pid;

	*found = (struct selftest){0};
	granted = t;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	p.w.run_fd = ends[1];
	pid = clone_program(sb, &p, CLONE_OF_ZYGOTE, measure_shim);
	/* answers of the shim and of the program's process */
	rc = selftest_await(pid, ends, 2, found, &status);
	if (pid < 0)
		snprintf(found->text, sizeof(found->text), "no pid namespace");
	if (pid < 0 || rc == 0)
		return rc;
	layer = selftest_lost_layer(status);
	if (layer != NULL)
		snprintf(found->text, sizeof(found->text),
			 "%s cannot be had for a program of its own", layer);
	else
		snprintf(found->text, sizeof(found->text),
			 "it did not answer: wait status %d", status);
	return rc;
}

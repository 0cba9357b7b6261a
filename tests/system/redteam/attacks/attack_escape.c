/* SPDX-License-Identifier: Apache-2.0 */
/* attack_escape.c - attempts to reach outside of the cage: system calls by name. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

#define PTR(x) ((long)(x))
#define HIGH (1L << 32)
#define TIOCLINUX_PASTE 0x541C

static char bytes[128];
static struct clone_args new_user = {.flags = CLONE_NEWUSER,
				     .exit_signal = SIGCHLD};

static const struct {
	const char *name;
	long nr, arg[6];
} calls[] = {
    {"ptrace", SYS_ptrace, {PTRACE_ATTACH, 1}},
    {"ptrace_traceme", SYS_ptrace, {PTRACE_TRACEME}},
    {"process_vm_readv", SYS_process_vm_readv, {1, 0, 0, 0, 0, 0}},
    {"process_vm_writev", SYS_process_vm_writev, {1, 0, 0, 0, 0, 0}},
    {"pidfd_getfd", SYS_pidfd_getfd, {0, 0, 0}},
    {"kcmp", SYS_kcmp, {1, 1, 0, 0, 0}},
    {"unshare", SYS_unshare, {CLONE_NEWUSER}},
    {"setns", SYS_setns, {0, CLONE_NEWUSER}},
    {"mount", SYS_mount, {PTR("x"), PTR("/work"), PTR("tmpfs"), 0, 0}},
    {"umount", SYS_umount2, {PTR("/proc"), 2}},
    {"pivot_root", SYS_pivot_root, {PTR("/work"), PTR("/work")}},
    {"fsopen", SYS_fsopen, {PTR("tmpfs"), 0}},
    {"open_tree", SYS_open_tree, {AT_FDCWD, PTR("/"), 1}},
    {"move_mount", SYS_move_mount, {0, 0, 0, 0, 0}},
    {"mount_setattr", SYS_mount_setattr, {AT_FDCWD, PTR("/"), 0, 0, 0}},
    {"memfd_create", SYS_memfd_create, {PTR("x"), 0}},
    {"memfd_secret", SYS_memfd_secret, {0}},
    {"clone3_user", SYS_clone3, {PTR(&new_user), sizeof(new_user)}},
    {"clone_parent", SYS_clone, {CLONE_PARENT | SIGCHLD}},
    {"clone_user", SYS_clone, {CLONE_NEWUSER | SIGCHLD}},
    {"clone_net", SYS_clone, {CLONE_NEWNET | SIGCHLD | HIGH}},
    {"tiocsti", SYS_ioctl, {0, TIOCSTI, PTR("x")}},
    {"tiocsti_high", SYS_ioctl, {0, TIOCSTI | HIGH, PTR("x")}},
    {"tioclinux", SYS_ioctl, {0, TIOCLINUX_PASTE, PTR("\x03")}},
    {"io_uring", SYS_io_uring_setup, {8, PTR(bytes)}},
    {"bpf", SYS_bpf, {0, PTR(bytes), sizeof(bytes)}},
    {"userfaultfd", SYS_userfaultfd, {0}},
    {"perf", SYS_perf_event_open, {PTR(bytes), 0, -1, -1, 0}},
    {"keyctl", SYS_keyctl, {22, -1, -1}},
    {"add_key", SYS_add_key, {PTR("user"), PTR("x"), PTR("x"), 1, -3}},
    {"request_key", SYS_request_key, {PTR("user"), PTR("x"), 0, -3}},
    {"socket_inet", SYS_socket, {AF_INET, SOCK_STREAM, 0}},
    {"socket_inet6", SYS_socket, {AF_INET6, SOCK_DGRAM, 0}},
    {"socket_unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}},
    {"socket_netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}},
    {"socket_packet", SYS_socket, {AF_PACKET, SOCK_RAW, 0}},
    {"socket_alg", SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}},
    {"socket_vsock", SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}},
    {"pair_inet", SYS_socketpair, {AF_INET, SOCK_STREAM, 0, PTR(bytes)}},
    {"connect", SYS_connect, {0, PTR(bytes), 16}},
    {"bind", SYS_bind, {0, PTR(bytes), 16}},
    {"open_by_handle", SYS_open_by_handle_at, {AT_FDCWD, PTR(bytes), 0}},
    {"name_to_handle",
     SYS_name_to_handle_at,
     {AT_FDCWD, PTR("/"), PTR(bytes), PTR(bytes), 0}},
    {"personality", SYS_personality, {READ_IMPLIES_EXEC}},
    {"seccomp", SYS_seccomp, {1, 8, PTR(bytes)}},
    {"splice", SYS_splice, {0, 0, 1, 0, 1, 0}},
    {"tee", SYS_tee, {0, 1, 1, 0}},
    {"vmsplice", SYS_vmsplice, {1, PTR(bytes), 1, 0}},
    {"sendfile", SYS_sendfile, {1, 0, 0, 1}},
    {"set_dumpable", SYS_prctl, {PR_SET_DUMPABLE, 1}},
    {"set_ptracer", SYS_prctl, {PR_SET_PTRACER, -1}},
    {"set_mm", SYS_prctl, {PR_SET_MM, PR_SET_MM_BRK, 0}},
    {"set_subreaper", SYS_prctl, {PR_SET_CHILD_SUBREAPER, 1}},
    {"set_seccomp", SYS_prctl, {PR_SET_SECCOMP, 2, PTR(bytes)}},
    {"set_own", SYS_fcntl, {0, F_SETOWN, 1}},
    {"set_sig", SYS_fcntl, {0, 10, SIGKILL}},
    {"lease", SYS_fcntl, {0, 1024, F_RDLCK}},
    {"notify", SYS_fcntl, {0, 1026, 0}},
    {"pipe_size", SYS_fcntl, {1, 1031, 1 << 30}},
    {"setuid", SYS_setuid, {0}},
    {"setgroups", SYS_setgroups, {0, 0}},
    {"capset", SYS_capset, {PTR(bytes), PTR(bytes)}},
    {"chroot", SYS_chroot, {PTR("/work")}},
    {"sethostname", SYS_sethostname, {PTR("x"), 1}},
    {"init_module", SYS_init_module, {0, 0, 0}},
    {"kexec", SYS_kexec_load, {0, 0, 0, 0}},
    {"reboot", SYS_reboot, {0, 0, 0, 0}},
    {"settime", SYS_clock_settime, {0, PTR(bytes)}},
    {"syslog", SYS_syslog, {3, PTR(bytes), 1}},
    {"fanotify", SYS_fanotify_init, {0, 0}},
    {"prlimit_other", SYS_prlimit64, {1, 7, 0, PTR(bytes)}},
    {"priority", SYS_setpriority, {0, 0, -20}},
    {"shmget", SYS_shmget, {0, 4096, 0600 | 01000}},
    {"msgget", SYS_msgget, {0, 0600 | 01000}},
    {"mq_open", SYS_mq_open, {PTR("/x"), O_CREAT | O_RDWR, 0600, 0}},
    {"mknod", SYS_mknodat, {AT_FDCWD, PTR("n"), S_IFCHR | 0666, 259}},
    {"shadow", SYS_openat, {AT_FDCWD, PTR("../../../etc/shadow"), O_RDONLY}},
    {"shim_mem", SYS_openat, {AT_FDCWD, PTR("/proc/1/mem"), O_RDWR}},
    {"shim_root", SYS_openat, {AT_FDCWD, PTR("/proc/1/root/"), O_RDONLY}},
    {"shim_fd", SYS_openat, {AT_FDCWD, PTR("/proc/1/fd/3"), O_RDWR}},
    {"own_exe", SYS_openat, {AT_FDCWD, PTR("/proc/self/exe"), O_WRONLY}},
    {"shim_exe", SYS_openat, {AT_FDCWD, PTR("/proc/1/exe"), O_WRONLY}},
    {"sysrq", SYS_openat, {AT_FDCWD, PTR("/proc/sysrq-trigger"), O_WRONLY}},
    {"core_pattern",
     SYS_openat,
     {AT_FDCWD, PTR("/proc/sys/kernel/core_pattern"), O_WRONLY}},
    {"kcore", SYS_openat, {AT_FDCWD, PTR("/proc/kcore"), O_RDONLY}},
    {"cgroup", SYS_openat, {AT_FDCWD, PTR("/sys/fs/cgroup"), O_RDONLY}},
    {"usr", SYS_openat, {AT_FDCWD, PTR("/usr/x"), O_CREAT | O_WRONLY, 0600}},
    {"usr_chmod", SYS_fchmodat, {AT_FDCWD, PTR("/usr/bin/env"), 0777}},
#ifdef __x86_64__
    {"x32", 0x40000000 | SYS_getpid, {0}},
    {"modify_ldt", SYS_modify_ldt, {0, 0, 0}},
    {"iopl", SYS_iopl, {3}},
#endif
};

bool try_call(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const long *a = calls[i].arg;
		long rc;

		if (strcmp(calls[i].name, name) != 0)
			continue;
		rc = syscall(calls[i].nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		tell_errno(rc < 0);
		return true;
	}
	return false;
}

static void int80(void)
{
#ifdef __x86_64__
	long rc;

	__asm__ volatile("int $0x80" : "=a"(rc) : "a"(20L) : "memory");
	printf("%ld", rc);
#else
	raise(SIGSYS);
#endif
}

/* execve(2) must not give privileges by set-id files. */
static void setid(void)
{
	struct statvfs usr, work;

	statvfs("/usr/bin", &usr);
	statvfs("/work", &work);
	printf("{\"nosuid\":[%d,%d],\"noNewPrivs\":%d}",
	       (usr.f_flag & ST_NOSUID) != 0, (work.f_flag & ST_NOSUID) != 0,
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

/* The open descriptors, and whether a folder is among them. */
static void leaked(void)
{
	struct stat st;
	int folders = 0;

	printf("{\"fds\":[");
	for (int fd = 0; fd < 1024; fd++)
		if (fstat(fd, &st) == 0) {
			printf("%s%d", fd > 0 ? "," : "", fd);
			folders += S_ISDIR(st.st_mode);
		}
	printf("],\"folders\":%d}", folders);
}

/* A lock on a file visible to all runs: the lock succeeds, as documented. */
static void lock(void)
{
	int fd = open("/usr/bin/env", O_RDONLY);

	tell_errno(flock(fd, LOCK_EX | LOCK_NB) != 0);
}

/* Call each number in "list" with nonsense as arguments, and print the results. */
static void numbers(void)
{
	const char *at = strstr(inputs, "\"list\":[");
	const char *sep = "[";
	long nr;
	int n;

	if (at == NULL)
		return;
	for (at += strlen("\"list\":["); sscanf(at, "%ld%n", &nr, &n) == 1;
	     at += n + (at[n] == ',')) {
		long rc = syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L);

		printf("%s\"%s\"", sep, rc < 0 ? strerrorname_np(errno) : "0");
		sep = ",";
	}
	printf("]");
}

const struct attack escape_attacks[] = {
    {"numbers", numbers}, {"int80", int80}, {"setid", setid},
    {"leaked", leaked},	  {"lock", lock},   {NULL, NULL},
};

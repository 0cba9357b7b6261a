/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_program.c - the filters of programs and of their shims, compiled by
 * filter.c. A program's calls fail or are reported rather than kill it, so that
 * ordinary programs run; a shim that makes any other call is killed. -errno
 * when one cannot be built.
 */
#include "sandbox/filter_private.h"

#include <asm/termbits.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <asm/ioctls.h>
#include <sys/socket.h>

#include "sandbox/sandbox_types.h"

#define DENY(e) SCMP_ACT_ERRNO(e)

/*
 * A call in none of these lists is unknown, or newer than this table: it fails
 * with ENOSYS, which C libraries handle. inotify is left out because it would
 * report what others do with files that all of them see.
 */
static const int allowed[] = {
    /* files, below a root of its own */
    SYS(read), SYS(write), SYS(readv), SYS(writev), SYS(pread64), SYS(pwrite64),
    SYS(preadv), SYS(preadv2), SYS(pwritev), SYS(pwritev2), SYS(close),
    SYS(close_range), SYS(lseek), SYS(dup), SYS(dup2), SYS(dup3),
    SYS(copy_file_range), SYS(fadvise64), SYS(readahead), SYS(open),
    SYS(openat), SYS(openat2), SYS(creat), SYS(stat), SYS(fstat), SYS(lstat),
    SYS(newfstatat), SYS(statx), SYS(access), SYS(faccessat), SYS(faccessat2),
    SYS(readlink), SYS(readlinkat), SYS(getcwd), SYS(chdir), SYS(fchdir),
    SYS(getdents), SYS(getdents64), SYS(mkdir), SYS(mkdirat), SYS(rmdir),
    SYS(unlink), SYS(unlinkat), SYS(rename), SYS(renameat), SYS(renameat2),
    SYS(link), SYS(linkat), SYS(symlink), SYS(symlinkat), SYS(chmod),
    SYS(fchmod), SYS(fchmodat), SYS(chown), SYS(fchown), SYS(lchown),
    SYS(fchownat), SYS(truncate), SYS(ftruncate), SYS(fallocate), SYS(fsync),
    SYS(fdatasync), SYS(utime), SYS(utimes), SYS(utimensat), SYS(futimesat),
    SYS(umask), SYS(statfs), SYS(fstatfs), SYS(flock), SYS(getxattr),
    SYS(lgetxattr), SYS(fgetxattr), SYS(listxattr), SYS(llistxattr),
    SYS(flistxattr),
    /* waiting */
    SYS(pipe), SYS(pipe2), SYS(poll), SYS(ppoll), SYS(select), SYS(pselect6),
    SYS(epoll_create), SYS(epoll_create1), SYS(epoll_ctl), SYS(epoll_wait),
    SYS(epoll_pwait), SYS(epoll_pwait2), SYS(eventfd), SYS(eventfd2),
    SYS(timerfd_create), SYS(timerfd_settime), SYS(timerfd_gettime),
    SYS(signalfd4), SYS(nanosleep), SYS(clock_nanosleep),
    /* memory; just-in-time compilers need code that is writable */
    SYS(brk), SYS(munmap), SYS(mremap), SYS(mprotect), SYS(pkey_alloc),
    SYS(pkey_free), SYS(pkey_mprotect), SYS(mincore), SYS(msync), SYS(mlock),
    SYS(mlock2), SYS(munlock), SYS(membarrier),
    /* signals, of its own processes: there are no others */
    SYS(rt_sigaction), SYS(rt_sigprocmask), SYS(rt_sigreturn),
    SYS(rt_sigsuspend), SYS(rt_sigpending), SYS(rt_sigtimedwait),
    SYS(rt_sigqueueinfo), SYS(sigaltstack), SYS(kill), SYS(tgkill), SYS(tkill),
    SYS(pause), SYS(alarm), SYS(getitimer), SYS(setitimer), SYS(timer_create),
    SYS(timer_settime), SYS(timer_gettime), SYS(timer_getoverrun),
    SYS(timer_delete),
    /* processes and threads */
    SYS(fork), SYS(vfork), SYS(execve), SYS(execveat), SYS(exit),
    SYS(exit_group), SYS(wait4), SYS(waitid), SYS(set_tid_address),
    SYS(set_robust_list), SYS(get_robust_list), SYS(rseq), SYS(futex),
    SYS(futex_waitv), SYS(sched_yield), SYS(sched_getaffinity),
    SYS(sched_getparam), SYS(sched_getscheduler), SYS(sched_get_priority_max),
    SYS(sched_get_priority_min), SYS(getcpu), SYS(restart_syscall),
    SYS(pidfd_open), SYS(pidfd_send_signal), SYS(arch_prctl),
    /* identity, time and limits */
    SYS(getpid), SYS(getppid), SYS(gettid), SYS(getuid), SYS(geteuid),
    SYS(getgid), SYS(getegid), SYS(getresuid), SYS(getresgid), SYS(getgroups),
    SYS(getpgid), SYS(getpgrp), SYS(getsid), SYS(setpgid), SYS(setsid),
    SYS(getpriority), SYS(uname), SYS(sysinfo), SYS(times), SYS(getrusage),
    SYS(getrlimit), SYS(getrandom), SYS(capget), SYS(clock_gettime),
    SYS(clock_getres), SYS(gettimeofday), SYS(time),
    /* pairs of sockets: there are no others */
    SYS(recvfrom), SYS(recvmsg), SYS(sendto), SYS(shutdown), SYS(getsockname),
    SYS(getpeername), SYS(getsockopt), SYS(setsockopt)};

/* Calls that ordinary programs try, and do without. */
static const int denied[] = {SYS(setuid),
			     SYS(setgid),
			     SYS(setreuid),
			     SYS(setregid),
			     SYS(setresuid),
			     SYS(setresgid),
			     SYS(setfsuid),
			     SYS(setfsgid),
			     SYS(setgroups),
			     SYS(setpriority),
			     SYS(sched_setparam),
			     SYS(sched_setscheduler),
			     SYS(sched_setaffinity),
			     SYS(sched_setattr),
			     SYS(setrlimit),
			     SYS(chroot),
			     SYS(setxattr),
			     SYS(lsetxattr),
			     SYS(fsetxattr),
			     SYS(removexattr),
			     SYS(lremovexattr),
			     SYS(fremovexattr),
			     SYS(ioprio_set)};

/*
 * By these, descriptors could be left in flight, which the kernel counts
 * against all other processes of the user. Whether a message has any stands in
 * memory, which a filter does not see. write, writev and send remain.
 */
static const int messages[] = {SYS(sendmsg), SYS(sendmmsg)};

/* Calls that no template needs: reported by name, and the end of the run. */
static const int violations[] = {
    /* other processes */
    SYS(ptrace), SYS(process_vm_readv), SYS(process_vm_writev),
    SYS(process_madvise), SYS(pidfd_getfd), SYS(kcmp),
    /* the kernel's own machinery */
    SYS(bpf), SYS(perf_event_open), SYS(userfaultfd), SYS(keyctl), SYS(add_key),
    SYS(request_key), SYS(init_module), SYS(finit_module), SYS(delete_module),
    SYS(kexec_load), SYS(kexec_file_load),
    /* mounts and namespaces */
    SYS(mount), SYS(umount2), SYS(pivot_root), SYS(fsopen), SYS(fsmount),
    SYS(fsconfig), SYS(fspick), SYS(move_mount), SYS(open_tree),
    SYS(mount_setattr), SYS(setns), SYS(unshare), SYS(name_to_handle_at),
    SYS(open_by_handle_at),
    /* the machine, and rights */
    SYS(seccomp), SYS(iopl), SYS(ioperm), SYS(modify_ldt), SYS(swapon),
    SYS(swapoff), SYS(reboot), SYS(acct), SYS(quotactl), SYS(quotactl_fd),
    SYS(clock_settime), SYS(settimeofday), SYS(adjtimex), SYS(clock_adjtime),
    SYS(sethostname), SYS(setdomainname), SYS(syslog), SYS(fanotify_init),
    SYS(memfd_secret), SYS(capset)};

#define NEW_NAMESPACES                                                         \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |         \
	 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define NOT_CLONED                                                             \
	(NEW_NAMESPACES | CLONE_PARENT | CLONE_PTRACE | CLONE_UNTRACED)

/* A command of ioctl(2), fcntl(2) or prctl(2), which look at 32 bits. */
#define COMMAND(call, arg, value)                                              \
	{                                                                      \
		SYS(call), ALLOW, 1,                                           \
		{                                                              \
			INT_EQ(arg, value)                                     \
		}                                                              \
	}
#define MKNOD(call, mode, type, action)                                        \
	{                                                                      \
		SYS(call), action, 1,                                          \
		{                                                              \
			MASKED(mode, S_IFMT, type)                             \
		}                                                              \
	}

#define SOCKET_TYPE 0xFu /* without SOCK_CLOEXEC and the like */
/* N of them from FIRST on; N is a power of two and divides FIRST. */
#define ADVICE(first, n)                                                       \
	{                                                                      \
		SYS(madvise), ALLOW, 1,                                        \
		{                                                              \
			MASKED(2, UINT32_MAX - ((n)-1), first)                 \
		}                                                              \
	}

static const struct filter_rule by_argument[] = {
    {SYS(clone), ALLOW, 1, {MASKED(0, NOT_CLONED, 0)}},
    /* a datagram socket without a peer could be given a name */
    {SYS(socketpair),
     ALLOW,
     2,
     {INT_EQ(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_STREAM)}},
    {SYS(socketpair),
     ALLOW,
     2,
     {INT_EQ(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_SEQPACKET)}},
    /* no limit of ours counts the machine's reserve of huge pages */
    {SYS(mmap), ALLOW, 1, {MASKED(3, MAP_HUGETLB, 0)}},
    {SYS(mmap), DENY(ENOMEM), 1, {MASKED(3, MAP_HUGETLB, MAP_HUGETLB)}},
    /* all but MADV_MERGEABLE, by which runs could see each other's pages */
    ADVICE(0, 8),
    ADVICE(8, 4),
    ADVICE(14, 2),
    ADVICE(16, 8),
    ADVICE(24, 2),
    ADVICE(102, 2),
    MKNOD(mknod, 1, S_IFIFO, ALLOW),
    MKNOD(mknodat, 2, S_IFIFO, ALLOW),
    MKNOD(mknod, 1, S_IFCHR, DENY(EPERM)),
    MKNOD(mknodat, 2, S_IFCHR, DENY(EPERM)),
    MKNOD(mknod, 1, S_IFBLK, DENY(EPERM)),
    MKNOD(mknodat, 2, S_IFBLK, DENY(EPERM)),
    {SYS(personality), ALLOW, 1, {INT_EQ(0, 0xFFFFFFFF)}}, /* a query */
    {SYS(prlimit64), ALLOW, 1, {INT_EQ(0, 0)}},
    COMMAND(ioctl, 1, TCGETS),
    COMMAND(ioctl, 1, FIONBIO),
    COMMAND(ioctl, 1, FIONREAD),
    COMMAND(ioctl, 1, FIOCLEX),
    COMMAND(ioctl, 1, FIONCLEX),
    COMMAND(ioctl, 1, TIOCGWINSZ),
    COMMAND(ioctl, 1, TIOCGPGRP),
    /* types as if a user did */
    {SYS(ioctl), DENY(EPERM), 1, {INT_EQ(1, TIOCSTI)}},
    {SYS(ioctl), DENY(EPERM), 1, {INT_EQ(1, TIOCLINUX)}},
    COMMAND(fcntl, 1, F_DUPFD),
    COMMAND(fcntl, 1, F_DUPFD_CLOEXEC),
    COMMAND(fcntl, 1, F_GETFD),
    COMMAND(fcntl, 1, F_SETFD),
    COMMAND(fcntl, 1, F_GETFL),
    COMMAND(fcntl, 1, F_SETFL),
    COMMAND(fcntl, 1, F_GETLK),
    COMMAND(fcntl, 1, F_SETLK),
    COMMAND(fcntl, 1, F_SETLKW),
    COMMAND(fcntl, 1, F_OFD_GETLK),
    COMMAND(fcntl, 1, F_OFD_SETLK),
    COMMAND(fcntl, 1, F_OFD_SETLKW),
    COMMAND(fcntl, 1, F_GETPIPE_SZ),
    COMMAND(prctl, 0, PR_SET_NAME),
    COMMAND(prctl, 0, PR_GET_NAME),
    COMMAND(prctl, 0, PR_GET_DUMPABLE),
    COMMAND(prctl, 0, PR_SET_NO_NEW_PRIVS),
    COMMAND(prctl, 0, PR_GET_NO_NEW_PRIVS),
    COMMAND(prctl, 0, PR_CAPBSET_READ),
    COMMAND(prctl, 0, PR_GET_SECCOMP),
    COMMAND(prctl, 0, PR_SET_PDEATHSIG),
    COMMAND(prctl, 0, PR_GET_PDEATHSIG),
    COMMAND(prctl, 0, PR_SET_VMA),
};

/*
 * An unknown command of these calls fails as one expects of it, where ENOSYS
 * would say that there is no ioctl(2) at all. libseccomp has no rule for "all
 * others", so these instructions are put before its own.
 */
static const struct {
	int nr;
	unsigned int arg;
	uint32_t error;
} commands[] = {
    {SYS(ioctl), 1, ENOTTY}, {SYS(fcntl), 1, EPERM}, {SYS(prctl), 0, EPERM}};

#define COMMANDS_MAX 64 /* of one call */
#define LOAD(field)                                                            \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                     \
		 (uint32_t)offsetof(struct seccomp_data, field))
/* The lower half of 64 bits: all known architectures are little-endian. */
#define LOAD_ARG(n) LOAD(args[n])
#define IF_EQUAL(value, then, otherwise)                                       \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)

struct code {
	struct sock_filter at[ARRAY_LEN(commands) * (COMMANDS_MAX + 5) + 3];
	size_t n;
};

static void emit(struct code *c, struct sock_filter f)
{
	c->at[c->n++] = f;
}

/* Jump behind these when call I has a known command, or is another. */
static void emit_commands(struct code *c, size_t i)
{
	uint32_t values[COMMANDS_MAX];
	size_t n = 0;

	for (size_t r = 0; r < ARRAY_LEN(by_argument); r++)
		if (by_argument[r].nr == commands[i].nr && n < COMMANDS_MAX)
			values[n++] = (uint32_t)by_argument[r].arg[0].datum_b;
	emit(c, (struct sock_filter)LOAD(nr));
	emit(c, (struct sock_filter)IF_EQUAL((uint32_t)commands[i].nr, 0,
					     (uint8_t)(n + 2)));
	emit(c, (struct sock_filter)LOAD_ARG(commands[i].arg));
	for (size_t v = 0; v < n; v++)
		emit(c, (struct sock_filter)IF_EQUAL(values[v],
						     (uint8_t)(n - v), 0));
	emit(c, (struct sock_filter)BPF_STMT(
		    BPF_RET | BPF_K, SECCOMP_RET_ERRNO | commands[i].error));
}

int filter_refine_program(struct sock_fprog *prog)
{
	struct code c = {.n = 0};
	size_t arch, size;
	struct sock_filter *all;

	emit(&c, (struct sock_filter)LOAD(arch));
	emit(&c, (struct sock_filter)IF_EQUAL(seccomp_arch_native(), 1, 0));
	arch = c.n;
	emit(&c, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		emit_commands(&c, i);
	/* another architecture is libseccomp's to refuse */
	c.at[arch].k = (uint32_t)(c.n - arch - 1);
	if (c.n + prog->len > BPF_MAXINSNS)
		return -EFBIG;
	size = sizeof(*all);
	all = xcalloc(c.n + prog->len, size);
	memcpy(all, c.at, c.n * size);
	memcpy(all + c.n, prog->filter, prog->len * size);
	free(prog->filter);
	prog->filter = all;
	prog->len = (unsigned short)(c.n + prog->len);
	return 0;
}

/*
 * What the shim does once the program runs. It holds the run's socket, so it
 * may create no process, execute nothing, map no code and write to no file.
 */
#define READING (O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_DIRECTORY)

static const int shim_calls[] = {
    SYS(read), SYS(pread64), SYS(write), SYS(ppoll), SYS(poll), SYS(close),
    SYS(openat2), SYS(fstat), SYS(fstatfs), SYS(newfstatat), SYS(lseek),
    SYS(getdents64),
    /* Processes of the run: PID 1 of their namespace sees no others. */
    SYS(kill), SYS(wait4), SYS(getrusage), SYS(exit_group), SYS(exit),
    SYS(rt_sigreturn), SYS(rt_sigprocmask), SYS(restart_syscall), SYS(brk),
    SYS(munmap), SYS(clock_gettime), SYS(gettimeofday), SYS(getrandom),
    SYS(getpid), SYS(gettid)};

static const struct filter_rule shim_rules[] = {
    {SYS(recvfrom), ALLOW, 2, {EQ(0, SANDBOX_RUN_FD), EQ(4, 0)}},
    {SYS(sendto), ALLOW, 2, {EQ(0, SANDBOX_RUN_FD), EQ(4, 0)}},
    {SYS(openat), ALLOW, 1, {WITHIN(2, READING)}},
    {SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_GETFL)}},
    {SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_SETFD)}},
    {SYS(ioctl), ALLOW, 1, {INT_EQ(1, SECCOMP_IOCTL_NOTIF_RECV)}},
    /* Processes of the run: PID 1 of their namespace sees no others. */
    {SYS(mmap),
     ALLOW,
     3,
     {RW, BUT_FOR(3, MAP_NORESERVE, MAP_PRIVATE | MAP_ANONYMOUS),
      INT_EQ(4, -1)}},
    {SYS(mprotect), ALLOW, 1, {RW}},
    {SYS(mremap), ALLOW, 1, {EQ(3, MREMAP_MAYMOVE)}},
    {SYS(madvise), ALLOW, 1, {EQ(2, MADV_DONTNEED)}},
    {SYS(futex), ALLOW, 1, {EQ(1, FUTEX_WAIT_PRIVATE)}},
    {SYS(futex), ALLOW, 1, {EQ(1, FUTEX_WAKE_PRIVATE)}},
};

static const struct filter_rule no_network[] = {
    {SYS(socket), DENY(EAFNOSUPPORT), 0, {}},
};

/*
 * What fetches packages: connections, and questions to name servers. Nobody
 * connects to it, and no socket of the machine can be reached but by IP.
 */
#define ANY_HOST(family, type)                                                 \
	{                                                                      \
		SYS(socket), ALLOW, 2,                                         \
		{                                                              \
			INT_EQ(0, family), MASKED(1, SOCKET_TYPE, type)        \
		}                                                              \
	}
#define NO_FAMILY(family)                                                      \
	{                                                                      \
		SYS(socket), DENY(EAFNOSUPPORT), 1,                            \
		{                                                              \
			INT_EQ(0, family)                                      \
		}                                                              \
	}

static const int network_calls[] = {SYS(connect), SYS(sendmsg), SYS(sendmmsg),
				    SYS(recvmmsg)};
static const struct filter_rule network_rules[] = {
    ANY_HOST(AF_INET, SOCK_STREAM),
    ANY_HOST(AF_INET, SOCK_DGRAM),
    ANY_HOST(AF_INET6, SOCK_STREAM),
    ANY_HOST(AF_INET6, SOCK_DGRAM),
    /* what is tried by itself, and done without */
    NO_FAMILY(AF_UNIX),
    NO_FAMILY(AF_NETLINK),
    {SYS(bind), DENY(EPERM), 0, {}},
    {SYS(listen), DENY(EPERM), 0, {}},
};

/* A new namespace, or another process as parent: refused, flag by flag. */
static int add_not_cloned(scmp_filter_ctx ctx)
{
	int rc = 0;

	for (unsigned int i = 0; i < 32 && rc == 0; i++) {
		uint32_t flag = UINT32_C(1) << i;
		struct filter_rule rule = {
		    SYS(clone), DENY(EPERM), 1, {MASKED(0, flag, flag)}};

		if ((NOT_CLONED & flag) != 0)
			rc = filter_add(ctx, &rule, 1);
	}
	return rc;
}

/* What both may do. */
static int add_local(scmp_filter_ctx ctx)
{
	int rc = filter_add_calls(ctx, ALLOW, allowed, ARRAY_LEN(allowed));

	if (rc == 0)
		rc = filter_add_calls(ctx, DENY(EPERM), denied,
				      ARRAY_LEN(denied));
	if (rc == 0)
		rc = filter_add_calls(ctx, SCMP_ACT_NOTIFY, violations,
				      ARRAY_LEN(violations));
	if (rc == 0)
		rc = add_not_cloned(ctx);
	return rc != 0 ? rc
		       : filter_add(ctx, by_argument, ARRAY_LEN(by_argument));
}

int filter_add_program(scmp_filter_ctx ctx)
{
	int rc = add_local(ctx);

	if (rc == 0)
		rc = filter_add_calls(ctx, DENY(EPERM), messages,
				      ARRAY_LEN(messages));
	return rc != 0 ? rc
		       : filter_add(ctx, no_network, ARRAY_LEN(no_network));
}

int filter_add_build(scmp_filter_ctx ctx)
{
	int rc = add_local(ctx);

	if (rc == 0)
		rc = filter_add_calls(ctx, ALLOW, network_calls,
				      ARRAY_LEN(network_calls));
	return rc != 0
		   ? rc
		   : filter_add(ctx, network_rules, ARRAY_LEN(network_rules));
}

const struct filter_table filter_shim = FILTER_TABLE(shim_calls, shim_rules);

/*
 * A filter sees the number of a descriptor and not its inode: so it allows all
 * locks, or none. F_GETLK, which only queries, blocks nobody.
 */
#define NO_LOCK(command)                                                       \
	{                                                                      \
		SYS(fcntl), DENY(EPERM), 1,                                    \
		{                                                              \
			INT_EQ(1, command)                                     \
		}                                                              \
	}

static const struct filter_rule no_locks[] = {
    {SYS(flock), DENY(EPERM), 0, {}},
    NO_LOCK(F_SETLK),
    NO_LOCK(F_SETLKW),
    NO_LOCK(F_OFD_SETLK),
    NO_LOCK(F_OFD_SETLKW),
};

const struct filter_table filter_no_locks = {.rules = no_locks,
					     .n = ARRAY_LEN(no_locks)};

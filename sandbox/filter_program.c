/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_program.c - the filters of programs and of package builds, compiled by
 * filter.c. Forbidden calls fail or are reported instead of killing the
 * process, so that ordinary programs run. -errno when a filter cannot be built.
 */
#include "sandbox/filter_private.h"

#include <asm/termbits.h>
#include <errno.h>
#include <linux/eventpoll.h>
#include <linux/fadvise.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <asm/ioctls.h>
#include <sys/socket.h>

#define DENY(e) SCMP_ACT_ERRNO(e)

/*
 * A call in no list is unknown, or newer than the table: the call fails with
 * ENOSYS, which C libraries handle. Left out on purpose: inotify, which would
 * report what other processes do with shared files; mincore, which reveals to
 * an ordinary user which pages of the user's files are in memory; timerfd and
 * signalfd, since a watch on such a descriptor runs in the timer's interrupt or
 * in the sender of the signal, where no CPU account is charged.
 */
static const int allowed[] = {
    /* files, below the root of the run */
    SYS(read), SYS(write), SYS(readv), SYS(writev), SYS(pread64), SYS(pwrite64),
    SYS(preadv), SYS(pwritev), SYS(close), SYS(close_range), SYS(lseek),
    SYS(dup), SYS(dup2), SYS(dup3), SYS(copy_file_range), SYS(readahead),
    SYS(open), SYS(openat), SYS(openat2), SYS(creat), SYS(stat), SYS(fstat),
    SYS(lstat), SYS(newfstatat), SYS(statx), SYS(access), SYS(faccessat),
    SYS(faccessat2), SYS(readlink), SYS(readlinkat), SYS(getcwd), SYS(chdir),
    SYS(fchdir), SYS(getdents), SYS(getdents64), SYS(mkdir), SYS(mkdirat),
    SYS(rmdir), SYS(unlink), SYS(unlinkat), SYS(rename), SYS(renameat),
    SYS(renameat2), SYS(link), SYS(linkat), SYS(symlink), SYS(symlinkat),
    SYS(chmod), SYS(fchmod), SYS(fchmodat), SYS(chown), SYS(fchown),
    SYS(lchown), SYS(fchownat), SYS(truncate), SYS(ftruncate), SYS(fallocate),
    SYS(utime), SYS(utimes), SYS(utimensat), SYS(futimesat), SYS(umask),
    SYS(statfs), SYS(fstatfs), SYS(getxattr), SYS(lgetxattr), SYS(fgetxattr),
    SYS(listxattr), SYS(llistxattr), SYS(flistxattr),
    /* waiting */
    SYS(pipe), SYS(pipe2), SYS(epoll_create), SYS(epoll_create1),
    SYS(epoll_wait), SYS(epoll_pwait), SYS(epoll_pwait2), SYS(eventfd),
    SYS(eventfd2), SYS(nanosleep), SYS(clock_nanosleep),
    /* memory; just-in-time compilers need writable code */
    SYS(brk), SYS(munmap), SYS(mprotect), SYS(pkey_alloc), SYS(pkey_free),
    SYS(pkey_mprotect), SYS(msync), SYS(mlock), SYS(mlock2), SYS(munlock),
    SYS(membarrier),
    /* signals to the processes of the run: no others are visible */
    SYS(rt_sigaction), SYS(rt_sigprocmask), SYS(rt_sigreturn),
    SYS(rt_sigsuspend), SYS(rt_sigpending), SYS(rt_sigtimedwait),
    SYS(rt_sigqueueinfo), SYS(sigaltstack), SYS(kill), SYS(tgkill), SYS(tkill),
    SYS(pause), SYS(alarm), SYS(getitimer), SYS(setitimer), SYS(timer_create),
    SYS(timer_settime), SYS(timer_gettime), SYS(timer_getoverrun),
    SYS(timer_delete),
    /* processes and threads */
    SYS(exit), SYS(exit_group), SYS(wait4), SYS(waitid), SYS(set_tid_address),
    SYS(set_robust_list), SYS(get_robust_list), SYS(rseq), SYS(futex),
    SYS(futex_waitv), SYS(sched_yield), SYS(sched_getaffinity),
    SYS(sched_getparam), SYS(sched_getscheduler), SYS(sched_get_priority_max),
    SYS(sched_get_priority_min), SYS(getcpu), SYS(restart_syscall),
    SYS(pidfd_open), SYS(pidfd_send_signal), SYS(arch_prctl),
    /* identity, time and limits */
    SYS(getpid), SYS(getppid), SYS(gettid), SYS(getuid), SYS(geteuid),
    SYS(getgid), SYS(getegid), SYS(getresuid), SYS(getresgid), SYS(getgroups),
    SYS(getpgid), SYS(getpgrp), SYS(getsid), SYS(setpgid), SYS(getpriority),
    SYS(uname), SYS(sysinfo), SYS(times), SYS(getrusage), SYS(getrlimit),
    SYS(getrandom), SYS(capget), SYS(clock_gettime), SYS(clock_getres),
    SYS(gettimeofday), SYS(time),
    /* pairs of sockets: no other sockets exist */
    SYS(shutdown), SYS(getsockname), SYS(getpeername), SYS(getsockopt)};

/* Calls that ordinary programs try, and whose failure the programs handle. */
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
 * sendmsg(2) and sendmmsg(2) can leave descriptors in flight, which the kernel
 * counts against all other processes of the user. The descriptors of a message
 * are in memory, which a filter cannot read. write, writev and send remain.
 */
static const int messages[] = {SYS(sendmsg), SYS(sendmmsg)};

/* Calls that no template needs: reported by name, and fatal for the run. */
static const int violations[] = {
    /* other processes */
    SYS(ptrace), SYS(process_vm_readv), SYS(process_vm_writev),
    SYS(process_madvise), SYS(pidfd_getfd), SYS(kcmp),
    /* internals of the kernel */
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

/* A command of ioctl(2), fcntl(2) or prctl(2), which read 32 bits of the argument. */
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

/* A limit of the calling process, to be lowered. */
#define LIMIT(which)                                                           \
	{                                                                      \
		SYS(prlimit64), ALLOW, 2,                                      \
		{                                                              \
			INT_EQ(0, 0), INT_EQ(1, which)                         \
		}                                                              \
	}
#define SOCKET_TYPE 0xFu /* without SOCK_CLOEXEC and SOCK_NONBLOCK */
#define RWF_FLAGS (RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_APPEND)
#define FADVISE(advice, action)                                                \
	{                                                                      \
		SYS(fadvise64), action, 1,                                     \
		{                                                              \
			INT_EQ(3, advice)                                      \
		}                                                              \
	}

/* Descriptors that a single poll(2) or select(2) may wait for; an epoll may have more. */
#define POLLED_MOST 1024
#define FEW(call, n)                                                           \
	{SYS(call), ALLOW, 1, {LT(n, POLLED_MOST + 1)}},                       \
	{                                                                      \
		SYS(call), DENY(EINVAL), 1,                                    \
		{                                                              \
			{                                                      \
				.arg = (n), .op = SCMP_CMP_GT,                 \
				.datum_a = POLLED_MOST                         \
			}                                                      \
		}                                                              \
	}

/*
 * RLIMIT_DATA counts no stack: neither a mapping that grows down, nor a page of
 * the first thread's stack that mremap(2) enlarges elsewhere. From STACK_FROM
 * on the kernel maps nothing but the first thread's stack (16 GiB of possible
 * places). Huge pages are a reserve of the whole machine.
 */
#ifdef __x86_64__
#define STACK_FROM UINT64_C(0x7ff800000000) /* 32 GiB below the end */
#else
#define STACK_FROM (UINT64_C(1) << 63)
#endif

/* N kinds of advice from FIRST on; N is a power of two and divides FIRST. */
#define ADVICE(first, n)                                                       \
	{                                                                      \
		SYS(madvise), ALLOW, 1,                                        \
		{                                                              \
			MASKED(2, UINT32_MAX - ((n)-1), first)                 \
		}                                                              \
	}

/*
 * Allow advice of madvise(2), except MADV_MERGEABLE, by which runs could see each other's
 * pages; MADV_COLD and MADV_PAGEOUT, which would evict pages of files that all runs of a
 * user share; and MADV_COLLAPSE, for which threads of the kernel work on all processors.
 */
static const struct filter_rule advice[] = {
    ADVICE(0, 8),  ADVICE(8, 4),  ADVICE(14, 2),  ADVICE(16, 4),
    ADVICE(22, 2), ADVICE(24, 1), ADVICE(102, 2),
};

const struct filter_table filter_advice = FILTER_RULES(advice);

static const struct filter_rule by_argument[] = {
    {SYS(mmap), DENY(ENOMEM), 1, {MASKED(3, MAP_HUGETLB, MAP_HUGETLB)}},
    {SYS(mmap), DENY(ENOMEM), 1, {MASKED(3, MAPS_REFUSED, MAP_GROWSDOWN)}},
    {SYS(mremap), DENY(ENOMEM), 1, {GE(0, STACK_FROM)}},
    {SYS(mremap), ALLOW, 1, {LT(0, STACK_FROM)}},
    MESSAGES(sendto, 3),
    MESSAGES(recvfrom, 3),
    MESSAGES(recvmsg, 2),
    /* a datagram socket without a peer could be bound to a name */
    {SYS(socketpair),
     ALLOW,
     2,
     {INT_EQ(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_STREAM)}},
    {SYS(socketpair),
     ALLOW,
     2,
     {INT_EQ(0, AF_UNIX), MASKED(1, SOCKET_TYPE, SOCK_SEQPACKET)}},
    MKNOD(mknod, 1, S_IFIFO, ALLOW),
    MKNOD(mknodat, 2, S_IFIFO, ALLOW),
    MKNOD(mknod, 1, S_IFCHR, DENY(EPERM)),
    MKNOD(mknodat, 2, S_IFCHR, DENY(EPERM)),
    MKNOD(mknod, 1, S_IFBLK, DENY(EPERM)),
    MKNOD(mknodat, 2, S_IFBLK, DENY(EPERM)),
    {SYS(personality), ALLOW, 1, {INT_EQ(0, 0xFFFFFFFF)}}, /* a query */
    /* the number of entries in wait queues, which no account charges */
    FEW(poll, 1),
    FEW(ppoll, 1),
    FEW(select, 0),
    FEW(pselect6, 0),
    /* files of a program are in memory; fsync of a host file would flush the disk */
    {SYS(fsync), SCMP_ACT_ERRNO(0), 0, {}},
    {SYS(fdatasync), SCMP_ACT_ERRNO(0), 0, {}},
    /* no RWF_NOWAIT, which reveals what is in the page cache that all users share */
    {SYS(preadv2), ALLOW, 1, {WITHIN(5, RWF_FLAGS)}},
    {SYS(pwritev2), ALLOW, 1, {WITHIN(5, RWF_FLAGS)}},
    {SYS(preadv2), DENY(EOPNOTSUPP), 1, {MASKED(5, RWF_NOWAIT, RWF_NOWAIT)}},
    {SYS(pwritev2), DENY(EOPNOTSUPP), 1, {MASKED(5, RWF_NOWAIT, RWF_NOWAIT)}},
    /* advice that would evict shared pages is ignored */
    FADVISE(POSIX_FADV_DONTNEED, SCMP_ACT_ERRNO(0)),
    FADVISE(POSIX_FADV_NORMAL, ALLOW),
    FADVISE(POSIX_FADV_RANDOM, ALLOW),
    FADVISE(POSIX_FADV_SEQUENTIAL, ALLOW),
    FADVISE(POSIX_FADV_WILLNEED, ALLOW),
    FADVISE(POSIX_FADV_NOREUSE, ALLOW),
    /*
     * if a program could raise the core limit, a crash would start core_pattern's program
     */
    {SYS(prlimit64), ALLOW, 2, {INT_EQ(0, 0), EQ(2, 0)}},
    LIMIT(RLIMIT_CPU),
    LIMIT(RLIMIT_FSIZE),
    LIMIT(RLIMIT_DATA),
    LIMIT(RLIMIT_STACK),
    LIMIT(RLIMIT_RSS),
    LIMIT(RLIMIT_NPROC),
    LIMIT(RLIMIT_NOFILE),
    LIMIT(RLIMIT_MEMLOCK),
    LIMIT(RLIMIT_AS),
    LIMIT(RLIMIT_LOCKS),
    LIMIT(RLIMIT_SIGPENDING),
    LIMIT(RLIMIT_MSGQUEUE),
    LIMIT(RLIMIT_NICE),
    LIMIT(RLIMIT_RTPRIO),
    LIMIT(RLIMIT_RTTIME),
    COMMAND(ioctl, 1, TCGETS),
    COMMAND(ioctl, 1, FIONBIO),
    COMMAND(ioctl, 1, FIONREAD),
    COMMAND(ioctl, 1, FIOCLEX),
    COMMAND(ioctl, 1, FIONCLEX),
    COMMAND(ioctl, 1, TIOCGWINSZ),
    COMMAND(ioctl, 1, TIOCGPGRP),
    /* TIOCSTI and TIOCLINUX insert input as if a user typed */
    {SYS(ioctl), DENY(EPERM), 1, {INT_EQ(1, TIOCSTI)}},
    {SYS(ioctl), DENY(EPERM), 1, {INT_EQ(1, TIOCLINUX)}},
    COMMAND(fcntl, 1, F_DUPFD),
    COMMAND(fcntl, 1, F_DUPFD_CLOEXEC),
    COMMAND(fcntl, 1, F_GETFD),
    COMMAND(fcntl, 1, F_SETFD),
    COMMAND(fcntl, 1, F_GETFL),
    {SYS(fcntl), ALLOW, 2, {INT_EQ(1, F_SETFL), NOT_ASYNC(2)}},
    {SYS(fcntl),
     DENY(EPERM),
     2,
     {INT_EQ(1, F_SETFL), MASKED(2, FASYNC, FASYNC)}},
    COMMAND(fcntl, 1, F_GETLK),
    COMMAND(fcntl, 1, F_OFD_GETLK),
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
};

/*
 * Calls that may allocate a record in the kernel which no limit counts. The shim counts
 * the calls (worker/program/watch/shim_records.c) and lets the kernel continue.
 */
#define OF_FILES (MAP_ANONYMOUS | MAP_SHARED)
#define LOCK(operation, action)                                                \
	{                                                                      \
		SYS(flock), action, 1,                                         \
		{                                                              \
			MASKED(1, UINT32_MAX - LOCK_NB, operation)             \
		}                                                              \
	}
static const struct filter_rule counted[] = {
    LOCK(LOCK_UN, ALLOW),
    LOCK(LOCK_SH, SCMP_ACT_NOTIFY),
    LOCK(LOCK_EX, SCMP_ACT_NOTIFY),
    {SYS(fcntl), SCMP_ACT_NOTIFY, 1, {INT_EQ(1, F_SETLK)}},
    {SYS(fcntl), SCMP_ACT_NOTIFY, 1, {INT_EQ(1, F_SETLKW)}},
    {SYS(fcntl), SCMP_ACT_NOTIFY, 1, {INT_EQ(1, F_OFD_SETLK)}},
    {SYS(fcntl), SCMP_ACT_NOTIFY, 1, {INT_EQ(1, F_OFD_SETLKW)}},
    {SYS(epoll_ctl), SCMP_ACT_NOTIFY, 1, {INT_EQ(1, EPOLL_CTL_ADD)}},
    {SYS(epoll_ctl), ALLOW, 1, {INT_EQ(1, EPOLL_CTL_MOD)}},
    {SYS(epoll_ctl), ALLOW, 1, {INT_EQ(1, EPOLL_CTL_DEL)}},
    /* a file of an unknown format makes older kernels start modprobe as root */
    {SYS(execve), SCMP_ACT_NOTIFY, 0, {}},
    {SYS(execveat), SCMP_ACT_NOTIFY, 0, {}},
    /* the kernel frees what an ended one had later, on no account */
    {SYS(fork), SCMP_ACT_NOTIFY, 0, {}},
    {SYS(vfork), SCMP_ACT_NOTIFY, 0, {}},
    {SYS(clone), SCMP_ACT_NOTIFY, 1, {MASKED(0, NOT_CLONED, 0)}},
    {SYS(setsid), SCMP_ACT_NOTIFY, 0, {}},
    /*
     * a private mapping keeps the closed file open; a shared mapping has a file
     * of its own
     */
    {SYS(mmap), ALLOW, 1, {MASKED(3, OF_FILES | MAPS_REFUSED, MAP_ANONYMOUS)}},
    {SYS(mmap),
     SCMP_ACT_NOTIFY,
     1,
     {MASKED(3, MAP_ANONYMOUS | MAPS_REFUSED, 0)}},
    {SYS(mmap),
     SCMP_ACT_NOTIFY,
     1,
     {MASKED(3, OF_FILES | MAPS_REFUSED, OF_FILES)}},
};

/* A build has no shim that counts locks, and build tools need no locks. */
static const struct filter_rule uncounted[] = {
    {SYS(flock), ALLOW, 0, {}},
    {SYS(fcntl), DENY(ENOLCK), 1, {INT_EQ(1, F_SETLK)}},
    {SYS(fcntl), DENY(ENOLCK), 1, {INT_EQ(1, F_SETLKW)}},
    {SYS(fcntl), DENY(ENOLCK), 1, {INT_EQ(1, F_OFD_SETLK)}},
    {SYS(fcntl), DENY(ENOLCK), 1, {INT_EQ(1, F_OFD_SETLKW)}},
    {SYS(mmap), ALLOW, 1, {MASKED(3, MAPS_REFUSED, 0)}},
    {SYS(epoll_ctl), ALLOW, 0, {}},
    {SYS(execve), ALLOW, 0, {}},
    {SYS(execveat), ALLOW, 0, {}},
    {SYS(fork), ALLOW, 0, {}},
    {SYS(vfork), ALLOW, 0, {}},
    {SYS(clone), ALLOW, 1, {MASKED(0, NOT_CLONED, 0)}},
    {SYS(setsid), ALLOW, 0, {}},
};

static const struct filter_rule no_network[] = {
    {SYS(socket), DENY(EAFNOSUPPORT), 0, {}},
};

/*
 * A build fetches packages: outgoing connections and queries to name servers.
 * Nothing can connect to a build, and a build reaches sockets by IP alone.
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

static const struct filter_rule network_rules[] = {
    MESSAGES(sendmsg, 2),	    MESSAGES(sendmmsg, 3),
    MESSAGES(recvmmsg, 3),	    ANY_HOST(AF_INET, SOCK_STREAM),
    ANY_HOST(AF_INET, SOCK_DGRAM),  ANY_HOST(AF_INET6, SOCK_STREAM),
    ANY_HOST(AF_INET6, SOCK_DGRAM),
};

static const int connecting[] = {SYS(connect)};
static const struct filter_rule connecting_rules[] = {
    /* calls that libraries try, and whose failure the libraries handle */
    NO_FAMILY(AF_UNIX),
    NO_FAMILY(AF_NETLINK),
    {SYS(bind), DENY(EPERM), 0, {}},
    {SYS(listen), DENY(EPERM), 0, {}},
};

/*
 * A program with network connects by TCP to the socket at which its shim listens, in a
 * network namespace with a loopback interface alone.
 */
#define TCP(family, protocol)                                                  \
	{                                                                      \
		SYS(socket), ALLOW, 3,                                         \
		{                                                              \
			INT_EQ(0, family),                                     \
			    MASKED(1, SOCKET_TYPE, SOCK_STREAM),               \
			    INT_EQ(2, protocol)                                \
		}                                                              \
	}
#define NO_DATAGRAMS(family)                                                   \
	{                                                                      \
		SYS(socket), DENY(EACCES), 2,                                  \
		{                                                              \
			INT_EQ(0, family), MASKED(1, SOCKET_TYPE, SOCK_DGRAM)  \
		}                                                              \
	}

static const struct filter_rule proxied_rules[] = {
    TCP(AF_INET, 0),	   TCP(AF_INET, IPPROTO_TCP),
    TCP(AF_INET6, 0),	   TCP(AF_INET6, IPPROTO_TCP),
    NO_DATAGRAMS(AF_INET), NO_DATAGRAMS(AF_INET6),
};

/* Refuse, flag by flag, a new namespace or another parent process. */
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

const struct filter_table filter_local = FILTER_RULES(by_argument),
			  filter_counts = FILTER_RULES(counted),
			  filter_no_counts = FILTER_RULES(uncounted),
			  filter_no_sockets = FILTER_RULES(no_network),
			  filter_connects =
			      FILTER_TABLE(connecting, connecting_rules),
			  filter_network = FILTER_RULES(network_rules),
			  filter_proxied = FILTER_RULES(proxied_rules);

/* The calls that programs and builds have in common. */
int filter_add_build(scmp_filter_ctx ctx)
{
	int rc = filter_add_calls(ctx, ALLOW, allowed, ARRAY_LEN(allowed));

	if (rc == 0)
		rc = filter_add_calls(ctx, DENY(EPERM), denied,
				      ARRAY_LEN(denied));
	if (rc == 0)
		rc = filter_add_calls(ctx, SCMP_ACT_NOTIFY, violations,
				      ARRAY_LEN(violations));
	return rc != 0 ? rc : add_not_cloned(ctx);
}

int filter_add_program(scmp_filter_ctx ctx)
{
	int rc = filter_add_build(ctx);

	return rc != 0 ? rc
		       : filter_add_calls(ctx, DENY(EPERM), messages,
					  ARRAY_LEN(messages));
}

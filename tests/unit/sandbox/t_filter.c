/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict of each filter on each system call. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/fds.h"
#include "sandbox/filter.h"
#include "tests/unit/sandbox/sandbox_fixture.h"

/* The outcome of a call: an errno, 0 for success, or a value below. */
#define TRAPPED (-1) /* SIGSYS, caught by a handler */
#define KILLED (-2)  /* SIGSYS, not caught */
#define GONE (-3)    /* the process ended in another way */

#define NUMBERS 600 /* system calls there may be */

#define HIGH (1L << 32)

#define PTR(x) ((long)(x))
#define DONTUNMAP 4 /* MREMAP_DONTUNMAP, Linux 5.7 */

static struct sock_fprog filters[FILTER_KINDS];
static char bytes[256];
static char page[4096] __attribute__((aligned(4096)));
static long word = 7;
static struct pollfd polled = {.fd = -1};
static struct timespec no_time;

struct attempt {
	const char *name;
	long nr;
	int want;
	long arg[6];
};

static const struct attempt worker_attempts[] = {
    {"send on the run's socket", SYS_sendto, 0, {S, PTR("x"), 1, MSG_NOSIGNAL}},
    {"write to it", SYS_write, 0, {S, PTR("x"), 1}},
    {"receive from it", SYS_recvfrom, 0, {S, PTR(bytes), 1, MSG_DONTWAIT}},
    {"read from it, at a bad address", SYS_read, EFAULT, {S, 1, 64}},
    {"send with an address", SYS_sendto, TRAPPED, {S, PTR("x"), 1, 0, 1, 1}},
    {"receive an address", SYS_recvfrom, TRAPPED, {S, PTR(bytes), 1, 0, 1, 1}},
    {"write to 2", SYS_write, TRAPPED, {2, PTR("x"), 1}},
    {"write to 1", SYS_write, TRAPPED, {1, PTR("x"), 1}},
    {"write to 3 with high bits", SYS_write, TRAPPED, {S | HIGH, PTR("x"), 1}},
    {"read from 0", SYS_read, TRAPPED, {0, PTR(bytes), 1}},
    {"read from 4", SYS_read, TRAPPED, {4, PTR(bytes), 1}},
    {"sendmsg", SYS_sendmsg, TRAPPED, {S, 0, 0}},
    {"recvmsg", SYS_recvmsg, TRAPPED, {S, 0, 0}},
    {"sendmmsg", SYS_sendmmsg, TRAPPED, {S, 0, 0, 0}},
    {"writev", SYS_writev, TRAPPED, {S, 0, 0}},
    {"close", SYS_close, TRAPPED, {S}},
    {"dup", SYS_dup, TRAPPED, {S}},
    {"fcntl", SYS_fcntl, TRAPPED, {S, F_GETFD}},
    {"setsockopt", SYS_setsockopt, TRAPPED, {S, SOL_SOCKET, SO_SNDBUF, 0, 0}},
    {"socket inet", SYS_socket, TRAPPED, {AF_INET, SOCK_STREAM, 0}},
    {"socket unix", SYS_socket, TRAPPED, {AF_UNIX, SOCK_STREAM, 0}},
    {"socketpair", SYS_socketpair, TRAPPED, {AF_UNIX, SOCK_STREAM, 0, 0}},
    {"connect", SYS_connect, TRAPPED, {S, 0, 0}},

    {"map memory", SYS_mmap, 0, {0, 4096, RW, ANON, -1, 0}},
    {"map memory, fd as 32 bits",
     SYS_mmap,
     0,
     {0, 4096, RW, ANON, UINT32_MAX, 0}},
    {"map without reserve",
     SYS_mmap,
     0,
     {0, 4096, 0, ANON | MAP_NORESERVE, -1, 0}},
    {"map code", SYS_mmap, TRAPPED, {0, 4096, RW | PROT_EXEC, ANON, -1, 0}},
    {"map code by high bits",
     SYS_mmap,
     TRAPPED,
     {0, 4096, RW | HIGH, ANON, -1, 0}},
    {"map shared",
     SYS_mmap,
     TRAPPED,
     {0, 4096, RW, MAP_SHARED | MAP_ANONYMOUS, -1}},
    {"map a file", SYS_mmap, TRAPPED, {0, 4096, PROT_READ, MAP_PRIVATE, S, 0}},
    {"map at an address",
     SYS_mmap,
     TRAPPED,
     {4096, 4096, RW, ANON | MAP_FIXED, -1}},
    {"map huge pages",
     SYS_mmap,
     TRAPPED,
     {0, 4096, RW, ANON | MAP_HUGETLB, -1}},
    {"map locked", SYS_mmap, TRAPPED, {0, 4096, RW, ANON | MAP_LOCKED, -1}},
    {"protect nothing", SYS_mprotect, 0, {0, 0, RW}},
    {"protect as code",
     SYS_mprotect,
     TRAPPED,
     {0, 4096, PROT_READ | PROT_EXEC}},
    {"protect growing down", SYS_mprotect, TRAPPED, {0, 0, PROT_GROWSDOWN}},
    {"pkey_mprotect", SYS_pkey_mprotect, TRAPPED, {0, 4096, PROT_EXEC, -1}},
    {"remap", SYS_mremap, EINVAL, {1, 4096, 4096, MREMAP_MAYMOVE}},
    {"remap to an address",
     SYS_mremap,
     TRAPPED,
     {0, 0, 0, MREMAP_MAYMOVE | MREMAP_FIXED}},
    {"unmap nothing", SYS_munmap, EINVAL, {1, 0}},
    {"brk", SYS_brk, 0, {0}},
    {"give memory back", SYS_madvise, 0, {0, 0, MADV_DONTNEED}},
    {"poison memory", SYS_madvise, TRAPPED, {0, 4096, MADV_HWPOISON}},
    {"merge memory", SYS_madvise, TRAPPED, {0, 4096, MADV_MERGEABLE}},
    {"memfd_create", SYS_memfd_create, TRAPPED, {PTR("x"), 0}},
    {"shmget", SYS_shmget, TRAPPED, {0, 4096, 0600}},

    {"wait on a futex",
     SYS_futex,
     EAGAIN,
     {PTR(&word), FUTEX_WAIT_PRIVATE, 8, 0}},
    {"wake a futex", SYS_futex, 0, {PTR(&word), FUTEX_WAKE_PRIVATE, 1}},
    {"wait on a shared futex",
     SYS_futex,
     TRAPPED,
     {PTR(&word), FUTEX_WAIT, 8, 0}},
    {"requeue a futex",
     SYS_futex,
     TRAPPED,
     {PTR(&word), FUTEX_CMP_REQUEUE_PRIVATE}},
    {"lock a futex", SYS_futex, TRAPPED, {PTR(&word), FUTEX_LOCK_PI_PRIVATE}},

    {"the monotonic clock",
     SYS_clock_gettime,
     0,
     {CLOCK_MONOTONIC, PTR(bytes)}},
    {"our CPU clock",
     SYS_clock_gettime,
     0,
     {CLOCK_PROCESS_CPUTIME_ID, PTR(bytes)}},
    {"another's CPU clock", SYS_clock_gettime, TRAPPED, {-14, PTR(bytes)}},
    {"what it used", SYS_getrusage, 0, {RUSAGE_SELF, PTR(bytes)}},
    {"what others used", SYS_getrusage, TRAPPED, {RUSAGE_CHILDREN, PTR(bytes)}},
    {"the same in 32 bits",
     SYS_clock_gettime,
     TRAPPED,
     {UINT32_MAX - 13, PTR(bytes)}},
    {"gettimeofday", SYS_gettimeofday, 0, {PTR(bytes), 0}},
    {"getrandom", SYS_getrandom, 0, {PTR(bytes), 8, 0}},
    {"getpid", SYS_getpid, 0, {0}},
    {"gettid", SYS_gettid, 0, {0}},
    {"getppid", SYS_getppid, TRAPPED, {0}},
    {"getuid", SYS_getuid, TRAPPED, {0}},
    {"clock_nanosleep", SYS_clock_nanosleep, TRAPPED, {0, 0, 0, 0}},
    {"clock_settime", SYS_clock_settime, TRAPPED, {0, 0}},

    {"openat", SYS_openat, EACCES, {AT_FDCWD, PTR("/"), O_RDONLY}},
    {"newfstatat", SYS_newfstatat, EACCES, {AT_FDCWD, PTR("/"), PTR(bytes), 0}},
    {"fstat", SYS_fstat, EACCES, {S, 1}},
    {"ioctl", SYS_ioctl, ENOTTY, {S, 0x5412, 1}},
    {"openat2", SYS_openat2, TRAPPED, {AT_FDCWD, PTR("/"), 0, 0}},
    {"statx", SYS_statx, TRAPPED, {AT_FDCWD, PTR("/"), 0, 0, 1}},
    {"readlinkat", SYS_readlinkat, TRAPPED, {AT_FDCWD, PTR("/"), 1, 1}},
    {"unlinkat", SYS_unlinkat, TRAPPED, {AT_FDCWD, PTR(""), 0}},

    {"fork", SYS_clone, TRAPPED, {SIGCHLD}},
    {"clone a sibling", SYS_clone, TRAPPED, {CLONE_PARENT | SIGCHLD}},
    {"clone a user namespace", SYS_clone, TRAPPED, {CLONE_NEWUSER | SIGCHLD}},
    {"clone3", SYS_clone3, TRAPPED, {0, 0}},
    {"execve", SYS_execve, TRAPPED, {1, 1, 1}},
    {"execveat", SYS_execveat, TRAPPED, {S, PTR(""), 0, 0, AT_EMPTY_PATH}},
    {"kill", SYS_kill, TRAPPED, {0, 0}},
    {"tkill", SYS_tkill, TRAPPED, {1, 0}},
    {"tgkill", SYS_tgkill, TRAPPED, {1, 1, 0}},
    {"ptrace", SYS_ptrace, TRAPPED, {PTRACE_TRACEME}},
    {"prctl dumpable", SYS_prctl, TRAPPED, {PR_SET_DUMPABLE, 1}},
    {"prctl name", SYS_prctl, TRAPPED, {PR_SET_NAME, PTR("x")}},
    {"prctl seccomp", SYS_prctl, TRAPPED, {PR_SET_SECCOMP, 2, 0}},
    {"seccomp", SYS_seccomp, TRAPPED, {1, 0, 0}},
    {"setresuid", SYS_setresuid, TRAPPED, {0, 0, 0}},
    {"capset", SYS_capset, TRAPPED, {1, 1}},
    {"prlimit64", SYS_prlimit64, TRAPPED, {0, RLIMIT_CPU, 1, 0}},
    {"rt_sigaction", SYS_rt_sigaction, TRAPPED, {SIGSYS, 0, 0, 8}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, TRAPPED, {0, 0, 0, 8}},
    {"timer_settime", SYS_timer_settime, TRAPPED, {0, 0, 0, 0}},
    {"an alarm", SYS_setitimer, 0, {ITIMER_REAL, 0, 0}},
    {"the profiling timer", SYS_setitimer, TRAPPED, {ITIMER_PROF, 0, 0}},
    {"poll one descriptor", SYS_ppoll, 0, {PTR(&polled), 1, PTR(&no_time), 0}},
    {"poll none", SYS_ppoll, TRAPPED, {0, 0, 0, 0, 0}},
    {"poll with a signal mask",
     SYS_ppoll,
     TRAPPED,
     {PTR(&polled), 1, PTR(&no_time), PTR(bytes), 8}},
    {"exit", SYS_exit, GONE, {5}},
    {"exit_group", SYS_exit_group, GONE, {5}},
#ifdef __x86_64__
    {"vfork", SYS_vfork, TRAPPED, {0}},
    {"arch_prctl", SYS_arch_prctl, TRAPPED, {0x1002, 0}},
    {"time", SYS_time, 0, {0}},
    {"an x32 call", 0x40000000 | SYS_getpid, KILLED, {0}},
#endif
};

/* The further calls of the zygote, with their bounds. */
static const struct attempt zygote_attempts[] = {
    {"take an order", SYS_recvmsg, EFAULT, {S, 1, MSG_DONTWAIT}},
    {"recvmsg elsewhere", SYS_recvmsg, TRAPPED, {4, 1, MSG_DONTWAIT}},
    {"fork", SYS_clone, TRAPPED, {SIGCHLD}},
    {"clone a namespace",
     SYS_clone,
     TRAPPED,
     {CLONE_PARENT | CLONE_NEWUSER | SIGCHLD}},
    {"clone a thread", SYS_clone, TRAPPED, {CLONE_VM | CLONE_PARENT | SIGCHLD}},
    {"close nothing", SYS_close, EBADF, {-1}},
    {"fd shuffle", SYS_dup3, EBADF, {-1, S, 0}},
    {"dup elsewhere", SYS_dup3, TRAPPED, {S, 9, 0}},
    {"be undumpable", SYS_prctl, 0, {PR_SET_DUMPABLE, 0}},
    {"be dumpable", SYS_prctl, TRAPPED, {PR_SET_DUMPABLE, 1}},
    {"die with the parent", SYS_prctl, 0, {PR_SET_PDEATHSIG, SIGKILL}},
    {"another's limits", SYS_prlimit64, TRAPPED, {1, RLIMIT_CPU, 0, 0}},
    {"our limits", SYS_prlimit64, EFAULT, {0, RLIMIT_CPU, 0, 1}},
    {"a filter", SYS_seccomp, EFAULT, {1, 0, 1}},
    {"a filter with a listener", SYS_seccomp, TRAPPED, {1, 8, 1}},
    {"strict seccomp", SYS_seccomp, TRAPPED, {0, 0, 0}},
    {"openat", SYS_openat, EACCES, {AT_FDCWD, PTR("/"), O_RDONLY}},
    {"socket", SYS_socket, TRAPPED, {AF_UNIX, SOCK_STREAM, 0}},
    {"execve", SYS_execve, TRAPPED, {1, 1, 1}},
    {"kill", SYS_kill, TRAPPED, {0, 0}},
    {"ptrace", SYS_ptrace, TRAPPED, {PTRACE_TRACEME}},
    {"mount", SYS_mount, TRAPPED, {1, 1, 1, 0, 0}},
    {"unshare", SYS_unshare, TRAPPED, {CLONE_NEWUSER}},
    {"map code", SYS_mmap, TRAPPED, {0, 4096, RW | PROT_EXEC, ANON, -1, 0}},
    {"write to 2", SYS_write, TRAPPED, {2, PTR("x"), 1}},
};

/*
 * Socket options with effects on the whole kernel: filters (SO_ATTACH_FILTER,
 * SO_ATTACH_BPF, and the options of SO_REUSEPORT), time stamps on each packet,
 * priorities, sizes without a limit, pinned pages (SO_ZEROCOPY), polling of devices.
 */
#define OPTION(level, name)                                                    \
	{                                                                      \
		S, level, name, 1, 4                                           \
	}
#define OPTION_REFUSED(name, fate)                                             \
	{                                                                      \
#name, SYS_setsockopt, fate, OPTION(SOL_SOCKET, name)          \
	}
#define OPTIONS_REFUSED(fate)                                                  \
	OPTION_REFUSED(SO_ATTACH_FILTER, fate),                                \
	    OPTION_REFUSED(SO_ATTACH_BPF, fate),                               \
	    OPTION_REFUSED(SO_ATTACH_REUSEPORT_CBPF, fate),                    \
	    OPTION_REFUSED(SO_ATTACH_REUSEPORT_EBPF, fate),                    \
	    OPTION_REFUSED(SO_TIMESTAMP, fate),                                \
	    OPTION_REFUSED(SO_TIMESTAMPNS, fate),                              \
	    OPTION_REFUSED(SO_TIMESTAMPING, fate),                             \
	    OPTION_REFUSED(SO_PRIORITY, fate),                                 \
	    OPTION_REFUSED(SO_SNDBUFFORCE, fate),                              \
	    OPTION_REFUSED(SO_ZEROCOPY, fate),                                 \
	    OPTION_REFUSED(SO_BUSY_POLL, fate)

/* Allowed calls of a program, and calls which fail quietly. */
static const struct attempt program_attempts[] = {
    {"send a packet", SYS_sendto, 0, {S, PTR("x"), 1, MSG_NOSIGNAL}},
    {"send a message, which could hold descriptors",
     SYS_sendmsg,
     EPERM,
     {S, 0, 0}},
    {"send several", SYS_sendmmsg, EPERM, {S, 0, 0, 0}},
    {"receive a message", SYS_recvmsg, EFAULT, {S, 1, MSG_DONTWAIT}},
    {"advise on memory", SYS_madvise, 0, {0, 0, MADV_NORMAL}},
    {"give memory back", SYS_madvise, 0, {0, 0, MADV_DONTNEED}},
    {"free memory", SYS_madvise, 0, {0, 0, MADV_FREE}},
    {"keep memory from a fork", SYS_madvise, 0, {0, 0, MADV_DONTFORK}},
    {"merge memory with others'", SYS_madvise, ENOSYS, {0, 0, MADV_MERGEABLE}},
    {"the same by high bits",
     SYS_madvise,
     ENOSYS,
     {0, 0, MADV_MERGEABLE | HIGH}},
    {"not to merge it", SYS_madvise, ENOSYS, {0, 0, MADV_UNMERGEABLE}},
    {"poison memory", SYS_madvise, ENOSYS, {0, 4096, MADV_HWPOISON}},
    {"huge pages of its own", SYS_madvise, 0, {0, 0, MADV_HUGEPAGE}},
    {"huge pages at once", SYS_madvise, ENOSYS, {0, 0, 25 /* COLLAPSE */}},
    {"the reserve of huge pages",
     SYS_mmap,
     ENOMEM,
     {0, 4096, RW, ANON | MAP_HUGETLB, -1}},
    {"memory that grows down, which no limit of data counts",
     SYS_mmap,
     ENOMEM,
     {0, 4096, RW, ANON | MAP_GROWSDOWN, -1, 0}},
    {"the same of the reserve",
     SYS_mmap,
     ENOMEM,
     {0, 4096, RW, ANON | MAP_GROWSDOWN | MAP_HUGETLB, -1, 0}},
    {"the same, shared",
     SYS_mmap,
     ENOMEM,
     {0, 4096, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0}},
    {"the same of a file",
     SYS_mmap,
     ENOMEM,
     {0, 4096, RW, MAP_PRIVATE | MAP_GROWSDOWN, S, 0}},
    {"memory that is no stack, made larger",
     SYS_mremap,
     EFAULT,
     {0x20000, 4096, 8192, MREMAP_MAYMOVE}},
#ifdef __x86_64__
    {"a stack, made larger elsewhere",
     SYS_mremap,
     ENOMEM,
     {0x7ffffffde000, 4096, 1 << 30, MREMAP_MAYMOVE}},
#endif
    {"pages of a file as cold", SYS_madvise, ENOSYS, {0, 0, 20 /* COLD */}},
    {"pages of a file out", SYS_madvise, ENOSYS, {0, 0, 21 /* PAGEOUT */}},
    {"pages to be read", SYS_madvise, 0, {0, 0, 22 /* POPULATE_READ */}},
    {"which pages are in memory",
     SYS_mincore,
     ENOSYS,
     {PTR(page), 4096, PTR(bytes)}},
    {"a watch on files", SYS_inotify_init1, ENOSYS, {0}},
    {"a queue of messages", SYS_mq_open, ENOSYS, {PTR("/x"), O_RDWR, 0, 0}},
    {"shared memory of System V", SYS_shmget, ENOSYS, {0, 4096, 0600}},
    {"asynchronous reads", SYS_io_setup, ENOSYS, {8, PTR(bytes)}},
    {"io_uring", SYS_io_uring_setup, ENOSYS, {8, PTR(bytes)}},
    {"a larger pipe", SYS_fcntl, EPERM, {S, F_SETPIPE_SZ, 1 << 20}},
    {"a lease", SYS_fcntl, EPERM, {S, F_SETLEASE, F_RDLCK}},
    {"signals of a descriptor", SYS_fcntl, EPERM, {S, F_SETFL, O_ASYNC}},
    {"the same with high bits", SYS_fcntl, EPERM, {S, F_SETFL, O_ASYNC | HIGH}},
    {"no waiting for a descriptor", SYS_fcntl, 0, {S, F_SETFL, O_NONBLOCK}},
    {"waiting for a descriptor", SYS_fcntl, 0, {S, F_SETFL, 0}},
    {"a socket of its own",
     SYS_socket,
     EAFNOSUPPORT,
     {AF_UNIX, SOCK_STREAM, 0}},
    {"a pair of datagrams",
     SYS_socketpair,
     ENOSYS,
     {AF_UNIX, SOCK_DGRAM, 0, PTR(bytes)}},
    {"a higher priority", SYS_setpriority, EPERM, {0, 0, -5}},
    OPTIONS_REFUSED(ENOPROTOOPT),
    {"an option of TCP", SYS_setsockopt, ENOPROTOOPT, OPTION(6, 1)},
};

/* The calls of a program, and connections by TCP. */
static const struct attempt network_attempts[] = {
    {"a connection", SYS_socket, 0, {AF_INET, SOCK_STREAM, 0}},
    {"one of IPv6", SYS_socket, 0, {AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0}},
    {"TCP by name", SYS_socket, 0, {AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 6}},
    {"another stream (SCTP)", SYS_socket, ENOSYS, {AF_INET, SOCK_STREAM, 132}},
    {"several paths (MPTCP)", SYS_socket, ENOSYS, {AF_INET, SOCK_STREAM, 262}},
    {"the same by high bits", SYS_socket, 0, {AF_INET, SOCK_STREAM, 6 | HIGH}},
    {"a datagram", SYS_socket, EACCES, {AF_INET, SOCK_DGRAM, 0}},
    {"a datagram of IPv6", SYS_socket, EACCES, {AF_INET6, SOCK_DGRAM, 17}},
    {"a local socket", SYS_socket, EAFNOSUPPORT, {AF_UNIX, SOCK_STREAM, 0}},
    {"netlink", SYS_socket, EAFNOSUPPORT, {AF_NETLINK, SOCK_RAW, 0}},
    {"packets", SYS_socket, ENOSYS, {AF_PACKET, SOCK_RAW, 0}},
    {"raw IP", SYS_socket, ENOSYS, {AF_INET, SOCK_RAW, 1}},
    {"sockets between machines", SYS_socket, ENOSYS, {40, SOCK_STREAM, 0}},
    {"connect", SYS_connect, EBADF, {-1, PTR(bytes), 16}},
    {"a port", SYS_bind, EPERM, {S, PTR(bytes), 16}},
    {"listening", SYS_listen, EPERM, {S, 1}},
    {"accepting", SYS_accept4, ENOSYS, {S, 0, 0, 0}},
    {"send a message, which could hold descriptors",
     SYS_sendmsg,
     EPERM,
     {S, 0, 0}},
    /* S is no internet socket, which the kernel finds */
    {"an option of TCP", SYS_setsockopt, EOPNOTSUPP, OPTION(6, 1)},
    OPTIONS_REFUSED(ENOPROTOOPT),
    {"TCP's filter of segments (TCP_ULP)", SYS_setsockopt, ENOPROTOOPT,
     OPTION(6, 31)},
    {"memory for zero copies (TCP_ZEROCOPY_RECEIVE)", SYS_setsockopt,
     ENOPROTOOPT, OPTION(6, 35)},
};

/* The calls of a program with these exceptions. */
static const struct attempt build_attempts[] = {
    {"a connection", SYS_socket, 0, {AF_INET, SOCK_STREAM, 0}},
    {"one of IPv6", SYS_socket, 0, {AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0}},
    {"a question to a name server", SYS_socket, 0, {AF_INET, SOCK_DGRAM, 0}},
    {"a local socket", SYS_socket, EAFNOSUPPORT, {AF_UNIX, SOCK_STREAM, 0}},
    {"netlink", SYS_socket, EAFNOSUPPORT, {AF_NETLINK, SOCK_RAW, 0}},
    {"packets", SYS_socket, ENOSYS, {AF_PACKET, SOCK_RAW, 0}},
    {"raw IP", SYS_socket, ENOSYS, {AF_INET, SOCK_RAW, 1}},
    {"connect", SYS_connect, EBADF, {-1, PTR(bytes), 16}},
    {"a port", SYS_bind, EPERM, {S, PTR(bytes), 16}},
    {"listening", SYS_listen, EPERM, {S, 1}},
    {"accepting", SYS_accept4, ENOSYS, {S, 0, 0, 0}},
    {"a namespace", SYS_unshare, ENOSYS, {CLONE_NEWUSER}},
    {"ptrace", SYS_ptrace, ENOSYS, {PTRACE_TRACEME}},
    {"memory that grows down",
     SYS_mmap,
     ENOMEM,
     {0, 4096, RW, ANON | MAP_GROWSDOWN, -1, 0}},
    OPTIONS_REFUSED(ENOPROTOOPT),
    {"TCP's filter of segments (TCP_ULP)", SYS_setsockopt, ENOPROTOOPT,
     OPTION(6, 31)},
    {"memory for zero copies (TCP_ZEROCOPY_RECEIVE)", SYS_setsockopt,
     ENOPROTOOPT, OPTION(6, 35)},
};

/* The resolver of names: an option in no table is as any unknown call. */
static const struct attempt names_attempts[] = {
    OPTIONS_REFUSED(ENOSYS),
    {"no waiting for a descriptor", SYS_fcntl, 0, {S, F_SETFL, O_NONBLOCK}},
    {"signals of a descriptor", SYS_fcntl, ENOSYS, {S, F_SETFL, O_ASYNC}},
    {"a group of netlink", SYS_setsockopt, ENOSYS, OPTION(270, 1)},
    {"memory", SYS_mmap, 0, {0, 4096, RW, ANON, -1, 0}},
    {"memory that grows down",
     SYS_mmap,
     ENOSYS,
     {0, 4096, RW, ANON | MAP_GROWSDOWN, -1, 0}},
    {"give memory back", SYS_madvise, 0, {0, 0, MADV_DONTNEED}},
    {"merge memory with others'", SYS_madvise, ENOSYS, {0, 0, MADV_MERGEABLE}},
    {"pages of a file out", SYS_madvise, ENOSYS, {0, 0, 21 /* PAGEOUT */}},
};

/* A forbidden call kills paddock-browser. */
static const struct attempt browser_attempts[] = {
    OPTIONS_REFUSED(KILLED),
    {"no waiting for a descriptor", SYS_fcntl, 0, {S, F_SETFL, O_NONBLOCK}},
    {"signals of a descriptor", SYS_fcntl, KILLED, {S, F_SETFL, O_ASYNC}},
    {"a group of netlink", SYS_setsockopt, KILLED, OPTION(270, 1)},
    {"an option of all sockets", SYS_setsockopt, EFAULT, OPTION(1, 9)},
    {"memory that grows down",
     SYS_mmap,
     KILLED,
     {0, 4096, RW, ANON | MAP_GROWSDOWN, -1, 0}},
    {"give memory back", SYS_madvise, 0, {0, 0, MADV_DONTNEED}},
    {"merge memory with others'", SYS_madvise, KILLED, {0, 0, MADV_MERGEABLE}},
    {"pages of a file out", SYS_madvise, KILLED, {0, 0, 21 /* PAGEOUT */}},
};

/* No string lies at the allowed address, so the allowed exec fails with EFAULT. */
static const struct attempt one_exec_attempts[] = {
    {"a path that is the one", SYS_execve, EFAULT, {FILTER_EXEC_AT}},
    {"another path", SYS_execve, EPERM, {PTR("/bin/true")}},
    {"one beside it", SYS_execve, EPERM, {FILTER_EXEC_AT + 1}},
    {"one with high bits", SYS_execve, EPERM, {FILTER_EXEC_AT | HIGH}},
    {"a descriptor", SYS_execveat, EPERM, {S, PTR("")}},
    {"memory at the place of the path",
     SYS_mmap,
     EPERM,
     {FILTER_EXEC_AT, 4096, PROT_READ, ANON | MAP_FIXED, -1, 0}},
    {"memory from below it",
     SYS_mmap,
     EPERM,
     {0x1000, 0x100000, PROT_READ, ANON | MAP_FIXED, -1, 0}},
    /* the kernel allows the mapping with CAP_SYS_RAWIO, or with vm.mmap_min_addr = 0 */
    {"memory from zero on",
     SYS_mmap,
     EPERM,
     {0, 0x20000, PROT_READ, ANON | MAP_FIXED, -1, 0}},
    {"memory from zero on, if nothing is there",
     SYS_mmap,
     EPERM,
     {0, 0x20000, PROT_READ, ANON | MAP_FIXED_NOREPLACE, -1, 0}},
    {"a hint that the kernel takes for it",
     SYS_mmap,
     EPERM,
     {1, 4096, PROT_READ, ANON, -1, 0}},
    {"memory that grows down to it",
     SYS_mmap,
     EPERM,
     {0x30000, 4096, PROT_READ, ANON | MAP_FIXED | MAP_GROWSDOWN, -1, 0}},
    {"memory somewhere", SYS_mmap, 0, {0, 4096, PROT_READ, ANON, -1, 0}},
    {"memory at another place",
     SYS_mmap,
     0,
     {0x20000, 4096, PROT_READ, ANON | MAP_FIXED_NOREPLACE, -1, 0}},
    {"memory that is moved there",
     SYS_mremap,
     EPERM,
     {PTR(page), 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, FILTER_EXEC_AT}},
    {"memory that is moved near there",
     SYS_mremap,
     EPERM,
     {PTR(page), 4096, 4096, MREMAP_MAYMOVE | DONTUNMAP, FILTER_EXEC_AT}},
    {"memory that grows",
     SYS_mremap,
     EFAULT,
     {0x20000, 4096, 8192, MREMAP_MAYMOVE}},
#ifdef __x86_64__
    {"the vDSO", SYS_arch_prctl, EPERM, {0x2003, FILTER_EXEC_AT}},
#endif
    {"another call", SYS_getpid, 0, {0}},
};

/* Descriptor 4 is open in a worker with network alone. */
static const struct attempt stream_attempts[] = {
    {"read from 4", SYS_read, EBADF, {4, PTR(bytes), 1}},
    {"write to 4", SYS_write, EBADF, {4, PTR("x"), 1}},
    {"read from 5", SYS_read, TRAPPED, {5, PTR(bytes), 1}},
    {"write to 5", SYS_write, TRAPPED, {5, PTR("x"), 1}},
    {"receive from 4", SYS_recvfrom, TRAPPED, {4, PTR(bytes), 1, 0, 0, 0}},
    {"recvmsg", SYS_recvmsg, TRAPPED, {S, 0, 0}},
    {"close", SYS_close, TRAPPED, {4}},
    {"poll two", SYS_ppoll, EFAULT, {1, 2, 0, 0}},
    {"poll three", SYS_ppoll, TRAPPED, {1, 3, 0, 0}},
    {"socket unix", SYS_socket, TRAPPED, {AF_UNIX, SOCK_STREAM, 0}},
};

/* A worker has the first filter, or the two stacked filters. */
static const enum filter_kind alone[] = {FILTER_WORKER, FILTER_KINDS};
static const enum filter_kind stacked[] = {FILTER_ZYGOTE, FILTER_CLONE,
					   FILTER_KINDS};
static const enum filter_kind streaming[] = {FILTER_ZYGOTE, FILTER_STREAM_CLONE,
					     FILTER_KINDS};
static const enum filter_kind program[] = {FILTER_PROGRAM, FILTER_KINDS};
static const enum filter_kind network[] = {FILTER_NETWORK, FILTER_KINDS};
static const enum filter_kind build[] = {FILTER_BUILD, FILTER_KINDS};
static const enum filter_kind one_exec[] = {FILTER_ONE_EXEC, FILTER_KINDS};
static const enum filter_kind zygote[] = {FILTER_ZYGOTE, FILTER_KINDS};
static const enum filter_kind names[] = {FILTER_NAMES, FILTER_KINDS};
static const enum filter_kind browser[] = {FILTER_BROWSER, FILTER_KINDS};

static bool load_all(const enum filter_kind *kinds)
{
	bool good = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;

	for (; good && *kinds != FILTER_KINDS; kinds++)
		good = filter_load(&filters[*kinds]) == 0;
	return good;
}

_Noreturn static void attempt(const enum filter_kind *kinds, long nr,
			      const long *a)
{
	int answer;
	long rc;

	signal(SIGSYS, on_sigsys);
	if (!load_all(kinds))
		_exit(99);
	rc = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	answer = rc == -1 ? errno : 0;
	/* The raw calls that the filters leave for the answer. */
	(void)!syscall(SYS_sendto, S, &answer, sizeof(answer), 0, 0, 0);
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

/* Try a call under KINDS in a child whose descriptor 3 is a socket. */
static int outcome(const enum filter_kind *kinds, long nr, const long *a)
{
	int ends[2], status = -1, answer = GONE;
	ssize_t n;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
		return GONE;
	(void)!write(ends[0], "x", 1); /* a byte for a call which reads */
	pid = fork();
	if (pid == 0) {
		fds_worker(ends[1]);
		attempt(kinds, nr, a);
	}
	close(ends[1]);
	waitpid(pid, &status, 0);
	/*
	 * The output of the tried call is shorter than an answer, and a reset only
	 * means an unread byte.
	 */
	do
		n = recv(ends[0], &answer, sizeof(answer), MSG_DONTWAIT);
	while (n == 1 || (n < 0 && errno == ECONNRESET));
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		answer = GONE;
	close(ends[0]);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return KILLED;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_TRAPPED)
		return TRAPPED;
	return answer;
}

static void test_attempts(const char *who, const enum filter_kind *kinds,
			  const struct attempt *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct attempt *a = &list[i];
		const char *fate = a->want == TRAPPED  ? "is trapped"
				   : a->want == KILLED ? "is killed"
				   : a->want == GONE   ? "ends it"
				   : a->want == 0      ? "is allowed"
						       : "fails quietly";

		is_int(outcome(kinds, a->nr, a->arg), a->want, "%s: %s %s", who,
		       a->name, fate);
	}
}

/* System calls which pass a filter even with nonsense as arguments. */
static const int worker_numbers[] = {
    SYS_exit,	SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall,
    SYS_brk,	SYS_munmap,	SYS_gettimeofday, SYS_getrandom,
    SYS_getpid, SYS_gettid,	SYS_openat,	  SYS_newfstatat,
    SYS_fstat,	SYS_ioctl,
#ifdef SYS_time
    SYS_time,
#endif
};

/* uretprobe and uprobe: newer x86 kernels exempt these two calls from filters. */
static bool is_probe(int nr)
{
#ifdef __x86_64__
	return nr == 335 || nr == 336;
#else
	(void)nr;
	return false;
#endif
}

static void test_every_number(const char *who, const enum filter_kind *kinds)
{
	const long junk[6] = {-1, -1, -1, -1, -1, -1};
	int wrong = 0;

	for (int nr = 0; nr < NUMBERS; nr++) {
		bool listed = false;
		int how = outcome(kinds, nr, junk);

		for (size_t i = 0; i < ARRAY_LEN(worker_numbers); i++)
			listed = listed || worker_numbers[i] == nr;
		/* Outside of a probe, both calls fail: SIGILL, or ENXIO. */
		if (is_probe(nr) && (how == GONE || how == ENXIO))
			continue;
		if ((how == TRAPPED) != listed)
			continue;
		printf("# system call %d: listed %d\n", nr, listed);
		wrong++;
	}
	is_int(wrong, 0, "%s: of %d numbers just the listed ones get through",
	       who, NUMBERS);
}

#ifdef __x86_64__
static int call_i386(void)
{
	long rc;

	signal(SIGSYS, on_sigsys);
	if (!load_all(alone))
		return 99;
	__asm__ volatile("int $0x80" : "=a"(rc) : "a"(20L) : "memory");
	return (int)(rc > 0);
}
#endif

int main(void)
{
	struct rlimit none = {0};

	setrlimit(RLIMIT_CORE, &none);
	is_int(filter_make(FILTER_WORKER, &filters[FILTER_WORKER]), 0,
	       "the workers' filter compiles");
	is_int(filter_make(FILTER_ZYGOTE, &filters[FILTER_ZYGOTE]), 0,
	       "the zygote's filter compiles");
	is_int(filter_make(FILTER_CLONE, &filters[FILTER_CLONE]), 0,
	       "the additional filter of a worker compiles");
	is_int(filter_make(FILTER_STREAM_CLONE, &filters[FILTER_STREAM_CLONE]),
	       0, "the additional filter of a worker with network compiles");
	is_int(filter_make(FILTER_PROGRAM, &filters[FILTER_PROGRAM]), 0,
	       "the filter of programs compiles");
	is_int(filter_make(FILTER_NETWORK, &filters[FILTER_NETWORK]), 0,
	       "the filter of programs with network compiles");
	is_int(filter_make(FILTER_BUILD, &filters[FILTER_BUILD]), 0,
	       "the filter of builds compiles");
	is_int(filter_make(FILTER_ONE_EXEC, &filters[FILTER_ONE_EXEC]), 0,
	       "the additional filter of a build's program compiles");
	is_int(filter_make(FILTER_NAMES, &filters[FILTER_NAMES]), 0,
	       "the filter of the resolver of names compiles");
	is_int(filter_make(FILTER_BROWSER, &filters[FILTER_BROWSER]), 0,
	       "the filter of paddock-browser compiles");
	printf("# %u, %u and %u instructions\n", filters[FILTER_WORKER].len,
	       filters[FILTER_ZYGOTE].len, filters[FILTER_CLONE].len);
	test_attempts("worker", alone, worker_attempts,
		      ARRAY_LEN(worker_attempts));
	test_attempts("spawned of a zygote", stacked, worker_attempts,
		      ARRAY_LEN(worker_attempts));
	test_attempts("worker with network", streaming, stream_attempts,
		      ARRAY_LEN(stream_attempts));
	test_attempts("zygote", zygote, zygote_attempts,
		      ARRAY_LEN(zygote_attempts));
	test_attempts("program", program, program_attempts,
		      ARRAY_LEN(program_attempts));
	test_attempts("network", network, network_attempts,
		      ARRAY_LEN(network_attempts));
	test_attempts("build", build, build_attempts,
		      ARRAY_LEN(build_attempts));
	test_attempts("names", names, names_attempts,
		      ARRAY_LEN(names_attempts));
/* the filter of a sanitized build has another answer */
#ifndef __SANITIZE_ADDRESS__
	test_attempts("browser", browser, browser_attempts,
		      ARRAY_LEN(browser_attempts));
#endif
	test_attempts("one exec", one_exec, one_exec_attempts,
		      ARRAY_LEN(one_exec_attempts));
	test_every_number("worker", alone);
	test_every_number("spawned of a zygote", stacked);
	test_every_number("worker with network", streaming);
#ifdef __x86_64__
	is_int(in_child(call_i386), -SIGSYS, "an i386 call is killed");
#endif
	for (size_t i = 0; i < FILTER_KINDS; i++)
		free(filters[i].filter);
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_browser.c - the filters of paddock-browser, which reads what hostile
 * pages make Chromium send, and of its resolver of names. browser_sandbox.c
 * loads them once both have all that they need. The first one's loop moves
 * bytes between descriptors, connects by TCP and allocates: any other call ends
 * it. Name services are other people's libraries: a call that they may not make
 * fails.
 */
#include "sandbox/filter_private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define SOCK_FLAGS (SOCK_NONBLOCK | SOCK_CLOEXEC)
#define CLOCKS 16 /* fixed clock ids */

/* Calls of both. */
static const struct filter_rule shared_rules[] = {
    /* Bytes, over open descriptors. */
    {SCMP_SYS(read), ALLOW, 0, {}},
    {SCMP_SYS(write), ALLOW, 0, {}},
    {SCMP_SYS(readv), ALLOW, 0, {}},
    {SCMP_SYS(writev), ALLOW, 0, {}},
    {SCMP_SYS(recvfrom), ALLOW, 0, {}},
    {SCMP_SYS(recvmsg), ALLOW, 0, {}},
    {SCMP_SYS(sendto), ALLOW, 0, {}},
    {SCMP_SYS(sendmsg), ALLOW, 0, {}},
    {SCMP_SYS(close), ALLOW, 0, {}},
    {SCMP_SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_GETFL)}},
    {SCMP_SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_SETFL)}},
    {SCMP_SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_GETFD)}},
    {SCMP_SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_SETFD)}},
    /* Connections to the internet. */
    {SCMP_SYS(connect), ALLOW, 0, {}},
    {SCMP_SYS(getsockname), ALLOW, 0, {}},
    {SCMP_SYS(getsockopt), ALLOW, 0, {}},
    {SCMP_SYS(setsockopt), ALLOW, 0, {}},
    /* malloc, and stacks that cannot be executed. */
    {SCMP_SYS(brk), ALLOW, 0, {}},
    {SCMP_SYS(munmap), ALLOW, 0, {}},
    {SCMP_SYS(mremap), ALLOW, 0, {}},
    {SCMP_SYS(madvise), ALLOW, 0, {}},
    {SCMP_SYS(futex), ALLOW, 1, {EQ(1, FUTEX_WAIT_PRIVATE)}},
    {SCMP_SYS(futex), ALLOW, 1, {EQ(1, FUTEX_WAKE_PRIVATE)}},
    /* Time, random numbers, its own signals, the end of children. */
    {SCMP_SYS(clock_gettime), ALLOW, 1, {LT(0, CLOCKS)}},
    {SCMP_SYS(gettimeofday), ALLOW, 0, {}},
    {SCMP_SYS(time), ALLOW, 0, {}},
    {SCMP_SYS(getrandom), ALLOW, 0, {}},
    {SCMP_SYS(getpid), ALLOW, 0, {}},
    {SCMP_SYS(gettid), ALLOW, 0, {}},
    {SCMP_SYS(rt_sigprocmask), ALLOW, 0, {}},
    {SCMP_SYS(rt_sigaction), ALLOW, 0, {}},
    {SCMP_SYS(rt_sigreturn), ALLOW, 0, {}},
    {SCMP_SYS(restart_syscall), ALLOW, 0, {}},
    {SCMP_SYS(wait4), ALLOW, 0, {}},
    {SCMP_SYS(exit), ALLOW, 0, {}},
    {SCMP_SYS(exit_group), ALLOW, 0, {}},
#ifdef __SANITIZE_ADDRESS__ /* the sanitizer's runtime, in test builds alone */
    {SCMP_SYS(sigaltstack), ALLOW, 0, {}},
    {SCMP_SYS(sched_yield), ALLOW, 0, {}},
    {SCMP_SYS(prlimit64), ALLOW, 1, {EQ(2, 0)}},
#endif
};

static const struct filter_rule browser_rules[] = {
    {SCMP_SYS(epoll_wait), ALLOW, 0, {}},
    {SCMP_SYS(epoll_pwait), ALLOW, 0, {}},
    {SCMP_SYS(epoll_ctl), ALLOW, 0, {}},
    {SCMP_SYS(poll), ALLOW, 0, {}},
    {SCMP_SYS(accept4), ALLOW, 0, {}},
    {SCMP_SYS(shutdown), ALLOW, 0, {}},
    {SCMP_SYS(socket),
     ALLOW,
     2,
     {EQ(0, AF_INET), BUT_FOR(1, SOCK_FLAGS, SOCK_STREAM)}},
    {SCMP_SYS(socket),
     ALLOW,
     2,
     {EQ(0, AF_INET6), BUT_FOR(1, SOCK_FLAGS, SOCK_STREAM)}},
#ifndef __SANITIZE_ADDRESS__
    {SCMP_SYS(mprotect), ALLOW, 1, {RW}},
    {SCMP_SYS(mmap),
     ALLOW,
     3,
     {RW, BUT_FOR(3, MAP_NORESERVE | MAP_STACK, MAP_PRIVATE | MAP_ANONYMOUS),
      INT_EQ(4, -1)}},
#else /* the sanitizer's runtime, in test builds alone */
    {SCMP_SYS(mprotect), ALLOW, 0, {}},
    {SCMP_SYS(mmap), ALLOW, 0, {}},
#endif
    /* What libraries try by themselves and do without. */
    {SCMP_SYS(open), SCMP_ACT_ERRNO(EPERM), 0, {}},
    {SCMP_SYS(openat), SCMP_ACT_ERRNO(EPERM), 0, {}},
    {SCMP_SYS(newfstatat), SCMP_ACT_ERRNO(EPERM), 0, {}},
    {SCMP_SYS(fstat), SCMP_ACT_ERRNO(EPERM), 0, {}},
    {SCMP_SYS(readlink), SCMP_ACT_ERRNO(EPERM), 0, {}},
    {SCMP_SYS(access), SCMP_ACT_ERRNO(EPERM), 0, {}},
    {SCMP_SYS(sysinfo), SCMP_ACT_ERRNO(EPERM), 0, {}},
    {SCMP_SYS(sched_getaffinity), SCMP_ACT_ERRNO(EPERM), 0, {}},
    {SCMP_SYS(ioctl), SCMP_ACT_ERRNO(ENOTTY), 0, {}},
};

/* fork(3) as glibc does it: no namespace, no other parent. */
#define FORK BUT_FOR(0, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, SIGCHLD)

static const struct filter_rule names_rules[] = {
    /* A child for each name, and its timeout. */
    {SCMP_SYS(clone), ALLOW, 1, {FORK}},
    {SCMP_SYS(kill), ALLOW, 0, {}},
    {SCMP_SYS(alarm), ALLOW, 0, {}},
    {SCMP_SYS(set_robust_list), ALLOW, 0, {}},
    {SCMP_SYS(rseq), ALLOW, 0, {}},
    {SCMP_SYS(poll), ALLOW, 0, {}},
    {SCMP_SYS(ppoll), ALLOW, 0, {}},
    /* Name servers, local caches of names, and which addresses there are. */
    {SCMP_SYS(socket), ALLOW, 1, {EQ(0, AF_INET)}},
    {SCMP_SYS(socket), ALLOW, 1, {EQ(0, AF_INET6)}},
    {SCMP_SYS(socket), ALLOW, 1, {EQ(0, AF_UNIX)}},
    {SCMP_SYS(socket), ALLOW, 2, {EQ(0, AF_NETLINK), EQ(2, NETLINK_ROUTE)}},
    {SCMP_SYS(bind), ALLOW, 0, {}},
    {SCMP_SYS(sendmmsg), ALLOW, 0, {}},
    {SCMP_SYS(getpeername), ALLOW, 0, {}},
    {SCMP_SYS(ioctl), ALLOW, 1, {INT_EQ(1, FIONREAD)}},
    /* Configuration and libraries; Landlock limits which. */
    {SCMP_SYS(open), ALLOW, 0, {}},
    {SCMP_SYS(openat), ALLOW, 0, {}},
    {SCMP_SYS(stat), ALLOW, 0, {}},
    {SCMP_SYS(fstat), ALLOW, 0, {}},
    {SCMP_SYS(lstat), ALLOW, 0, {}},
    {SCMP_SYS(newfstatat), ALLOW, 0, {}},
    {SCMP_SYS(access), ALLOW, 0, {}},
    {SCMP_SYS(lseek), ALLOW, 0, {}},
    {SCMP_SYS(pread64), ALLOW, 0, {}},
    {SCMP_SYS(mmap), ALLOW, 0, {}},
    {SCMP_SYS(mprotect), ALLOW, 0, {}},
    {SCMP_SYS(uname), ALLOW, 0, {}},
    {SCMP_SYS(getuid), ALLOW, 0, {}},
    {SCMP_SYS(geteuid), ALLOW, 0, {}},
    {SCMP_SYS(getgid), ALLOW, 0, {}},
    {SCMP_SYS(getegid), ALLOW, 0, {}},
};

const struct filter_table filter_shared = FILTER_TABLE(shared_rules),
			  filter_browser = FILTER_TABLE(browser_rules),
			  filter_names = FILTER_TABLE(names_rules);

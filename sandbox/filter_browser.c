/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_browser.c - the filters of paddock-browser, which handles bytes that
 * hostile pages make Chromium send, and of the resolver of names.
 * browser_sandbox.c loads the filters once both processes have opened all
 * resources. The loop of paddock-browser moves bytes between descriptors,
 * connects by TCP and allocates: any other call kills the process. The resolver
 * runs foreign libraries of name services, so a forbidden call just fails.
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
#define CLOCKS 16 /* ids of fixed clocks */

/* Calls of both processes. */
static const int shared_calls[] = {
    /* Bytes, over open descriptors. */
    SYS(read), SYS(write), SYS(readv), SYS(writev), SYS(close),
    /* Connections to the internet. */
    SYS(connect), SYS(getsockname), SYS(getsockopt),
    /* malloc, and stacks that cannot be executed. */
    SYS(brk), SYS(munmap), SYS(mremap),
    /* Time, random numbers, signal handlers, the exit of children. */
    SYS(gettimeofday), SYS(time), SYS(getrandom), SYS(getpid), SYS(gettid),
    SYS(rt_sigprocmask), SYS(rt_sigaction), SYS(rt_sigreturn),
    SYS(restart_syscall), SYS(wait4), SYS(exit), SYS(exit_group)};

static const struct filter_rule shared_rules[] = {
    /* Bytes, over open descriptors. */
    MESSAGES(sendto, 3),
    MESSAGES(recvfrom, 3),
    MESSAGES(sendmsg, 2),
    MESSAGES(recvmsg, 2),
    {SCMP_SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_GETFL)}},
    {SCMP_SYS(fcntl), ALLOW, 2, {INT_EQ(1, F_SETFL), NOT_ASYNC(2)}},
    {SCMP_SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_GETFD)}},
    {SCMP_SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_SETFD)}},
    /* malloc, and stacks that cannot be executed. */
    {SCMP_SYS(futex), ALLOW, 1, {EQ(1, FUTEX_WAIT_PRIVATE)}},
    {SCMP_SYS(futex), ALLOW, 1, {EQ(1, FUTEX_WAKE_PRIVATE)}},
    /* Time, random numbers, signal handlers, the exit of children. */
    {SCMP_SYS(clock_gettime), ALLOW, 1, {LT(0, CLOCKS)}},
#ifdef __SANITIZE_ADDRESS__ /* the sanitizer's runtime, in test builds alone */
    {SCMP_SYS(sigaltstack), ALLOW, 0, {}},
    {SCMP_SYS(sched_yield), ALLOW, 0, {}},
    {SCMP_SYS(prlimit64), ALLOW, 1, {EQ(2, 0)}},
#endif
};

static const int browser_calls[] = {SYS(epoll_wait), SYS(epoll_pwait),
				    SYS(epoll_ctl),  SYS(poll),
				    SYS(accept4),    SYS(shutdown)};

static const struct filter_rule browser_rules[] = {
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
    /* Calls that libraries try, and whose failure the libraries handle. */
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

/* fork(3) of glibc: no new namespace, no other parent. */
#define FORK BUT_FOR(0, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, SIGCHLD)

static const int names_calls[] = {
    /* A child for each name, with a timeout. */
    SYS(kill), SYS(alarm), SYS(set_robust_list), SYS(rseq), SYS(poll),
    SYS(ppoll),
    /* Name servers, local caches of names, and the list of local addresses. */
    SYS(bind), SYS(getpeername),
    /* Configuration and libraries; Landlock limits the paths. */
    SYS(open), SYS(openat), SYS(stat), SYS(fstat), SYS(lstat), SYS(newfstatat),
    SYS(access), SYS(lseek), SYS(pread64), SYS(mprotect), SYS(uname),
    SYS(getuid), SYS(geteuid), SYS(getgid), SYS(getegid)};

static const struct filter_rule names_rules[] = {
    /* A child for each name, with a timeout. */
    {SCMP_SYS(clone), ALLOW, 1, {FORK}},
    /* Name servers, local caches of names, and the list of local addresses. */
    MESSAGES(sendmmsg, 3),
    {SCMP_SYS(socket), ALLOW, 1, {EQ(0, AF_INET)}},
    {SCMP_SYS(socket), ALLOW, 1, {EQ(0, AF_INET6)}},
    {SCMP_SYS(socket), ALLOW, 1, {EQ(0, AF_UNIX)}},
    {SCMP_SYS(socket), ALLOW, 2, {EQ(0, AF_NETLINK), EQ(2, NETLINK_ROUTE)}},
    {SCMP_SYS(ioctl), ALLOW, 1, {INT_EQ(1, FIONREAD)}},
    {SCMP_SYS(mmap), ALLOW, 1, {MASKED(3, MAPS_REFUSED, 0)}},
};

/* Questions to name servers, whose answers the child of paddock-egress parses itself. */
static const struct filter_rule egress_rules[] = {
    {SCMP_SYS(socket),
     ALLOW,
     2,
     {EQ(0, AF_INET), BUT_FOR(1, SOCK_FLAGS, SOCK_DGRAM)}},
    {SCMP_SYS(socket),
     ALLOW,
     2,
     {EQ(0, AF_INET6), BUT_FOR(1, SOCK_FLAGS, SOCK_DGRAM)}},
};

const struct filter_table filter_shared =
			      FILTER_TABLE(shared_calls, shared_rules),
			  filter_browser =
			      FILTER_TABLE(browser_calls, browser_rules),
			  filter_names = FILTER_TABLE(names_calls, names_rules),
			  filter_egress = FILTER_RULES(egress_rules);

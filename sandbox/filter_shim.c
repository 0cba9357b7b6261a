/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_shim.c - the filter of a program's shim, and the filters that restrict
 * a program or a build further, for filter.c. Any other call kills the shim.
 */
#include "sandbox/filter_private.h"

#include <asm/ioctls.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <sys/mman.h>

#include "sandbox/sandbox_types.h"

#ifndef MREMAP_DONTUNMAP /* Linux 5.7 */
#define MREMAP_DONTUNMAP 4
#endif

#define DENY(e) SCMP_ACT_ERRNO(e)

/*
 * The calls of a shim while the program runs. The shim holds the socket of the run, so
 * the shim may create no process, execute nothing, map no code and write to no file.
 */
#define READING (O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_DIRECTORY)

static const int shim_calls[] = {
    SYS(read), SYS(pread64), SYS(write), SYS(ppoll), SYS(poll), SYS(close),
    SYS(openat2), SYS(fstat), SYS(fstatfs), SYS(newfstatat), SYS(lseek),
    SYS(getdents64),
    /* out/ and in/ are emptied after each run of a resident */
    SYS(unlinkat),
    /* Processes of the run: PID 1 of a PID namespace sees no others. */
    SYS(kill), SYS(wait4), SYS(getrusage), SYS(exit_group), SYS(exit),
    SYS(rt_sigreturn), SYS(rt_sigprocmask), SYS(restart_syscall), SYS(brk),
    SYS(munmap), SYS(clock_gettime), SYS(gettimeofday), SYS(getrandom),
    SYS(getpid), SYS(gettid)};

static const struct filter_rule shim_rules[] = {
    {SYS(recvfrom), ALLOW, 3, {EQ(0, SANDBOX_RUN_FD), NOT_OOB(3), EQ(4, 0)}},
    {SYS(sendto), ALLOW, 3, {EQ(0, SANDBOX_RUN_FD), NOT_OOB(3), EQ(4, 0)}},
    {SYS(openat), ALLOW, 1, {WITHIN(2, READING)}},
    {SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_GETFL)}},
    {SYS(fcntl), ALLOW, 1, {INT_EQ(1, F_SETFD)}},
    {SYS(ioctl), ALLOW, 1, {INT_EQ(1, SECCOMP_IOCTL_NOTIF_RECV)}},
    {SYS(ioctl), ALLOW, 1, {INT_EQ(1, SECCOMP_IOCTL_NOTIF_SEND)}},
    /* Processes of the run: PID 1 of a PID namespace sees no others. */
    {SYS(kcmp), ALLOW, 1, {INT_EQ(2, KCMP_FILES)}},
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

const struct filter_table filter_shim = FILTER_TABLE(shim_calls, shim_rules);

bool filter_is_birth(int call)
{
	static const int births[] = {SYS(fork),	  SYS(vfork),  SYS(clone),
				     SYS(setsid), SYS(execve), SYS(execveat)};

	for (size_t i = 0; i < ARRAY_LEN(births); i++)
		if (births[i] == call)
			return true;
	return false;
}

/*
 * A filter sees the number of a descriptor but not the inode, so the filter allows all
 * locks or none. F_GETLK only queries and blocks nothing, so F_GETLK stays allowed.
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

/*
 * A filter cannot read a path, but can compare the address of a path. A program that was
 * executed from the one allowed address has a new address space with nothing mapped at
 * the address, so neither the program nor a descendant can execute anything.
 */
/* the upper bound; an address of 0 without MAP_FIXED means any address */
#define BELOW 0x20000ul
#define NOT_AT_ZERO(fixed)                                                     \
	{                                                                      \
		SYS(mmap), DENY(EPERM), 2,                                     \
		{                                                              \
			EQ(0, 0), MASKED(3, fixed, fixed)                      \
		}                                                              \
	}
#define NOT_AT(bit)                                                            \
	{                                                                      \
		SYS(mmap), DENY(EPERM), 1,                                     \
		{                                                              \
			MASKED(0, ~(BELOW - 1) | 1ul << (bit), 1ul << (bit))   \
		}                                                              \
	}
#define NO_VDSO(code)                                                          \
	{                                                                      \
		SYS(arch_prctl), DENY(EPERM), 1,                               \
		{                                                              \
			INT_EQ(0, code)                                        \
		}                                                              \
	}

static const struct filter_rule one_exec[] = {
    {SYS(execve), DENY(EPERM), 1, {NE(0, FILTER_EXEC_AT)}},
    {SYS(execveat), DENY(EPERM), 0, {}},
    /* no mapping at an address below BELOW with one of the bits 0 to 16 set */
    NOT_AT(0),
    NOT_AT(1),
    NOT_AT(2),
    NOT_AT(3),
    NOT_AT(4),
    NOT_AT(5),
    NOT_AT(6),
    NOT_AT(7),
    NOT_AT(8),
    NOT_AT(9),
    NOT_AT(10),
    NOT_AT(11),
    NOT_AT(12),
    NOT_AT(13),
    NOT_AT(14),
    NOT_AT(15),
    NOT_AT(16),
    /* no mapping from address 0 on, which vm.mmap_min_addr may allow */
    NOT_AT_ZERO(MAP_FIXED),
    NOT_AT_ZERO(MAP_FIXED_NOREPLACE),
    /* no mapping grows down to the address, and none is moved there */
    {SYS(mmap), DENY(EPERM), 1, {MASKED(3, MAP_GROWSDOWN, MAP_GROWSDOWN)}},
    {SYS(mremap), DENY(EPERM), 1, {MASKED(3, MREMAP_FIXED, MREMAP_FIXED)}},
    {SYS(mremap),
     DENY(EPERM),
     1,
     {MASKED(3, MREMAP_DONTUNMAP, MREMAP_DONTUNMAP)}},
#ifdef ARCH_MAP_VDSO_X32 /* the kernel maps no vDSO at the address */
    NO_VDSO(ARCH_MAP_VDSO_X32),
    NO_VDSO(ARCH_MAP_VDSO_32),
    NO_VDSO(ARCH_MAP_VDSO_64),
#endif
};

const struct filter_table filter_one_exec = {.rules = one_exec,
					     .n = ARRAY_LEN(one_exec)};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - the rules for the Lua worker and the zygote, and the compiler of
 * all filters, for sandbox.c, sandbox_program.c and browser_sandbox.c. A filter
 * that cannot be compiled or loaded is -errno, and the process must exit.
 */
#include "sandbox/filter.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/filter_private.h"
#include "sandbox/sandbox_types.h"

/* ids of fixed clocks; higher ids are CPU clocks of processes */
#define CLOCKS 16

/* libseccomp's optimization: a linear list, or a binary search by call number. */
enum { SHORT = 1, SEARCH };

#define RUN EQ(0, SANDBOX_RUN_FD)

/* The system calls of a Lua worker, each with the reason. */
static const struct filter_rule worker_rules[] = {
    /* The socket of the run, and no address but the peer's. */
    {SCMP_SYS(read), ALLOW, 1, {RUN}},
    {SCMP_SYS(write), ALLOW, 1, {RUN}},
    {SCMP_SYS(recvfrom), ALLOW, 3, {RUN, NOT_OOB(3), EQ(4, 0)}},
    {SCMP_SYS(sendto), ALLOW, 3, {RUN, NOT_OOB(3), EQ(4, 0)}},
    /* Exit, and the return from a signal handler. */
    {SCMP_SYS(exit_group), ALLOW, 0, {}},
    {SCMP_SYS(exit), ALLOW, 0, {}},
    {SCMP_SYS(rt_sigreturn), ALLOW, 0, {}},
    {SCMP_SYS(restart_syscall), ALLOW, 0, {}},
    /* malloc: private memory that cannot be executed. RLIMIT_AS limits it. */
    {SCMP_SYS(brk), ALLOW, 0, {}},
    {SCMP_SYS(munmap), ALLOW, 0, {}},
    {SCMP_SYS(mmap),
     ALLOW,
     3,
     {RW, BUT_FOR(3, MAP_NORESERVE, MAP_PRIVATE | MAP_ANONYMOUS),
      INT_EQ(4, -1)}},
    {SCMP_SYS(mprotect), ALLOW, 1, {RW}},
    {SCMP_SYS(mremap), ALLOW, 1, {EQ(3, MREMAP_MAYMOVE)}},
    {SCMP_SYS(madvise), ALLOW, 1, {EQ(2, MADV_DONTNEED)}},
    {SCMP_SYS(futex), ALLOW, 1, {EQ(1, FUTEX_WAIT_PRIVATE)}},
    {SCMP_SYS(futex), ALLOW, 1, {EQ(1, FUTEX_WAKE_PRIVATE)}},
    /* Waiting for an answer or a timeout: one descriptor, no signal mask. */
    {SCMP_SYS(ppoll), ALLOW, 2, {EQ(1, 1), EQ(3, 0)}},
    /* Timeouts of steps. The CPU limit may use ITIMER_PROF. */
    {SCMP_SYS(setitimer), ALLOW, 1, {EQ(0, ITIMER_REAL)}},
    /* Clocks, where the vDSO does not answer; for example os.clock(). */
    {SCMP_SYS(clock_gettime), ALLOW, 1, {LT(0, CLOCKS)}},
    /* The resource usage, which RESULT reports. */
    {SCMP_SYS(getrusage), ALLOW, 1, {EQ(0, RUSAGE_SELF)}},
    {SCMP_SYS(gettimeofday), ALLOW, 0, {}},
    {SCMP_SYS(time), ALLOW, 0, {}},
    {SCMP_SYS(getrandom), ALLOW, 0, {}},
    {SCMP_SYS(getpid), ALLOW, 0, {}},
    {SCMP_SYS(gettid), ALLOW, 0, {}},
    /* Calls that libc tries, and whose failure libc handles. */
    {SCMP_SYS(openat), SCMP_ACT_ERRNO(EACCES), 0, {}},
    {SCMP_SYS(newfstatat), SCMP_ACT_ERRNO(EACCES), 0, {}},
    {SCMP_SYS(fstat), SCMP_ACT_ERRNO(EACCES), 0, {}},
    {SCMP_SYS(ioctl), SCMP_ACT_ERRNO(ENOTTY), 0, {}},
};

/* More calls of the zygote: receive a request, clone a worker, confine the clone. */
static const struct filter_rule zygote_rules[] = {
    {SCMP_SYS(recvmsg), ALLOW, 2, {EQ(0, SANDBOX_RUN_FD), NOT_OOB(2)}},
    {SCMP_SYS(clone), ALLOW, 1, {EQ(0, CLONE_PARENT | SIGCHLD)}},
    {SCMP_SYS(close), ALLOW, 0, {}},
    {SCMP_SYS(close_range), ALLOW, 0, {}},
    {SCMP_SYS(dup2), ALLOW, 1, {EQ(1, SANDBOX_RUN_FD)}},
    {SCMP_SYS(dup3), ALLOW, 1, {EQ(1, SANDBOX_RUN_FD)}},
    {SCMP_SYS(setresuid), ALLOW, 0, {}},
    {SCMP_SYS(setresgid), ALLOW, 0, {}},
    {SCMP_SYS(capset), ALLOW, 0, {}},
    {SCMP_SYS(prctl), ALLOW, 1, {EQ(0, PR_SET_PDEATHSIG)}},
    {SCMP_SYS(prctl), ALLOW, 2, {EQ(0, PR_SET_DUMPABLE), EQ(1, 0)}},
    {SCMP_SYS(poll), ALLOW, 0, {}},
    {SCMP_SYS(prlimit64), ALLOW, 1, {EQ(0, 0)}},
    {SCMP_SYS(timer_create), ALLOW, 0, {}},
    {SCMP_SYS(timer_settime), ALLOW, 0, {}},
    {SCMP_SYS(setitimer), ALLOW, 1, {EQ(0, ITIMER_PROF)}},
    {SCMP_SYS(rt_sigaction), ALLOW, 0, {}},
    {SCMP_SYS(rt_sigprocmask), ALLOW, 0, {}},
    {SCMP_SYS(seccomp), ALLOW, 2, {EQ(0, SECCOMP_SET_MODE_FILTER), EQ(1, 0)}},
};

/* More calls of a worker with network: the stream to paddock-egress, and waiting for both. */
static const struct filter_rule stream_rules[] = {
    {SCMP_SYS(read), ALLOW, 1, {EQ(0, SANDBOX_CAGE_FD)}},
    {SCMP_SYS(write), ALLOW, 1, {EQ(0, SANDBOX_CAGE_FD)}},
    {SCMP_SYS(ppoll), ALLOW, 2, {EQ(1, 2), EQ(3, 0)}},
};

int filter_add(scmp_filter_ctx ctx, const struct filter_rule *rules, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = seccomp_rule_add_array(ctx, rules[i].action, rules[i].nr,
					    rules[i].args, rules[i].arg);
	return rc;
}

int filter_add_calls(scmp_filter_ctx ctx, uint32_t action, const int *list,
		     size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = seccomp_rule_add_array(ctx, action, list[i], 0, NULL);
	return rc;
}

/*
 * libseccomp writes a filter to a descriptor only, so read the filter back from a memfd.
 */
static int export(scmp_filter_ctx ctx, struct sock_fprog *prog)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	struct sock_filter *code = NULL;
	off_t size;
	int rc;

	if (fd < 0)
		return -errno;
	rc = seccomp_export_bpf(ctx, fd);
	if (rc != 0)
		goto out;
	size = lseek(fd, 0, SEEK_END);
	if (size <= 0 || size > (off_t)(BPF_MAXINSNS * sizeof(*code))) {
		rc = -EFBIG;
		goto out;
	}
	code = xcalloc(1, (size_t)size);
	if (pread(fd, code, (size_t)size, 0) != size) {
		rc = -EIO;
		goto out;
	}
	prog->len = (unsigned short)((size_t)size / sizeof(*code));
	prog->filter = code;
	code = NULL;
out:
	free(code);
	close(fd);
	return rc;
}

static bool has_call(const struct filter_rule *rules, size_t n, int nr)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].nr == nr)
			return true;
	return false;
}

/*
 * The kernel compiles the filter anew for each worker, which takes a third of the time to
 * confine a worker. So the filter of a clone checks call numbers alone, and leaves
 * arguments and quiet failures to the inherited filter of the zygote, which has the same
 * rules. Only calls for which the zygote has more rules are checked by argument.
 */
static int add_clone_of(scmp_filter_ctx ctx, bool network)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(worker_rules) && rc == 0; i++) {
		struct filter_rule rule = worker_rules[i];

		if (i > 0 && rule.nr == worker_rules[i - 1].nr)
			continue;
		if (!has_call(zygote_rules, ARRAY_LEN(zygote_rules), rule.nr) &&
		    (network ||
		     !has_call(stream_rules, ARRAY_LEN(stream_rules), rule.nr)))
			rule = (struct filter_rule){.nr = rule.nr,
						    .action = ALLOW};
		rc = filter_add(ctx, &rule, 1);
	}
	return rc;
}

static int add_clone(scmp_filter_ctx ctx)
{
	return add_clone_of(ctx, false);
}

static int add_stream_clone(scmp_filter_ctx ctx)
{
	return add_clone_of(ctx, true);
}

static const struct filter_table worker = {.rules = worker_rules,
					   .n = ARRAY_LEN(worker_rules)},
				 zygote = {.rules = zygote_rules,
					   .n = ARRAY_LEN(zygote_rules)},
				 stream = {.rules = stream_rules,
					   .n = ARRAY_LEN(stream_rules)};

#define TABLES_MAX 7

static const struct {
	uint32_t otherwise; /* action for calls in no table */
	const struct filter_table *tables[TABLES_MAX];
	int (*add)(scmp_filter_ctx ctx); /* or NULL */
	bool refined;			 /* by filter_refine() */
} kinds[] = {
    [FILTER_WORKER] = {SCMP_ACT_TRAP, .tables = {&worker}},
    [FILTER_ZYGOTE] = {SCMP_ACT_TRAP, .tables = {&worker, &stream, &zygote}},
    [FILTER_CLONE] = {SCMP_ACT_TRAP, .add = add_clone},
    [FILTER_STREAM_CLONE] = {SCMP_ACT_TRAP, .add = add_stream_clone},
    [FILTER_PROGRAM] = {SCMP_ACT_ERRNO(ENOSYS), .add = filter_add_program,
			.tables = {&filter_local, &filter_advice,
				   &filter_counts, &filter_options,
				   &filter_no_sockets},
			.refined = true},
    [FILTER_NETWORK] = {SCMP_ACT_ERRNO(ENOSYS), .add = filter_add_program,
			.tables = {&filter_local, &filter_advice,
				   &filter_counts, &filter_options,
				   &filter_internet_options, &filter_connects,
				   &filter_proxied},
			.refined = true},
    [FILTER_BUILD] = {SCMP_ACT_ERRNO(ENOSYS), .add = filter_add_build,
		      .tables = {&filter_local, &filter_advice,
				 &filter_no_counts, &filter_options,
				 &filter_internet_options, &filter_connects,
				 &filter_network},
		      .refined = true},
    [FILTER_SHIM] = {SCMP_ACT_TRAP, .tables = {&filter_shim}},
    [FILTER_ONE_EXEC] = {SCMP_ACT_ALLOW, .tables = {&filter_one_exec}},
    [FILTER_NO_LOCKS] = {SCMP_ACT_ALLOW, .tables = {&filter_no_locks}},
#ifndef __SANITIZE_ADDRESS__
    [FILTER_BROWSER] = {SCMP_ACT_KILL_PROCESS,
			.tables = {&filter_shared, &filter_advice,
				   &filter_browser, &filter_options,
				   &filter_internet_options}},
    [FILTER_EGRESS] = {SCMP_ACT_KILL_PROCESS,
		       .tables = {&filter_shared, &filter_advice,
				  &filter_browser, &filter_egress,
				  &filter_options, &filter_internet_options}},
#else /* the sanitizer's runtime makes more calls at exit */
    /* not EPERM as in the rules: libseccomp refuses a rule with the default action */
    [FILTER_BROWSER] = {SCMP_ACT_ERRNO(EACCES),
			.tables = {&filter_shared, &filter_advice,
				   &filter_browser, &filter_options,
				   &filter_internet_options}},
    [FILTER_EGRESS] = {SCMP_ACT_ERRNO(EACCES),
		       .tables = {&filter_shared, &filter_advice,
				  &filter_browser, &filter_egress,
				  &filter_options, &filter_internet_options}},
#endif
    [FILTER_NAMES] = {SCMP_ACT_ERRNO(ENOSYS),
		      .tables = {&filter_shared, &filter_advice, &filter_names,
				 &filter_options, &filter_internet_options,
				 &filter_address_options}},
};

static int add_rules(scmp_filter_ctx ctx, enum filter_kind kind)
{
	const struct filter_table *const *t = kinds[kind].tables;
	int rc = kinds[kind].add != NULL ? kinds[kind].add(ctx) : 0;

	for (size_t i = 0; i < TABLES_MAX && t[i] != NULL && rc == 0; i++) {
		rc = filter_add_calls(ctx, ALLOW, t[i]->calls, t[i]->n_calls);
		if (rc == 0)
			rc = filter_add(ctx, t[i]->rules, t[i]->n);
	}
	return rc;
}

int filter_make(enum filter_kind kind, struct sock_fprog *prog)
{
	scmp_filter_ctx ctx = seccomp_init(kinds[kind].otherwise);
	int rc;

	if (ctx == NULL)
		return -ENOMEM;
	rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
			      SCMP_ACT_KILL_PROCESS);
	if (rc == 0)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE,
				      kind == FILTER_CLONE ? SHORT : SEARCH);
	if (rc == 0)
		rc = add_rules(ctx, kind);
	if (rc == 0)
		rc = export(ctx, prog);
	if (rc == 0 && kinds[kind].refined)
		rc = filter_refine(prog, kinds[kind].tables, TABLES_MAX);
	seccomp_release(ctx);
	return rc;
}

int filter_load(const struct sock_fprog *prog)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, prog) == 0
		   ? 0
		   : -errno;
}

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

int filter_load_listening(const struct sock_fprog *prog)
{
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			  prog);

	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     SECCOMP_FILTER_FLAG_NEW_LISTENER, prog);

	return fd >= 0 ? (int)fd : -errno;
}

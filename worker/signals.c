/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c - handlers of SIGTERM, SIGXCPU and SIGSYS for both runtimes. The
 * last two send FAIL from within the handler and exit, so they allocate nothing
 * and use async-signal-safe functions alone.
 */
#include "worker/signals.h"

#include <errno.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "base/mem.h"
#include "worker/channel.h"
#include "worker/wait.h"
#include "worker/text.h"

#define SYSCALLS 512 /* system calls below it are reported by name */
#define SYSCALL_NAME_MAX 32
#define DETAILS_SIZE 512
#define BY_FILTER 1 /* SYS_SECCOMP, for which glibc has no name */

static atomic_bool cancelled;
static void (*_Atomic on_cancel)(void);
static uint64_t cpu_ms;
/* filled before: no malloc in a handler */
static char names[SYSCALLS][SYSCALL_NAME_MAX];

bool signals_cancelled(void)
{
	return atomic_load(&cancelled);
}

void signals_set_cpu_ms(uint64_t ms)
{
	cpu_ms = ms;
}

void signals_on_cancel(void (*call)(void))
{
	atomic_store(&on_cancel, call);
}

void signals_cancel(void)
{
	void (*call)(void) = atomic_load(&on_cancel);

	atomic_store(&cancelled, true);
	if (call != NULL)
		call();
	wait_wake();
}

void signals_forget_cancel(void)
{
	atomic_store(&cancelled, false);
}

static void on_term(int sig)
{
	(void)sig;
	signals_cancel();
}

static void on_xcpu(int sig)
{
	char buffer[DETAILS_SIZE];
	struct text t = {.p = buffer, .size = sizeof(buffer)};
	struct timespec ts = {0};
	uint64_t used;

	(void)sig;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	used = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
	text_add_limit(&t, "cpu", used, cpu_ms > 0 ? cpu_ms : used, "ms",
		       "template limits.maxCpuMs, or the server's [limits]");
	channel_fail_and_exit("RESOURCE_LIMIT",
			      "the run used all of its CPU time",
			      (struct str){t.p, t.n});
}

#if defined(__x86_64__)
#define ARCH_NATIVE AUDIT_ARCH_X86_64
static void get_args(uint64_t args[SIGNALS_ARGS], const ucontext_t *uc)
{
	static const int regs[SIGNALS_ARGS] = {REG_RDI, REG_RSI, REG_RDX,
					       REG_R10, REG_R8,	 REG_R9};

	for (int i = 0; i < SIGNALS_ARGS; i++)
		args[i] = (uint64_t)uc->uc_mcontext.gregs[regs[i]];
}
#elif defined(__aarch64__)
#define ARCH_NATIVE AUDIT_ARCH_AARCH64
static void get_args(uint64_t args[SIGNALS_ARGS], const ucontext_t *uc)
{
	for (int i = 0; i < SIGNALS_ARGS; i++)
		args[i] = uc->uc_mcontext.regs[i];
}
#else
#error "which registers hold a system call's arguments here?"
#endif

static const char *arch_name(unsigned arch)
{
	switch (arch) {
	case AUDIT_ARCH_X86_64:
		return "x86_64";
	case AUDIT_ARCH_AARCH64:
		return "aarch64";
	case AUDIT_ARCH_I386:
		return "i386";
	default:
		return "unknown";
	}
}

static void add_syscall(struct text *t, int nr, unsigned arch)
{
	if (arch == ARCH_NATIVE && nr >= 0 && nr < SYSCALLS &&
	    names[nr][0] != '\0') {
		text_add_quoted(t, names[nr], strlen(names[nr]));
		return;
	}
	text_add(t, "\"#");
	text_add_int(t, (uint64_t)(unsigned)nr);
	text_add(t, "\"");
}

static void describe_process(struct text *t, const struct signals_call *c)
{
	text_add(t, ",\"process\":{\"pid\":");
	text_add_int(t, c->pid);
	text_add(t, ",\"comm\":");
	text_add_quoted(t, c->process, strlen(c->process));
	text_add(t, "}");
}

void signals_describe(const struct signals_call *c, struct signals_report *r)
{
	struct text t = {.p = r->details, .size = sizeof(r->details) - 1};
	struct text m = {.p = r->message, .size = sizeof(r->message) - 1};

	text_add(&m, "the sandbox refused a system call that no template "
		     "needs: ");
	add_syscall(&m, c->nr, c->arch);
	r->message[m.n] = '\0';
	text_add(&t, "{\"syscall\":");
	add_syscall(&t, c->nr, c->arch);
	text_add(&t, ",\"arch\":\"");
	text_add(&t, arch_name(c->arch));
	text_add(&t, "\",\"args\":[");
	for (int i = 0; i < SIGNALS_ARGS; i++) {
		text_add(&t, i == 0 ? "" : ",");
		text_add_hex(&t, c->args[i]);
	}
	text_add(&t, "]");
	if (c->process != NULL)
		describe_process(&t, c);
	text_add(&t, "}");
	r->details[t.n] = '\0';
}

void signals_violation(const struct signals_call *c)
{
	struct signals_report r;

	signals_describe(c, &r);
	channel_fail_and_exit("SANDBOX_VIOLATION", r.message,
			      (struct str){r.details, strlen(r.details)});
}

static void on_sys(int sig, siginfo_t *si, void *context)
{
	struct signals_call c = {.nr = si->si_syscall, .arch = si->si_arch};

	(void)sig;
	if (si->si_code != BY_FILTER)
		return; /* sent by a process: no call was refused */
	get_args(c.args, context);
	signals_violation(&c);
}

int signals_install(void)
{
	static const int signals[] = {SIGTERM, SIGXCPU, SIGSYS};
	struct sigaction sa[] = {
	    {.sa_handler = on_term, .sa_flags = SA_RESTART},
	    {.sa_handler = on_xcpu},
	    {.sa_sigaction = on_sys, .sa_flags = SA_SIGINFO},
	};

	for (int i = 0; i < SYSCALLS; i++) {
		char *name =
		    seccomp_syscall_resolve_num_arch(seccomp_arch_native(), i);

		if (name != NULL)
			(void)snprintf(names[i], sizeof(names[i]), "%s", name);
		free(name);
	}
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		sigemptyset(&sa[i].sa_mask);
		if (sigaction(signals[i], &sa[i], NULL) < 0)
			return -errno;
	}
	return 0;
}

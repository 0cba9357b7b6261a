/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.c - runs a command as systemd runs a service, with the limits, rights and
 * filters in the lines of a unit (systemd.exec(5), version 252), in a root built by
 * Unit.pm:
 *
 *   unit DIRECTIVE=VALUE... -- COMMAND [ARGUMENT...]
 *
 * An unknown directive, or an unknown word in a value, is an error, since no test has
 * covered such a unit.
 */
#include <errno.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define EXIT_UNABLE 126 /* as in env(1) and similar commands */
#define GROUP_MAX 32

_Noreturn static void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("unit: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputs("\n", stderr);
	va_end(ap);
	exit(EXIT_UNABLE);
}

static void must(bool good, const char *what)
{
	if (!good)
		fail("%s: %s", what, strerror(errno));
}

/* ---- filters ---- */

static unsigned int denied = EPERM; /* SystemCallErrorNumber */

static scmp_filter_ctx begin(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	must(ctx != NULL, "seccomp_init");
	/*
	 * a filter sets no no_new_privs, and lets calls of other architectures pass
	 */
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0);
	seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
	return ctx;
}

static void load(scmp_filter_ctx ctx)
{
	int rc = seccomp_load(ctx);

	if (rc != 0)
		fail("seccomp_load: %s", strerror(-rc));
	seccomp_release(ctx);
}

static void deny(scmp_filter_ctx ctx, unsigned int err, int call,
		 const struct scmp_arg_cmp *arg, unsigned int n)
{
	int rc;

	if (call == __NR_SCMP_ERROR)
		/* the system call exists on no architecture of libseccomp */
		return;
	rc = seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO(err), call, n, arg);
	if (rc != 0 && rc != -EDOM && rc != -EFAULT)
		fail("a rule: %s", strerror(-rc));
}

/* systemd 252, src/shared/seccomp-util.c */
static const struct {
	const char *name, *calls[GROUP_MAX];
} groups[] = {
    {"@clock",
     {"adjtimex", "clock_adjtime", "clock_adjtime64", "clock_settime",
      "clock_settime64", "settimeofday"}},
    {"@cpu-emulation",
     {"modify_ldt", "subpage_prot", "switch_endian", "vm86", "vm86old"}},
    {"@debug",
     {"lookup_dcookie", "perf_event_open", "pidfd_getfd", "ptrace", "rtas",
      "s390_runtime_instr", "sys_debug_setcontext"}},
    {"@module", {"delete_module", "finit_module", "init_module"}},
    {"@obsolete",
     {"_sysctl",
      "afs_syscall",
      "bdflush",
      "break",
      "create_module",
      "ftime",
      "get_kernel_syms",
      "getpmsg",
      "gtty",
      "idle",
      "lock",
      "mpx",
      "prof",
      "profil",
      "putpmsg",
      "query_module",
      "security",
      "sgetmask",
      "ssetmask",
      "stime",
      "stty",
      "sysfs",
      "tuxcall",
      "ulimit",
      "uselib",
      "ustat",
      "vserver"}},
    {"@raw-io",
     {"ioperm", "iopl", "pciconfig_iobase", "pciconfig_read", "pciconfig_write",
      "s390_pci_mmio_read", "s390_pci_mmio_write"}},
    {"@reboot", {"kexec_file_load", "kexec_load", "reboot"}},
    {"@swap", {"swapoff", "swapon"}},
};

static void deny_group(scmp_filter_ctx ctx, const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		if (strcmp(groups[i].name, name) != 0)
			continue;
		for (size_t j = 0; j < GROUP_MAX && groups[i].calls[j]; j++)
			deny(ctx, denied,
			     seccomp_syscall_resolve_name(groups[i].calls[j]),
			     NULL, 0);
		return;
	}
	if (*name == '@' ||
	    seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR)
		fail("SystemCallFilter: %s is not known here", name);
	deny(ctx, denied, seccomp_syscall_resolve_name(name), NULL, 0);
}

static void calls(char *list)
{
	scmp_filter_ctx ctx = begin();
	char *save = NULL;

	if (*list != '~')
		fail("SystemCallFilter: only what is denied is known here");
	for (char *w = strtok_r(list + 1, " ", &save); w != NULL;
	     w = strtok_r(NULL, " ", &save))
		deny_group(ctx, w);
	load(ctx);
}

static void families(char *list)
{
	static const struct {
		const char *name;
		int number;
	} all[] = {{"AF_UNIX", AF_UNIX},
		   {"AF_INET", AF_INET},
		   {"AF_INET6", AF_INET6},
		   {"AF_NETLINK", AF_NETLINK},
		   {"AF_PACKET", AF_PACKET}};
	bool may[AF_MAX + 1] = {false};
	scmp_filter_ctx ctx = begin();
	char *save = NULL;

	for (char *w = strtok_r(list, " ", &save); w != NULL;
	     w = strtok_r(NULL, " ", &save)) {
		size_t i = 0;

		while (i < ARRAY_LEN(all) && strcmp(all[i].name, w) != 0)
			i++;
		if (i == ARRAY_LEN(all))
			fail("RestrictAddressFamilies: %s is not known here",
			     w);
		may[all[i].number] = true;
	}
	for (int f = 0; f <= AF_MAX; f++) {
		struct scmp_arg_cmp is = {.arg = 0,
					  .op = f < AF_MAX ? SCMP_CMP_EQ
							   : SCMP_CMP_GE,
					  .datum_a = (scmp_datum_t)f};

		if (!may[f])
			deny(ctx, EAFNOSUPPORT, SCMP_SYS(socket), &is, 1);
	}
	load(ctx);
}

static void realtime(char *yes)
{
	scmp_filter_ctx ctx = begin();

	(void)yes;
	for (int policy = SCHED_FIFO; policy <= SCHED_RR; policy++) {
		struct scmp_arg_cmp is = {.arg = 1,
					  .op = SCMP_CMP_EQ,
					  .datum_a = (scmp_datum_t)policy};

		deny(ctx, EPERM, SCMP_SYS(sched_setscheduler), &is, 1);
	}
	load(ctx);
}

/* Deny personalities except the present personality; a query is denied, too. */
static void personalities(char *yes)
{
	const struct scmp_arg_cmp other = {
	    .arg = 0, .op = SCMP_CMP_NE, .datum_a = 0};
	scmp_filter_ctx ctx = begin();

	(void)yes;
	deny(ctx, EPERM, SCMP_SYS(personality), &other, 1);
	load(ctx);
}

static void setuid_bits(char *yes)
{
	static const struct {
		int call;
		unsigned int mode;
	} all[] = {{SCMP_SYS(chmod), 1},    {SCMP_SYS(fchmod), 1},
		   {SCMP_SYS(fchmodat), 2}, {SCMP_SYS(mkdir), 1},
		   {SCMP_SYS(mkdirat), 2},  {SCMP_SYS(mknod), 1},
		   {SCMP_SYS(mknodat), 2},  {SCMP_SYS(creat), 1}};
	scmp_filter_ctx ctx = begin();

	(void)yes;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		for (unsigned int bit = S_ISGID; bit <= S_ISUID; bit <<= 1) {
			struct scmp_arg_cmp is = {.arg = all[i].mode,
						  .op = SCMP_CMP_MASKED_EQ,
						  .datum_a = bit,
						  .datum_b = bit};

			deny(ctx, EPERM, all[i].call, &is, 1);
		}
	deny(ctx, ENOSYS, SCMP_SYS(openat2), NULL, 0);
	load(ctx);
}

static void write_execute(char *yes)
{
	const struct scmp_arg_cmp both = {.arg = 2,
					  .op = SCMP_CMP_MASKED_EQ,
					  .datum_a = PROT_EXEC | PROT_WRITE,
					  .datum_b = PROT_EXEC | PROT_WRITE},
				  run = {.arg = 2,
					 .op = SCMP_CMP_MASKED_EQ,
					 .datum_a = PROT_EXEC,
					 .datum_b = PROT_EXEC},
				  shm = {.arg = 2,
					 .op = SCMP_CMP_MASKED_EQ,
					 .datum_a = SHM_EXEC,
					 .datum_b = SHM_EXEC};
	scmp_filter_ctx ctx = begin();

	(void)yes;
	deny(ctx, EPERM, SCMP_SYS(mmap), &both, 1);
	deny(ctx, EPERM, SCMP_SYS(mprotect), &run, 1);
	deny(ctx, EPERM, SCMP_SYS(pkey_mprotect), &run, 1);
	deny(ctx, EPERM, SCMP_SYS(shmat), &shm, 1);
	load(ctx);
}

static void groups_alone(const char *group, const char *more)
{
	scmp_filter_ctx ctx = begin();
	unsigned int before = denied;

	denied = EPERM;
	if (group != NULL)
		deny_group(ctx, group);
	if (more != NULL)
		deny(ctx, EPERM, seccomp_syscall_resolve_name(more), NULL, 0);
	denied = before;
	load(ctx);
}

static void clock_set(char *yes)
{
	(void)yes;
	groups_alone("@clock", NULL);
}

static void kernel_log(char *yes)
{
	(void)yes;
	groups_alone(NULL, "syslog");
}

static void modules(char *yes)
{
	(void)yes;
	groups_alone("@module", NULL);
}

static void native(char *list)
{
	scmp_filter_ctx ctx = begin();

	if (strcmp(list, "native") != 0)
		fail("SystemCallArchitectures: %s is not known here", list);
	seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* a filter without a rule would hold for nothing */
	deny(ctx, ENOSYS, SCMP_SYS(tuxcall), NULL, 0);
	load(ctx);
}

static void error_number(char *name)
{
	if (strcmp(name, "EPERM") != 0)
		fail("SystemCallErrorNumber: %s is not known here", name);
	denied = EPERM;
}

/* ---- rights and limits ---- */

static void set_umask(char *octal)
{
	umask((mode_t)strtoul(octal, NULL, 8));
}

/* "SOFT:HARD", or one value for both limits. */
static void limit(int what, char *text)
{
	char *hard = strchr(text, ':');
	struct rlimit l;

	if (hard != NULL)
		*hard++ = '\0';
	else
		hard = text;
	l.rlim_cur = strcmp(text, "infinity") == 0 ? RLIM_INFINITY
						   : strtoul(text, NULL, 10);
	l.rlim_max = strcmp(hard, "infinity") == 0 ? RLIM_INFINITY
						   : strtoul(hard, NULL, 10);
	must(setrlimit(what, &l) == 0, "setrlimit");
}

static void files(char *text)
{
	limit(RLIMIT_NOFILE, text);
}

static void cores(char *text)
{
	limit(RLIMIT_CORE, text);
}

static void bounding(char *list)
{
	bool keep[CAP_LAST_CAP + 1] = {false};
	cap_t caps = cap_init();
	char *save = NULL;

	for (char *w = strtok_r(list, " ", &save); w != NULL;
	     w = strtok_r(NULL, " ", &save)) {
		cap_value_t c;

		must(cap_from_name(w, &c) == 0, w);
		keep[c] = true;
	}
	for (cap_value_t c = 0; c <= CAP_LAST_CAP; c++) {
		if (keep[c]) {
			cap_set_flag(caps, CAP_PERMITTED, 1, &c, CAP_SET);
			cap_set_flag(caps, CAP_EFFECTIVE, 1, &c, CAP_SET);
		} else if (cap_get_bound(c) > 0) {
			must(prctl(PR_CAPBSET_DROP, c) == 0, "PR_CAPBSET_DROP");
		}
	}
	must(cap_set_proc(caps) == 0, "cap_set_proc");
	cap_free(caps);
}

static void no_new(char *yes)
{
	(void)yes;
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
}

/* Make DIR the root of this process; the machine's other files disappear. */
static void root(char *dir)
{
	must(chdir(dir) == 0, dir);
	must(syscall(SYS_pivot_root, ".", ".") == 0, "pivot_root");
	must(umount2(".", MNT_DETACH) == 0, "umount2");
	must(chdir("/") == 0, "/");
}

/*
 * The directives in order of application: filters last, since filters deny calls of the
 * earlier steps.
 */
static const struct {
	const char *name;
	void (*apply)(char *value);
} directives[] = {
    {"Root", root}, /* argument of Unit.pm */
    {"UMask", set_umask},
    {"LimitNOFILE", files},
    {"LimitCORE", cores},
    {"CapabilityBoundingSet", bounding},
    {"NoNewPrivileges", no_new},
    {"SystemCallErrorNumber", error_number},
    {"RestrictAddressFamilies", families},
    {"MemoryDenyWriteExecute", write_execute},
    {"RestrictRealtime", realtime},
    {"RestrictSUIDSGID", setuid_bits},
    {"ProtectKernelModules", modules},
    {"ProtectKernelLogs", kernel_log},
    {"ProtectClock", clock_set},
    {"LockPersonality", personalities},
    {"SystemCallFilter", calls},
    {"SystemCallArchitectures", native},
};

static bool is_known(const char *arg)
{
	for (size_t i = 0; i < ARRAY_LEN(directives); i++) {
		size_t n = strlen(directives[i].name);

		if (strncmp(arg, directives[i].name, n) == 0 && arg[n] == '=')
			return true;
	}
	return false;
}

static void apply(size_t i, char **argv)
{
	size_t n = strlen(directives[i].name);

	for (; *argv != NULL && strcmp(*argv, "--") != 0; argv++)
		if (strncmp(*argv, directives[i].name, n) == 0 &&
		    (*argv)[n] == '=')
			directives[i].apply(*argv + n + 1);
}

int main(int argc, char **argv)
{
	char **command = argv + 1;

	(void)argc;
	while (*command != NULL && strcmp(*command, "--") != 0) {
		if (!is_known(*command))
			fail("%s is not known here", *command);
		command++;
	}
	if (*command == NULL || command[1] == NULL)
		fail("there is no command");
	for (size_t i = 0; i < ARRAY_LEN(directives); i++)
		apply(i, argv + 1);
	must(setgroups(0, NULL) == 0 || errno == EPERM, "setgroups");
	execv(command[1], command + 1);
	fail("%s: %s", command[1], strerror(errno));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of the real paddock-worker about its cage, on machines with missing
 * features.
 */
#include "base/os/errname.h"
#include "tests/unit/worker/zygote_fixture.h"

#define EXIT_BROKEN 69

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

#define NAMESPACES                                                             \
	(SANDBOX_BIT(SANDBOX_USERNS) | SANDBOX_BIT(SANDBOX_NETNS) |            \
	 SANDBOX_BIT(SANDBOX_IPCNS) | SANDBOX_BIT(SANDBOX_UTSNS) |             \
	 SANDBOX_BIT(SANDBOX_MNTNS))

/* Steps which hold on any kernel with seccomp, under any user. */
#define ALWAYS                                                                 \
	(SANDBOX_BIT(SANDBOX_SECCOMP) | SANDBOX_BIT(SANDBOX_NNP) |             \
	 SANDBOX_BIT(SANDBOX_RLIMITS) | SANDBOX_BIT(SANDBOX_CLOSED) |          \
	 SANDBOX_BIT(SANDBOX_EMPTY_ENV) | SANDBOX_BIT(SANDBOX_UNDUMPABLE) |    \
	 SANDBOX_BIT(SANDBOX_PDEATHSIG))

static bool can(int flag)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(unshare(flag) == 0 ? 0 : 1);
	waitpid(pid, &status, 0);
	return status == 0;
}

static bool have_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

/* The expected steps on this machine for root (or else for an ordinary user). */
static uint32_t expected(bool root)
{
	uint32_t want = ALWAYS;

	if (can(CLONE_NEWUSER))
		want |= NAMESPACES | SANDBOX_BIT(SANDBOX_ROOT) |
			SANDBOX_BIT(SANDBOX_CAPS);
	if (root)
		want |= SANDBOX_BIT(SANDBOX_UID) | SANDBOX_BIT(SANDBOX_ROOT) |
			SANDBOX_BIT(SANDBOX_CAPS);
	if (have_landlock())
		want |= SANDBOX_BIT(SANDBOX_LANDLOCK);
	return want;
}

/* The missing steps of the cage must be named, and no other steps. */
static void test_report(const char *who, uid_t uid, const struct refusal *r,
			uint32_t want, const char *named)
{
	struct zygote z;
	struct worker w;
	struct zygote_proto_event event;

	start(&z, uid, r);
	event = take_note(&z);
	is_int(event.type, ZYGOTE_PROTO_REPORT, "%s: there is a report", who);
	is_int(event.layers, want, "%s: the layers that hold", who);
	ok(strstr(event.text, named) != NULL, "%s: the report says '%s'", who,
	   named);
	printf("# %s: 0x%x %s\n", who, event.layers, event.text);
	ok((event.landlock_abi > 0) ==
	       ((want & SANDBOX_BIT(SANDBOX_LANDLOCK)) != 0),
	   "%s: the Landlock ABI", who);
	ok((event.uid_base >= 0) == ((want & SANDBOX_BIT(SANDBOX_UID)) != 0),
	   "%s: a uid base where workers have uids", who);

	is_int(spawn(&z, 0, &w).err, 0, "%s: a worker is spawned", who);
	ok(is_ready(&w), "%s: and is ready", who);
	is_str(status_of(w.pid, "Seccomp"), "2", "%s: filtered", who);
	is_str(status_of(w.pid, "NoNewPrivs"), "1", "%s: no new rights", who);
	is_str(status_of(w.pid, "CapPrm"), "0000000000000000",
	       "%s: no capability", who);
	is_int(finish(&w, NULL) & 0x7f, 0, "%s: a worker let go of exits", who);
	is_int(stop(&z), 0, "%s: and so does the zygote", who);
}

static void test_reports(void)
{
	static const struct refusal no_userns[] = {
	    {SCMP_SYS(unshare), EPERM, CLONE_NEWUSER},
	    {SCMP_SYS(clone), EPERM, CLONE_NEWUSER},
	    {0}};
	static const struct refusal container[] = {
	    {SCMP_SYS(unshare), EPERM, 0},    {SCMP_SYS(setns), EPERM, 0},
	    {SCMP_SYS(mount), EPERM, 0},      {SCMP_SYS(umount2), EPERM, 0},
	    {SCMP_SYS(pivot_root), EPERM, 0}, {0}};
	static const struct refusal no_landlock[] = {
	    {SYS_landlock_create_ruleset, ENOSYS, 0}, {0}};
	static const struct refusal no_mounts[] = {{SCMP_SYS(mount), EACCES, 0},
						   {0}};
	static const struct refusal no_timers[] = {
	    {SCMP_SYS(timer_create), ENOSYS, 0}, {0}};
	static const struct refusal feigned[] = {{SCMP_SYS(unshare), 0, 0},
						 {0}};
	static const struct refusal feigned_uid[] = {
	    {SCMP_SYS(setresuid), 0, 0}, {0}};
	bool root = geteuid() == 0;
	uint32_t all = expected(root), user = expected(false);
	uid_t nobody = root ? NOBODY : 0;

	test_report("user", nobody, NULL, user, "uid: EPERM (start as root");
	if (root)
		test_report("root", 0, NULL, all, "");
	test_report("user, no userns", nobody, no_userns,
		    user & ~(NAMESPACES | SANDBOX_BIT(SANDBOX_ROOT) |
			     SANDBOX_BIT(SANDBOX_CAPS)),
		    "userns, netns, ipcns, utsns, mntns: EPERM (allow user");
	if (!root) {
		skip("not root", "what only root can have taken away");
		return;
	}
	test_report("root, no userns", 0, no_userns,
		    all & ~SANDBOX_BIT(SANDBOX_USERNS),
		    "userns: EPERM (allow user namespaces");
	test_report("root, container", 0, container, all & ~NAMESPACES,
		    "userns, netns, ipcns, utsns, mntns: EPERM (");
	test_report("root, no Landlock", 0, no_landlock,
		    all & ~SANDBOX_BIT(SANDBOX_LANDLOCK),
		    "landlock: ENOSYS (needs Linux");
	test_report("root, no mounts", 0, no_mounts, all, "");
	test_report("root, no timers", 0, no_timers, all, "");
	test_report("root, unshare that does nothing", 0, feigned,
		    all & ~NAMESPACES, "ENOTRECOVERABLE");
	test_report("root, setresuid that does nothing", 0, feigned_uid,
		    all &
			~(SANDBOX_BIT(SANDBOX_UID) | SANDBOX_BIT(SANDBOX_CAPS)),
		    "uid: does not hold");
}

/* Without a filter there is no cage, and the report must say so. */
static void test_broken(const char *what, const struct refusal *r,
			const char *named)
{
	struct zygote z;
	struct zygote_proto_event event;
	int status;

	start(&z, 0, r);
	event = take_note(&z);
	status = stop(&z);
	is_int(event.type, ZYGOTE_PROTO_BROKEN, "%s: the cage is broken", what);
	ok(strstr(event.text, named) != NULL, "%s: it says '%s'", what, named);
	printf("# %s\n", event.text);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BROKEN,
	   "%s: and exits with 69", what);
}

static void test_breakage(void)
{
	static const struct refusal no_seccomp[] = {
	    {SCMP_SYS(seccomp), EINVAL, SECCOMP_SET_MODE_FILTER}, {0}};
	/* the kernel's answer at the limit net.core.bpf_jit_limit */
	static const struct refusal full[] = {
	    {SCMP_SYS(seccomp), ERRNAME_ENOTSUPP, SECCOMP_SET_MODE_FILTER},
	    {0}};
	static const struct refusal feigned[] = {
	    {SCMP_SYS(seccomp), 0, SECCOMP_SET_MODE_FILTER}, {0}};
	static const struct refusal no_limits[] = {
	    {SCMP_SYS(prlimit64), ENOSYS, 0}, {0}};

	test_broken("no seccomp", no_seccomp, "seccomp: EINVAL (needs Linux");
	test_broken("no room for filters", full,
		    "seccomp: ENOTSUPP (the memory for filters, "
		    "net.core.bpf_jit_limit, is used up");
	test_broken("seccomp that does nothing", feigned, "not denied: open /");
	test_broken("no limits", no_limits, "rlimits");
}

int main(void)
{
	if (!begin())
		return tap_done();
	test_reports();
	test_breakage();
	return done();
}

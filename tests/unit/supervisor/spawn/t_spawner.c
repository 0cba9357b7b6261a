/* SPDX-License-Identifier: Apache-2.0 */
/* t_spawner.c - zygotes which die at bad moments. */
#include "tests/unit/supervisor/spawn/spawner_fixture.h"

#include <fcntl.h>

#include "supervisor/spawn/spawn_exec.h"

static void test_orders(void)
{
	struct hand h;

	start("good");
	until(&reports, 1);
	is_int(ask(&h, BEAR), 0, "a worker is asked for");
	until(&h.spawned, 1);
	ok(h.err == 0 && h.pid > 0, "an ordered worker is spawned");
	kill(h.pid, SIGTERM);
	until(&h.exits, 1);
	ok(WIFSIGNALED(h.status) && WTERMSIG(h.status) == SIGTERM,
	   "the end of a worker is reported");

	ask(&h, BEAR_DEAD);
	until(&h.exits, 1);
	is_int(h.spawned, 1,
	       "a worker which ended before the report is reported as spawned");
	is_int(h.pid, 0, "a worker which ended before the report has no pid");
	ok(WIFSIGNALED(h.status) && WTERMSIG(h.status) == SIGKILL,
	   "the end of such a worker is reported next");

	ask(&h, REFUSE);
	until(&h.spawned, 1);
	is_int(h.err, EAGAIN, "a birth that fails says why");
	stop("good");
}

/* The kernel bounds descriptors in flight by the limit of open files. */
static void test_descriptors(void)
{
	struct rlimit files, few;

	getrlimit(RLIMIT_NOFILE, &files);
	few = (struct rlimit){files.rlim_max / 2, files.rlim_max};
	setrlimit(RLIMIT_NOFILE, &few);
	start("files");
	getrlimit(RLIMIT_NOFILE, &few);
	ok(few.rlim_cur == files.rlim_max,
	   "a supervisor has as many descriptors as it may have");
	setrlimit(RLIMIT_NOFILE, &files);
	until(&reports, 1);
	stop("files");
}

static void test_deaths(void)
{
	struct hand h, other;

	start("mortal");
	until(&reports, 1);
	ask(&h, DIE);
	ask(&other, BEAR);
	until(&h.spawned, 1);
	until(&other.spawned, 1);
	ok(h.err == ESRCH && other.err == ESRCH,
	   "a zygote's death fails all that it was asked for");
	until(&reports, 2);
	ask(&h, DIE_CLONED);
	until(&h.spawned, 1);
	is_int(h.err, ESRCH, "a worker cloned by a dying zygote fails");
	until(&reports, 3);
	is_int(reports, 3, "a new zygote comes after a death");
	ask(&h, STALL);
	ok(spawner_overdue(spawner, &h.child) > 0,
	   "a recent order is not overdue");
	h.child.asked_ms -= 60000;
	is_int(spawner_overdue(spawner, &h.child), 0,
	       "an old order is overdue");
	until(&h.spawned, 1);
	is_int(h.err, ESRCH, "a silent zygote can be given up");
	until(&reports, 4);

	/* killed, and not yet reaped: the order finds no reader */
	kill(spawner_zygote_pid(spawner, RUNTIME_LUA), SIGKILL);
	waitid(P_PID, (id_t)spawner_zygote_pid(spawner, RUNTIME_LUA), NULL,
	       WEXITED | WNOWAIT);
	is_int(ask(&h, BEAR), -EAGAIN,
	       "an order to a dead one is to be repeated");
	is_int(spawner_zygote_pid(spawner, RUNTIME_LUA), 0,
	       "a dead zygote gets no further order");
	until(&reports, 5);
	is_int(ask(&h, BEAR), 0, "a new zygote takes orders");
	stop("mortal");
	is_int(h.spawned, 1, "to stop fails what is under way");
}

/* A helper, such as paddock-egress, is no child of a dying zygote. */
static void test_helpers(void)
{
	char *argv[] = {(char[]){"sleep"}, (char[]){"600"}, NULL};
	struct hand h;
	siginfo_t end = {0};
	pid_t pid = 0;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), high;

	start("helped");
	until(&reports, 1);
	high = fcntl(null, F_DUPFD_CLOEXEC, 16);
	is_int(spawn_exec_helper(CGROUP_EGRESS, "/bin/sleep", argv, high, high,
				 &pid),
	       0, "a helper is started");
	ask(&h, DIE_CLONED);
	until(&h.spawned, 1);
	until(&reports, 2);
	waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT);
	ok(end.si_pid == 0 && spawn_exec_is_helper(pid),
	   "a helper outlives a zygote that died in a clone");
	close(high);
	close(null);
	stop("helped");
}

static void wait_for_a_zombie(void)
{
	siginfo_t info;

	waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
}

static void test_brief(void)
{
	start("brief");
	wait_for_a_zombie();
	spawner_reap(spawner); /* the zygote's report is still unread */
	is_int(spawner_zygote_pid(spawner, RUNTIME_LUA), 0,
	       "a zygote which reported and died is not used");
	stop("brief");
}

static void test_broken(void)
{
	char *path = xasprintf("%s/turns", folder);

	start("broken");
	until(&broken, 1);
	is_int(broken, 1,
	       "a first zygote that can build no cage is told at once");
	stop("broken");

	start("turns");
	until(&reports, 1);
	unlink(path);
	ok(symlink("/bin/false", path) == 0,
	   "the zygote's program is replaced by a bad program");
	for (int i = 0; i < 6; i++) {
		spawner_renew(spawner, RUNTIME_LUA);
		wait_for_a_zombie();
		spawner_reap(spawner);
	}
	ok(broken == 0 && spawner_zygote_pid(spawner, RUNTIME_LUA) > 0,
	   "a zygote which cannot be renewed serves on");
	stop("turns");
	free(path);
}

static void fail_again(void)
{
	zygote_restart(-1, 0, &spawner->pool[RUNTIME_LUA]);
	wait_for_a_zombie();
	spawner_reap(spawner);
}

static void test_broken_later(void)
{
	char *sign = xasprintf("%s/spoiled", folder);
	const char *why;

	start("later");
	until(&reports, 1);
	ok(symlink("/", sign) == 0, "a cage that was built is spoiled");
	kill(spawner_zygote_pid(spawner, RUNTIME_LUA), SIGKILL);
	wait_for_a_zombie();
	spawner_reap(spawner);
	for (int i = 0; i < 19; i++)
		fail_again();
	ok(spawner_trouble(spawner, RUNTIME_LUA) == NULL,
	   "a failing zygote is no trouble for a while");
	fail_again();
	why = spawner_trouble(spawner, RUNTIME_LUA);
	ok(why != NULL && strcmp(why, "no cage") == 0 && broken == 0,
	   "a zygote failing for longer is reported with its own words");
	unlink(sign);
	zygote_restart(-1, 0, &spawner->pool[RUNTIME_LUA]);
	until(&reports, 2);
	ok(spawner_trouble(spawner, RUNTIME_LUA) == NULL &&
	       spawner_zygote_pid(spawner, RUNTIME_LUA) > 0,
	   "a zygote is tried again and serves once possible");
	stop("later");
	free(sign);
}

/* ---- unknown children ---- */

static pid_t end_a_stranger(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(7);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	spawner_reap(spawner);
	return pid;
}

/*
 * A zygote which claims a pid stands for the kernel, which uses the pid again. A child
 * whose end was seen before the order is not the ordered worker.
 */
static void test_strangers(void)
{
	struct hand pending, h;
	pid_t pid;

	start("strange");
	until(&reports, 1);
	ask(&pending, IGNORE);
	pid = end_a_stranger();
	ask_with(&h, RUNTIME_LUA, CLAIM, (uint64_t)pid);
	until(&h.spawned, 1);
	ok(h.exits == 0 && h.pid == pid,
	   "a stranger's end is not that of a later worker with its pid");
	/* the claimed pid must not be killed */
	HASH_DEL(spawner->by_pid, &h.child);
	spawner->slots.used[h.child.slot] = false;

	ask(&h, IGNORE);
	end_a_stranger();
	spawner_fail_pending(LIST_FIRST(&spawner->zygotes), ESRCH);
	spawner_settle(spawner);
	ok(h.spawned == 1 && pending.spawned == 1,
	   "a stranger's end is forgotten while no worker is being spawned");
	ok(SLIST_EMPTY(&spawner->early_exit),
	   "ends that nobody waits for are forgotten");
	stop("strange");
}

/*
 * The limit of open files in the order for a program which asks for WANTED files.
 */
static int files_of(int wanted)
{
	struct hand h;

	if (ask_with(&h, RUNTIME_PROGRAM, TELL_FILES, (uint64_t)wanted) != 0)
		return -1;
	until(&h.spawned, 1);
	return h.err;
}

/*
 * A program with the server's uid gets fewer files than the server, since the program
 * could use up the files in flight.
 */
static void test_files(const char *name, bool shared)
{
	struct spawner_package packages[] = {
	    {.path = (char *)"/package", .digest = "first"}};
	const struct spawner_rootfs rootfs = {.packages = packages,
					      .n_packages = 1};
	struct rlimit own;
	struct hand h;

	start(name);
	spawner_set_tree(spawner, &rootfs);
	until(&reports, 2);
	getrlimit(RLIMIT_NOFILE, &own);
	ok(own.rlim_cur == own.rlim_max, "%s: we may open all that we may",
	   name);
	is_int(files_of(16), 16, "%s: few files are few", name);
	is_int(files_of((int)own.rlim_cur),
	       (int)own.rlim_cur - (shared ? 256 : 0),
	       "%s: as many as we have are %s", name,
	       shared ? "fewer than ours" : "a program's");
	package_digest = "second";
	is_int(ask_with(&h, RUNTIME_PROGRAM, TELL_FILES, 16), -ESTALE,
	       "%s: who was loaded with another digest is not shown it", name);
	package_digest = "first";
	stop(name);
}

static void test_renewal(void)
{
	pid_t first;

	start("renewed");
	until(&reports, 1);
	first = spawner_zygote_pid(spawner, RUNTIME_LUA);
	spawner_renew(spawner, RUNTIME_LUA);
	spawner_renew(spawner, RUNTIME_LUA); /* a renewal is in progress */
	until(&reports, 2);
	ok(spawner_zygote_pid(spawner, RUNTIME_LUA) > 0 &&
	       spawner_zygote_pid(spawner, RUNTIME_LUA) != first,
	   "a renewed zygote is another process");
	ok(zygote_of_pid(spawner, first) == NULL ||
	       zygote_of_pid(spawner, first)->retired,
	   "the old zygote is retired");
	stop("renewed");
}

static void tests(void)
{
	test_orders();
	test_descriptors();
	test_deaths();
	test_helpers();
	test_brief();
	test_broken();
	test_broken_later();
	test_strangers();
	test_renewal();
	test_files("shared", true);
	test_files("own", false);
}

int main(int argc, char **argv)
{
	return spawner_main(argc, argv, tests);
}

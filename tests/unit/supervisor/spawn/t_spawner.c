/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_spawner.c - zygotes which die at bad moments. The test program, exec'd as
 * "paddock-worker", is a zygote, which misbehaves by the cpu_ms of an order, or by the
 * name of the program.
 */
#include "supervisor/spawn/spawner.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/spawn/spawner_private.h"
#include "tests/unit/tap.h"

/* ---- the zygote ---- */

/* cpu_ms */
enum order {
	BEAR = 1,   /* clone a child which lives until killed */
	BEAR_DEAD,  /* clone a child which is reaped before the report */
	REFUSE,	    /* EAGAIN */
	DIE,	    /* instead of an answer, when the next order is there */
	DIE_CLONED, /* after the clone, before the answer */
	STALL,	    /* for ever */
	IGNORE,	    /* go on with the next order, without an answer */
	CLAIM,	    /* answer with memory_bytes as the pid */
	TELL_FILES, /* refuse, with open_files in the answer */
};

static void note(const struct zygote_proto_event *n)
{
	(void)!send(ZYGOTE_PROTO_CONTROL_FD, n, sizeof(*n), MSG_NOSIGNAL);
}

static int clone_for_parent(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL,
				   NULL, NULL, NULL);

	if (pid == 0) {
		close(ZYGOTE_PROTO_CONTROL_FD);
		for (;;)
			pause();
	}
	return pid;
}

static void serve(const struct zygote_proto_request *o)
{
	struct zygote_proto_event n = {.type = ZYGOTE_PROTO_SPAWNED,
				       .seq = o->seq};

	if (o->cpu_ms == STALL)
		for (;;)
			pause();
	if (o->cpu_ms == DIE)
		(void)!recv(ZYGOTE_PROTO_CONTROL_FD, &n, 1, MSG_PEEK);
	if (o->cpu_ms == DIE)
		_exit(0);
	if (o->cpu_ms == IGNORE)
		return;
	if (o->cpu_ms == REFUSE)
		n.err = EAGAIN;
	else if (o->cpu_ms == TELL_FILES)
		n.err = (int32_t)o->limits.open_files;
	else if (o->cpu_ms == CLAIM)
		n.pid = (int32_t)o->memory_bytes;
	else
		n.pid = clone_for_parent();
	if (o->cpu_ms == DIE_CLONED)
		_exit(0);
	if (o->cpu_ms == BEAR_DEAD) {
		kill(n.pid, SIGKILL);
		while (kill(n.pid, 0) == 0)
			usleep(1000);
	}
	note(&n);
}

/* A file beside the program marks a spoiled zygote. */
static bool is_spoiled(const char *name)
{
	char *sign =
	    xasprintf("%.*s/spoiled", (int)(strrchr(name, '/') - name), name);
	bool is = access(sign, F_OK) == 0;

	free(sign);
	return is;
}

static int zygote(const char *name)
{
	const char *file = strrchr(name, '/') + 1;
	struct zygote_proto_request o;

	if (strcmp(file, "broken") == 0 ||
	    (strcmp(file, "later") == 0 && is_spoiled(name))) {
		note(&(struct zygote_proto_event){.type = ZYGOTE_PROTO_BROKEN,
						  .text = "no cage"});
		return 1;
	}
	note(&(struct zygote_proto_event){
	    .type = ZYGOTE_PROTO_REPORT,
	    .layers = 1,
	    .uid_base = strcmp(file, "shared") == 0 ? -1 : 1});
	if (strcmp(file, "brief") == 0)
		return 0;
	while (recv(ZYGOTE_PROTO_CONTROL_FD, &o, sizeof(o), 0) == sizeof(o))
		serve(&o);
	return 0;
}

/* ---- the supervisor ---- */

static struct event_base *base;
static struct spawner *spawner;
static int reports, broken;
static char folder[] = "/tmp/paddock-crew-XXXXXX";

struct hand {
	struct spawner_child child;
	int spawned, err, exits, status;
	pid_t pid; /* the pid in on_spawned() */
};

static void on_report(void *arg, enum runtime_kind kind,
		      const struct zygote_proto_event *n)
{
	(void)arg, (void)kind, (void)n;
	reports++;
}

static void on_broken(void *arg, enum runtime_kind kind, const char *errmsg)
{
	(void)arg, (void)kind, (void)errmsg;
	broken++;
}

static void on_spawned(struct spawner_child *child, int err)
{
	struct hand *h = (struct hand *)child;

	h->spawned++;
	h->err = err;
	h->pid = child->pid;
}

static void on_exit_of(struct spawner_child *child, int status,
		       const struct rusage *use)
{
	struct hand *h = (struct hand *)child;

	(void)use;
	h->exits++;
	h->status = status;
}

static void on_child(evutil_socket_t sig, short what, void *arg)
{
	(void)sig, (void)what, (void)arg;
	spawner_reap(spawner);
}

static void start(const char *name)
{
	static const struct spawner_ops ops = {on_report, on_broken, NULL};
	char *path = xasprintf("%s/%s", folder, name);
	char self[64];

	snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
	(void)!symlink(self, path);
	reports = broken = 0;
	spawner = spawner_start(base, path, &ops, NULL);
	free(path);
}

static const char *package_digest = "first";

static int ask_with(struct hand *h, enum runtime_kind kind, enum order what,
		    uint64_t bytes)
{
	struct spawner_job job = {.kind = kind,
				  .cpu_ms = what,
				  .memory_bytes = bytes,
				  .package = "/package",
				  .digest = package_digest,
				  .limits.open_files = bytes};
	int ends[2];
	int rc;

	*h = (struct hand){
	    .child = {.on_spawned = on_spawned, .on_exit = on_exit_of}};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	rc = spawner_spawn(spawner, &h->child, ends[0], &job);
	close(ends[0]);
	close(ends[1]);
	return rc;
}

static int ask(struct hand *h, enum order what)
{
	return ask_with(h, RUNTIME_LUA, what, 1);
}

static void stop(const char *name)
{
	struct hand late;
	char *path = xasprintf("%s/%s", folder, name);

	spawner_stop(spawner);
	/* the store may still answer, and runs then ask for workers */
	ok(spawner_zygote_pid(spawner, RUNTIME_LUA) == 0 &&
	       ask(&late, BEAR) == -EAGAIN,
	   "%s: a crew that was stopped has no worker", name);
	spawner_renew(spawner, RUNTIME_LUA);
	spawner_free(spawner);
	spawner = NULL;
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
	   "%s: no child is left", name);
	unlink(path);
	free(path);
}

/* Turn the loop until *N is WANT; a hang is the suite's to end. */
static void until(const int *n, int want)
{
	while (*n < want)
		event_base_loop(base, EVLOOP_ONCE);
}

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

/* ---- slots: each has a uid, where root started us ---- */

#define SLOTS ((int)ZYGOTE_PROTO_SLOTS)

static struct hand many[SLOTS + 1];

/* Do the slots have a worker at once, without a slot for one more? */
static void all_usable(const char *after)
{
	bool seen[SLOTS] = {false};
	int asked = 0, twice = 0;

	for (; asked < SLOTS && ask(&many[asked], BEAR) == 0; asked++) {
		twice += seen[many[asked].child.slot];
		seen[many[asked].child.slot] = true;
		until(&many[asked].spawned, 1);
		if (many[asked].err != 0)
			break;
	}
	ok(asked == SLOTS && twice == 0,
	   "after %s each of %d slots has a worker, %d had", after, SLOTS,
	   asked);
	is_int(ask(&many[SLOTS], BEAR), -EAGAIN,
	       "an order without a free slot is refused");
	for (int i = 0; i < asked; i++)
		kill(many[i].pid, SIGKILL);
	for (int i = 0; i < asked; i++)
		until(&many[i].exits, 1);
}

static void test_slots_come_back(void)
{
	enum { PENDING = 64 };
	int failed = 0, lost = 0;

	start("slots");
	until(&reports, 1);
	for (int i = 0; i < SLOTS + 9; i++) {
		struct hand h;

		if (ask(&h, REFUSE) != 0)
			break;
		until(&h.spawned, 1);
		failed += h.err == EAGAIN;
	}
	is_int(failed, SLOTS + 9, "more births fail than there are slots");
	all_usable("failed births");

	for (int round = 1; lost <= SLOTS; round++) {
		int n = 0;

		while (n < PENDING && ask(&many[n], IGNORE) == 0)
			n++;
		if (n < PENDING)
			break;
		kill(spawner_zygote_pid(spawner, RUNTIME_LUA), SIGKILL);
		for (int i = 0; i < PENDING; i++, lost++)
			until(&many[i].spawned, 1);
		until(&reports, round + 1);
	}
	all_usable("zygotes that died with births to do");

	/* reaped before the report of the birth, and after */
	for (int i = 0; i < SLOTS + 9; i++) {
		if (ask(&many[0], i % 8 == 0 ? BEAR_DEAD : BEAR) != 0)
			break;
		until(&many[0].spawned, 1);
		if (many[0].pid > 0)
			kill(many[0].pid, SIGKILL);
		until(&many[0].exits, 1);
	}
	all_usable("workers that ended");
	stop("slots");
}

/* Orders beyond the room in the zygote's socket. */
static void test_slots_of_unsent(void)
{
	int small = 1, sent = 0, refused = 0;
	siginfo_t stopped;

	start("full");
	until(&reports, 1);
	setsockopt(LIST_FIRST(&spawner->zygotes)->control, SOL_SOCKET,
		   SO_SNDBUF, &small, sizeof(small));
	kill(spawner_zygote_pid(spawner, RUNTIME_LUA), SIGSTOP);
	/* wait for the stop, since a running zygote takes some more orders */
	waitid(P_PID, (id_t)spawner_zygote_pid(spawner, RUNTIME_LUA), &stopped,
	       WSTOPPED | WNOWAIT);
	while (sent < SLOTS && ask(&many[sent], IGNORE) == 0)
		sent++;
	ok(sent > 0 && sent < SLOTS / 2, "a stopped zygote takes few orders");
	for (int i = 0; i <= SLOTS; i++)
		refused += ask(&many[SLOTS], BEAR) == -EAGAIN;
	is_int(refused, SLOTS + 1, "the others are refused");
	kill(spawner_zygote_pid(spawner, RUNTIME_LUA), SIGKILL);
	until(&reports, 2);
	all_usable("orders that could not be sent");
	stop("full");
}

/* Bear a worker that ends at once, or fail to bear one; return the slot, or -1. */
static int slot_of_birth(enum order order)
{
	struct hand h;

	if (ask(&h, order) != 0)
		return -1;
	until(&h.spawned, 1);
	if (h.pid > 0)
		kill(h.pid, SIGKILL);
	if (h.pid > 0)
		until(&h.exits, 1);
	return (int)h.child.slot;
}

/* A process of an earlier run may still be dying when the next is spawned. */
static void test_slots_rest(void)
{
	int last[SLOTS] = {0}, early = 0;

	start("rest");
	until(&reports, 1);
	for (int i = 1; i <= 2 * SLOTS; i++) {
		int slot = slot_of_birth(i % 2 == 0 ? BEAR : REFUSE);

		if (slot < 0)
			break;
		early += last[slot] > 0 && i - last[slot] < (int)SLOTS_REST;
		last[slot] = i;
	}
	is_int(early, 0,
	       "a slot rests for %u births, also after a birth that failed",
	       SLOTS_REST);
	stop("rest");
}

/* A program sees its slot, by the user id and by the name of its cgroup. */
static void test_slots_tell_nothing(void)
{
	int next = 0, before = -1;

	start("random");
	until(&reports, 1);
	for (int i = 0; i < 9; i++) {
		int slot = slot_of_birth(BEAR);

		next += slot == (before + 1) % SLOTS;
		before = slot;
	}
	ok(next < 8, "the slots of workers do not count the workers before");
	stop("random");
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

int main(int argc, char **argv)
{
	struct event *child;

	(void)argc;
	if (strcmp(argv[0], "paddock-worker") == 0)
		return zygote((const char *)getauxval(AT_EXECFN));
	if (mkdtemp(folder) == NULL)
		return 1;
	base = event_base_new();
	child = evsignal_new(base, SIGCHLD, on_child, NULL);
	event_add(child, NULL);
	test_orders();
	test_descriptors();
	test_deaths();
	test_brief();
	test_broken();
	test_broken_later();
	test_slots_come_back();
	test_slots_of_unsent();
	test_slots_rest();
	test_slots_tell_nothing();
	test_strangers();
	test_renewal();
	test_files("shared", true);
	test_files("own", false);
	event_free(child);
	event_base_free(base);
	rmdir(folder);
	return tap_done();
}

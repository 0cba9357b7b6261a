/*
 * t_crew.c - zygotes that die at bad moments. This program, exec'd as
 * "paddock-worker", is a zygote itself, which misbehaves as an order's cpu_ms
 * says, or as the name says that it was exec'd by.
 */
#include "supervisor/crew.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/tap.h"

/* ---- the zygote ---- */

enum order { /* cpu_ms */
	BEAR = 1,     /* a child that lives until it is killed */
	BEAR_DEAD,    /* one that is reaped before it is reported */
	REFUSE,	      /* EAGAIN */
	DIE,	      /* instead of an answer, when the next order is there */
	DIE_CLONED,   /* after the clone, before the answer */
	STALL,	      /* for ever */
};

static void note(const struct crew_note *n)
{
	(void)!send(CREW_CONTROL_FD, n, sizeof(*n), MSG_NOSIGNAL);
}

static int clone_for_parent(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL,
				   NULL, NULL);

	if (pid == 0) {
		close(CREW_CONTROL_FD);
		for (;;)
			pause();
	}
	return pid;
}

static void serve(const struct crew_order *o)
{
	struct crew_note n = {.type = CREW_SPAWNED, .seq = o->seq};

	if (o->cpu_ms == STALL)
		for (;;)
			pause();
	if (o->cpu_ms == DIE)
		(void)!recv(CREW_CONTROL_FD, &n, 1, MSG_PEEK);
	if (o->cpu_ms == DIE)
		_exit(0);
	if (o->cpu_ms == REFUSE)
		n.err = EAGAIN;
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

static int zygote(const char *name)
{
	const char *file = strrchr(name, '/') + 1;
	struct crew_order o;

	if (strcmp(file, "broken") == 0) {
		note(&(struct crew_note){.type = CREW_BROKEN, .text = "no cage"});
		return 1;
	}
	note(&(struct crew_note){.type = CREW_REPORT, .guards = 1});
	if (strcmp(file, "brief") == 0)
		return 0;
	while (recv(CREW_CONTROL_FD, &o, sizeof(o), 0) == sizeof(o))
		serve(&o);
	return 0;
}

/* ---- the supervisor ---- */

static struct event_base *base;
static struct crew *crew;
static int reports, broken;
static char folder[] = "/tmp/paddock-crew-XXXXXX";

struct hand {
	struct crew_hand hand;
	int born, err, exits, status;
	pid_t pid; /* as on_born saw it */
};

static void on_report(void *arg, enum crew_kind kind,
		      const struct crew_note *n)
{
	(void)arg, (void)kind, (void)n;
	reports++;
}

static void on_broken(void *arg, enum crew_kind kind, const char *why)
{
	(void)arg, (void)kind, (void)why;
	broken++;
}

static void on_born(struct crew_hand *hand, int err)
{
	struct hand *h = (struct hand *)hand;

	h->born++;
	h->err = err;
	h->pid = hand->pid;
}

static void on_exit_of(struct crew_hand *hand, int status,
		       const struct rusage *use)
{
	struct hand *h = (struct hand *)hand;

	(void)use;
	h->exits++;
	h->status = status;
}

static void on_child(evutil_socket_t sig, short what, void *arg)
{
	(void)sig, (void)what, (void)arg;
	crew_reap(crew);
}

static void start(const char *name)
{
	static const struct crew_ops ops = {on_report, on_broken, NULL};
	char *path = xasprintf("%s/%s", folder, name);
	char self[64];

	snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
	(void)!symlink(self, path);
	reports = broken = 0;
	crew = crew_start(base, path, &ops, NULL);
	free(path);
}

static void stop(const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);

	crew_stop(crew);
	crew = NULL;
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

static int ask(struct hand *h, enum order what)
{
	struct crew_job job = {
	    .kind = CREW_LUA, .cpu_ms = what, .memory_bytes = 1};
	int ends[2];
	int rc;

	*h = (struct hand){.hand = {.on_born = on_born, .on_exit = on_exit_of}};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	rc = crew_spawn(crew, &h->hand, ends[0], &job);
	close(ends[0]);
	close(ends[1]);
	return rc;
}

static void test_orders(void)
{
	struct hand h;

	start("good");
	until(&reports, 1);
	is_int(ask(&h, BEAR), 0, "a worker is asked for");
	until(&h.born, 1);
	ok(h.err == 0 && h.pid > 0, "and born");
	kill(h.pid, SIGTERM);
	until(&h.exits, 1);
	ok(WIFSIGNALED(h.status) && WTERMSIG(h.status) == SIGTERM,
	   "its end is told");

	ask(&h, BEAR_DEAD);
	until(&h.exits, 1);
	is_int(h.born, 1, "one that ended before its birth was told is born");
	is_int(h.pid, 0, "without a pid, which may be another's by now");
	ok(WIFSIGNALED(h.status) && WTERMSIG(h.status) == SIGKILL,
	   "and then its end is told");

	ask(&h, REFUSE);
	until(&h.born, 1);
	is_int(h.err, EAGAIN, "a birth that fails says why");
	stop("good");
}

static void test_deaths(void)
{
	struct hand h, other;

	start("mortal");
	until(&reports, 1);
	ask(&h, DIE);
	ask(&other, BEAR);
	until(&h.born, 1);
	until(&other.born, 1);
	ok(h.err == ESRCH && other.err == ESRCH,
	   "a zygote's death fails all that it was asked for");
	until(&reports, 2);
	ask(&h, DIE_CLONED);
	until(&h.born, 1);
	is_int(h.err, ESRCH, "also a worker that it had cloned");
	until(&reports, 3);
	ok(true, "and another zygote comes");
	ask(&h, STALL);
	crew_overdue(crew, &h.hand);
	until(&h.born, 1);
	is_int(h.err, ESRCH, "one that answers no more can be given up");
	until(&reports, 4);

	/* killed, and not yet reaped: the order finds nobody */
	kill(crew_zygote_pid(crew, CREW_LUA), SIGKILL);
	waitid(P_PID, (id_t)crew_zygote_pid(crew, CREW_LUA), NULL, WEXITED | WNOWAIT);
	is_int(ask(&h, BEAR), -EAGAIN, "an order to a dead one is to be repeated");
	is_int(crew_zygote_pid(crew, CREW_LUA), 0, "and no more are tried");
	until(&reports, 5);
	is_int(ask(&h, BEAR), 0, "until there is another");
	stop("mortal");
	is_int(h.born, 1, "to stop fails what is under way");
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
	crew_reap(crew); /* its report is still unread */
	is_int(crew_zygote_pid(crew, CREW_LUA), 0, "a zygote that reported and died is none");
	stop("brief");
}

static void test_broken(void)
{
	char *path = xasprintf("%s/turns", folder);

	start("broken");
	until(&broken, 1);
	is_int(broken, 1, "a first zygote that can build no cage is told at once");
	stop("broken");

	start("turns");
	until(&reports, 1);
	unlink(path);
	ok(symlink("/bin/false", path) == 0, "then its program goes bad");
	for (int i = 0; i < 6; i++) {
		crew_renew(crew, CREW_LUA);
		wait_for_a_zombie();
		crew_reap(crew);
	}
	ok(broken == 0 && crew_zygote_pid(crew, CREW_LUA) > 0,
	   "one that cannot be renewed serves on");
	stop("turns");
	free(path);
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
	test_deaths();
	test_brief();
	test_broken();
	event_free(child);
	event_base_free(base);
	rmdir(folder);
	return tap_done();
}

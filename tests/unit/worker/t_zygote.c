/* SPDX-License-Identifier: Apache-2.0 */
/* Workers started by the real paddock-worker, and their cage. */
#include <dirent.h>

#include "tests/unit/worker/zygote_fixture.h"
#include "worker/clone.h"

#define CROWD 64 /* workers at once */

static void test_crowd(struct zygote *z, int uid_base)
{
	struct worker w[CROWD];
	int spawned = 0, ready = 0, caged = 0, ours = 0, ended = 0, used = 0;
	char want[64];

	for (unsigned int i = 0; i < CROWD; i++)
		spawned += spawn(z, i, &w[i]).seq == 1000 + i && w[i].pid > 0;
	is_int(spawned, CROWD, "%d workers live at once", CROWD);
	for (unsigned int i = 0; i < CROWD; i++) {
		uid_t uid = uid_base < 0 ? geteuid() : (uid_t)uid_base + i;

		ready += is_ready(&w[i]);
		snprintf(want, sizeof(want), "%u\t%u\t%u\t%u", uid, uid, uid,
			 uid);
		caged += strcmp(status_of(w[i].pid, "Uid"), want) == 0;
		ours +=
		    strtol(status_of(w[i].pid, "PPid"), NULL, 10) == getpid();
	}
	is_int(ready, CROWD, "all workers of a crowd are ready");
	is_int(caged, CROWD, "each worker of a crowd has its slot's uid");
	is_int(ours, CROWD, "the supervisor is the parent of all workers");
	for (unsigned int i = 0; i < CROWD; i++) {
		struct rusage ru = {0};

		ended += WIFEXITED(finish(&w[i], &ru));
		used += ru.ru_minflt > 0;
	}
	is_int(ended, CROWD, "all end when let go of");
	is_int(used, CROWD, "the resource use of ended workers is known");
}

/* A malformed order must be answered, and the order's socket must be closed. */
static void refused(struct zygote *z, const char *what,
		    const struct zygote_proto_request *request, size_t nfds)
{
	int ends[2], fds[2];
	struct zygote_proto_event event;
	char byte;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		die("socketpair");
	fds[0] = fds[1] = ends[1];
	order_worker(z, request, fds, nfds);
	close(ends[1]);
	event = take_note(z);
	is_int(event.type, ZYGOTE_PROTO_SPAWNED, "%s: answered", what);
	is_int(event.err, EINVAL, "%s: EINVAL", what);
	is_int(event.seq, request->seq, "%s: by number", what);
	is_int(take(ends[0], &byte, 1), 0, "%s: its socket is closed", what);
	close(ends[0]);
}

static void test_orders(struct zygote *z)
{
	struct zygote_proto_request good = order_for(1), request;
	struct worker w;

	refused(z, "no socket", &good, 0);
	refused(z, "two sockets", &good, 2);
	request = good;
	request.type = 77;
	refused(z, "an unknown order", &request, 1);
	request = good;
	request.slot = ZYGOTE_PROTO_SLOTS;
	refused(z, "a slot too many", &request, 1);
	request = good;
	request.cpu_ms = 0;
	refused(z, "no CPU time", &request, 1);
	is_int(spawn(z, ZYGOTE_PROTO_SLOTS - 1, &w).err, 0,
	       "the last slot is fine");
	ok(is_ready(&w), "the worker of the last slot is ready");
	finish(&w, NULL);
}

static unsigned long long limit_of(pid_t pid, const char *name)
{
	char path[64], line[256];
	unsigned long long value = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtoull(line + strlen(name), NULL, 10);
	if (f != NULL)
		fclose(f);
	return value;
}

/* How many names are in DIR of PID; -1: we may not look. */
static int entries(pid_t pid, const char *dir)
{
	char path[64];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, dir);
	d = opendir(path);
	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		n +=
		    strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

/* Seen from outside. */
static void test_cage(struct zygote *z)
{
	struct worker w;

	spawn(z, 3, &w);
	if (!ok(is_ready(&w), "a worker to look at"))
		return;
	if (geteuid() == 0) {
		is_int(entries(w.pid, "fd"), 4,
		       "a worker has four descriptors");
		is_int(entries(w.pid, "root/"), 0, "a worker's root is empty");
	} else {
		is_int(entries(w.pid, "fd"), -1, "not even we see its files");
	}
	is_str(status_of(w.pid, "SigBlk"), "0000000000000000",
	       "a worker blocks no signal");
	is_str(status_of(w.pid, "CapBnd"), "0000000000000000",
	       "a worker's capability bounding set is empty");
	is_int(
	    limit_of(w.pid, "Max cpu time"), CPU_MS / 1000 + 1,
	    "the kernel's CPU limit of a worker is a second over the timer's");
	ok(limit_of(w.pid, "Max address space") > MEMORY_BYTES &&
	       limit_of(w.pid, "Max address space") <
		   MEMORY_BYTES + (32u << 20),
	   "a worker's address space is the ordered memory and a little more");
	is_int(limit_of(w.pid, "Max open files"), 4, "no file more");
	is_int(kill(z->pid, SIGTERM), 0, "SIGTERM to the zygote");
	finish(&w, NULL);
	spawn(z, 3, &w);
	ok(is_ready(&w), "does not reach who is spawned after it");
	kill(w.pid, SIGKILL);
	is_int(finish(&w, NULL), SIGKILL, "a worker can be killed");
}

static void test_orphan_of_zygote(void)
{
	struct zygote z;
	struct worker w;

	start(&z, 0, NULL);
	take_note(&z);
	spawn(&z, 0, &w);
	ok(is_ready(&w), "a worker is ready before the zygote is killed");
	kill(z.pid, SIGKILL);
	is_int(stop(&z), SIGKILL, "the zygote of a worker is killed");
	is_int(kill(w.pid, 0), 0, "the worker lives on");
	ok(WIFEXITED(finish(&w, NULL)),
	   "a worker ends when the parent lets go");
}

#define FAMILY 5 /* a zygote and its workers */

/* A supervisor with a zygote and workers; writes the pids to OUT, then waits. */
_Noreturn static void supervise(int out)
{
	pid_t pids[FAMILY];
	struct zygote z;
	struct worker w[FAMILY - 1];

	start(&z, 0, NULL);
	take_note(&z);
	pids[0] = z.pid;
	for (unsigned int i = 0; i < FAMILY - 1; i++) {
		spawn(&z, i, &w[i]);
		pids[i + 1] = is_ready(&w[i]) ? w[i].pid : -1;
	}
	if (write(out, pids, sizeof(pids)) == sizeof(pids))
		pause();
	_exit(1);
}

static void test_dead_supervisor(void)
{
	pid_t pids[FAMILY] = {0}, supervisor;
	int out[2], killed = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(out, O_CLOEXEC) != 0)
		die("pipe");
	supervisor = fork();
	if (supervisor == 0)
		supervise(out[1]);
	close(out[1]);
	is_int(read(out[0], pids, sizeof(pids)), sizeof(pids),
	       "a supervisor with a zygote and %d workers", FAMILY - 1);
	close(out[0]);
	kill(supervisor, SIGKILL);
	waitpid(supervisor, NULL, 0);
	for (int i = 0; i < FAMILY; i++) {
		int status = pids[i] > 0 ? reap(pids[i], NULL) : -1;

		/*
		 * A process which sees the closed socket before the signal exits by
		 * itself.
		 */
		killed += status != -1;
	}
	is_int(killed, FAMILY,
	       "all processes end when the supervisor is killed");
}

static int run_binary(const char *arg, char *text, size_t size)
{
	char command[512];
	FILE *f;
	size_t n;

	snprintf(command, sizeof(command), "%s %s 2>&1 3<&-", worker_path(),
		 arg);
	f = popen(command, "re"); /* NOLINT: the words are ours */
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	return pclose(f);
}

static void test_arguments(void)
{
	char text[256];

	is_int(WEXITSTATUS(run_binary("--version", text, sizeof(text))), 0,
	       "the argument --version succeeds");
	is_int(strncmp(text, "paddock-worker ", 15), 0, "says what it is");
	is_int(WEXITSTATUS(run_binary("", text, sizeof(text))), 2,
	       "a start by hand is a usage error");
	ok(strstr(text, "only paddockd starts") != NULL,
	   "the usage error names paddockd");
	is_int(WEXITSTATUS(run_binary("--wrong", text, sizeof(text))), 2,
	       "an unknown argument is a usage error");
	ok(strstr(text, "--wrong") != NULL,
	   "the usage error names the unknown argument");
}

static void live_on(const struct sandbox *sb, const struct sandbox_worker *w)
{
	(void)sb, (void)w;
	_exit(0);
}

/* The first step of the cage fails: the socket of the run is missing. */
static void test_uncaged(void)
{
	const struct sandbox sb = {.slots = 1};
	const struct sandbox_worker w = {.run_fd = -1, .cpu_ms = 1000};
	pid_t pid = clone_worker(&sb, &w, CLONE_OF_ZYGOTE, live_on);
	int status = 0;

	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) ==
				    ZYGOTE_PROTO_EXIT_UNCAGED + SANDBOX_CLOSED,
	   "a worker that cannot be caged does not live");
}

int main(void)
{
	struct zygote z;
	struct zygote_proto_event event;

	if (!begin())
		return tap_done();
	test_arguments();
	test_uncaged();
	start(&z, 0, NULL);
	event = take_note(&z);
	test_crowd(&z, event.uid_base);
	test_orders(&z);
	test_cage(&z);
	is_int(stop(&z), 0, "a zygote without orders ends");
	test_orphan_of_zygote();
	test_dead_supervisor();
	return done();
}

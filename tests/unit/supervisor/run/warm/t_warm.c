/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_warm.c - workers which wait for a run: their number, the run for which a worker is
 * taken, and workers which die or are released. The program, exec'd as
 * "paddock-worker", is the zygote: its workers wait for a signal.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/fdpass.h"
#include "base/os/log.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "ipc/zygote_proto.h"
#include "proto/json/json.h"
#include "supervisor/config/config.h"
#include "supervisor/context.h"
#include "supervisor/run/warm/warm_private.h"
#include "tests/unit/tap.h"

/* ---- the zygote ---- */

static int zygote(void)
{
	struct zygote_proto_event report = {.type = ZYGOTE_PROTO_REPORT,
					    .layers = 1};
	struct zygote_proto_request o;
	int fd;

	send(ZYGOTE_PROTO_CONTROL_FD, &report, sizeof(report), MSG_NOSIGNAL);
	while (fdpass_recv(ZYGOTE_PROTO_CONTROL_FD, &o, sizeof(o), &fd, NULL) ==
	       sizeof(o)) {
		struct zygote_proto_event n = {.type = ZYGOTE_PROTO_SPAWNED,
					       .seq = o.seq};

		n.pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL,
				       NULL, NULL, NULL);
		if (n.pid == 0)
			for (;;)
				pause();
		close(fd);
		send(ZYGOTE_PROTO_CONTROL_FD, &n, sizeof(n), MSG_NOSIGNAL);
	}
	return 0;
}

/* ---- the supervisor ---- */

static struct config config = {.prestart_idle_ms = 3600000};
static struct context ctx = {.config = &config};
static int reports, taken_over;

static void on_report(void *arg, enum runtime_kind kind,
		      const struct zygote_proto_event *n)
{
	(void)arg, (void)n;
	reports++;
	warm_renew(ctx.warm, kind);
}

static void on_broken(void *arg, enum runtime_kind kind, const char *errmsg)
{
	(void)arg, (void)kind, (void)errmsg;
}

static void on_child(evutil_socket_t sig, short what, void *arg)
{
	(void)sig, (void)what, (void)arg;
	spawner_reap(ctx.spawner);
}

static void on_spawned(struct spawned *b, int err)
{
	(void)b, (void)err;
}

/* A worker with a run has exited. */
static void on_exit_of(struct spawned *b, int status, const struct rusage *use)
{
	(void)status, (void)use;
	taken_over++;
	spawned_free(b);
}

static const struct spawned_ops ops = {on_spawned, on_exit_of};

static struct spawned *take(uint64_t cpu_ms)
{
	const struct spawner_job job = {
	    .kind = RUNTIME_LUA, .cpu_ms = cpu_ms, .memory_bytes = 1 << 20};

	return warm_take(ctx.warm, NULL, NULL, &job, &ops, NULL);
}

static void end_run(struct spawned *b)
{
	int before = taken_over;

	spawned_signal(b, SIGKILL);
	while (taken_over == before)
		event_base_loop(ctx.base, EVLOOP_ONCE);
}

/* The sum of KEY over all kinds. */
static int64_t sum(const char *key)
{
	struct json_object *list = warm_view(ctx.warm);
	int64_t n = 0;

	json_each(one, list)
		n += json_member_int(one, key);
	json_object_put(list);
	return n;
}

static size_t kinds(void)
{
	struct json_object *list = warm_view(ctx.warm);
	size_t n = json_object_array_length(list);

	json_object_put(list);
	return n;
}

static void until(const char *key, int64_t n)
{
	while (sum(key) != n)
		event_base_loop(ctx.base, EVLOOP_ONCE);
}

/* Take a worker which is spawned, not only ordered. */
static struct spawned *take_alive(uint64_t cpu_ms)
{
	struct spawned *b = take(cpu_ms);

	while (b != NULL && !spawned_is_alive(b))
		event_base_loop(ctx.base, EVLOOP_ONCE);
	return b;
}

TEST(takes)
{
	struct spawned *a, *b;

	is_int((int)kinds(), 0, "none waits at first");
	ok(take(1000) == NULL, "no worker waits for the first run");
	until("waiting", 1);
	a = take_alive(1000);
	ok(a != NULL && a->waited, "one waited for the second");
	ok(take(2000) == NULL, "not for one with another limit");
	until("waiting", 2);
	b = take_alive(1000);
	ok(b != NULL && b != a, "each is taken once");
	is_int((int)sum("hits"), 2, "hits are counted");
	is_int((int)sum("misses"), 2, "misses are counted");
	end_run(a);
	end_run(b);
	until("waiting", 2);
	is_int((int)sum("replaced"), 0,
	       "what ends with its run is not replaced");
}

TEST(next_worker_at_a_result)
{
	int64_t before = sum("waiting");
	struct spawned *b = take(1000);

	is_int((int)sum("waiting"), (int)before - 1,
	       "a run begins before the next worker is started");
	warm_result(ctx.warm);
	is_int((int)sum("waiting"), (int)before,
	       "the result of a run of Lua starts the next worker at once");
	while (!spawned_is_alive(b))
		event_base_loop(ctx.base, EVLOOP_ONCE);
	end_run(b);
}

/* Count the children which are no zygote; send SIG to each, unless 0. */
static int workers(int sig)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	pid_t zygote_pid = spawner_zygote_pid(ctx.spawner, RUNTIME_LUA);
	int n = 0;
	pid_t pid;

	while (f != NULL && fscanf(f, "%d", &pid) == 1) {
		if (pid == zygote_pid)
			continue;
		kill(pid, sig);
		n++;
	}
	if (f != NULL)
		fclose(f);
	return n;
}

TEST(deaths)
{
	struct spawned *b = take_alive(1000);

	warm_was_unfit(ctx.warm, b, "the worker died");
	is_int((int)sum("replaced"), 1, "one that was of no use is counted");
	end_run(b);
	until("waiting", 2);
	while (workers(0) < 2)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	workers(SIGKILL);
	until("replaced", 3);
	is_int((int)sum("replaced"), 3,
	       "workers that die while waiting are replaced");
	until("waiting", 2);
	ok(take_alive(2000) != NULL, "new workers replace dead ones");
	workers(SIGKILL);
	until("waiting", 2);
}

TEST(many_kinds)
{
	for (uint64_t ms = 3000; ms < 9000; ms += 1000)
		(void)take(ms);
	ok(kinds() <= 4, "no more than four kinds are kept");
	until("waiting", (int64_t)kinds());
	ok(take(1000) == NULL, "the one that was used longest ago is not");
}

TEST(renewed)
{
	struct spawned *b;
	int before = reports;

	until("waiting", (int64_t)kinds());
	spawner_renew(ctx.spawner, RUNTIME_LUA);
	while (reports == before)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	until("waiting", (int64_t)kinds());
	b = take_alive(8000);
	ok(b != NULL &&
	       b->zygote == spawner_zygote_pid(ctx.spawner, RUNTIME_LUA),
	   "a fresh zygote's clones wait in place of another's");
	end_run(b);
	warm_give_way(ctx.warm);
	is_int((int)sum("waiting"), 0, "all go where there is no room");
	until("waiting", (int64_t)kinds());
	ctx.passing = true;
	ok(take(8000) == NULL, "a server that ends soon takes none");
	ctx.passing = false;
}

/* A program's shim may report that it waits while a reload releases the worker. */
TEST(late_word)
{
	static char id[] = "t", entry[] = "e";
	struct template t = {.id = id, .version_text = id, .entry = entry};
	struct kept k = {.warm = ctx.warm,
			 .template = &t,
			 .job.kind = RUNTIME_PROGRAM,
			 .used_ms = clock_mono_ms()};
	struct spawned *b = xcalloc(1, sizeof(*b));
	const struct msg word = {.type = MSG_WAITING};
	uint8_t frame[CHAN_FRAME_MAX];
	int ends[2] = {-1, -1};

	ok(chan_pair(ends) == 0, "a program that waits has a socket");
	*b = (struct spawned){.fd = ends[0], .owner = ctx.warm, .kept = &k};
	b->child.pid = fork();
	if (b->child.pid == 0)
		for (;;)
			pause();
	TAILQ_INIT(&k.waiting);
	TAILQ_INSERT_TAIL(&k.waiting, b, link);
	TAILQ_INSERT_TAIL(&ctx.warm->kept, &k, link);
	k.n = 1;
	warm_program_begin(b);
	ok(b->prepared, "a prepared worker is told what to start");
	ok(chan_send(ends[1], frame, msg_put(frame, &word)) == 0,
	   "what it says");
	warm_renew(ctx.warm, RUNTIME_PROGRAM);
	event_base_loop(ctx.base, EVLOOP_NONBLOCK);
	is_int((int)k.n, 0, "when it is let go is not listened to");
	TAILQ_REMOVE(&ctx.warm->kept, &k, link);
	TAILQ_REMOVE(&ctx.warm->ending, b, link);
	waitpid(b->child.pid, NULL, 0);
	b->child.pid = 0;
	if (b->readable != NULL)
		event_free(b->readable);
	close(ends[0]);
	close(ends[1]);
	free(b);
}

/*
 * A template which fails now and then keeps its workers; a successful run ends the
 * series of failures.
 */
TEST(in_a_row)
{
	static char id[] = "t";
	struct template t = {.id = id, .version_text = id};
	struct kept k = {.warm = ctx.warm,
			 .id = 1000000,
			 .template = &t,
			 .job.kind = RUNTIME_PROGRAM,
			 .want = 1};
	struct spawned b = {.kept_id = k.id};

	TAILQ_INIT(&k.waiting);
	TAILQ_INSERT_TAIL(&ctx.warm->kept, &k, link);
	for (int i = 0; i < 4; i++)
		warm_was_unfit(ctx.warm, &b, "the worker died");
	warm_began(ctx.warm, &b);
	is_int(k.pause_ms, 0, "after a run that began there is no pause");
	for (int i = 0; i < 4; i++)
		warm_was_unfit(ctx.warm, &b, "the worker died");
	is_int((int)k.want, 1,
	       "programs that fail four times, run, and fail again are "
	       "started ahead");
	warm_was_unfit(ctx.warm, &b, "the worker died");
	is_int(
	    (int)k.want, 0,
	    "programs that fail five times in a row are started ahead no more");
	TAILQ_REMOVE(&ctx.warm->kept, &k, link);
}

#define STUCK 8

/* The fifth failure in a row is the last: all waiting workers are released. */
TEST(stuck)
{
	static char id[] = "t";
	struct template t = {.id = id, .version_text = id};
	struct kept k = {.warm = ctx.warm,
			 .template = &t,
			 .job.kind = RUNTIME_PROGRAM,
			 .used_ms = clock_mono_ms(),
			 .want = STUCK};
	struct spawned all[STUCK];

	TAILQ_INIT(&k.waiting);
	for (size_t i = 0; i < STUCK; i++) {
		all[i] = (struct spawned){.fd = -1,
					  .owner = ctx.warm,
					  .kept = &k,
					  .began_ms = clock_mono_ms() - 3600000,
					  .settled = i == 1};
		TAILQ_INSERT_TAIL(&k.waiting, &all[i], link);
		k.n++;
	}
	TAILQ_INSERT_TAIL(&ctx.warm->kept, &k, link);
	alarm(60);
	/* the next worker is ordered, so all states occur */
	end_run(take_alive(8000));
	while (k.n > 0)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	alarm(0);
	is_int((int)k.replaced, 5, "programs that never come to wait end");
	is_int((int)k.want, 0,
	       "workers that die again and again are started ahead no more");
	TAILQ_REMOVE(&ctx.warm->kept, &k, link);
	for (size_t i = 0; i < STUCK; i++)
		TAILQ_REMOVE(&ctx.warm->ending, &all[i], link);
}

TEST(let_go)
{
	config.prestart_idle_ms = 1;
	(void)usleep(2000);
	(void)take(8000);
	while (kinds() > 0)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	is_int((int)kinds(), 0, "waiting workers go when no run came for long");
	config.prestart_idle_ms = 3600000;
	(void)take(8000);
	until("waiting", 1);
	warm_stop(ctx.warm);
	is_int((int)kinds(), 0, "waiting workers go when the server stops");
	ok(take(8000) == NULL, "no worker is given after the stop");
}

int main(int argc, char **argv)
{
	static const struct spawner_ops spawner_ops = {on_report, on_broken,
						       NULL};
	struct event *child;

	(void)argc;
	if (strcmp(argv[0], "paddock-worker") == 0)
		return zygote();
	log_set_level(LOG_LEVEL_ERROR);
	ctx.base = event_base_new();
	child = evsignal_new(ctx.base, SIGCHLD, on_child, NULL);
	event_add(child, NULL);
	ctx.spawner =
	    spawner_start(ctx.base, "/proc/self/exe", &spawner_ops, NULL);
	ctx.warm = warm_new(&ctx);
	while (ctx.spawner != NULL && reports == 0)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	tap_run();
	spawner_stop(ctx.spawner);
	warm_free(ctx.warm);
	spawner_free(ctx.spawner);
	event_free(child);
	event_base_free(ctx.base);
	return tap_done();
}

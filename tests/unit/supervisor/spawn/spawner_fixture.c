/* SPDX-License-Identifier: Apache-2.0 */
/* spawner_fixture.c - a spawner, and a zygote which misbehaves. */
#include "tests/unit/supervisor/spawn/spawner_fixture.h"

/* ---- the zygote ---- */

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
struct spawner *spawner;
int reports, broken;
char folder[] = "/tmp/paddock-crew-XXXXXX";

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

void start(const char *name)
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

const char *package_digest = "first";

int ask_with(struct hand *h, enum runtime_kind kind, enum order what,
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

int ask(struct hand *h, enum order what)
{
	return ask_with(h, RUNTIME_LUA, what, 1);
}

void stop(const char *name)
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

void until(const int *n, int want)
{
	while (*n < want)
		event_base_loop(base, EVLOOP_ONCE);
}

int spawner_main(int argc, char **argv, void (*tests)(void))
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
	tests();
	event_free(child);
	event_base_free(base);
	rmdir(folder);
	return tap_done();
}

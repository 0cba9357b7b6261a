/*
 * bench.c - what a run costs, against a bare fork on the same machine.
 *
 *   bench PADDOCKD WORKER TEMPLATES STATE
 *
 * Absolute times drift from machine to machine; the ratios are the point.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "ipc/chan.h"
#include "ipc/crew.h"

#define FLOOR_RUNS 4000
#define CAGE_RUNS 3000
#define WARM_RUNS 300
#define WINDOW_MAX 64
#define STARTS 20
#define DEATHS 50

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* CPU time of children that were reaped, and of this process. */
static int64_t cpu_us(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static int64_t all_cpu_us(void)
{
	return cpu_us(RUSAGE_SELF) + cpu_us(RUSAGE_CHILDREN);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- the floor: fork, a round trip, exit, wait ---- */

static void floor_once(void)
{
	int ends[2];
	char c = 'x';
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		die("socketpair");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		if (read(ends[1], &c, 1) != 1 || write(ends[1], &c, 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	if (write(ends[0], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
		die("round trip");
	close(ends[0]);
	waitpid(pid, NULL, 0);
}

static double floor_here(void)
{
	int64_t cpu;

	for (int i = 0; i < WARM_RUNS; i++)
		floor_once();
	cpu = all_cpu_us();
	for (int i = 0; i < FLOOR_RUNS; i++)
		floor_once();
	return (double)(all_cpu_us() - cpu) / FLOOR_RUNS;
}

/* In a process of its own: what a parent holds makes its forks dearer. */
static double measure_floor(void)
{
	double us = 0;
	FILE *f = popen("exec /proc/$PPID/exe floor", "re");

	if (f == NULL || fscanf(f, "%lf", &us) != 1)
		die("floor");
	pclose(f);
	return us;
}

/* ---- a client ---- */

struct client {
	pid_t pid;
	int in, out;
	char *buf;
	size_t len, cap;
};

static void client_start(struct client *c, char *const argv[])
{
	int to[2], from[2];

	*c = (struct client){.cap = 1 << 20};
	c->buf = xcalloc(1, c->cap);
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		die("pipe");
	c->pid = fork();
	if (c->pid < 0)
		die("fork");
	if (c->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execv(argv[0], argv);
		die(argv[0]);
	}
	close(to[0]);
	close(from[1]);
	c->in = to[1];
	c->out = from[0];
}

static void client_send(struct client *c, const char *line, size_t len)
{
	while (len > 0) {
		ssize_t n = write(c->in, line, len);

		if (n < 0)
			die("write");
		line += n;
		len -= (size_t)n;
	}
}

/* The next line, NUL-ended; good until the next call. */
static char *client_line(struct client *c)
{
	static size_t used;
	char *end;

	memmove(c->buf, c->buf + used, c->len - used);
	c->len -= used;
	while ((end = memchr(c->buf, '\n', c->len)) == NULL) {
		ssize_t n = read(c->out, c->buf + c->len, c->cap - c->len);

		if (n <= 0)
			die("the server ended");
		c->len += (size_t)n;
	}
	*end = '\0';
	used = (size_t)(end - c->buf) + 1;
	if (used == c->len)
		used = c->len = 0;
	return c->buf;
}

static void client_stop(struct client *c)
{
	close(c->in);
	close(c->out);
	waitpid(c->pid, NULL, 0);
	free(c->buf);
}

static const char hello[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
    "\"name\":\"bench\",\"version\":\"1\"}}}\n";

static void client_hello(struct client *c)
{
	client_send(c, hello, sizeof(hello) - 1);
	client_line(c);
}

/* ---- calls ---- */

static int64_t sent_ns[1 << 20];
static int64_t took_ns[1 << 20];

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void call(struct client *c, int id)
{
	char line[256];
	int n = snprintf(line, sizeof(line),
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
			 "\"params\":{\"name\":\"word_count\",\"arguments\":{"
			 "\"text\":\"the quick brown fox jumps over the lazy "
			 "dog\"}}}\n",
			 id);

	sent_ns[id] = now_ns();
	client_send(c, line, (size_t)n);
}

/* N calls, WINDOW of them under way at a time; how long they took. */
static double calls(struct client *c, int n, int window)
{
	int64_t start = now_ns();
	int sent = 0;

	while (sent < window)
		call(c, ++sent);
	for (int got = 0; got < n; got++) {
		char *line = client_line(c);
		const char *id = strstr(line, "\"id\":");

		if (strstr(line, "isError") != NULL || id == NULL) {
			fprintf(stderr, "bench: %.400s\n", line);
			exit(1);
		}
		took_ns[got] = now_ns() - sent_ns[atoi(id + 5)];
		if (sent < n)
			call(c, ++sent);
	}
	return (double)(now_ns() - start) / 1e9;
}

/* ---- where CPU time goes ---- */

static int64_t clock_of(pid_t pid)
{
	struct timespec ts = {0};
	clockid_t id;

	if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &ts) != 0)
		return 0;
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* The time that thread TID of PID has run, from its schedstat (proc(5)). */
static int64_t thread_us(pid_t pid, const char *tid)
{
	char path[64];
	long long ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, tid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%lld", &ns) != 1)
		ns = 0;
	fclose(f);
	return ns / 1000;
}

static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
		 (int)pid);
	f = fopen(path, "re");
	if (f == NULL || fscanf(f, "%d", &child) != 1)
		child = 0;
	if (f != NULL)
		fclose(f);
	return child;
}

/* What PID has reaped, in us: cutime and cstime of /proc/PID/stat. */
static int64_t reaped_us(pid_t pid)
{
	char path[64], text[1024];
	long long cutime = 0, cstime = 0;
	const char *p;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	p = strrchr(text, ')');
	if (p == NULL || sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
				   "%*u %*u %*u %lld %lld",
				&cutime, &cstime) != 2)
		return 0;
	return (cutime + cstime) * 1000000 / sysconf(_SC_CLK_TCK);
}

static long rss_kb(pid_t pid)
{
	char path[64], line[128];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "Pss: %ld", &kb) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return kb;
}

struct spent {
	int64_t all, main, zygote, workers;
};

static struct spent spent_by(const struct client *c, pid_t zygote)
{
	char tid[16];

	snprintf(tid, sizeof(tid), "%d", (int)c->pid);
	return (struct spent){.all = clock_of(c->pid),
			      .main = thread_us(c->pid, tid),
			      .zygote = clock_of(zygote),
			      .workers = reaped_us(c->pid)};
}

/*
 * ---- the cage alone: a zygote, driven as the supervisor drives it; what a
 * worker costs until READY, and its end ----
 */

static void order(int control, uint32_t seq, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} anc = {0};
	struct crew_order o = {.type = CREW_SPAWN,
			       .seq = seq,
			       .slot = seq % CREW_SLOTS,
			       .cpu_ms = 1000,
			       .memory_bytes = 64 << 20};
	struct iovec iov = {&o, sizeof(o)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = anc.space,
			   .msg_controllen = sizeof(anc.space)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	if (sendmsg(control, &m, 0) < 0)
		die("sendmsg");
}

/* Born, caged, READY; then its socket closes and it goes. */
static void cage_once(int control, uint32_t seq)
{
	static uint8_t frame[CHAN_FRAME_MAX];
	struct crew_note note;
	struct pollfd p = {.events = POLLIN};
	int ends[2], status;

	if (chan_pair(ends) < 0)
		die("chan_pair");
	order(control, seq, ends[1]);
	close(ends[1]);
	if (recv(control, &note, sizeof(note), 0) != sizeof(note) ||
	    note.type != CREW_SPAWNED || note.pid <= 0)
		die("spawn");
	p.fd = ends[0];
	if (poll(&p, 1, 5000) != 1 || chan_recv(ends[0], frame) <= 0)
		die("READY");
	close(ends[0]);
	waitpid(note.pid, &status, 0);
}

static double measure_cage(const char *worker)
{
	char *argv[] = {(char *)worker, NULL}, *envp[] = {NULL};
	struct crew_note note;
	int control[2];
	int64_t cpu;
	double each;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		die("socketpair");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		dup2(control[1], CREW_CONTROL_FD);
		if (control[1] == CREW_CONTROL_FD)
			fcntl(CREW_CONTROL_FD, F_SETFD, 0);
		execve(worker, argv, envp);
		_exit(127);
	}
	close(control[1]);
	if (recv(control[0], &note, sizeof(note), 0) != sizeof(note) ||
	    note.type != CREW_REPORT)
		die("no report");
	for (uint32_t i = 0; i < WARM_RUNS; i++)
		cage_once(control[0], i);
	cpu = cpu_us(RUSAGE_CHILDREN); /* workers are our children */
	for (uint32_t i = 0; i < CAGE_RUNS; i++)
		cage_once(control[0], i);
	each = (double)(cpu_us(RUSAGE_CHILDREN) - cpu) / CAGE_RUNS;
	close(control[0]);
	while (wait(NULL) > 0)
		;
	return each;
}

/* ---- the report ---- */

/* The floor is measured on both sides of each round: the machine drifts. */
static void bench_calls(struct client *c, double cage_us)
{
	static const struct {
		int n, window;
	} rounds[] = {{2000, 1}, {5000, 8}, {10000, 64}};
	pid_t zygote = child_of(c->pid);

	calls(c, WARM_RUNS, 8);
	printf("\n%-9s %7s %7s %7s %7s %7s %7s   CPU us per run by stage\n",
	       "in flight", "runs/s", "p50 us", "p99 us", "CPU us", "floor",
	       "/floor");
	for (size_t i = 0; i < ARRAY_LEN(rounds); i++) {
		int n = rounds[i].n;
		double floor_us = measure_floor();
		struct spent a = spent_by(c, zygote), b;
		double secs = calls(c, n, rounds[i].window);
		double each;

		b = spent_by(c, zygote);
		floor_us = (floor_us + measure_floor()) / 2;
		qsort(took_ns, (size_t)n, sizeof(took_ns[0]), by_time);
		each = (double)(b.all - a.all + b.zygote - a.zygote + b.workers -
				a.workers) / n;
		printf("%-9d %7.0f %7.0f %7.0f %7.0f %7.0f %7.2f   protocol %.0f, "
		       "store %.0f, spawn %.0f, cage %.0f, template %.0f\n",
		       rounds[i].window, n / secs, (double)took_ns[n / 2] / 1e3,
		       (double)took_ns[(size_t)n * 99 / 100] / 1e3, each,
		       floor_us, each / floor_us, (double)(b.main - a.main) / n,
		       (double)(b.all - a.all - (b.main - a.main)) / n,
		       (double)(b.zygote - a.zygote) / n, cage_us,
		       (double)(b.workers - a.workers) / n - cage_us);
	}
	puts("(floor: fork, a round trip over a socketpair, exit, wait, in us of "
	     "CPU)");
	puts("(cage: a worker that is born, caged, READY and gone, measured "
	     "apart; template: the rest of a worker's time)");
}

static void bench_memory(struct client *c)
{
	pid_t zygote = child_of(c->pid);
	long before, after;

	calls(c, 2000, 8);
	before = rss_kb(c->pid);
	calls(c, 10000, 8);
	after = rss_kb(c->pid);
	printf("\nmemory (PSS): supervisor %ld KB, zygote %ld KB; the supervisor "
	       "grew by %ld KB over 10000 runs\n",
	       after, rss_kb(zygote), after - before);
}

/* A child of PID but the one NOT; 0: none yet. */
static pid_t other_child(pid_t pid, pid_t not)
{
	char path[64];
	int child, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
		 (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fscanf(f, "%d", &child) == 1)
		if (child != not)
			found = child;
	if (f != NULL)
		fclose(f);
	return found;
}

/* A worker is killed from outside: how long until its call is answered? */
static void bench_death(struct client *c)
{
	static const char idle[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
	    "{\"name\":\"idle\",\"arguments\":{},\"_meta\":{\"progressToken\":"
	    "1}}}\n";
	int64_t took[DEATHS];

	for (int i = 0; i < DEATHS; i++) {
		pid_t worker, zygote = child_of(c->pid);
		int64_t start;

		client_send(c, idle, sizeof(idle) - 1);
		client_line(c); /* its progress: it runs */
		worker = other_child(c->pid, zygote);
		start = now_ns();
		kill(worker, SIGKILL);
		if (strstr(client_line(c), "WORKER_CRASHED") == NULL) {
			fputs("bench: a dead worker was not told\n", stderr);
			exit(1);
		}
		took[i] = now_ns() - start;
		/* each crash brings a new zygote: let it be the only one */
		while (other_child(c->pid, child_of(c->pid)) != 0)
			usleep(1000);
	}
	qsort(took, DEATHS, sizeof(took[0]), by_time);
	printf("a worker's death to the answer: median %.1f ms, worst %.1f ms "
	       "(of %d)\n",
	       (double)took[DEATHS / 2] / 1e6, (double)took[DEATHS - 1] / 1e6,
	       DEATHS);
}

static void bench_start(char *const argv[])
{
	int64_t took[STARTS];
	long idle = 0;

	for (int i = 0; i < STARTS; i++) {
		struct client c;
		int64_t start = now_ns();

		client_start(&c, argv);
		client_hello(&c);
		took[i] = now_ns() - start;
		if (i == STARTS - 1)
			idle = rss_kb(c.pid) + rss_kb(child_of(c.pid));
		client_stop(&c);
	}
	qsort(took, STARTS, sizeof(took[0]), by_time);
	printf("start to the first initialize answer: %.1f ms (median of %d); "
	       "idle memory of all processes %ld KB\n",
	       (double)took[STARTS / 2] / 1e6, STARTS, idle);
}

int main(int argc, char **argv)
{
	char *server[] = {NULL,	      (char *)"--stdio", (char *)"--log-level",
			  (char *)"error", (char *)"--templates", NULL,
			  (char *)"--state-dir", NULL, (char *)"--config",
			  NULL, NULL};
	struct client c;
	double cage_us;

	if (argc == 2 && strcmp(argv[1], "floor") == 0) {
		printf("%f\n", floor_here());
		return 0;
	}
	if (argc != 6) {
		fputs("usage: bench PADDOCKD WORKER TEMPLATES STATE CONFIG\n",
		      stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	server[0] = argv[1];
	server[5] = argv[3];
	server[7] = argv[4];
	server[9] = argv[5];
	cage_us = measure_cage(argv[2]);
	bench_start(server);
	client_start(&c, server);
	client_hello(&c);
	bench_calls(&c, cage_us);
	bench_memory(&c);
	bench_death(&c);
	client_stop(&c);
	return 0;
}

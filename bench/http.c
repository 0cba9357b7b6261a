/*
 * http.c - calls over HTTP: paddock, each run in a cage of its own, beside the
 * official SDK's server, which calls a function in its own process.
 *
 *   http PADDOCK SDK-JSON SDK-SSE PADDOCK-PID SDK-PID
 *
 * The first three are each 127.0.0.1:PORT/PATH. All are driven in turn, by the
 * same client, over kept connections; the ratios are the point.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/http_client.h"
#include "bench/measure.h"

#define ROUNDS 3
#define ROUND_NS 800000000 /* no call begins later */
#define WARM_NS 200000000
#define CALLS_MAX (1 << 20)
#define BODY_MAX 512

#define WORDS                                                                  \
	"\"name\":\"word_count\",\"arguments\":{\"text\":\"the quick brown "   \
	"fox jumps over the lazy dog\"}"

struct kind {
	const char *name;
	bool tasks; /* a call is two requests: a task, and its result */
	int at;	    /* which argument has the endpoint */
	int pid;    /* and which its server */
};

static const struct kind kinds[] = {
    {"paddock, caged runs", false, 1, 4},
    {"paddock, tasks", true, 1, 4},
    {"SDK, JSON answers", false, 2, 5},
    {"SDK, event streams", false, 3, 5},
};

#define KINDS ARRAY_LEN(kinds)
#define SDK_JSON 2 /* in kinds: what the others are held against */

/* What has been measured of one kind, at one number in flight. */
struct figures {
	int64_t *took_ns;
	size_t n;
	double secs;
	int64_t cpu_us;
};

static int last_id;

static void ask(struct http *h, int i, bool task)
{
	char body[BODY_MAX];
	int n =
	    snprintf(body, sizeof(body),
		     "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
		     "\"params\":{" WORDS "%s}}",
		     ++last_id, task ? ",\"task\":{\"ttl\":60000}" : "");

	http_post(h, i, body, (size_t)n);
}

static void ask_result(struct http *h, int i, const char *created)
{
	char body[BODY_MAX], id[128];
	const char *p = strstr(created, "\"taskId\":\"");
	int n;

	if (p == NULL || sscanf(p + 10, "%127[^\"]", id) != 1) {
		fprintf(stderr, "bench: no task: %.400s\n", created);
		exit(1);
	}
	n = snprintf(
	    body, sizeof(body),
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tasks/result\","
	    "\"params\":{\"taskId\":\"%s\"}}",
	    ++last_id, id);
	http_post(h, i, body, (size_t)n);
}

static void check(const char *body)
{
	if (strstr(body, "\"words\":9") != NULL &&
	    strstr(body, "isError") == NULL)
		return;
	fprintf(stderr, "bench: %.400s\n", body);
	exit(1);
}

/* Calls of kind K for NS, WINDOW of them under way, into F (NULL: a warm-up).
 */
static void drive(struct http *h, const struct kind *k, int window, int64_t ns,
		  struct figures *f)
{
	int64_t start = now_ns(), began[HTTP_CONNS_MAX];
	bool has_task[HTTP_CONNS_MAX] = {false};
	int under_way = window;

	for (int i = 0; i < window; i++) {
		began[i] = now_ns();
		ask(h, i, k->tasks);
	}
	while (under_way > 0) {
		const char *body;
		int i = http_next(h, &body);

		if (k->tasks && !has_task[i]) {
			has_task[i] = true;
			ask_result(h, i, body);
			continue;
		}
		check(body);
		has_task[i] = false;
		if (f != NULL && f->n < CALLS_MAX)
			f->took_ns[f->n++] = now_ns() - began[i];
		if (now_ns() - start < ns) {
			began[i] = now_ns();
			ask(h, i, k->tasks);
		} else {
			under_way--;
		}
	}
	if (f != NULL)
		f->secs += (double)(now_ns() - start) / 1e9;
}

static double rate(const struct figures *f)
{
	return (double)f->n / f->secs;
}

static void report(int window, struct figures f[KINDS])
{
	double against = rate(&f[SDK_JSON]);

	for (size_t k = 0; k < KINDS; k++)
		printf("%-9d %-20s %8.0f %8.0f %8.0f %8.0f %10.2f\n", window,
		       kinds[k].name, rate(&f[k]),
		       (double)quantile(f[k].took_ns, f[k].n, 0.5) / 1e3,
		       (double)quantile(f[k].took_ns, f[k].n, 0.99) / 1e3,
		       (double)f[k].cpu_us / (double)f[k].n,
		       rate(&f[k]) / against);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const int windows[] = {1, 8, HTTP_CONNS_MAX};
	static struct figures f[KINDS];
	struct http *all[KINDS];

	if (argc != 6) {
		fputs("usage: http PADDOCK SDK-JSON SDK-SSE PADDOCK-PID "
		      "SDK-PID\n",
		      stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	for (size_t k = 0; k < KINDS; k++) {
		all[k] = http_open(argv[kinds[k].at], HTTP_CONNS_MAX);
		f[k].took_ns = xcalloc(CALLS_MAX, sizeof(int64_t));
		drive(all[k], &kinds[k], 8, WARM_NS, NULL);
	}
	printf("%-9s %-20s %8s %8s %8s %8s %10s\n", "in flight", "over HTTP",
	       "calls/s", "p50 us", "p99 us", "CPU us", "/ SDK JSON");
	for (size_t w = 0; w < ARRAY_LEN(windows); w++) {
		for (size_t k = 0; k < KINDS; k++) {
			f[k].n = 0;
			f[k].secs = 0;
			f[k].cpu_us = 0;
		}
		for (size_t i = 0; i < ROUNDS * KINDS; i++) {
			const struct kind *k = &kinds[i % KINDS];
			pid_t pid = atoi(argv[k->pid]);

			f[i % KINDS].cpu_us -= server_cpu_us(pid);
			drive(all[i % KINDS], k, windows[w], ROUND_NS,
			      &f[i % KINDS]);
			f[i % KINDS].cpu_us += server_cpu_us(pid);
		}
		report(windows[w], f);
	}
	puts("(CPU: of all processes of the server, a call; a task is two "
	     "requests: the call that makes it, and tasks/result)");
	for (size_t k = 0; k < KINDS; k++) {
		http_close(all[k]);
		free(f[k].took_ns);
	}
	return 0;
}

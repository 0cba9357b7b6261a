/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/own_work.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"

struct program {
	pid_t pid;
	int in, out; /* ours: what it reads, and what it writes */
};

static struct program start(const char *path)
{
	struct program p;
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		die("pipe");
	p = (struct program){.pid = fork(), .in = to[1], .out = from[0]};
	if (p.pid < 0)
		die("fork");
	if (p.pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl(path, path, (char *)NULL);
		die(path);
	}
	close(to[0]);
	close(from[1]);
	return p;
}

static void feed(const struct program *p, int64_t *result_ns, int64_t *end_ns)
{
	int64_t began = now_ns();
	char text[64];
	ssize_t n;
	int status;

	if (write(p->in, "{}", 2) != 2)
		die("write");
	close(p->in);
	n = read(p->out, text, sizeof(text));
	*result_ns = now_ns() - began;
	waitpid(p->pid, &status, 0);
	*end_ns = now_ns() - began;
	close(p->out);
	if (n <= 0 || status != 0) {
		fputs("bench: a program gave no result\n", stderr);
		_exit(1);
	}
}

void own_work_measure(struct own_work *w, const char *program, size_t times,
		      unsigned pause_us)
{
	for (; times > 0 && w->n < OWN_WORK_MAX; times--, w->n++) {
		struct program p = start(program);

		usleep(pause_us);
		feed(&p, &w->result_ns[w->n], &w->end_ns[w->n]);
	}
}

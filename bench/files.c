/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - a large file there and back by the command, through a daemon's socket,
 * beside cp on the same disk; each copy until the disk has the bytes. The three ways go in turn.
 *
 *   files PADDOCKD PADDOCK TEMPLATES DIR CONFIG [MB]
 *
 * MB is 256. The disk of DIR needs room for five copies; without the room the
 * program prints a message and measures nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/measure.h"
#include "bench/target.h"

#define ROUNDS 7
#define COPIES 5
#define SERVER_WAIT_US 20000
#define SERVER_WAITS 500
#define FLAT_MIB 32 /* of any process, for every size of file */

/* Paths below the given folder. */
struct files {
	char *source, *copy, *back, *state, *socket;
	char *paddock;
	pid_t server;
	char id[64]; /* the uploaded artifact */
	long most_kb;
};

/* ---- processes ---- */

static pid_t launch(char *const argv[], int out)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		execvp(argv[0], argv);
		die(argv[0]);
	}
	return pid;
}

/* Run ARGV until the end; the first output goes to TEXT, NUL-ended. Return the peak in KB. */
static long run(char *const argv[], char *text, size_t size)
{
	struct rusage use;
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		die("pipe");
	pid = launch(argv, ends[1]);
	close(ends[1]);
	n = read(ends[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	if (wait4(pid, &status, 0, &use) != pid || status != 0) {
		fprintf(stderr, "bench: %s failed\n", argv[0]);
		exit(1);
	}
	close(ends[0]);
	return use.ru_maxrss;
}

static void sync_file(char *path)
{
	char *argv[] = {(char *)"sync", path, NULL};
	char none[2];

	run(argv, none, sizeof(none));
}

static long peak_kb(pid_t pid)
{
	char path[64], line[128];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return kb;
}

static void note_peak(struct files *f, long kb)
{
	f->most_kb = kb > f->most_kb ? kb : f->most_kb;
}

/* ---- measures ---- */

static void by_cp(struct files *f)
{
	char *argv[] = {(char *)"cp", f->source, f->copy, NULL};
	char none[2];

	run(argv, none, sizeof(none));
	sync_file(f->copy);
}

static void by_put(struct files *f)
{
	char *argv[] = {f->paddock, (char *)"artifact", (char *)"put",
			f->source,  (char *)"--socket", f->socket,
			NULL};
	char text[256];

	note_peak(f, run(argv, text, sizeof(text)));
	snprintf(f->id, sizeof(f->id), "%.*s", (int)strcspn(text, " \n"), text);
}

static void by_get(struct files *f)
{
	char *argv[] = {
	    f->paddock, (char *)"artifact", (char *)"get", f->id, (char *)"-o",
	    f->back,	(char *)"--socket", f->socket,	   NULL};
	char none[64];

	note_peak(f, run(argv, none, sizeof(none)));
	sync_file(f->back);
}

static const struct way {
	const char *name;
	void (*go)(struct files *f);
} ways[] = {{"cp", by_cp}, {"artifact put", by_put}, {"artifact get", by_get}};

/* For the next round. */
static void forget(struct files *f)
{
	char *argv[] = {
	    f->paddock,		(char *)"artifact", (char *)"rm",      f->id,
	    (char *)"--socket", f->socket,	    (char *)"--quiet", NULL};
	char none[64];

	run(argv, none, sizeof(none));
	unlink(f->copy);
	unlink(f->back);
}

static void measure(struct files *f, long mb)
{
	int64_t took[ARRAY_LEN(ways)][ROUNDS];
	double cp = 0;

	for (size_t i = 0; i < ROUNDS; i++) {
		for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
			int64_t start = now_ns();

			ways[k].go(f);
			took[k][i] = now_ns() - start;
		}
		forget(f);
	}
	printf("\na file of %ld MiB, until the disk has it (median of %d)\n",
	       mb, ROUNDS);
	for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
		double rate =
		    (double)mb / ((double)quantile(took[k], ROUNDS, 0.5) / 1e9);

		cp = k == 0 ? rate : cp;
		printf("%-14s %7.0f MiB/s %6.2f of cp\n", ways[k].name, rate,
		       rate / cp);
		if (k > 0)
			target(rate / cp, AT_LEAST, 1.0 / 3,
			       "of the rate of cp: paddock %s, %ld MiB",
			       ways[k].name, mb);
	}
	note_peak(f, peak_kb(f->server));
	printf("most memory of a process: %ld KB\n", f->most_kb);
	target((double)f->most_kb / 1024, AT_MOST, FLAT_MIB,
	       "MiB: most memory of a process while files of %ld MiB pass", mb);
}

/* ---- before and after ---- */

static void make_source(const char *path, long mb)
{
	static char block[1 << 20];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	for (size_t at = 0; at < sizeof(block); at += 256)
		if (getrandom(block + at, 256, 0) != 256)
			die("getrandom");
	for (long i = 0; i < mb; i++) {
		memcpy(block, &i, sizeof(i));
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die(path);
	}
	if (fd < 0 || fsync(fd) != 0)
		die(path);
	close(fd);
}

static bool has_room(const char *dir, long mb)
{
	struct statvfs st;

	if (statvfs(dir, &st) != 0)
		die(dir);
	return st.f_bavail * st.f_frsize >= ((uint64_t)mb << 20) * COPIES;
}

static void start(struct files *f, char *paddockd, char *templates,
		  char *config)
{
	char *argv[] = {paddockd,	 (char *)"--socket",
			f->socket,	 (char *)"--state-dir",
			f->state,	 (char *)"--templates",
			templates,	 (char *)"--config",
			config,		 (char *)"--log-level",
			(char *)"error", NULL};

	f->server = launch(argv, -1);
	for (int i = 0; access(f->socket, F_OK) != 0; i++) {
		if (i == SERVER_WAITS) {
			errno = ETIMEDOUT;
			die(f->socket);
		}
		usleep(SERVER_WAIT_US);
	}
}

int main(int argc, char **argv)
{
	long mb = argc > 6 ? strtol(argv[6], NULL, 10) : 256;
	struct files f = {0};

	if (argc < 6 || mb <= 0) {
		fputs("usage: files PADDOCKD PADDOCK TEMPLATES DIR CONFIG "
		      "[MB]\n",
		      stderr);
		return 2;
	}
	if (!has_room(argv[4], mb)) {
		printf("\nfiles of %ld MiB: not measured, %s has no room\n", mb,
		       argv[4]);
		return 0;
	}
	f.paddock = argv[2];
	f.source = xasprintf("%s/file", argv[4]);
	f.copy = xasprintf("%s/file.copy", argv[4]);
	f.back = xasprintf("%s/file.back", argv[4]);
	f.state = xasprintf("%s/files.state", argv[4]);
	f.socket = xasprintf("%s/files.sock", argv[4]);
	make_source(f.source, mb);
	start(&f, argv[1], argv[3], argv[5]);
	measure(&f, mb);
	kill(f.server, SIGTERM);
	waitpid(f.server, NULL, 0);
	unlink(f.source);
	free(f.source);
	free(f.copy);
	free(f.back);
	free(f.state);
	free(f.socket);
	return 0;
}

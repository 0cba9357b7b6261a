/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_sdnotify.c - the sockets passed by a service manager, and the messages to the
 * service manager.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/start/sdnotify.h"
#include "tests/unit/tap.h"

#define SELF "self" /* stands for the pid of the asking process */
#define OTHER "1"

/* The variables are read once in a process, so each case runs in a child. */
static int64_t *shared;

static int64_t in_child(int64_t (*ask)(const void *arg), const void *arg)
{
	pid_t pid;

	*shared = INT64_MIN;
	pid = fork();
	if (pid == 0) {
		*shared = ask(arg);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return *shared;
}

static void set(const char *name, const char *value)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (value != NULL)
		setenv(name, strcmp(value, SELF) == 0 ? pid : value, 1);
	else
		unsetenv(name);
}

/* ---- watchdog ---- */

static const struct pair {
	const char *value, *pid;
	int64_t want;
	const char *name;
} watchdogs[] = {
    {NULL, NULL, 0, "no watchdog"},
    {"30000000", NULL, 15000, "half of the time that it gives"},
    {"30000000", SELF, 15000, "meant for us"},
    {"30000000", OTHER, 0, "meant for another process"},
    {"", NULL, 0, "empty"},
    {"0", NULL, 0, "zero"},
    {"-5", NULL, 0, "negative"},
    {"30s", NULL, 0, "not a number"},
    {"99999999999999999999", NULL, INT64_MAX / 2000, "a huge one is cut"},
};

static int64_t ask_watchdog(const void *arg)
{
	const struct pair *p = arg;

	set("WATCHDOG_USEC", p->value);
	set("WATCHDOG_PID", p->pid);
	return sdnotify_watchdog_ms();
}

/* ---- sockets ---- */

static const struct pair sockets[] = {
    {NULL, NULL, 0, "no socket"},
    {"1", SELF, 1, "one"},
    {"2", SELF, 2, "two"},
    {"1", NULL, 0, "meant for nobody in particular: not ours"},
    {"1", OTHER, 0, "meant for another process"},
    {"x", SELF, 0, "not a number"},
    {"-1", SELF, 0, "negative"},
    {"4294967297", SELF, 1024, "more than there can be are cut"},
};

static int64_t ask_sockets(const void *arg)
{
	const struct pair *p = arg;

	set("LISTEN_FDS", p->value);
	set("LISTEN_PID", p->pid);
	return sdnotify_listen_fds();
}

static int64_t ask_cloexec(const void *arg)
{
	int keep = fcntl(0, F_DUPFD, 10);

	(void)arg;
	if (dup2(keep, 3) != 3 || dup2(keep, 4) != 4)
		return -1;
	set("LISTEN_FDS", "1");
	set("LISTEN_PID", SELF);
	return sdnotify_listen_fds() + 10 * fcntl(3, F_GETFD) +
	       100 * fcntl(4, F_GETFD);
}

static int64_t ask_twice(const void *arg)
{
	int first;

	set("LISTEN_FDS", "1");
	set("LISTEN_PID", SELF);
	first = sdnotify_listen_fds();
	return (arg == NULL) + 10 * first + 100 * sdnotify_listen_fds();
}

static int64_t ask_left(const void *arg)
{
	static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC",
					    "WATCHDOG_PID",  "LISTEN_FDS",
					    "LISTEN_PID",    "LISTEN_FDNAMES"};
	int64_t left = 0;

	(void)arg;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		set(names[i], "1");
	(void)sdnotify_watchdog_ms();
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		left += getenv(names[i]) != NULL;
	return left;
}

/* ---- datagrams ---- */

static int64_t ask_send(const void *arg)
{
	set("NOTIFY_SOCKET", arg);
	return sdnotify_send("READY=1\nSTATUS=serving");
}

/* A manager at NAME (@ first: abstract), or -1. */
static int manager(const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(at.sun_path, name, strlen(name));
	if (name[0] == '@')
		at.sun_path[0] = '\0';
	if (bind(fd, (struct sockaddr *)&at,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
			     strlen(name))) == 0)
		return fd;
	close(fd);
	return -1;
}

static void check_send(const char *name, const char *what)
{
	char got[64] = "";
	int fd = manager(name);

	is_int(in_child(ask_send, name), 0, "%s: it is sent", what);
	ok(recv(fd, got, sizeof(got) - 1, 0) > 0, "%s: one datagram", what);
	is_str(got, "READY=1\nSTATUS=serving", "%s: the text, whole", what);
	ok(recv(fd, got, sizeof(got), 0) < 0, "%s: and no more", what);
	close(fd);
}

static void check_sends(void)
{
	char dir[] = "/tmp/paddock-t-notify-XXXXXX";
	char path[80], abstract[80], longest[256];

	if (!ok(mkdtemp(dir) != NULL, "a folder of our own"))
		return;
	snprintf(path, sizeof(path), "%s/manager", dir);
	snprintf(abstract, sizeof(abstract), "@paddock-t-notify-%d",
		 (int)getpid());
	is_int(in_child(ask_send, NULL), 0,
	       "without a manager nothing is sent");
	is_int(in_child(ask_send, path), -ENOENT,
	       "a missing manager is an error");
	check_send(path, "a path");
	is_int(in_child(ask_send, path), -ECONNREFUSED,
	       "a manager which no longer listens is an error");
	check_send(abstract, "an abstract name");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	is_int(in_child(ask_send, longest), 0,
	       "a name that is too long counts as none");
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(watchdogs); i++)
		is_int(in_child(ask_watchdog, &watchdogs[i]), watchdogs[i].want,
		       "watchdog: %s", watchdogs[i].name);
	for (size_t i = 0; i < ARRAY_LEN(sockets); i++)
		is_int(in_child(ask_sockets, &sockets[i]), sockets[i].want,
		       "sockets: %s", sockets[i].name);
	is_int(
	    in_child(ask_cloexec, NULL), 1 + 10 * FD_CLOEXEC,
	    "a passed socket becomes close-on-exec, another descriptor does not");
	is_int(in_child(ask_twice, NULL), 1 + 10 + 100,
	       "sockets are told to all who ask");
	is_int(in_child(ask_left, NULL), 0,
	       "no variable is left for those whom we start");
	check_sends();
	munmap(shared, sizeof(*shared));
	return tap_done();
}

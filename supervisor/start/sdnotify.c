/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sdnotify.c - speaks sd_notify(3)'s protocol by hand: readiness, status,
 * watchdog, passed sockets. daemon.c and the start's checks call it. Without a
 * service manager nothing happens; a datagram that cannot be sent is -errno,
 * and the server goes on.
 */
#include "supervisor/start/sdnotify.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3
#define FDS_MAX 1024
#define SEND_S 2 /* how long to wait for a busy manager */

/*
 * The manager's variables, read once and removed: no worker, nor a second
 * start, may see them.
 */
static struct {
	int read;
	char socket[108]; /* as large as in struct sockaddr_un */
	int64_t watchdog_us;
	int fds;
} from_manager;

static int64_t env_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long long n;

	if (text == NULL || *text == '\0')
		return 0;
	n = strtoll(text, &end, 10);
	return *end == '\0' && n > 0 ? n : 0;
}

static void read_variables(void)
{
	static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC",
					    "WATCHDOG_PID",  "LISTEN_FDS",
					    "LISTEN_PID",    "LISTEN_FDNAMES"};
	const char *socket = getenv("NOTIFY_SOCKET");
	int64_t fds, watched;

	if (from_manager.read)
		return;
	from_manager.read = 1;
	if (socket != NULL && strlen(socket) < sizeof(from_manager.socket))
		memcpy(from_manager.socket, socket, strlen(socket));
	watched = env_number("WATCHDOG_PID"); /* 0: any process */
	if (watched == 0 || watched == getpid())
		from_manager.watchdog_us = env_number("WATCHDOG_USEC");
	fds = env_number("LISTEN_FDS");
	if (env_number("LISTEN_PID") == getpid())
		from_manager.fds = (int)(fds < FDS_MAX ? fds : FDS_MAX);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

int sdnotify_send(const char *state)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len;
	ssize_t n;
	int fd;

	read_variables();
	len = strlen(from_manager.socket);
	if (len == 0)
		return 0;
	memcpy(to.sun_path, from_manager.socket, len);
	if (to.sun_path[0] == '@') /* an abstract address; unix(7) */
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, CLOCK_TIMEVAL(SEND_S * 1000),
		   sizeof(struct timeval));
	n = sendto(fd, state, strlen(state), MSG_NOSIGNAL,
		   (struct sockaddr *)&to,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

int64_t sdnotify_watchdog_ms(void)
{
	read_variables();
	return from_manager.watchdog_us / 2000;
}

int sdnotify_listen_fds(void)
{
	read_variables();
	for (int fd = FIRST_FD; fd < FIRST_FD + from_manager.fds; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return from_manager.fds;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * least.c - the least server with a process and a row for each call: for a call
 * over HTTP a process, forked ahead, counts the words; the answer waits until the
 * process is gone and a row is on the disk. No cage, no protocol, no parser, no
 * limits. bench/run starts the server, http.c compares the other servers.
 *
 *   least FILE    prints 127.0.0.1:PORT/mcp; the rows go to FILE
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUEST_MAX 4096
#define ROW_BYTES 4096 /* a page of SQLite's journal */
#define ROWS 256
#define CONNS_MAX 256 /* connections in the backlog */
#define EVENTS_MAX 64
#define FDS_MAX 1024

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

struct call {
	pid_t pid;
	int fd; /* our end */
	int conn;
	unsigned long id;
	uint8_t words;
	bool is_synced, is_gone;
	STAILQ_ENTRY(call) link;
};
STAILQ_HEAD(calls, call);

/* ---- watched descriptors ---- */

enum kind { LISTENER, SYNCED, CONN, PROCESS };

static struct {
	enum kind kind;
	struct call *call; /* of a PROCESS */
} sources[FDS_MAX];
static int epoll;

static void watch(int fd, enum kind kind, struct call *c)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (fd < 0 || fd >= FDS_MAX ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		fail("a descriptor");
	sources[fd].kind = kind;
	sources[fd].call = c;
}

/* Processes have copies of descriptors: closing alone does not end the watch. */
static void unwatch(int fd)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
	sources[fd].call = NULL;
	close(fd);
}

/* ---- the process of a call ---- */

static size_t words_of(const char *text)
{
	size_t n = 0;

	for (bool within = false; *text != '\0' && *text != '"'; text++) {
		bool is_space = isspace((unsigned char)*text) != 0;

		n += !within && !is_space;
		within = !is_space;
	}
	return n;
}

/* Count the words of the given text. */
static _Noreturn void child_main(int fd)
{
	char text[REQUEST_MAX];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);
	uint8_t words;

	if (n <= 0)
		_exit(1);
	text[n] = '\0';
	words = (uint8_t)words_of(text);
	_exit(send(fd, &words, 1, 0) != 1);
}

/* Start a process for a coming call. */
static struct call *call_prepare(void)
{
	struct call *c = calloc(1, sizeof(*c));
	int fds[2];

	if (c == NULL ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		fail("socketpair");
	c->pid = fork();
	if (c->pid < 0)
		fail("fork");
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		child_main(fds[1]);
	}
	close(fds[1]);
	c->fd = fds[0];
	watch(c->fd, PROCESS, c);
	return c;
}

/* ---- the rows: a thread writes all waiting rows, and syncs once ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct calls todo, done;
	int fd, event_fd;
} rows = {.lock = PTHREAD_MUTEX_INITIALIZER,
	  .wake = PTHREAD_COND_INITIALIZER,
	  .todo = STAILQ_HEAD_INITIALIZER(rows.todo),
	  .done = STAILQ_HEAD_INITIALIZER(rows.done)};

static void *rows_main(void *arg)
{
	static const char row[ROW_BYTES];

	(void)arg;
	for (off_t at = 0;; at = (at + ROW_BYTES) % (ROWS * ROW_BYTES)) {
		struct calls all = STAILQ_HEAD_INITIALIZER(all);

		pthread_mutex_lock(&rows.lock);
		while (STAILQ_EMPTY(&rows.todo))
			pthread_cond_wait(&rows.wake, &rows.lock);
		STAILQ_CONCAT(&all, &rows.todo);
		pthread_mutex_unlock(&rows.lock);
		if (pwrite(rows.fd, row, sizeof(row), at) != sizeof(row) ||
		    fdatasync(rows.fd) < 0)
			fail("fdatasync");
		pthread_mutex_lock(&rows.lock);
		STAILQ_CONCAT(&rows.done, &all);
		pthread_mutex_unlock(&rows.lock);
		eventfd_write(rows.event_fd, 1);
	}
	return NULL;
}

static void rows_put(struct call *c)
{
	pthread_mutex_lock(&rows.lock);
	STAILQ_INSERT_TAIL(&rows.todo, c, link);
	pthread_mutex_unlock(&rows.lock);
	pthread_cond_signal(&rows.wake);
}

/* Write the file once, so later rows do not make the file longer. */
static void rows_open(const char *path)
{
	static const char all[ROWS * ROW_BYTES];
	pthread_t thread;

	rows.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (rows.fd < 0 || write(rows.fd, all, sizeof(all)) != sizeof(all) ||
	    fsync(rows.fd) < 0)
		fail(path);
	rows.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	watch(rows.event_fd, SYNCED, NULL);
	if (pthread_create(&thread, NULL, rows_main, NULL) != 0)
		fail("pthread_create");
}

/* ---- calls ---- */

static void respond(int fd, unsigned long id, const char *result)
{
	char body[512], text[1024];
	int n;

	snprintf(body, sizeof(body),
		 "{\"jsonrpc\":\"2.0\",\"id\":%lu,\"result\":%s}", id, result);
	n = snprintf(text, sizeof(text),
		     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		     "Mcp-Session-Id: one\r\nContent-Length: %zu\r\n\r\n%s",
		     strlen(body), body);
	(void)!send(fd, text, (size_t)n, MSG_NOSIGNAL);
}

static void answer(struct call *c)
{
	char result[256];

	if (!c->is_synced || !c->is_gone)
		return;
	snprintf(result, sizeof(result),
		 "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"words\\\":"
		 "%u}\"}],\"structuredContent\":{\"words\":%u}}",
		 c->words, c->words);
	respond(c->conn, c->id, result);
	free(c);
}

/* Read the process's result, write the row during the process's exit; then reap the process. */
static void on_process(struct call *c)
{
	if (recv(c->fd, &c->words, 1, 0) == 1) {
		rows_put(c);
		return;
	}
	unwatch(c->fd);
	if (waitpid(c->pid, NULL, 0) < 0)
		fail("waitpid");
	c->is_gone = true;
	answer(c);
}

static void on_synced(void)
{
	struct calls all = STAILQ_HEAD_INITIALIZER(all);
	struct call *c;
	eventfd_t n;

	eventfd_read(rows.event_fd, &n);
	pthread_mutex_lock(&rows.lock);
	STAILQ_CONCAT(&all, &rows.done);
	pthread_mutex_unlock(&rows.lock);
	while ((c = STAILQ_FIRST(&all)) != NULL) {
		STAILQ_REMOVE_HEAD(&all, link);
		c->is_synced = true;
		answer(c);
	}
}

/* A request is the bytes of a single recv(): bench's client writes a request at once. */
static void on_request(int conn, struct call **ahead)
{
	char request[REQUEST_MAX];
	ssize_t n = recv(conn, request, sizeof(request) - 1, 0);
	const char *id, *text;
	struct call *c = *ahead;

	if (n <= 0) {
		unwatch(conn);
		return;
	}
	request[n] = '\0';
	id = strstr(request, "\"id\":");
	text = strstr(request, "\"text\":\"");
	if (id == NULL || text == NULL) {
		respond(conn, id != NULL ? strtoul(id + 5, NULL, 10) : 0, "{}");
		return;
	}
	c->conn = conn;
	c->id = strtoul(id + 5, NULL, 10);
	if (send(c->fd, text + 8, strlen(text + 8), 0) < 0)
		fail("a process of a call");
	*ahead = call_prepare();
}

static void on_conn(int listener)
{
	int one = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	watch(fd, CONN, NULL);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void listen_somewhere(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) < 0 ||
	    listen(fd, CONNS_MAX) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		fail("listen");
	watch(fd, LISTENER, NULL);
	printf("127.0.0.1:%d/mcp\n", ntohs(at.sin_port));
	fflush(stdout);
}

static void serve(struct call **ahead)
{
	struct epoll_event events[EVENTS_MAX];
	int n = epoll_wait(epoll, events, EVENTS_MAX, -1);

	for (int i = 0; i < n; i++) {
		int fd = events[i].data.fd;

		switch (sources[fd].kind) {
		case LISTENER:
			on_conn(fd);
			break;
		case SYNCED:
			on_synced();
			break;
		case CONN:
			on_request(fd, ahead);
			break;
		case PROCESS:
			on_process(sources[fd].call);
		}
	}
}

int main(int argc, char **argv)
{
	struct call *ahead;

	if (argc != 2) {
		fputs("usage: least FILE\n", stderr);
		return 2;
	}
	epoll = epoll_create1(EPOLL_CLOEXEC);
	rows_open(argv[1]);
	listen_somewhere();
	ahead = call_prepare();
	for (;;)
		serve(&ahead);
}

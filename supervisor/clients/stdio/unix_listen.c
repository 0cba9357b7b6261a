/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unix_listen.c - the unix socket: makes it, guards it against a second server,
 * and serves connections by uid. daemon.c opens it. A failure is a sentence
 * with a remedy. A connection over the bound is told why, and closed.
 */
#include "supervisor/clients/stdio/unix_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/buf.h"
#include "base/loop_guard.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/spawn/privs.h"
#include "proto/mcp/rpc.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/clients/stdio/stream_conn.h"
#include "supervisor/store/state/state_file.h"

#define CONNECTIONS_MAX 256
#define BACKLOG 64
#define REST_MS 500 /* pause after accept() found no descriptor free */

struct peer {
	struct unix_listener *listener;
	struct stream_conn *conn;
	int fd;
	uid_t uid;
	LIST_ENTRY(peer) link; /* in listener.peers */
};

struct unix_listener {
	struct context *ctx;
	char *path; /* NULL: a service manager made the socket and removes it */
	dev_t dev;  /* of the socket made at PATH; no other is removed */
	ino_t ino;
	int fd;
	struct event *readable;
	struct event *rest;
	bool stopped;
	LIST_HEAD(peers, peer) peers;
	size_t n_peers;
};

/* ---- peers ---- */

static void peer_free(struct peer *p)
{
	LIST_REMOVE(p, link);
	p->listener->n_peers--;
	stream_conn_free(p->conn);
	close(p->fd);
	free(p);
}

static void on_closed(void *arg, struct stream_conn *c)
{
	(void)c;
	peer_free(arg);
}

static size_t count_peers(const struct unix_listener *l, uid_t uid)
{
	const struct peer *p;
	size_t n = 0;

	LIST_FOREACH(p, &l->peers, link)
		n += p->uid == uid;
	return n;
}

/*
 * Refuse FD, a connection over the bound of UID; the reason is written as far
 * as a fresh socket has room.
 */
static void turn_away(const struct unix_listener *l, int fd, uid_t uid)
{
	struct buf out = {0};
	char errmsg[160];

	snprintf(errmsg, sizeof(errmsg),
		 "%zu connections of yours are open, and of the %d in all this "
		 "server gives you no more now; close one, or try again later",
		 count_peers(l, uid), CONNECTIONS_MAX);
	rpc_put_error(&out, NULL, RPC_INTERNAL_ERROR, errmsg, NULL);
	buf_add(&out, "\n", 1);
	(void)!write(fd, buf_data(&out), buf_len(&out));
	buf_fini(&out);
	log_warn("listen", "connection=refused requestor=%s open=%zu",
		 requestors_of_uid(l->ctx->requestors, uid)->name, l->n_peers);
	close(fd);
}

static void greet_stream(struct unix_listener *l, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	struct peer *p;
	size_t mine;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0) {
		close(fd);
		return;
	}
	/* a user leaves connections to others */
	mine = count_peers(l, cred.uid);
	if ((int64_t)mine >=
	    admission_share(CONNECTIONS_MAX, (int64_t)(l->n_peers - mine))) {
		turn_away(l, fd, cred.uid);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	p->listener = l;
	p->fd = fd;
	p->uid = cred.uid;
	LIST_INSERT_HEAD(&l->peers, p, link);
	l->n_peers++;
	p->conn = stream_conn_new(
	    l->ctx, requestors_of_uid(l->ctx->requestors, cred.uid), fd, fd,
	    on_closed, p);
	log_debug("listen", "connection=open requestor=uid:%u pid=%d",
		  (unsigned)cred.uid, (int)cred.pid);
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
	struct unix_listener *l = arg;

	(void)fd, (void)what;
	if (!l->stopped)
		event_add(l->readable, NULL);
}

static void on_connection(evutil_socket_t listening, short what, void *arg)
{
	struct unix_listener *l = arg;
	int fd;

	(void)what;
	fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		greet_stream(l, fd);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
		log_warn("listen", "accept=resting err=\"%s\"",
			 strerror(errno));
		event_del(l->readable);
		event_add(l->rest, CLOCK_TIMEVAL(REST_MS));
	}
}

/* ---- the socket ---- */

static bool set_addr(struct sockaddr_un *addr, const char *path)
{
	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(addr->sun_path))
		return false;
	memcpy(addr->sun_path, path, strlen(path));
	return true;
}

/* Connect to ADDR, following links. Returns 0 or -errno of connect(2). */
static int knock(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc = fd < 0 || connect(fd, (const struct sockaddr *)addr,
				   sizeof(*addr)) < 0
		     ? -errno
		     : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

/* Is the file at ADDR a socket which no process serves? */
static bool is_stale(const struct sockaddr_un *addr)
{
	struct stat st;

	return knock(addr) == -ECONNREFUSED &&
	       lstat(addr->sun_path, &st) == 0 && S_ISSOCK(st.st_mode);
}

bool unix_listen_is_served(const char *path)
{
	struct sockaddr_un addr;
	int rc = set_addr(&addr, path) ? knock(&addr) : -ENAMETOOLONG;

	return rc == 0 || rc == -EAGAIN; /* served, with a full backlog */
}

static int bind_at(int fd, const struct sockaddr_un *addr)
{
	mode_t old = umask(getuid() == 0 ? 0117 : 0177);
	int rc = bind(fd, (const struct sockaddr *)addr, sizeof(*addr));

	/*
	 * a stale socket is removed: as root by privsep's code, which follows no links
	 * that other users may have put there
	 */
	if (rc < 0 && errno == EADDRINUSE && is_stale(addr) &&
	    (privs_leave_root() ? privs_unlink_socket(addr->sun_path)
				: unlink(addr->sun_path)) == 0)
		rc = bind(fd, (const struct sockaddr *)addr, sizeof(*addr));
	umask(old);
	return rc < 0 ? -errno : 0;
}

/*
 * Does PATH lie directly in the state folder, which is made with its parents?
 */
static bool is_in(const char *path, const char *state_dir)
{
	size_t n = strlen(state_dir);

	return strncmp(path, state_dir, n) == 0 && path[n] == '/' &&
	       strchr(path + n + 1, '/') == NULL;
}

/* Make the folder of PATH, such as that of a default path, if missing. */
static void make_socket_folder(const char *path, const char *state_dir)
{
	char *dir = xstrdup(path), *slash = strrchr(dir, '/');

	if (slash != NULL && slash != dir) {
		*slash = '\0';
		if (getuid() != 0 && is_in(path, state_dir))
			state_file_mkdirs(dir);
		mkdir(dir, getuid() == 0 ? 0755 : 0700);
	}
	free(dir);
}

/* Say why PATH cannot be listened at; RC is negative. */
static void explain_listen(const char *path, int rc, char *errmsg, size_t size)
{
	if (rc == -ENAMETOOLONG)
		snprintf(errmsg, size,
			 "the socket cannot be made at %s: such a path "
			 "has at most %zu bytes; name a shorter one by socket",
			 path, sizeof((struct sockaddr_un){0}.sun_path) - 1);
	else if (rc == -EADDRINUSE)
		snprintf(errmsg, size,
			 "the socket cannot be made at %s: another paddockd "
			 "serves it, or it is no socket; end that one, or name "
			 "another by socket",
			 path);
	else
		snprintf(
		    errmsg, size,
		    "the socket cannot be made at %s: %s; make its "
		    "folder and let this user write there, or name another "
		    "by socket",
		    path, strerror(-rc));
}

static int open_path(const char *path, const char *state_dir, char *errmsg,
		     size_t size)
{
	struct sockaddr_un addr;
	int fd = -1, rc = 0;

	if (!set_addr(&addr, path))
		rc = -ENAMETOOLONG;
	if (rc == 0) {
		make_socket_folder(path, state_dir);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			    0);
		rc = fd < 0 ? -errno : bind_at(fd, &addr);
	}
	if (rc == 0 && listen(fd, BACKLOG) < 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	explain_listen(path, rc, errmsg, size);
	return rc;
}

/*
 * May a socket be made in the folder of PATH, or that folder be made? Returns 0
 * or -errno.
 */
static int try_folder(const char *path)
{
	char *dir = xstrdup(path), *slash;
	int rc = -ENOENT;

	/* the parent as well, as in make_socket_folder() */
	for (int i = 0; rc == -ENOENT && i < 2; i++) {
		slash = strrchr(dir, '/');
		if (slash == NULL)
			break;
		slash[slash == dir] = '\0';
		rc = faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0
			 ? 0
			 : -errno;
	}
	free(dir);
	return rc;
}

int unix_listen_try(const struct config *c, char *errmsg, size_t size)
{
	const char *path = c->socket;
	struct sockaddr_un addr;
	struct stat st;
	int rc = set_addr(&addr, path) ? 0 : -ENAMETOOLONG;

	if (rc == 0 && lstat(path, &st) == 0 && !is_stale(&addr))
		rc = -EADDRINUSE;
	if (rc == 0 && (getuid() == 0 || !is_in(path, c->state_dir)))
		rc = try_folder(path);
	if (rc == 0)
		return 0;
	explain_listen(path, rc, errmsg, size);
	return rc == -EACCES || rc == -EPERM ? EX_NOPERM
	       : rc == -ENAMETOOLONG	     ? EX_CONFIG
					     : EX_UNAVAILABLE;
}

static int option(int fd, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, name, &value, &len) < 0 ? -1 : value;
}

/*
 * Check FD, which a service manager passed: on sockets of any other kind the
 * peer's uid is unknown.
 */
static int check_passed(int fd, char *errmsg, size_t size)
{
	if (option(fd, SO_DOMAIN) == AF_UNIX &&
	    option(fd, SO_TYPE) == SOCK_STREAM &&
	    option(fd, SO_ACCEPTCONN) == 1)
		return fd;
	snprintf(errmsg, size,
		 "descriptor %d, which the service manager passed, "
		 "is not a unix stream socket that listens",
		 fd);
	return -ENOTSOCK;
}

struct unix_listener *unix_listen_open(struct context *ctx, const char *path,
				       int fd, char *errmsg, size_t size)
{
	struct unix_listener *l;
	struct stat st;
	bool passed = fd >= 0;

	fd = passed ? check_passed(fd, errmsg, size)
		    : open_path(path, ctx->config->state_dir, errmsg, size);
	if (fd < 0)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->ctx = ctx;
	l->path = passed ? NULL : xstrdup(path);
	if (!passed && lstat(path, &st) == 0) {
		l->dev = st.st_dev;
		l->ino = st.st_ino;
	}
	l->fd = fd;
	LIST_INIT(&l->peers);
	evutil_make_socket_nonblocking(fd);
	l->readable =
	    event_new(ctx->base, fd, EV_READ | EV_PERSIST, on_connection, l);
	l->rest = evtimer_new(ctx->base, on_rest, l);
	return l;
}

void unix_listen_start(struct unix_listener *l)
{
	event_add(l->readable, NULL);
}

void unix_listen_stop(struct unix_listener *l)
{
	struct stat st;

	if (l->stopped)
		return;
	l->stopped = true;
	event_del(l->readable);
	loop_guard_allow("our own socket, once, when this server ends");
	/* the socket's folder may be root's, and paddockd no longer root */
	if (l->path != NULL && lstat(l->path, &st) == 0 &&
	    st.st_dev == l->dev && st.st_ino == l->ino &&
	    privsep_unlink_socket(l->path) < 0)
		unlink(l->path);
	loop_guard_forbid();
	close(l->fd);
}

void unix_listen_close(struct unix_listener *l)
{
	struct peer *p, *after;

	if (l == NULL)
		return;
	unix_listen_stop(l);
	for (p = LIST_FIRST(&l->peers); p != NULL; p = after) {
		after = LIST_NEXT(p, link);
		peer_free(p);
	}
	event_free(l->readable);
	event_free(l->rest);
	free(l->path);
	free(l);
}

void unix_listen_recheck(struct unix_listener *l)
{
	struct peer *p, *after;

	for (p = l == NULL ? NULL : LIST_FIRST(&l->peers); p != NULL;
	     p = after) {
		const struct requestor *q =
		    stream_conn_session(p->conn)->requestor;

		after = LIST_NEXT(p, link);
		if (q == requestors_of_uid(l->ctx->requestors, p->uid))
			continue;
		log_info("listen",
			 "requestor=%s connection=closed uid=%u "
			 "why=\"its section changed\"",
			 q->name, (unsigned)p->uid);
		peer_free(p);
	}
}

size_t unix_listen_connections(const struct unix_listener *l)
{
	return l == NULL ? 0 : l->n_peers;
}

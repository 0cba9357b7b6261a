#include "supervisor/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables in crew_stop()'s loops */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define NOTES_PER_WAKE 64
#define START_MAX_S 20 /* from exec to the report; milliseconds are usual */
#define RESTART_FIRST_MS 50
#define RESTART_MAX_MS 5000
#define FAILED_STARTS_MAX 5 /* zygotes in a row that never reported… */
#define FAILED_LATER_MAX 20 /* …once one did: a minute and a half */

TAILQ_HEAD(hands, crew_hand);

struct zygote {
	struct crew *crew;
	pid_t pid;
	int control;
	bool ready;   /* its cage was measured */
	bool retired; /* it answers what is pending, then ends */
	bool gone;    /* it is reaped, and its last words are read */
	struct event *readable;
	struct event *overdue; /* until it is ready */
	struct hands pending; /* asked for, not yet born */
	LIST_ENTRY(zygote) link; /* in crew.zygotes */
};

/* A child that was reaped before its birth note was read. */
struct early {
	pid_t pid;
	uint32_t seq; /* the last order by then */
	int status;
	struct rusage use;
	SLIST_ENTRY(early) link;
};

struct crew {
	struct event_base *base;
	char *path;
	struct crew_ops ops;
	void *arg;
	LIST_HEAD(zygotes, zygote) zygotes;
	struct zygote *current; /* takes the orders; NULL: none is ready */
	struct event *restart;
	int restart_ms;
	unsigned failed_starts;
	bool measured;	/* some zygote has reported */
	bool strangers; /* a zygote died while it may have been cloning */
	bool stopping;
	struct crew_hand *by_pid;
	size_t n_pending;
	SLIST_HEAD(earlies, early) early;
	uint32_t seq;
	bool slot_used[CREW_SLOTS];
	uint32_t next_slot;
};

static int zygote_start(struct crew *c);
static int read_notes(struct zygote *z);
static void on_note(evutil_socket_t fd, short what, void *arg);

/* ---- birth of a zygote ---- */

static int spawn_actions(posix_spawn_file_actions_t *fa, int control)
{
	int rc = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDWR, 0);

	rc = rc ? rc : posix_spawn_file_actions_adddup2(fa, 0, 1);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(fa, 0, 2);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(fa, control, CREW_CONTROL_FD);
	rc = rc ? rc
		: posix_spawn_file_actions_addclosefrom_np(fa, CREW_CONTROL_FD + 1);
	return -rc;
}

/* Nothing but the control socket reaches it: no environment, no signal mask. */
static int exec_zygote(const char *path, int control, pid_t *pid)
{
	char *argv[] = {(char *)"paddock-worker", NULL};
	char *envp[] = {NULL};
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr,
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	rc = spawn_actions(&fa, control);
	if (rc == 0)
		rc = -posix_spawn(pid, path, &fa, &attr, argv, envp);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

/* Held up, by a debugger say: another may do better. */
static void on_overdue(evutil_socket_t fd, short what, void *arg)
{
	struct zygote *z = arg;

	(void)fd, (void)what;
	log_warn("crew", "zygote=%d report=none after_s=%d", (int)z->pid,
		 START_MAX_S);
	kill(z->pid, SIGKILL);
}

static int zygote_start(struct crew *c)
{
	struct timeval tv = {.tv_sec = START_MAX_S};
	struct zygote *z = xcalloc(1, sizeof(*z));
	int ends[2] = {-1, -1};
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		rc = -errno;
		free(z);
		return rc;
	}
	/* the child's end lies above the numbers that the child assigns */
	rc = fcntl(ends[1], F_DUPFD_CLOEXEC, 16);
	if (rc >= 0) {
		close(ends[1]);
		ends[1] = rc;
		rc = exec_zygote(c->path, ends[1], &z->pid);
	} else {
		rc = -errno;
	}
	close(ends[1]);
	if (rc < 0) {
		close(ends[0]);
		free(z);
		return rc;
	}
	evutil_make_socket_nonblocking(ends[0]);
	z->crew = c;
	z->control = ends[0];
	z->readable = event_new(c->base, z->control, EV_READ | EV_PERSIST,
				on_note, z);
	event_add(z->readable, NULL);
	z->overdue = evtimer_new(c->base, on_overdue, z);
	evtimer_add(z->overdue, &tv);
	TAILQ_INIT(&z->pending);
	LIST_INSERT_HEAD(&c->zygotes, z, link);
	return 0;
}

/* ---- its end ---- */

static struct zygote *zygote_of_pid(struct crew *c, pid_t pid)
{
	struct zygote *z;

	LIST_FOREACH(z, &c->zygotes, link)
		if (z->pid == pid)
			return z;
	return NULL;
}

/*
 * A zygote that is killed between cloning and telling leaves a child that
 * nobody knows. The kernel does: proc(5), /proc/PID/task/TID/children.
 */
static void kill_strangers(struct crew *c)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	struct crew_hand *hand;
	pid_t pid;

	if (f == NULL)
		return;
	/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote these numbers */
	while (fscanf(f, "%d", &pid) == 1) {
		HASH_FIND_INT(c->by_pid, &pid, hand);
		if (hand == NULL && zygote_of_pid(c, pid) == NULL)
			kill(pid, SIGKILL);
	}
	fclose(f);
}

static void hand_unpend(struct zygote *z, struct crew_hand *hand)
{
	TAILQ_REMOVE(&z->pending, hand, link);
	z->crew->n_pending--;
}

static void zygote_free(struct zygote *z)
{
	LIST_REMOVE(z, link);
	event_free(z->readable);
	event_free(z->overdue);
	close(z->control);
	free(z);
}

/* What it was asked for and never reported will not be born. */
static void fail_pending(struct zygote *z, int err)
{
	struct crew_hand *hand;

	while ((hand = TAILQ_FIRST(&z->pending)) != NULL) {
		hand_unpend(z, hand);
		z->crew->slot_used[hand->slot] = false;
		hand->on_born(hand, err);
	}
}

static void schedule_restart(struct crew *c)
{
	struct timeval tv = {.tv_sec = c->restart_ms / 1000,
			     .tv_usec = c->restart_ms % 1000 * 1000L};

	event_add(c->restart, &tv);
	c->restart_ms *= 2;
	if (c->restart_ms > RESTART_MAX_MS)
		c->restart_ms = RESTART_MAX_MS;
}

/* One that served before shows that it can be done: then be patient. */
static void start_failed(struct crew *c, const char *why)
{
	unsigned most = c->measured ? FAILED_LATER_MAX : FAILED_STARTS_MAX;

	log_warn("crew", "zygote=none why=\"%s\"", why);
	if (c->current != NULL)
		return; /* it was to be renewed, and serves on */
	if (++c->failed_starts >= most)
		c->ops.on_broken(c->arg, why);
	else
		schedule_restart(c);
}

static bool is_on_its_way(const struct crew *c)
{
	const struct zygote *z;

	LIST_FOREACH(z, &c->zygotes, link)
		if (!z->ready)
			return true;
	return false;
}

static void on_restart(evutil_socket_t fd, short what, void *arg)
{
	struct crew *c = arg;
	int rc = is_on_its_way(c) ? 0 : zygote_start(c);

	(void)fd, (void)what;
	if (rc < 0)
		start_failed(c, strerror(-rc));
}

static void zygote_gone(struct zygote *z, int status)
{
	struct crew *c = z->crew;
	bool ready = z->ready, retired = z->retired;

	z->gone = true;
	if (c->current == z)
		c->current = NULL;
	while (read_notes(z) == NOTES_PER_WAKE)
		; /* its last words */
	if (!TAILQ_EMPTY(&z->pending))
		c->strangers = true;
	fail_pending(z, ESRCH);
	zygote_free(z);
	if (c->stopping || retired)
		return;
	log_warn("crew", "zygote=gone status=%d", status);
	if (ready)
		schedule_restart(c);
	else
		start_failed(c, "the worker program ends before it has measured "
				"its cage");
}

/* ---- notes ---- */

/* Did the worker of order SEQ, born as PID, end already? PIDs come again. */
static struct early *early_find(struct crew *c, pid_t pid, uint32_t seq)
{
	struct early *e;

	SLIST_FOREACH(e, &c->early, link)
		if (e->pid == pid && (int32_t)(e->seq - seq) >= 0)
			return e;
	return NULL;
}

/* While nobody is being born, a child that we do not know is nobody's. */
static void settle(struct crew *c)
{
	struct early *e;

	if (c->n_pending > 0)
		return;
	if (c->strangers)
		kill_strangers(c);
	c->strangers = false;
	while ((e = SLIST_FIRST(&c->early)) != NULL) {
		SLIST_REMOVE_HEAD(&c->early, link);
		free(e);
	}
}

static void hand_exited(struct crew *c, struct crew_hand *hand, int status,
			const struct rusage *use)
{
	c->slot_used[hand->slot] = false;
	hand->on_exit(hand, status, use);
}

static void on_spawned(struct zygote *z, const struct crew_note *note)
{
	struct crew *c = z->crew;
	struct crew_hand *hand;
	struct early *e;

	TAILQ_FOREACH(hand, &z->pending, link)
		if (hand->seq == note->seq)
			break;
	if (hand == NULL)
		return;
	hand_unpend(z, hand);
	if (note->pid <= 0) {
		c->slot_used[hand->slot] = false;
		hand->on_born(hand, note->err > 0 ? note->err : EIO);
		return;
	}
	e = early_find(c, note->pid, note->seq);
	if (e == NULL) {
		hand->pid = note->pid;
		HASH_ADD_INT(c->by_pid, pid, hand);
		hand->on_born(hand, 0);
		return;
	}
	SLIST_REMOVE(&c->early, e, early, link);
	hand->on_born(hand, 0);
	hand_exited(c, hand, e->status, &e->use);
	free(e);
}

/* The newest zygote that is ready serves; an older one is let go. */
static void on_report(struct zygote *z, const struct crew_note *note)
{
	struct crew *c = z->crew;
	struct zygote *old = c->current;

	if (z->gone)
		return;
	z->ready = true;
	evtimer_del(z->overdue);
	c->measured = true;
	c->current = z;
	c->restart_ms = RESTART_FIRST_MS;
	c->failed_starts = 0;
	if (old != NULL) {
		old->retired = true;
		shutdown(old->control, SHUT_WR);
	}
	c->ops.on_report(c->arg, note);
}

static void on_broken(struct crew *c, const char *why)
{
	if (c->measured)
		log_warn("crew", "zygote=broken why=\"%s\"", why);
	else
		c->ops.on_broken(c->arg, why);
}

/* How many there were, at most NOTES_PER_WAKE. */
static int read_notes(struct zygote *z)
{
	struct crew_note note;
	int i;

	for (i = 0; i < NOTES_PER_WAKE; i++) {
		ssize_t n = recv(z->control, &note, sizeof(note), MSG_DONTWAIT);

		if (n == 0)
			event_del(z->readable); /* SIGCHLD tells the rest */
		if (n != (ssize_t)sizeof(note))
			break;
		note.text[sizeof(note.text) - 1] = '\0';
		if (note.type == CREW_SPAWNED)
			on_spawned(z, &note);
		else if (note.type == CREW_REPORT)
			on_report(z, &note);
		else if (note.type == CREW_BROKEN)
			on_broken(z->crew, note.text);
	}
	return i;
}

static void on_note(evutil_socket_t fd, short what, void *arg)
{
	struct zygote *z = arg;

	(void)fd, (void)what;
	read_notes(z);
	settle(z->crew);
}

/* ---- children ---- */

static void child_exited(struct crew *c, pid_t pid, int status,
			 const struct rusage *use)
{
	struct crew_hand *hand;
	struct zygote *z;
	struct early *e;

	HASH_FIND_INT(c->by_pid, &pid, hand);
	if (hand != NULL) {
		HASH_DEL(c->by_pid, hand);
		hand_exited(c, hand, status, use);
		return;
	}
	z = zygote_of_pid(c, pid);
	if (z != NULL) {
		zygote_gone(z, status);
		return;
	}
	e = xcalloc(1, sizeof(*e));
	*e = (struct early){
	    .pid = pid, .seq = c->seq, .status = status, .use = *use};
	SLIST_INSERT_HEAD(&c->early, e, link);
}

void crew_reap(struct crew *c)
{
	struct rusage use;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &use)) > 0)
		child_exited(c, pid, status, &use);
	settle(c);
}

/* ---- orders ---- */

static int send_order(int control, const struct crew_order *order, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} ancillary = {0};
	struct iovec iov = {.iov_base = (void *)order, .iov_len = sizeof(*order)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = ancillary.space,
			     .msg_controllen = sizeof(ancillary.space)};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	return sendmsg(control, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Round the slots, so that a uid rests before it is used again. */
static int take_slot(struct crew *c, uint32_t *slot)
{
	for (uint32_t i = 0; i < CREW_SLOTS; i++) {
		uint32_t s = (c->next_slot + i) % CREW_SLOTS;

		if (!c->slot_used[s]) {
			c->slot_used[s] = true;
			c->next_slot = s + 1;
			*slot = s;
			return 0;
		}
	}
	return -EAGAIN;
}

int crew_spawn(struct crew *c, struct crew_hand *hand, int fd, uint64_t cpu_ms,
	       uint64_t memory_bytes)
{
	struct crew_order order = {.type = CREW_SPAWN,
				   .cpu_ms = cpu_ms,
				   .memory_bytes = memory_bytes};
	int rc;

	if (c->current == NULL || take_slot(c, &hand->slot) < 0)
		return -EAGAIN;
	hand->pid = 0;
	order.seq = hand->seq = ++c->seq;
	order.slot = hand->slot;
	rc = send_order(c->current->control, &order, fd);
	if (rc < 0) {
		c->slot_used[hand->slot] = false;
		if (rc == -EPIPE || rc == -ECONNRESET)
			c->current = NULL; /* SIGCHLD tells the rest */
		return -EAGAIN;
	}
	TAILQ_INSERT_TAIL(&c->current->pending, hand, link);
	c->n_pending++;
	return 0;
}

void crew_overdue(struct crew *c, const struct crew_hand *hand)
{
	const struct crew_hand *h;
	const struct zygote *z;

	LIST_FOREACH(z, &c->zygotes, link)
		TAILQ_FOREACH(h, &z->pending, link)
			if (h == hand)
				kill(z->pid, SIGKILL);
}

void crew_renew(struct crew *c)
{
	int rc;

	if (c->stopping || is_on_its_way(c) ||
	    event_pending(c->restart, EV_TIMEOUT, NULL))
		return;
	rc = zygote_start(c);
	if (rc < 0)
		log_warn("crew", "zygote=renew failed err=\"%s\"", strerror(-rc));
}

pid_t crew_zygote_pid(const struct crew *c)
{
	return c->current == NULL ? 0 : c->current->pid;
}

struct crew *crew_start(struct event_base *base, const char *path,
			const struct crew_ops *ops, void *arg)
{
	struct crew *c = xcalloc(1, sizeof(*c));
	int rc;

	c->base = base;
	c->path = xstrdup(path);
	c->ops = *ops;
	c->arg = arg;
	c->restart_ms = RESTART_FIRST_MS;
	c->restart = evtimer_new(base, on_restart, c);
	LIST_INIT(&c->zygotes);
	SLIST_INIT(&c->early);
	/* what a killed zygote was busy with must not outlive us either */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	rc = zygote_start(c);
	if (rc < 0) {
		crew_stop(c);
		errno = -rc;
		return NULL;
	}
	return c;
}

void crew_stop(struct crew *c)
{
	struct crew_hand *hand, *after;
	struct zygote *z;
	struct rusage use;
	int status;
	pid_t pid;

	if (c == NULL)
		return;
	c->stopping = true;
	c->current = NULL;
	LIST_FOREACH(z, &c->zygotes, link)
		kill(z->pid, SIGKILL);
	HASH_ITER(hh, c->by_pid, hand, after)
		kill(hand->pid, SIGKILL);
	kill_strangers(c);
	while ((pid = wait4(-1, &status, 0, &use)) > 0 || errno == EINTR)
		if (pid > 0)
			child_exited(c, pid, status, &use);
	settle(c);
	event_free(c->restart);
	free(c->path);
	free(c);
}

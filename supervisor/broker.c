#include "supervisor/broker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "ipc/broker.h"
#include "ipc/msg.h"
#include "proto/json.h"

#define UNSENT_MAX (16u << 20) /* bytes of what is asked */
#define CALLS_MAX BROKER_CALLS_MAX
#define FRAMES_PER_WAKE 256
#define OVERDUE_MS 10000 /* after its timeout */
#define RESTART_FIRST_MS 100
#define RESTART_MAX_MS 5000
#define FAILED_STARTS_MAX 5 /* in a row, without an answer to anything */
#define END_MS 3000	    /* from the end of its stream to its own */

#define NEVER_ANSWERED                                                         \
	"paddock-browser ends before it has answered; the server's log may "   \
	"say why"

enum life { NONE, RUNNING, ENDING };

/* In b->out until it is sent, then in b->sent until it is answered. */
struct broker_call {
	struct broker *broker;
	uint32_t seq; /* 0: not begun */
	char *tool;
	char *text; /* NULL: sent */
	size_t len, at;
	broker_done done; /* NULL: nobody waits */
	void *arg;
	const char *code, *why; /* it is refused before it is sent */
	bool failing; /* it is in neither list, and about to be told */
	struct buf answer;
	bool ok;
	uint64_t total;
	struct event *overdue;
	TAILQ_ENTRY(broker_call) link;
};

TAILQ_HEAD(calls, broker_call);

struct broker {
	struct broker_env env;
	enum life life;
	pid_t pid;
	int fd;
	struct event *readable, *writable;
	struct event *look;  /* something is asked, or it may be started */
	struct event *hurry; /* ENDING: it takes too long */
	int64_t start_at;    /* clock_mono_ms(): not before */
	int64_t restart_ms;
	unsigned failed; /* starts */
	bool answered;	 /* something, since it was started */
	uint32_t last_seq;
	struct calls out, sent;
	struct broker_call *coming; /* a part of its answer is here */
	size_t unsent, n_calls;
};

/* ---- calls ---- */

static void call_free(struct broker_call *c)
{
	if (c->text != NULL)
		c->broker->unsent -= c->len;
	c->broker->n_calls--;
	if (c->overdue != NULL)
		event_free(c->overdue);
	buf_fini(&c->answer);
	free(c->tool);
	free(c->text);
	free(c);
}

/* It is in no list any more. */
static void answer(struct broker_call *c, bool ok, const char *json, size_t len)
{
	broker_done done = c->done;
	void *arg = c->arg;

	c->done = NULL;
	if (done != NULL)
		done(arg, ok, json, len);
	call_free(c);
}

static void fail(struct broker_call *c, const char *code, const char *why)
{
	struct json_object *e = json_object_new_object();
	const char *text;
	size_t len;

	json_object_object_add(e, "code", json_object_new_string(code));
	json_object_object_add(e, "message", json_object_new_string(why));
	text = json_text(e, &len);
	answer(c, false, text, len);
	json_object_put(e);
}

/* All in LIST fail; what is asked meanwhile is in another. */
static void fail_all(struct calls *list, const char *code, const char *why)
{
	struct calls now = TAILQ_HEAD_INITIALIZER(now);
	struct broker_call *c;

	TAILQ_CONCAT(&now, list, link);
	TAILQ_FOREACH(c, &now, link)
	c->failing = true;
	while ((c = TAILQ_FIRST(&now)) != NULL) {
		TAILQ_REMOVE(&now, c, link);
		fail(c, code, why);
	}
}

/* ---- the end of the program ---- */

static void close_channel(struct broker *b)
{
	if (b->fd < 0)
		return;
	event_free(b->readable);
	event_free(b->writable);
	close(b->fd);
	b->fd = -1;
	b->coming = NULL;
}

static void look_in(struct broker *b, int64_t ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	event_add(b->look, &tv);
}

/* One that never answered is not started again at once. */
static void pause_starts(struct broker *b)
{
	if (b->answered) {
		b->restart_ms = RESTART_FIRST_MS;
		b->failed = 0;
	} else {
		b->failed++;
	}
	b->start_at = clock_mono_ms() + b->restart_ms;
	b->restart_ms *= 2;
	if (b->restart_ms > RESTART_MAX_MS)
		b->restart_ms = RESTART_MAX_MS;
}

static void move_begun(struct broker *b, struct calls *to)
{
	struct broker_call *c = TAILQ_FIRST(&b->out);

	TAILQ_CONCAT(to, &b->sent, link);
	if (c == NULL || c->seq == 0)
		return;
	TAILQ_REMOVE(&b->out, c, link);
	TAILQ_INSERT_TAIL(to, c, link);
}

/* It said nonsense, or no more: whatever it was at is lost. */
static void lose(struct broker *b, const char *why)
{
	struct timeval tv = {.tv_sec = END_MS / 1000};
	struct calls lost = TAILQ_HEAD_INITIALIZER(lost);

	if (b->life != RUNNING)
		return;
	log_warn("browser", "broker=%d gone why=\"%s\"", (int)b->pid, why);
	b->life = ENDING;
	close_channel(b);
	event_add(b->hurry, &tv);
	move_begun(b, &lost);
	pause_starts(b);
	if (b->answered)
		fail_all(&lost, "PAGE_CRASHED",
			 "the browser has ended, and its pages and sessions "
			 "with it");
	else
		fail_all(&lost, "BROWSER_UNAVAILABLE", NEVER_ANSWERED);
}

static void on_hurry(evutil_socket_t fd, short what, void *arg)
{
	const struct broker *b = arg;

	(void)fd, (void)what;
	if (b->life == ENDING)
		kill(b->pid, SIGKILL);
}

bool broker_exited(struct broker *b, pid_t pid, int status)
{
	if (b == NULL || b->life == NONE || pid != b->pid)
		return false;
	log_info("browser", "broker=%d status=%d", (int)pid, status);
	lose(b, "it has ended");
	evtimer_del(b->hurry);
	b->life = NONE;
	b->pid = 0;
	if (!TAILQ_EMPTY(&b->out))
		look_in(b, 0);
	return true;
}

/* ---- what it says ---- */

static struct broker_call *find(struct broker *b, uint32_t seq)
{
	struct broker_call *c;

	TAILQ_FOREACH(c, &b->sent, link)
	if (c->seq == seq)
		return c;
	return NULL;
}

static int take_bytes(struct broker *b, struct broker_call *c, struct str s)
{
	struct buf text;

	if (s.n > c->total - buf_len(&c->answer))
		return -EPROTO;
	buf_add(&c->answer, s.p, s.n);
	b->coming = c;
	if (buf_len(&c->answer) < c->total)
		return 0;
	b->coming = NULL;
	b->answered = true;
	TAILQ_REMOVE(&b->sent, c, link);
	text = c->answer;
	c->answer = (struct buf){0};
	answer(c, c->ok, buf_data(&text), buf_len(&text));
	buf_fini(&text);
	return 0;
}

static int take(struct broker *b, const struct msg *m)
{
	struct broker_call *c;

	if (m->type == MSG_CHUNK && b->coming != NULL)
		return take_bytes(b, b->coming, m->chunk.data);
	if (m->type != MSG_ANSWER || b->coming != NULL)
		return -EPROTO;
	c = find(b, m->answer.seq);
	if (c == NULL)
		return -EPROTO;
	c->ok = m->answer.ok;
	c->total = m->answer.total;
	return take_bytes(b, c, m->answer.head);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	static char frame[CHAN_FRAME_MAX];
	struct broker *b = arg;
	const char *why;
	struct msg m;

	(void)fd, (void)what;
	for (int i = 0; i < FRAMES_PER_WAKE && b->life == RUNNING; i++) {
		ssize_t n = chan_recv(b->fd, frame);

		if (n == -EAGAIN)
			return;
		if (n <= 0)
			lose(b, "its end is closed");
		else if (msg_get(&m, frame, (size_t)n, &why) < 0)
			lose(b, why);
		else if (take(b, &m) < 0)
			lose(b, "an answer to nothing, or too long");
	}
}

/* ---- what it is told ---- */

static int send_piece(struct broker *b, struct broker_call *c)
{
	static char frame[CHAN_FRAME_MAX];
	size_t left = c->len - c->at;
	struct str s = {c->text + c->at,
			left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX};
	struct msg m = {.type = MSG_CHUNK, .chunk = {s}};
	int rc;

	if (c->seq == 0)
		m = (struct msg){.type = MSG_CALL,
				 .call = {b->last_seq + 1,
					  {c->tool, strlen(c->tool)},
					  c->len,
					  s}};
	rc = chan_send(b->fd, frame, msg_put(frame, &m));
	if (rc < 0)
		return rc;
	if (c->seq == 0)
		c->seq = ++b->last_seq;
	c->at += s.n;
	return 0;
}

static void is_sent(struct broker *b, struct broker_call *c)
{
	TAILQ_REMOVE(&b->out, c, link);
	TAILQ_INSERT_TAIL(&b->sent, c, link);
	b->unsent -= c->len;
	free(c->text);
	c->text = NULL;
}

static void flush(struct broker *b)
{
	struct broker_call *c;
	int rc = 0;

	while (rc == 0 && (c = TAILQ_FIRST(&b->out)) != NULL) {
		rc = send_piece(b, c);
		if (rc == 0 && c->at == c->len)
			is_sent(b, c);
	}
	if (rc == -EAGAIN)
		event_add(b->writable, NULL);
	/* any other failure: what can be read says it */
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	flush(arg);
}

/* ---- starting it ---- */

static int start(struct broker *b)
{
	int ends[2], high, rc = chan_pair(ends);

	if (rc < 0)
		return rc;
	/* the child's end lies above the numbers that the child assigns */
	high = fcntl(ends[1], F_DUPFD_CLOEXEC, 16);
	rc = high < 0 ? -errno : b->env.launch(b->env.arg, high, &b->pid);
	if (high >= 0)
		close(high);
	close(ends[1]);
	if (rc < 0) {
		close(ends[0]);
		return rc;
	}
	log_info("browser", "broker=%d started", (int)b->pid);
	b->life = RUNNING;
	b->fd = ends[0];
	b->answered = false;
	b->last_seq = 0;
	b->readable =
	    event_new(b->env.base, b->fd, EV_READ | EV_PERSIST, on_readable, b);
	b->writable = event_new(b->env.base, b->fd, EV_WRITE, on_writable, b);
	event_add(b->readable, NULL);
	return 0;
}

static void try_start(struct broker *b)
{
	int64_t wait = b->start_at - clock_mono_ms();
	int rc;

	if (b->failed >= FAILED_STARTS_MAX) {
		b->failed--; /* the next who asks has it tried again */
		fail_all(&b->out, "BROWSER_UNAVAILABLE", NEVER_ANSWERED);
		return;
	}
	if (wait > 0) {
		look_in(b, wait);
		return;
	}
	rc = start(b);
	if (rc == 0)
		return;
	log_error("browser", "broker=none err=\"%s\"", strerror(-rc));
	b->answered = false;
	pause_starts(b);
	fail_all(&b->out, "BROWSER_UNAVAILABLE",
		 "paddock-browser cannot be started; the server's log says "
		 "why");
}

static void fail_refused(struct broker *b)
{
	struct broker_call *c, *after;

	for (c = TAILQ_FIRST(&b->out); c != NULL; c = after) {
		after = TAILQ_NEXT(c, link);
		if (c->code == NULL)
			continue;
		TAILQ_REMOVE(&b->out, c, link);
		fail(c, c->code, c->why);
		after = TAILQ_FIRST(&b->out); /* others may have come or gone */
	}
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct broker *b = arg;

	(void)fd, (void)what;
	fail_refused(b);
	if (b->life == NONE && !TAILQ_EMPTY(&b->out))
		try_start(b);
	if (b->life == RUNNING)
		flush(b);
}

/* ---- asking ---- */

static void on_overdue(evutil_socket_t fd, short what, void *arg)
{
	struct broker_call *c = arg;
	struct broker *b = c->broker;

	(void)fd, (void)what;
	if (c->text != NULL && c->seq == 0) { /* it never got a broker */
		TAILQ_REMOVE(&b->out, c, link);
		fail(c, "BROWSER_UNAVAILABLE", "the browser does not start");
		return;
	}
	kill(b->pid, SIGKILL);
	lose(b, "it does not answer");
}

static bool is_too_much(const struct broker *b, const struct broker_call *c)
{
	return b->n_calls > CALLS_MAX || b->unsent + c->len > UNSENT_MAX;
}

static struct broker_call *enqueue(struct broker *b, const char *tool,
				   struct json_object *body)
{
	struct broker_call *c = xcalloc(1, sizeof(*c));
	const char *text = json_text(body, &c->len);

	c->broker = b;
	c->tool = xstrdup(tool);
	b->n_calls++;
	c->text = xstrndup(text, c->len);
	json_object_put(body);
	b->unsent += c->len;
	TAILQ_INSERT_TAIL(&b->out, c, link);
	look_in(b, 0);
	return c;
}

struct broker_call *broker_ask(struct broker *b, const char *tool,
			       struct json_object *body, int64_t timeout_ms,
			       broker_done done, void *arg)
{
	int64_t ms = timeout_ms + OVERDUE_MS;
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	struct broker_call *c = enqueue(b, tool, body);

	c->done = done;
	c->arg = arg;
	if (c->len > MSG_ASK_MAX) {
		c->code = "INVALID_PARAMETER";
		c->why = "the arguments are over 1 MiB, which is fixed";
	} else if (done != NULL && is_too_much(b, c)) {
		c->code = "BROWSER_BUSY";
		c->why = "too much is asked of the browser; try again later";
	}
	c->overdue = evtimer_new(b->env.base, on_overdue, c);
	evtimer_add(c->overdue, &tv);
	return c;
}

/* What has begun is sent to its end: its number is the broker's to answer. */
void broker_forget(struct broker_call *c)
{
	struct broker *b = c->broker;
	struct json_object *body;

	c->done = NULL;
	if (c->failing)
		return;
	if (c->seq == 0) {
		TAILQ_REMOVE(&b->out, c, link);
		call_free(c);
		return;
	}
	body = json_object_new_object();
	json_object_object_add(body, "seq", json_object_new_int64(c->seq));
	enqueue(b, "cancel", body);
}

bool broker_is_running(const struct broker *b)
{
	return b->life == RUNNING;
}

/* ---- our own start and end ---- */

struct broker *broker_new(const struct broker_env *env)
{
	struct broker *b = xcalloc(1, sizeof(*b));

	b->env = *env;
	b->fd = -1;
	b->restart_ms = RESTART_FIRST_MS;
	b->look = evtimer_new(env->base, on_look, b);
	b->hurry = evtimer_new(env->base, on_hurry, b);
	TAILQ_INIT(&b->out);
	TAILQ_INIT(&b->sent);
	return b;
}

/* It ends by itself when its stream does, and its browser before it. */
void broker_stop(struct broker *b)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	int64_t until = clock_mono_ms() + END_MS;
	int status;

	if (b == NULL || b->life == NONE)
		return;
	close_channel(b);
	b->life = NONE;
	while (clock_mono_ms() < until) {
		if (waitpid(b->pid, &status, WNOHANG) != 0)
			return;
		nanosleep(&nap, NULL);
	}
	kill(b->pid, SIGKILL);
	waitpid(b->pid, &status, 0);
}

void broker_free(struct broker *b)
{
	struct broker_call *c;

	if (b == NULL)
		return;
	TAILQ_CONCAT(&b->out, &b->sent, link);
	while ((c = TAILQ_FIRST(&b->out)) != NULL) {
		TAILQ_REMOVE(&b->out, c, link);
		call_free(c);
	}
	event_free(b->look);
	event_free(b->hurry);
	free(b);
}

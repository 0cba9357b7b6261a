/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdp.c - the connection to Chromium over the debugging pipes, for chromium.c.
 * The connection ends when Chromium closes a pipe; calls unread by Chromium are
 * dropped and logged.
 */
#include "browser/cdp/cdp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "browser/cdp/cdp_parse.h"
#include "proto/json/json_pack.h"

#define READ_BYTES 65536
#define READS_PER_WAKE 16

struct waiting {
	uint32_t id;
	cdp_done *done;
	void *arg;
	UT_hash_handle hh;
};

struct cdp {
	const struct cdp_ops *ops;
	void *arg;
	int in, out;
	struct event *readable, *writable;
	struct cdp_parse parse;
	struct buf queue;
	bool ended;
	uint32_t id;
	struct waiting *waiting;
};

static void close_pipe(struct cdp *c)
{
	if (c->ended)
		return;
	c->ended = true;
	event_del(c->readable);
	event_del(c->writable);
	c->ops->end(c->arg); /* the callback frees C */
}

static void answer_command(struct cdp *c, const struct cdp_message *m)
{
	struct waiting *w;

	HASH_FIND(hh, c->waiting, &m->id, sizeof(m->id), w);
	if (w == NULL)
		return;
	HASH_DEL(c->waiting, w);
	w->done(w->arg, m->result, m->error);
	free(w);
}

/* Process all complete messages. */
static void take_messages(struct cdp *c)
{
	struct cdp_message m;

	while (!c->ended && cdp_parse_next(&c->parse, &m)) {
		if (m.tree == NULL)
			log_warn(
			    "cdp",
			    "lost=%zu why=\"no JSON object, or over %u bytes\"",
			    m.lost, CDP_MESSAGE_MAX);
		else if (m.method != NULL)
			c->ops->event(c->arg, m.session, m.method, m.params);
		else
			answer_command(c, &m);
		json_object_put(m.tree);
	}
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct cdp *c = arg;
	ssize_t n = 1;

	(void)what;
	for (int i = 0; n > 0 && i < READS_PER_WAKE; i++) {
		n = read(fd, buf_room(&c->parse.got, READ_BYTES), READ_BYTES);
		if (n > 0) {
			buf_wrote(&c->parse.got, (size_t)n);
			take_messages(c);
		}
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_pipe(c);
}

static void flush_commands(struct cdp *c)
{
	ssize_t n = 1;

	while (n > 0 && buf_len(&c->queue) > 0) {
		n = write(c->out, buf_data(&c->queue), buf_len(&c->queue));
		if (n > 0)
			buf_drop(&c->queue, (size_t)n);
	}
	if (buf_len(&c->queue) > 0 && !c->ended)
		event_add(c->writable, NULL);
	/* an error shows on the other pipe, too */
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	flush_commands(arg);
}

struct cdp *cdp_new(struct event_base *base, int in, int out,
		    const struct cdp_ops *ops, void *arg)
{
	struct cdp *c = xcalloc(1, sizeof(*c));

	c->ops = ops;
	c->arg = arg;
	c->in = in;
	c->out = out;
	fcntl(in, F_SETFL, O_NONBLOCK);
	fcntl(out, F_SETFL, O_NONBLOCK);
	c->parse.max = CDP_MESSAGE_MAX;
	c->queue.max = CDP_QUEUE_MAX;
	c->readable = event_new(base, in, EV_READ | EV_PERSIST, on_readable, c);
	c->writable = event_new(base, out, EV_WRITE, on_writable, c);
	event_add(c->readable, NULL);
	return c;
}

void cdp_free(struct cdp *c)
{
	struct waiting *w, *next;

	if (c == NULL)
		return;
	c->ended = true;
	w = c->waiting;
	/* frees the table; the elements still form a list */
	HASH_CLEAR(hh, c->waiting);
	for (; w != NULL; w = next) {
		next = w->hh.next;
		free(w);
	}
	event_free(c->readable);
	event_free(c->writable);
	close(c->in);
	close(c->out);
	buf_fini(&c->parse.got);
	buf_fini(&c->queue);
	free(c);
}

uint32_t cdp_call(struct cdp *c, const char *session, const char *method,
		  struct json_object *params, cdp_done *done, void *arg)
{
	struct json_object *m;
	struct waiting *w;
	const char *text;
	size_t len;

	c->id = c->id == INT32_MAX ? 1 : c->id + 1;
	m = json_pack("id:i method:s sessionId?s params?o", c->id, method,
		      session, params);
	text = json_object_to_json_string_length(
	    m, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
	if (buf_add(&c->queue, text, len + 1) < 0)
		log_warn("cdp", "method=%s dropped=\"Chromium does not read\"",
			 method);
	json_object_put(m);
	if (done != NULL) {
		w = xcalloc(1, sizeof(*w));
		*w = (struct waiting){.id = c->id, .done = done, .arg = arg};
		HASH_ADD(hh, c->waiting, id, sizeof(w->id), w);
	}
	flush_commands(c);
	return c->id;
}

void cdp_forget(struct cdp *c, uint32_t id)
{
	struct waiting *w;

	HASH_FIND(hh, c->waiting, &id, sizeof(id), w);
	if (w == NULL)
		return;
	HASH_DEL(c->waiting, w);
	free(w);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_exchange.c - the exchange on the stream, for lua_http.c and the scheduler. The
 * body's memory counts for the run; what the run may not hold is read and dropped.
 */
#include "worker/lua/http/host_exchange.h"

#include <assert.h>
#include <poll.h>
#include <string.h>

#include "worker/channel.h"
#include "worker/lua/state/lua_state.h"

#define READS_MAX 16 /* before other tasks have a turn */
#define PART_BYTES 16384
#define ROOM_MIN 4096

static struct {
	bool begun, wanted;
	bool no_memory;
	struct str request; /* the rest, to be written */
	char *body;
	size_t len, room;
} now;

/* apart, since pages of the head are written by runs with network alone */
static struct http_answer answer;

bool host_exchange_is_free(void)
{
	return !now.begun;
}

void host_exchange_begin(struct str request, bool to_head)
{
	assert(!now.begun);
	now.begun = now.wanted = true;
	now.request = request;
	http_answer_begin(&answer, to_head);
}

static void drop_body(void)
{
	if (now.body != NULL)
		lua_state_free(now.body, now.room);
	now.body = NULL;
	now.len = now.room = 0;
}

/* Have room for N more bytes; false: no memory. */
static bool make_room(size_t n)
{
	size_t room = now.room > 0 ? now.room : ROOM_MIN;
	char *p;

	if (now.room - now.len >= n)
		return true;
	while (room - now.len < n)
		room *= 2;
	p = lua_state_alloc(room);
	if (p == NULL)
		return false;
	if (now.len > 0)
		memcpy(p, now.body, now.len);
	if (now.body != NULL)
		lua_state_free(now.body, now.room);
	now.body = p;
	now.room = room;
	return true;
}

static void keep(struct str part)
{
	if (part.n == 0 || !now.wanted || now.no_memory)
		return;
	if (!make_room(part.n)) {
		now.no_memory = true;
		drop_body();
		return;
	}
	memcpy(now.body + now.len, part.p, part.n);
	now.len += part.n;
}

bool host_exchange_is_over(void)
{
	return !channel_stream_is_open() ||
	       (answer.step == HTTP_WHOLE && now.request.n == 0);
}

static void end(void)
{
	drop_body();
	now.begun = now.wanted = now.no_memory = false;
}

/* Take what was read. After a fault nothing on the stream has a meaning. */
static void take(const char *p, size_t n)
{
	while (n > 0 && answer.step != HTTP_BAD) {
		struct str part;
		size_t used = http_answer_add(&answer, p, n, &part);

		if (used == 0)
			answer.step =
			    HTTP_BAD; /* bytes that nobody asked for */
		keep(part);
		p += used;
		n -= used;
	}
	if (answer.step == HTTP_BAD)
		channel_stream_give_up();
}

void host_exchange_go_on(void)
{
	char part[PART_BYTES];

	for (int i = 0; now.begun && i < READS_MAX; i++) {
		size_t sent =
		    channel_stream_write(now.request.p, now.request.n);
		size_t n = channel_stream_read(part, sizeof(part));

		now.request.p += sent;
		now.request.n -= sent;
		take(part, n);
		if (host_exchange_is_over() || sent + n == 0)
			break;
	}
	if (now.begun && !now.wanted && host_exchange_is_over())
		end();
}

short host_exchange_events(void)
{
	if (!now.begun || host_exchange_is_over())
		return 0;
	return now.request.n > 0 ? POLLIN | POLLOUT : POLLIN;
}

const struct http_answer *host_exchange_answer(struct str *body)
{
	*body = (struct str){now.len > 0 ? now.body : "", now.len};
	if (now.no_memory)
		body->p = NULL;
	return answer.step == HTTP_WHOLE ? &answer : NULL;
}

void host_exchange_leave(void)
{
	drop_body();
	now.wanted = false;
	if (host_exchange_is_over())
		end();
}

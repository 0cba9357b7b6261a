/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward.c - the heads and chunks that go on, for request.c and exchange.c. Field names
 * and values were checked byte by byte by message.c, so no field turns into two.
 */
#include "egress/parse/forward.h"

#include <string.h>

#include "base/mem.h"

/* Fields of one connection, and fields which are written anew. */
static const char *const left[] = {"Connection",
				   "Keep-Alive",
				   "Proxy-Connection",
				   "Proxy-Authenticate",
				   "Proxy-Authorization",
				   "TE",
				   "Trailer",
				   "Transfer-Encoding",
				   "Upgrade",
				   "Host",
				   "Content-Length",
				   FORWARD_ERROR,
				   FORWARD_TIMEOUT,
				   "HTTP2-Settings"};

static bool stays(const struct message *m, const struct field *f)
{
	for (size_t i = 0; i < ARRAY_LEN(left); i++)
		if (span_is(f->name, left[i]))
			return true;
	for (size_t i = 0; i < m->n_fields; i++)
		if (span_is(m->fields[i].name, "Connection") &&
		    span_lists(m->fields[i].value, f->name.p, f->name.n))
			return true;
	return false;
}

static void put_field(struct buf *to, struct span name, struct span value)
{
	buf_add(to, name.p, name.n);
	buf_add_str(to, ": ");
	buf_add(to, value.p, value.n);
	buf_add_str(to, "\r\n");
}

static void put_changed(struct buf *to, const struct field *f,
			const struct changes *changes)
{
	struct buf value = {0};

	if (changes->drops != NULL && changes->drops(changes->arg, f))
		return;
	if (changes->writes != NULL &&
	    changes->writes(changes->arg, f, &value)) {
		put_field(to, f->name,
			  (struct span){buf_data(&value), buf_len(&value)});
		explicit_bzero(value.data, value.cap);
	} else {
		put_field(to, f->name, f->value);
	}
	buf_fini(&value);
}

static void put_fields(struct buf *to, const struct message *m,
		       const struct changes *changes)
{
	static const struct changes none;

	changes = changes == NULL ? &none : changes;
	for (size_t i = 0; i < m->n_fields; i++)
		if (!stays(m, &m->fields[i]))
			put_changed(to, &m->fields[i], changes);
	if (changes->more != NULL)
		buf_add(to, buf_data(changes->more), buf_len(changes->more));
}

void forward_request(struct buf *to, const struct message *m, const char *host,
		     struct span path, const struct changes *changes)
{
	buf_add_str(to, message_method(m));
	buf_add_str(to, path.n == 0 || path.p[0] != '/' ? " /" : " ");
	buf_add(to, path.p, path.n);
	buf_printf(to, " HTTP/1.1\r\nHost: %s\r\n", host);
	put_fields(to, m, changes);
	if (m->chunked)
		buf_add_str(to, "Transfer-Encoding: chunked\r\n");
	else if (m->has_length)
		buf_printf(to, "Content-Length: %llu\r\n",
			   (unsigned long long)m->length);
	buf_add_str(to, "\r\n");
}

void forward_answer(struct buf *to, const struct message *m, bool old,
		    bool closes, bool rechunks, const struct changes *changes)
{
	struct span reason = {buf_data(&m->head) + 12, 0};
	unsigned status = message_status(m);

	while (reason.p[reason.n] != '\r')
		reason.n++;
	buf_printf(to, "HTTP/1.%d %03u%.*s\r\n", old ? 0 : 1, status,
		   (int)reason.n, reason.p);
	put_fields(to, m, changes);
	if (rechunks)
		buf_add_str(to, "Transfer-Encoding: chunked\r\n");
	else if (m->has_length)
		buf_printf(to, "Content-Length: %llu\r\n",
			   (unsigned long long)m->length);
	if (status >= 200)
		buf_add_str(to, closes ? "Connection: close\r\n"
				: old  ? "Connection: keep-alive\r\n"
				       : "");
	buf_add_str(to, "\r\n");
}

void forward_part(struct buf *to, const char *p, size_t n, bool chunked)
{
	if (n == 0)
		return;
	if (chunked)
		buf_printf(to, "%zx\r\n", n);
	buf_add(to, p, n);
	if (chunked)
		buf_add_str(to, "\r\n");
}

void forward_end(struct buf *to, bool chunked)
{
	if (chunked)
		buf_add_str(to, "0\r\n\r\n");
}

void forward_cut(struct buf *to, const char *code)
{
	buf_printf(to, "0\r\n" FORWARD_ERROR ": %s\r\n\r\n", code);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - reads requests of runs and answers of hosts, for exchange.c. The head is
 * gathered whole and checked byte by byte for forms which llhttp lets pass; then llhttp
 * reads the head, and the body as it comes. Each fault makes the message bad for good.
 */
#include "egress/parse/message.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

static struct message *of(llhttp_t *parser)
{
	return parser->data;
}

static int bad(struct message *m)
{
	m->step = MESSAGE_BAD;
	return -1;
}

bool span_is(struct span s, const char *text)
{
	return strlen(text) == s.n && strncasecmp(s.p, text, s.n) == 0;
}

bool span_lists(struct span s, const char *p, size_t n)
{
	const char *end = s.p + s.n;

	for (const char *at = s.p; at < end; at++) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *last = comma == NULL ? end : comma;

		while (at < last && (*at == ' ' || *at == '\t'))
			at++;
		comma = last;
		while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
			last--;
		if ((size_t)(last - at) == n && strncasecmp(at, p, n) == 0)
			return true;
		at = comma;
	}
	return false;
}

const struct field *message_field(const struct message *m, const char *name)
{
	for (size_t i = 0; i < m->n_fields; i++)
		if (span_is(m->fields[i].name, name))
			return &m->fields[i];
	return NULL;
}

/* ---- findings of llhttp ---- */

static int on_target(llhttp_t *parser, const char *at, size_t n)
{
	of(parser)->target = (struct span){at, n};
	return 0;
}

static int count_extra(struct message *m, size_t n)
{
	m->extra += n + 2;
	return m->extra <= MESSAGE_EXTRA_MAX ? 0 : bad(m);
}

static int on_extension(llhttp_t *parser, const char *at, size_t n)
{
	(void)at;
	return count_extra(of(parser), n);
}

/* The head is parsed in one call, so each span comes whole. */
static int on_name(llhttp_t *parser, const char *at, size_t n)
{
	struct message *m = of(parser);

	if (m->step != MESSAGE_HEAD) /* a trailer, which goes nowhere */
		return count_extra(m, n);
	if (m->n_fields == MESSAGE_FIELDS_MAX)
		return bad(m);
	m->fields[m->n_fields++] = (struct field){.name = {at, n}};
	return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t n)
{
	struct message *m = of(parser);

	if (m->step != MESSAGE_HEAD)
		return count_extra(m, n);
	while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t'))
		n--;
	m->fields[m->n_fields - 1].value = (struct span){at, n};
	return 0;
}

/* Set *F to the field NAME, or to NULL. False: the field is there twice. */
static bool take_only(const struct message *m, const char *name,
		      const struct field **f)
{
	*f = message_field(m, name);
	for (size_t i = 0; *f != NULL && i < m->n_fields; i++)
		if (&m->fields[i] != *f && span_is(m->fields[i].name, name))
			return false;
	return true;
}

/* Can the body's end be read in one way only? */
static bool take_framing(struct message *m)
{
	const struct field *length, *coding;

	if (!take_only(m, "Content-Length", &length) ||
	    !take_only(m, "Transfer-Encoding", &coding) ||
	    (length != NULL && coding != NULL))
		return false;
	if (coding != NULL &&
	    (!span_is(coding->value, "chunked") || message_is_1_0(m)))
		return false;
	for (size_t i = 0; length != NULL && i < length->value.n; i++)
		if (!isdigit((unsigned char)length->value.p[i]))
			return false;
	if (length != NULL && (length->value.n == 0 || length->value.n > 18))
		return false;
	m->chunked = coding != NULL;
	m->has_length = length != NULL;
	m->length = m->has_length ? m->parser.content_length : 0;
	return true;
}

/* Answers without a body, whatever length they name (RFC 9112, section 6.3). */
static bool is_bare(const struct message *m)
{
	unsigned status = m->parser.status_code;

	return m->answer &&
	       (m->to_head || status < 200 || status == 204 || status == 304);
}

static int on_head(llhttp_t *parser)
{
	struct message *m = of(parser);

	if (!take_framing(m) || parser->http_major != 1)
		return bad(m);
	parser->upgrade = 0; /* no protocol but HTTP is spoken */
	m->keeps = llhttp_should_keep_alive(parser) != 0;
	m->until_end =
	    m->answer && !is_bare(m) && llhttp_message_needs_eof(parser) != 0;
	m->chunked = m->chunked && !is_bare(m);
	m->step = MESSAGE_BODY;
	return is_bare(m) ? 1 : 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t n)
{
	struct message *m = of(parser);

	m->body(m->arg, at, n);
	return 0;
}

static int on_whole(llhttp_t *parser)
{
	of(parser)->step = MESSAGE_WHOLE;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_target,
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_chunk_extension_name = on_extension,
    .on_chunk_extension_value = on_extension,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_whole,
};

static size_t run_parser(struct message *m, const char *p, size_t n)
{
	llhttp_errno_t rc = llhttp_execute(&m->parser, p, n);

	if (rc == HPE_OK)
		return n;
	if (rc == HPE_PAUSED && m->step == MESSAGE_WHOLE)
		return (size_t)(llhttp_get_error_pos(&m->parser) - p);
	bad(m);
	return n;
}

/* ---- the head ---- */

/* Do all readers of HTTP agree on the last byte of HEAD? */
static bool byte_ok(const char *head, size_t len)
{
	unsigned char c = (unsigned char)head[len - 1];
	unsigned char before = len > 1 ? (unsigned char)head[len - 2] : '\n';

	if (c == '\n' || before == '\r')
		return c == '\n' && before == '\r';
	if (c == '\r')
		return len > 1; /* no blank line comes first */
	if (before == '\n' && (c == ' ' || c == '\t' || c == ':'))
		return false; /* a folded line, or no name */
	return c == '\t' || (c >= ' ' && c != 0x7f);
}

/* Has the first line single spaces, and a known version? */
static bool first_line_ok(const struct message *m, const char *line, size_t n)
{
	size_t spaces = 0;

	for (size_t i = 0; i < n; i++) {
		spaces += line[i] == ' ';
		if (line[i] == '\t' || (!m->answer && line[i] < 0))
			return false;
	}
	if (m->answer)
		return n >= 12 && (memcmp(line, "HTTP/1.1 ", 9) == 0 ||
				   memcmp(line, "HTTP/1.0 ", 9) == 0);
	return spaces == 2 && n > 9 &&
	       (memcmp(line + n - 9, " HTTP/1.1", 9) == 0 ||
		memcmp(line + n - 9, " HTTP/1.0", 9) == 0);
}

static void read_head(struct message *m)
{
	const char *head = buf_data(&m->head);
	size_t n = buf_len(&m->head), used;
	const char *line_end = memchr(head, '\r', n);

	if (!first_line_ok(m, head, (size_t)(line_end - head))) {
		bad(m);
		return;
	}
	used = run_parser(m, head, n);
	/* the end of the head is where both readers see the blank line */
	if (m->step == MESSAGE_HEAD || used != n)
		bad(m);
}

/* Add bytes up to the head's end; returns how many were taken. */
static size_t add_head(struct message *m, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len;

		buf_add(&m->head, p + i, 1);
		len = buf_len(&m->head);
		if (len > MESSAGE_HEAD_MAX ||
		    !byte_ok(buf_data(&m->head), len)) {
			bad(m);
			return n;
		}
		if (p[i] == '\n' && len >= 4 &&
		    memcmp(buf_data(&m->head) + len - 4, "\r\n\r\n", 4) == 0) {
			read_head(m);
			return i + 1;
		}
	}
	return n;
}

/* ---- the interface ---- */

void message_init(struct message *m, bool answer,
		  void (*body)(void *arg, const char *p, size_t n), void *arg)
{
	*m = (struct message){.answer = answer, .body = body, .arg = arg};
	message_next(m);
}

void message_next(struct message *m)
{
	llhttp_init(&m->parser, m->answer ? HTTP_RESPONSE : HTTP_REQUEST,
		    &settings);
	m->parser.data = m;
	m->step = MESSAGE_HEAD;
	buf_fini(&m->head);
	m->target = (struct span){0};
	m->n_fields = m->extra = 0;
	m->has_length = m->chunked = m->until_end = m->keeps = false;
	m->length = 0;
}

void message_fini(struct message *m)
{
	buf_fini(&m->head);
}

size_t message_add(struct message *m, const char *p, size_t n)
{
	switch (m->step) {
	case MESSAGE_HEAD:
		return add_head(m, p, n);
	case MESSAGE_BODY:
		return run_parser(m, p, n);
	default:
		return m->step == MESSAGE_BAD ? n : 0;
	}
}

void message_end(struct message *m)
{
	if (m->step == MESSAGE_BODY && m->until_end)
		m->step = MESSAGE_WHOLE;
	else if (m->step != MESSAGE_WHOLE)
		bad(m);
}

const char *message_method(const struct message *m)
{
	return m->step == MESSAGE_HEAD || m->step == MESSAGE_BAD
		   ? ""
		   : llhttp_method_name((llhttp_method_t)m->parser.method);
}

unsigned message_status(const struct message *m)
{
	return m->parser.status_code;
}

bool message_is_1_0(const struct message *m)
{
	return m->parser.http_minor == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_field.c - the header fields of one request, by a table: which are kept,
 * which may come once only, which values are refused. http_parse.c adds fields
 * as they come. An error is the status to refuse the request with, and a static
 * sentence.
 */
#include "supervisor/clients/http/http_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* Further fields, after those of enum http_field. */
enum { LENGTH = HTTP_FIELDS, CODING, EXPECT, ENCODING };

#define TWICE                                                                  \
	"a field that may come once came twice: Host, Origin, "                \
	"Content-*, Authorization, Mcp-* and the like"

static const struct {
	const char *name;
	/* the field may come several times: the values form one list */
	bool list;
} table[HTTP_SEEN] = {
    [HTTP_HOST] = {"Host", false},
    [HTTP_ORIGIN] = {"Origin", false},
    [HTTP_ACCEPT] = {"Accept", true},
    [HTTP_CONTENT_TYPE] = {"Content-Type", false},
    [HTTP_AUTHORIZATION] = {"Authorization", false},
    [HTTP_SESSION] = {"Mcp-Session-Id", false},
    [HTTP_REVISION] = {"MCP-Protocol-Version", false},
    [HTTP_LAST_EVENT] = {"Last-Event-ID", false},
    [HTTP_DIGEST] = {"Content-Digest", true},
    [HTTP_CONTENT_RANGE] = {"Content-Range", false},
    [HTTP_RANGE] = {"Range", true},
    [HTTP_IF_RANGE] = {"If-Range", true},
    [HTTP_MCP_METHOD] = {"Mcp-Method", false},
    [HTTP_MCP_NAME] = {"Mcp-Name", false},
    [HTTP_WANTS_METHOD] = {"Access-Control-Request-Method", false},
    [HTTP_WANTS_FIELDS] = {"Access-Control-Request-Headers", true},
    [LENGTH] = {"Content-Length", false},
    [CODING] = {"Transfer-Encoding", false},
    [EXPECT] = {"Expect", false},
    [ENCODING] = {"Content-Encoding", false},
};

void http_fields_fini(struct http_fields *f)
{
	for (size_t i = 0; i < HTTP_SEEN; i++)
		free(f->value[i]);
	for (size_t i = 0; i < f->n_params; i++) {
		free(f->params[i].name);
		free(f->params[i].value);
	}
	free(f->params);
	*f = (struct http_fields){0};
}

static bool is_field(const char *name, size_t len, const char *want)
{
	return strlen(want) == len && strncasecmp(name, want, len) == 0;
}

static const struct http_param *find_param(const struct http_param *params,
					   size_t n, const char *name,
					   size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (is_field(name, len, params[i].name))
			return &params[i];
	return NULL;
}

const char *http_param(const struct http_request *r, const char *name)
{
	const struct http_param *p =
	    find_param(r->params, r->n_params, name, strlen(name));

	return p != NULL ? p->value : NULL;
}

bool http_is_param(const char *name, size_t len)
{
	return len > strlen(HTTP_PARAM) &&
	       strncasecmp(name, HTTP_PARAM, strlen(HTTP_PARAM)) == 0;
}

int http_fields_add(struct http_fields *f, const char *name, size_t name_len,
		    const char *value, size_t value_len, const char **errmsg)
{
	size_t i = 0;
	char *old;

	if (++f->n > HTTP_FIELDS_MAX) {
		*errmsg = "more than 100 header fields came";
		return 431;
	}
	while (i < HTTP_SEEN && !is_field(name, name_len, table[i].name))
		i++;
	while (value_len > 0 && strchr(" \t", value[value_len - 1]) != NULL)
		value_len--;
	if (i == HTTP_SEEN && !http_is_param(name, name_len))
		return 0;
	if (i == HTTP_SEEN) {
		if (find_param(f->params, f->n_params, name, name_len) !=
		    NULL) {
			*errmsg = TWICE;
			return 400;
		}
		f->params =
		    xrealloc(f->params, (f->n_params + 1) * sizeof(*f->params));
		f->params[f->n_params++] = (struct http_param){
		    xstrndup(name, name_len), xstrndup(value, value_len)};
		return 0;
	}
	old = f->value[i];
	if (old == NULL) {
		f->value[i] = xstrndup(value, value_len);
		return 0;
	}
	if (!table[i].list) {
		*errmsg = TWICE;
		return 400;
	}
	f->value[i] = xasprintf("%s, %.*s", old, (int)value_len, value);
	free(old);
	return 0;
}

int http_fields_check(struct http_fields *f, bool http_1_0, const char **errmsg)
{
	const char *coding = f->value[CODING], *expect = f->value[EXPECT];
	const char *encoding = f->value[ENCODING], *host = f->value[HTTP_HOST];

	*errmsg = NULL;
	if (host == NULL || *host == '\0')
		*errmsg = "there is no Host";
	else if (coding != NULL && f->value[LENGTH] != NULL)
		*errmsg = "Content-Length and Transfer-Encoding came together";
	else if (coding != NULL && http_1_0)
		*errmsg = "HTTP/1.0 has no Transfer-Encoding";
	if (*errmsg != NULL)
		return 400;
	if (coding != NULL && strcasecmp(coding, "chunked") != 0) {
		*errmsg = "the only Transfer-Encoding taken is chunked";
		return 501;
	}
	if (encoding != NULL && strcasecmp(encoding, "identity") != 0) {
		*errmsg =
		    "a body is taken as it is, without a Content-Encoding";
		return 415;
	}
	f->expect = expect != NULL && strcasecmp(expect, "100-continue") == 0;
	if (expect != NULL && !f->expect) {
		*errmsg = "the only Expect known is 100-continue";
		return 417;
	}
	return 0;
}

void http_fields_lend(const struct http_fields *f, struct http_request *r)
{
	for (size_t i = 0; i < HTTP_FIELDS; i++)
		r->field[i] = f->value[i];
	r->params = f->params;
	r->n_params = f->n_params;
}

/*
 * Return the length of the media type that S begins with: up to a parameter,
 * the next member of a list, or a blank.
 */
static size_t type_len(const char *s)
{
	return strcspn(s, ";, \t");
}

bool http_accepts(const char *list, const char *type)
{
	const char *s = list;
	size_t major = strcspn(type, "/") + 1;

	while (s != NULL && *s != '\0') {
		size_t n;

		s += strspn(s, ", \t");
		n = type_len(s);
		/* the media range is type/subtype, type/<*> or <*>/<*> */
		if (is_field(s, n, type) || is_field(s, n, "*/*") ||
		    (n == major + 1 && s[major] == '*' &&
		     strncasecmp(s, type, major) == 0))
			return true;
		s += strcspn(s, ",");
	}
	return false;
}

bool http_is_type(const char *value, const char *type)
{
	size_t n = value == NULL ? 0 : type_len(value);

	return n > 0 && is_field(value, n, type) && value[n] != ',';
}

/* ---- the field Range: "bytes=4-7", "bytes=4-" or "bytes=-4" ---- */

static const char digits[] = "0123456789";

/* Return the number of N digits at P, or INT64_MAX if the number is larger. */
static int64_t parse_position(const char *p, size_t n)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, p[i] - '0', &v))
			return INT64_MAX;
	return v;
}

/* Set *AT and *GOT to the last N bytes of a file of SIZE bytes. */
static int suffix(int64_t n, int64_t size, int64_t *at, int64_t *got)
{
	if (n == 0)
		return -ERANGE;
	if (size == 0)
		/* no Content-Range can describe a part of an empty file */
		return -ENOENT;
	*got = n < size ? n : size;
	*at = size - *got;
	return 0;
}

int http_range(const char *field, int64_t size, int64_t *at, int64_t *n)
{
	static const char unit[] = "bytes=";
	size_t first, last;
	int64_t from, to;
	const char *p;

	if (strncasecmp(field, unit, strlen(unit)) != 0)
		return -ENOENT;
	p = field + strlen(unit) + strspn(field + strlen(unit), " \t");
	first = strspn(p, digits);
	if (p[first] != '-')
		return -ENOENT;
	last = strspn(p + first + 1, digits);
	if (p[first + 1 + last + strspn(p + first + 1 + last, " \t")] != '\0' ||
	    first + last == 0)
		return -ENOENT;
	from = parse_position(p, first);
	to = last > 0 ? parse_position(p + first + 1, last) : INT64_MAX;
	if (first == 0)
		return suffix(to, size, at, n);
	if (to < from)
		return -ENOENT;
	if (from >= size)
		return -ERANGE;
	*at = from;
	*n = (to < size ? to + 1 : size) - from;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_uri.c - resolves references as RFC 3986 says (section 5.2), for
 * schema_refs.c and others. URIs are compared as spelt: no case folding, no
 * decoding. Nothing here fails.
 */
#include "proto/schema/schema_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text/hex.h"
#include "base/mem.h"

/* A piece of a URI; p NULL: absent, which differs from empty. */
struct part {
	const char *p;
	size_t n;
};

struct uri {
	struct part scheme, authority, path, query;
};

static size_t scheme_len(const char *s)
{
	size_t n = 0;

	if (!isalpha((unsigned char)s[0]))
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '+' || s[n] == '-' ||
	       s[n] == '.')
		n++;
	return s[n] == ':' ? n : 0;
}

static void split_uri(struct uri *u, const char *s)
{
	size_t n = scheme_len(s);

	*u = (struct uri){0};
	if (n > 0) {
		u->scheme = (struct part){s, n};
		s += n + 1;
	}
	if (s[0] == '/' && s[1] == '/') {
		s += 2;
		n = strcspn(s, "/?#");
		u->authority = (struct part){s, n};
		s += n;
	}
	n = strcspn(s, "?#");
	u->path = (struct part){s, n};
	s += n;
	if (*s == '?')
		u->query = (struct part){s + 1, strcspn(s + 1, "#")};
}

/* Remove "." and ".." from PATH (section 5.2.4), in place. */
static void remove_dots(char *path)
{
	char *in = path, *out = path;

	while (*in != '\0') {
		size_t n =
		    (size_t)(*in == '/') + strcspn(in + (*in == '/'), "/");
		const char *name = in + (*in == '/');
		size_t len = n - (size_t)(*in == '/');
		bool last = in[n] == '\0';
		bool one = len == 1 && name[0] == '.';
		bool two = len == 2 && name[0] == '.' && name[1] == '.';

		if (two)
			while (out > path && *--out != '/')
				;
		if (one || two) {
			if (last && *in == '/')
				*out++ = '/';
			else if (!last && *in != '/')
				n++; /* "../a" leaves "a" */
		} else {
			memmove(out, in, n);
			out += n;
		}
		in += n;
	}
	*out = '\0';
}

/* Merge REF's path with BASE's (section 5.2.3). */
static char *merge_paths(const struct uri *base, const struct uri *ref)
{
	size_t keep = 0;

	if (base->authority.p != NULL && base->path.n == 0)
		return xasprintf("/%.*s", (int)ref->path.n, ref->path.p);
	for (size_t i = 0; i < base->path.n; i++)
		if (base->path.p[i] == '/')
			keep = i + 1;
	return xasprintf("%.*s%.*s", (int)keep, base->path.p, (int)ref->path.n,
			 ref->path.p);
}

/* Return the path of the result; *QUERY becomes the query for the path. */
static char *target_path(const struct uri *base, const struct uri *ref,
			 struct part *query)
{
	char *path;

	*query = ref->query;
	if (ref->scheme.p != NULL || ref->authority.p != NULL ||
	    (ref->path.n > 0 && ref->path.p[0] == '/'))
		path = xstrndup(ref->path.p, ref->path.n);
	else if (ref->path.n > 0)
		path = merge_paths(base, ref);
	else {
		if (ref->query.p == NULL)
			*query = base->query;
		return xstrndup(base->path.p, base->path.n);
	}
	if (path[0] == '/' || ref->scheme.p == NULL)
		remove_dots(path);
	return path;
}

char *schema_uri_resolve(const char *base, const char *ref)
{
	struct uri b, r;
	struct part scheme, authority, query;
	struct buf out = {0};
	char *path;

	split_uri(&b, base);
	split_uri(&r, ref);
	scheme = r.scheme.p != NULL ? r.scheme : b.scheme;
	authority = r.scheme.p != NULL || r.authority.p != NULL ? r.authority
								: b.authority;
	path = target_path(&b, &r, &query);
	if (scheme.p != NULL)
		buf_printf(&out, "%.*s:", (int)scheme.n, scheme.p);
	if (authority.p != NULL)
		buf_printf(&out, "//%.*s", (int)authority.n, authority.p);
	buf_add_str(&out, path);
	if (query.p != NULL)
		buf_printf(&out, "?%.*s", (int)query.n, query.p);
	free(path);
	return buf_take(&out, NULL);
}

char *schema_uri_fragment(const char *ref)
{
	const char *hash = strchr(ref, '#');
	char *out = xstrdup(hash != NULL ? hash + 1 : "");
	char *to = out;

	for (const char *p = out; *p != '\0'; p++) {
		int c = *p == '%' ? hex_read(p + 1, 2) : -1;

		if (c >= 0) {
			*to++ = (char)c;
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
	return out;
}

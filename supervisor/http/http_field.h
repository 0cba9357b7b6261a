/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_field.h - the header fields of one request: which are wanted, which
 * may come once, and what they must not say.
 */
#ifndef SUPERVISOR_HTTP_HTTP_FIELD_H
#define SUPERVISOR_HTTP_HTTP_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/http/http_parse.h"

#define HTTP_SEEN 20 /* fields in the table of http_field.c */

/* All zero is none. */
struct http_fields {
	size_t n;		   /* that came */
	char *value[HTTP_SEEN];	   /* owned; NULL: absent */
	struct http_param *params; /* owned, with all in it */
	size_t n_params;
	bool expect; /* 100-continue */
};

void http_fields_fini(struct http_fields *f); /* F is empty again */

/* One came. 0, or the status to refuse it with and *ERRMSG (static). */
int http_fields_add(struct http_fields *f, const char *name, size_t name_len,
		    const char *value, size_t value_len, const char **errmsg);
/* All came: the same. */
int http_fields_check(struct http_fields *f, bool http_1_0,
		      const char **errmsg);
/* Lends the wanted ones to R. */
void http_fields_lend(const struct http_fields *f, struct http_request *r);

/* Does NAME begin with HTTP_PARAM, and go on? Then what it says is kept. */
bool http_is_param(const char *name, size_t len);
/* What R's field NAME, such an one, says, lent; NULL: it did not come. */
const char *http_param(const struct http_request *r, const char *name);

/* Does LIST, as of Accept, take TYPE ("application/json")? NULL takes none. */
bool http_accepts(const char *list, const char *type);
/* Is VALUE, a Content-Type, TYPE, whatever its parameters? */
bool http_is_type(const char *value, const char *type);

#endif

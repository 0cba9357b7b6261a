/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_field.h - the header fields of one request: which are kept, which may
 * come once only, which values are refused.
 */
#ifndef SUPERVISOR_HTTP_HTTP_FIELD_H
#define SUPERVISOR_HTTP_HTTP_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/clients/http/http_parse.h"

#define HTTP_SEEN 20 /* fields in the table of http_field.c */

/* Empty when all bytes are zero. */
struct http_fields {
	size_t n;		   /* number of fields that came */
	char *value[HTTP_SEEN];	   /* owned; NULL: absent */
	struct http_param *params; /* owned, with the strings */
	size_t n_params;
	bool expect; /* the client sent Expect: 100-continue */
};

void http_fields_fini(struct http_fields *f); /* leaves F empty */

/*
 * Add one field. Returns 0, or the status to refuse the request with and a
 * static text in *ERRMSG.
 */
int http_fields_add(struct http_fields *f, const char *name, size_t name_len,
		    const char *value, size_t value_len, const char **errmsg);
/*
 * Check the fields after the last was added. Returns the same as
 * http_fields_add().
 */
int http_fields_check(struct http_fields *f, bool http_1_0,
		      const char **errmsg);
/* *Lends* the kept fields to R. */
void http_fields_lend(const struct http_fields *f, struct http_request *r);

/*
 * Is NAME a field whose name is HTTP_PARAM and something more? Such fields are
 * kept.
 */
bool http_is_param(const char *name, size_t len);
/*
 * Return the value of R's field NAME, which begins with HTTP_PARAM, *lent*, or
 * NULL if the field did not come.
 */
const char *http_param(const struct http_request *r, const char *name);

/*
 * Does LIST, the value of Accept, take TYPE ("application/json")? NULL takes
 * none.
 */
bool http_accepts(const char *list, const char *type);
/*
 * Does VALUE, the value of Content-Type, name TYPE, with or without parameters?
 */
bool http_is_type(const char *value, const char *type);

/*
 * Read FIELD, for a file of SIZE bytes (0 or more). Returns 0: send *N bytes (1
 * or more) from *AT on; -ERANGE: the file has no byte of that part (416);
 * -ENOENT: send the whole file, since FIELD is not a list of byte ranges, or
 * lists several parts.
 */
int http_range(const char *field, int64_t size, int64_t *at, int64_t *n);

#endif

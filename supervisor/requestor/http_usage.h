/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_usage.h - what one requestor's connections hold of what is there for
 * all of them; http_conn.h counts it, and says what follows.
 */
#ifndef SUPERVISOR_REQUESTOR_HTTP_USAGE_H
#define SUPERVISOR_REQUESTOR_HTTP_USAGE_H

#include <stddef.h>

struct http_usage {    /* all-zero: nothing */
	size_t bodies; /* bytes of requests that are not answered yet */
	size_t unread; /* bytes that its clients are to read */
};

#endif

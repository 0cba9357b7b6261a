/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_usage.h - counts how much one requestor's connections hold of the bounds
 * shared by all requestors; http_conn.h counts, and tells the consequences.
 */
#ifndef SUPERVISOR_REQUESTOR_HTTP_USAGE_H
#define SUPERVISOR_REQUESTOR_HTTP_USAGE_H

#include <stddef.h>

struct memory_account;

struct http_usage {    /* bytes held by connections; zero: none */
	size_t bodies; /* bytes of requests not yet answered */
	size_t unread; /* bytes of answers not yet read by clients */
	struct memory_account
	    *memory; /* an account that counts both sums, too; or NULL */
};

#endif

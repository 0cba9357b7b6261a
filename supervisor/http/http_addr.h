/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_addr.h - where HTTP is served, and whether a request may say that it
 * is meant for there (DNS rebinding: a page's name may lead to loopback).
 */
#ifndef SUPERVISOR_HTTP_HTTP_ADDR_H
#define SUPERVISOR_HTTP_HTTP_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define HTTP_ADDR_SIZE 64 /* "[…]:65535" with NUL */

struct http_addr {
	struct sockaddr_storage addr;
	socklen_t len;
	bool loopback;
};

/* LISTEN is ADDR:PORT as the configuration takes it. False: it is not. */
bool http_addr_parse(struct http_addr *a, const char *listen);
void http_addr_text(const struct http_addr *a, char out[HTTP_ADDR_SIZE]);

/*
 * Is HOST, a Host field, one that means us? On loopback: its own names and
 * A's. ALLOWED are more names, with spaces between them, or NULL; beyond
 * loopback any HOST passes without them.
 */
bool http_host_ok(const struct http_addr *a, const char *host,
		  const char *allowed);

/*
 * Is ORIGIN that of a page of the same host as HOST, of loopback, or one of
 * ALLOWED (whole origins, with spaces between them, or NULL)?
 */
bool http_origin_ok(const char *origin, const char *host, const char *allowed);

#endif

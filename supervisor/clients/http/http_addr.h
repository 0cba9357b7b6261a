/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_addr.h - the address at which HTTP is served, and whether the Host and
 * Origin of a request mean this server (against DNS rebinding: the name of a
 * page's host may lead to loopback).
 */
#ifndef SUPERVISOR_HTTP_HTTP_ADDR_H
#define SUPERVISOR_HTTP_HTTP_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define HTTP_ADDR_SIZE 64 /* an IPv6 address in brackets, ":65535" and NUL */

struct http_addr {
	struct sockaddr_storage addr;
	socklen_t len;
	bool loopback;
};

/*
 * Parse LISTEN, which is ADDR:PORT as in the configuration. False: not such a
 * text.
 */
bool http_addr_parse(struct http_addr *a, const char *listen);
void http_addr_text(const struct http_addr *a, char out[HTTP_ADDR_SIZE]);

/*
 * Does HOST, the value of a Host field, name this server? On loopback these
 * names pass: localhost, 127.0.0.1, [::1] and the address A. ALLOWED has more
 * names, separated by spaces, or is NULL; on an address beyond loopback any
 * HOST passes if ALLOWED is NULL.
 */
bool http_host_ok(const struct http_addr *a, const char *host,
		  const char *allowed);

/*
 * Does ORIGIN name a page of the same host as HOST, a page of loopback, or a
 * member of ALLOWED (whole origins, separated by spaces, or NULL)?
 */
bool http_origin_ok(const char *origin, const char *host, const char *allowed);

#endif

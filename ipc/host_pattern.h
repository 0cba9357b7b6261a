/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_pattern.h - patterns of hosts: which a template's pages may reach. One word
 * each, as an operator writes it and as paddock-browser is told it:
 *
 *   *                    any host
 *   example.org          that name
 *   *.example.org        all names below it, not it
 *   192.0.2.7 [2001:db8::7]         an address
 *   10.0.0.0/8 [fd00::]/8           a network of them
 *
 * and ":PORT" after any of these: that port alone. Pure functions.
 */
#ifndef IPC_HOST_PATTERN_H
#define IPC_HOST_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define HOST_PATTERNS_MAX 256u /* patterns of one template */
/* bytes of one: a name of 253, "*." and a port */
#define HOST_PATTERN_TEXT 272u

enum host_kind {
	HOST_ANY,
	HOST_NAME,
	HOST_BELOW,
	HOST_NET, /* an address is a network of one */
};

struct host_pattern {
	enum host_kind kind;
	unsigned port;	    /* 0: every port */
	char name[254];	    /* of NAME and BELOW: lower case, no final dot */
	sa_family_t family; /* of NET */
	uint8_t net[16];
	unsigned bits;
};

/* LEN bytes of TEXT. 0, or -EINVAL: no pattern. */
int host_pattern_parse(struct host_pattern *p, const char *text, size_t len);
/* Are they HOST:PORT, one host by its name or address? */
bool host_pattern_is_place(const char *text, size_t len);

/*
 * HOST as a URL or a SOCKS request has it: a name in lower case without a
 * final dot, or an address without brackets. An address is matched by ANY and
 * by networks, a name by all the others.
 */
bool host_pattern_matches(const struct host_pattern *p, const char *host,
			  unsigned port);
/* Is P a network that ADDRESS is in, at that port? */
bool host_pattern_has(const struct host_pattern *p,
		      const struct sockaddr *address, unsigned port);

/*
 * Is HOST an address of IPv4 to browsers, or none at all: is its last label a
 * number, however it is written?
 */
bool host_is_numeric(const char *host);

/* HOST as an address, however a browser writes it; false: it is a name. */
bool host_is_address(const char *host, struct sockaddr_storage *address);

#endif

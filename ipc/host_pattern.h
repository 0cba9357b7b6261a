/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_pattern.h - patterns of the hosts that a template's pages may reach. A
 * pattern is a word, as written by an operator and as given to paddock-browser:
 *
 *   *                    any host
 *   example.org          that name
 *   *.example.org        all names below example.org, not example.org itself
 *   192.0.2.7 [2001:db8::7]         an address
 *   10.0.0.0/8 [fd00::]/8           a network of addresses
 *
 * ":PORT" behind a pattern limits it to that port. Pure functions.
 */
#ifndef IPC_HOST_PATTERN_H
#define IPC_HOST_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define HOST_PATTERNS_MAX 256u /* most patterns of a template */
/* bytes of a pattern: a name of 253, "*." and a port */
#define HOST_PATTERN_TEXT 272u

enum host_kind {
	HOST_ANY,
	HOST_NAME,
	HOST_BELOW,
	HOST_NET, /* an address is a network of one */
};

struct host_pattern {
	enum host_kind kind;
	unsigned port;	    /* the port; 0: every port */
	char name[254];	    /* name of NAME and BELOW: lower case, no final
			       dot */
	sa_family_t family; /* family of NET */
	uint8_t net[16];
	unsigned bits;
};

/* Parse LEN bytes of TEXT. 0, or -EINVAL: no pattern. */
int host_pattern_parse(struct host_pattern *p, const char *text, size_t len);
/* Is TEXT of the form HOST:PORT, with a single host by name or address? */
bool host_pattern_is_place(const char *text, size_t len);

/*
 * Does HOST match P? HOST is as in a URL or a SOCKS request: a name in lower
 * case without a final dot, or an address without brackets. HOST_ANY and
 * networks match addresses; all kinds but networks match names.
 */
bool host_pattern_matches(const struct host_pattern *p, const char *host,
			  unsigned port);
/* Is P a network with ADDRESS in it, at that port? */
bool host_pattern_has(const struct host_pattern *p,
		      const struct sockaddr *address, unsigned port);

/*
 * Do browsers take HOST for an IPv4 address, or for nothing: is the last label
 * a number, in any notation?
 */
bool host_is_numeric(const char *host);

/*
 * Read HOST as an address, in any notation of browsers; false: HOST is a name.
 */
bool host_is_address(const char *host, struct sockaddr_storage *address);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socks.h - messages of SOCKS 5 (RFC 1928), as far as served here: no
 * authentication, CONNECT. Pure.
 */
#ifndef BROWSER_NET_SOCKS_H
#define BROWSER_NET_SOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "net/url_policy.h"

#define SOCKS_VERSION 5
#define SOCKS_MESSAGE_MAX 262 /* bytes of the client's longest message */
#define SOCKS_REPLY_BYTES 10

/* code of our answer */
enum socks_code {
	SOCKS_DONE = 0,
	SOCKS_FAILED = 1,
	SOCKS_FORBIDDEN = 2,
	SOCKS_UNREACHABLE = 4,
	SOCKS_REFUSED = 5,
	SOCKS_NO_SUCH_COMMAND = 7,
	SOCKS_NO_SUCH_ADDRESS = 8
};

/* methods of authentication */
enum { SOCKS_NO_AUTH = 0, SOCKS_NO_METHOD = 0xff };

struct socks_request {
	char host[URL_HOST_MAX]; /* a name, or an address without brackets */
	unsigned port;
};

/*
 * Parse a greeting in the LEN bytes at P: its length, with our answer in
 * *METHOD; 0: incomplete; -EPROTO: no greeting.
 */
int socks_greeting(const uint8_t *p, size_t len, uint8_t *method);
/*
 * Parse a request likewise. A request not understood or not served is -EPROTO
 * as soon as known, with *CODE for the answer.
 */
int socks_request(const uint8_t *p, size_t len, struct socks_request *r,
		  enum socks_code *code);
/* Write our answer to a request. */
void socks_reply(uint8_t text[SOCKS_REPLY_BYTES], enum socks_code code);

#endif

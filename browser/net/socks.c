/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socks.c - parses the messages of a SOCKS 5 client, and makes our answers, for
 * proxy.c. Input that is not understood or not served is -EPROTO.
 */
#include "browser/net/socks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

enum { CONNECT = 1 };
enum { TO_V4 = 1, TO_NAME = 3, TO_V6 = 4 };

/* A greeting is VERSION, n, n methods. */
int socks_greeting(const uint8_t *p, size_t len, uint8_t *method)
{
	if (len > 0 && p[0] != SOCKS_VERSION)
		return -EPROTO;
	if (len < 2 || len < 2u + p[1])
		return 0;
	*method = memchr(p + 2, SOCKS_NO_AUTH, p[1]) != NULL ? SOCKS_NO_AUTH
							     : SOCKS_NO_METHOD;
	return 2 + p[1];
}

/* Take a name of N bytes, at most 255. */
static int take_name(const uint8_t *p, size_t n, char host[URL_HOST_MAX])
{
	if (n > 2 && p[0] == '[' && p[n - 1] == ']')
		p++, n -= 2;
	if (n == 0 || memchr(p, '\0', n) != NULL)
		return -EPROTO;
	memcpy(host, p, n);
	host[n] = '\0';
	return 0;
}

/* A request is VERSION, command, 0, type, address, port. */
int socks_request(const uint8_t *p, size_t len, struct socks_request *r,
		  enum socks_code *code)
{
	size_t at = 4, n;

	if (len < 5)
		return 0;
	*code = p[1] != CONNECT ? SOCKS_NO_SUCH_COMMAND : SOCKS_NO_SUCH_ADDRESS;
	if (p[0] != SOCKS_VERSION || p[1] != CONNECT ||
	    (p[3] != TO_V4 && p[3] != TO_V6 && p[3] != TO_NAME))
		return -EPROTO;
	n = p[3] == TO_V4 ? 4 : p[3] == TO_V6 ? 16 : p[4];
	at += p[3] == TO_NAME;
	if (len < at + n + 2)
		return 0;
	if (p[3] == TO_NAME ? take_name(p + at, n, r->host) < 0
			    : inet_ntop(p[3] == TO_V4 ? AF_INET : AF_INET6,
					p + at, r->host, URL_HOST_MAX) == NULL)
		return -EPROTO;
	r->port = (unsigned)p[at + n] << 8 | p[at + n + 1];
	return (int)(at + n + 2);
}

/* A reply is VERSION, code, 0, and our address as 0.0.0.0:0. */
void socks_reply(uint8_t text[SOCKS_REPLY_BYTES], enum socks_code code)
{
	memset(text, 0, SOCKS_REPLY_BYTES);
	text[0] = SOCKS_VERSION;
	text[1] = (uint8_t)code;
	text[3] = TO_V4;
}

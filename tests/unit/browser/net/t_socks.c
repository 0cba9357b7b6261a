/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a SOCKS 5 client. */
#include "browser/net/socks.h"

#include <errno.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

TEST(greetings)
{
	static const struct {
		const uint8_t *p;
		size_t n;
		int want;
		uint8_t method;
		const char *about;
	} cases[] = {
	    {BYTES(""), 0, 0, "nothing is not whole"},
	    {BYTES("\5"), 0, 0, "nor is a version"},
	    {BYTES("\5\2\0"), 0, 0, "nor one that lacks a method"},
	    {BYTES("\5\1\0"), 3, SOCKS_NO_AUTH, "a greeting is"},
	    {BYTES("\5\2\2\0"), 4, SOCKS_NO_AUTH, "of several methods"},
	    {BYTES("\5\1\0\5\1"), 3, SOCKS_NO_AUTH, "and no more is taken"},
	    {BYTES("\5\0"), 2, SOCKS_NO_METHOD, "none will do without one"},
	    {BYTES("\5\2\1\2"), 4, SOCKS_NO_METHOD, "nor without ours"},
	    {BYTES("\4\1"), -EPROTO, 0, "SOCKS 4 is another protocol"},
	    {BYTES("GET /"), -EPROTO, 0, "and so is HTTP"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t method = 0;

		is_int(socks_greeting(cases[i].p, cases[i].n, &method),
		       cases[i].want, "%s", cases[i].about);
		is_int(method, cases[i].method,
		       "the method of the answer to the greeting");
	}
}

TEST(requests)
{
	static const struct {
		const uint8_t *p;
		size_t n;
		int want;
		const char *host;
		unsigned port;
	} cases[] = {
	    {BYTES("\5\1\0\1\1\2\3\4\1\273"), 10, "1.2.3.4", 443},
	    {BYTES("\5\1\0\3\1a\0\120"), 8, "a", 80},
	    {BYTES("\5\1\0\3\1a\0\120more"), 8, "a", 80},
	    {BYTES("\5\1\0\3\1a\377\377"), 8, "a", 65535},
	    {BYTES("\5\1\0\3\5[::1]\0\120"), 12, "::1", 80},
	    {BYTES("\5\1\0\3\2[]\0\120"), 9, "[]", 80},
	    {BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1\0\120"), 22,
	     "::ffff:127.0.0.1", 80},
	    {BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\120"), 22, "::1",
	     80},
	};
	struct socks_request r;
	enum socks_code code;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		is_int(socks_request(cases[i].p, cases[i].n, &r, &code),
		       cases[i].want, "%s is asked for", cases[i].host);
		is_str(r.host, cases[i].host, "the requested host is read");
		is_int(r.port, cases[i].port, "the requested port is read");
		for (int n = 0; n < cases[i].want; n++)
			if (socks_request(cases[i].p, (size_t)n, &r, &code) !=
			    0)
				ok(false, "%d bytes are not whole", n);
	}
}

TEST(refusals)
{
	static const struct {
		const uint8_t *p;
		size_t n;
		enum socks_code code;
		const char *about;
	} cases[] = {
	    {BYTES("\5\2\0\1\1\2\3\4\0\120"), SOCKS_NO_SUCH_COMMAND, "BIND"},
	    {BYTES("\5\3\0\1\1\2\3\4\0\120"), SOCKS_NO_SUCH_COMMAND, "UDP"},
	    {BYTES("\5\1\0\2\1\2\3\4\0\120"), SOCKS_NO_SUCH_ADDRESS,
	     "an address of no kind"},
	    {BYTES("\5\1\0\3\0\0\120"), SOCKS_NO_SUCH_ADDRESS, "no name"},
	    {BYTES("\5\1\0\3\3a\0b\0\120"), SOCKS_NO_SUCH_ADDRESS,
	     "a name with a NUL"},
	    {BYTES("\4\1\0\3\1a\0\120"), SOCKS_NO_SUCH_ADDRESS,
	     "another version"},
	};
	struct socks_request r;
	enum socks_code code;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		code = SOCKS_DONE;
		is_int(socks_request(cases[i].p, cases[i].n, &r, &code),
		       -EPROTO, "%s is refused", cases[i].about);
		is_int(code, cases[i].code, "the refusal has the right code");
	}
}

TEST(lengths)
{
	uint8_t m[SOCKS_MESSAGE_MAX] = {5, 1, 0, 3, 255};
	struct socks_request r;
	enum socks_code code;

	memset(m + 5, 'a', 255);
	is_int(socks_request(m, sizeof(m), &r, &code), SOCKS_MESSAGE_MAX,
	       "a name may have 255 bytes");
	is_int(strlen(r.host), 255, "a host name of 255 bytes is read");
	is_int(socks_request(m, sizeof(m) - 1, &r, &code), 0,
	       "a request with a missing byte is incomplete");
}

TEST(reply)
{
	uint8_t text[SOCKS_REPLY_BYTES];

	socks_reply(text, SOCKS_FORBIDDEN);
	ok(memcmp(text, "\5\2\0\1\0\0\0\0\0", sizeof(text)) == 0,
	   "an answer is a whole message");
}

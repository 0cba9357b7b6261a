/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_host_pattern.c - valid and invalid host patterns, and the hosts that patterns
 * match.
 */
#include "ipc/host_pattern.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static const char *const wrong[] = {
    /* no name, or port */
    "", "**", "*.", "*.*.b", "a..b", ".a", "a.", "a b", "a/b", "http://a",
    "a:", "a:0", "a:65536", "a:08", "a:8x", "a:1:2",
    /* no address */
    "::1", "[::1", "[::1]x", "[::1]/129", "[127.0.0.1]", "[::1]/0",
    "10.0.0.0/0", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "1.2.3",
    "1.2.3.4.5", "0x7f.1", "127.1", "2130706433", "*.10", "a.0x1",
    "\xe4\xbe\x8b.example", "[fe80::1%25lo]", "a\xff", "*:", "*.a/8", "[::]/1x",
    "[2001:db8::1]/32", "-:", "a@b", "user:80@b"};

/* A pattern, a host, a port, and whether the host matches. */
static const struct {
	const char *pattern, *host;
	unsigned port;
	bool matches;
} cases[] = {
    {"*", "example.org", 80, true},
    {"*", "127.0.0.1", 80, true},
    {"*:443", "example.org", 443, true},
    {"*:443", "example.org", 80, false},
    {"example.org", "example.org", 8443, true},
    {"Example.ORG", "example.org", 80, true},
    {"example.org", "EXAMPLE.org", 80, true},
    {"example.org", "www.example.org", 80, false},
    {"example.org", "badexample.org", 80, false},
    {"example.org", "example.org.evil.test", 80, false},
    {"example.org:80", "example.org", 80, true},
    {"example.org:80", "example.org", 8080, false},
    {"*.example.org", "www.example.org", 80, true},
    {"*.example.org", "a.b.example.org", 80, true},
    {"*.example.org", "example.org", 80, false},
    {"*.example.org", "badexample.org", 80, false},
    {"*.example.org", ".example.org", 80, false},
    {"127.0.0.1", "127.0.0.1", 80, true},
    {"127.0.0.1", "127.0.0.2", 80, false},
    /* browsers read the number so */
    {"127.0.0.1", "2130706433", 80, true},
    {"127.0.0.1", "0x7f.1", 80, true},
    {"127.0.0.1", "localhost", 80, false},
    {"127.0.0.1:8080", "127.0.0.1", 80, false},
    {"10.0.0.0/8", "10.255.0.1", 80, true},
    {"10.0.0.0/8", "11.0.0.1", 80, false},
    {"172.16.0.0/12", "172.31.255.255", 80, true},
    {"172.16.0.0/12", "172.32.0.0", 80, false},
    {"10.0.0.0/8", "::ffff:10.0.0.1", 80, false},
    {"[::1]", "::1", 80, true},
    {"[::1]:80", "::1", 80, true},
    {"[::1]:80", "::1", 81, false},
    {"[::1]", "::2", 80, false},
    {"[fd00::]/8", "fd12::1", 80, true},
    {"[fd00::]/8", "fc00::1", 80, false},
    {"[fd00::]/8:80", "fd12::1", 80, true},
    {"xn--fiqs8s.example", "xn--fiqs8s.example", 80, true},
    {"a_b.example", "a_b.example", 80, true},
};

static void networks(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(0x0A010203)};
	struct host_pattern p;

	host_pattern_parse(&p, "10.0.0.0/8:80", 13);
	ok(host_pattern_has(&p, (struct sockaddr *)&in, 80),
	   "an address in the network matches");
	ok(!host_pattern_has(&p, (struct sockaddr *)&in, 81),
	   "an address at another port does not match");
	host_pattern_parse(&p, "*", 1);
	ok(!host_pattern_has(&p, (struct sockaddr *)&in, 80),
	   "a pattern for any host has no address");
	host_pattern_parse(&p, "[::]/1", 6);
	ok(!host_pattern_has(&p, (struct sockaddr *)&in, 80),
	   "an address of the other family does not match");
}

int main(void)
{
	char text[HOST_PATTERN_TEXT + 2];
	struct host_pattern p;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		is_int(host_pattern_parse(&p, wrong[i], strlen(wrong[i])),
		       -EINVAL, "no pattern: %s", wrong[i]);
	is_int(host_pattern_parse(&p, "a\0b", 3), -EINVAL,
	       "a pattern with a NUL is refused");
	memset(text, 'a', sizeof(text));
	is_int(host_pattern_parse(&p, text, sizeof(text)), -EINVAL,
	       "an overlong pattern is refused");
	for (size_t i = 63; i < 253; i += 64)
		text[i] = '.';
	is_int(host_pattern_parse(&p, text, 253), 0,
	       "the longest name is a pattern");
	is_int(host_pattern_parse(&p, text, 254), -EINVAL,
	       "a name of one byte more is refused");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		is_int(host_pattern_parse(&p, cases[i].pattern,
					  strlen(cases[i].pattern)),
		       0, "a pattern: %s", cases[i].pattern);
		is_int(host_pattern_matches(&p, cases[i].host, cases[i].port),
		       cases[i].matches, "%s %s %s at %u", cases[i].pattern,
		       cases[i].matches ? "is" : "is not", cases[i].host,
		       cases[i].port);
	}
	networks();
	return tap_done();
}

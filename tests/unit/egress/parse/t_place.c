/* SPDX-License-Identifier: Apache-2.0 */
/* t_place.c - hosts and ports as requests name them, and rare forms, which are none. */
#include "egress/parse/place.h"

#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static const char *const wrong[] = {"",
				    ":80",
				    "a:",
				    "a:0",
				    "a:65536",
				    "a:080",
				    "a:+80",
				    "a: 80",
				    "a:80:80",
				    "a b:80",
				    "u@a:80",
				    "a/:80",
				    "[::1",
				    "::1:80",
				    "[::1%25lo]:80",
				    "[127.0.0.1]:80",
				    "0x7f.1:80",
				    "0177.0.0.1:80",
				    "127.1:80",
				    "2130706433:80",
				    "1.2.3.4.5:80",
				    "a..b:80",
				    ".a:80",
				    "a.:80",
				    "*:80",
				    "*.a:80",
				    "10.0.0.0/8:80",
				    "\xc3\xa4:80",
				    "a%2e:80",
				    "http://a:80"};

static const struct {
	const char *text, *host;
	unsigned fallback, port;
	bool literal;
} right[] = {
    {"a:80", "a", 0, 80, false},
    {"Example.ORG:443", "example.org", 0, 443, false},
    {"a", "a", 80, 80, false},
    {"192.0.2.7:80", "192.0.2.7", 0, 80, true},
    {"[2001:DB8:0:0::7]:8443", "2001:db8::7", 0, 8443, true},
    {"[::1]", "::1", 80, 80, true},
    {"a_b-c.d:1", "a_b-c.d", 0, 1, false},
};

TEST(places)
{
	struct place at;
	char text[PLACE_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		ok(!place_parse(&at, wrong[i], strlen(wrong[i]), 80) ||
		       strchr(wrong[i], ':') == NULL,
		   "\"%s\" is no place", wrong[i]);
	ok(!place_parse(&at, "a", 1, 0), "a port may be needed");
	ok(!place_parse(&at, "a\0b:80", 6, 0), "a NUL is in no place");
	for (size_t i = 0; i < ARRAY_LEN(right); i++) {
		ok(place_parse(&at, right[i].text, strlen(right[i].text),
			       right[i].fallback),
		   "\"%s\" is a place", right[i].text);
		is_str(at.host, right[i].host, "the host of \"%s\"",
		       right[i].text);
		is_int(at.port, right[i].port, "the port of \"%s\"",
		       right[i].text);
		is_int(at.literal, right[i].literal, "is \"%s\" an address?",
		       right[i].text);
	}
	place_text(text, &(struct place){.host = "::1", .port = 80}, 443);
	is_str(text, "[::1]:80", "a place as text");
	place_text(text, &(struct place){.host = "a", .port = 80}, 80);
	is_str(text, "a", "the usual port is left out");
}

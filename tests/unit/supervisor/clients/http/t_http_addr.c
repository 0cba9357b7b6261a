/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_addr.c - which Host and Origin may come to which address. */
#include "base/mem.h"
#include "supervisor/clients/http/http_addr.h"
#include "tests/unit/tap.h"

static const struct {
	const char *listen, *text;
	bool loopback;
} addresses[] = {
    {"127.0.0.1:80", "127.0.0.1:80", true},
    {"127.1.2.3:0", "127.1.2.3:0", true},
    {"localhost:8080", "127.0.0.1:8080", true},
    {"[::1]:65535", "[::1]:65535", true},
    {"0.0.0.0:80", "0.0.0.0:80", false},
    {"[::]:80", "[::]:80", false},
    {"[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]:80", false},
    {"192.0.2.1:80", "192.0.2.1:80", false},
};

static const struct {
	const char *listen, *host, *allowed;
	bool good;
} hosts[] = {
    {"127.0.0.1:80", "127.0.0.1", NULL, true},
    {"127.0.0.1:80", "127.0.0.1:9999", NULL, true},
    {"127.0.0.1:80", "LocalHost:80", NULL, true},
    {"127.0.0.1:80", "[::1]:80", NULL, true},
    {"127.7.7.7:80", "127.7.7.7:80", NULL, true},
    {"127.0.0.1:80", "127.7.7.7:80", NULL, false},
    {"127.0.0.1:80", "evil.example.com", NULL, false},
    {"127.0.0.1:80", "evil.example.com:80", NULL, false},
    {"127.0.0.1:80", "localhost.example.com", NULL, false},
    {"127.0.0.1:80", "localhost:80x", NULL, false},
    {"127.0.0.1:80", "localhost:80:80", NULL, false},
    {"127.0.0.1:80", "[::1", NULL, false},
    {"127.0.0.1:80", "[::1]evil", NULL, false},
    {"127.0.0.1:80", ":80", NULL, false},
    {"127.0.0.1:80", "me@localhost", NULL, false},
    {"127.0.0.1:80", "mcp.example.com:80", "a mcp.example.com", true},
    {"127.0.0.1:80", "cp.example.com:80", "a mcp.example.com", false},
    {"0.0.0.0:80", "anything", NULL, true},
    {"0.0.0.0:80", "anything", "mcp.example.com", false},
    {"0.0.0.0:80", "mcp.example.com", "mcp.example.com", true},
};

static const struct {
	const char *origin, *host, *allowed;
	bool good;
} origins[] = {
    {"http://localhost:6274", "127.0.0.1:80", NULL, true},
    {"https://127.0.0.1", "127.0.0.1:80", NULL, true},
    {"http://[::1]:1", "127.0.0.1:80", NULL, true},
    {"https://mcp.example.com", "mcp.example.com", NULL, true},
    {"https://mcp.example.com:444", "MCP.example.com:80", NULL, true},
    {"http://evil.example.com", "127.0.0.1:80", NULL, false},
    {"http://evil.example.com", "mcp.example.com", NULL, false},
    {"http://localhost.evil.example.com", "localhost", NULL, false},
    {"http://localhost@evil.example.com", "localhost", NULL, false},
    {"http://localhost/", "localhost", NULL, false},
    {"null", "localhost", NULL, false},
    {"", "localhost", NULL, false},
    {"file://localhost", "localhost", NULL, false},
    {"app://x", "localhost", "https://a app://x", true},
    {"app://y", "localhost", "https://a app://x", false},
};

int main(void)
{
	struct http_addr a;
	char text[HTTP_ADDR_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
		ok(http_addr_parse(&a, addresses[i].listen) &&
		       a.loopback == addresses[i].loopback,
		   "%s is %sloopback", addresses[i].listen,
		   addresses[i].loopback ? "" : "not ");
		http_addr_text(&a, text);
		is_str(text, addresses[i].text,
		       "the text of an address is printed again");
	}
	ok(!http_addr_parse(&a, "example.com:80") && !http_addr_parse(&a, "80"),
	   "a name is no address");
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		http_addr_parse(&a, hosts[i].listen);
		ok(http_host_ok(&a, hosts[i].host, hosts[i].allowed) ==
		       hosts[i].good,
		   "at %s Host %s %s", hosts[i].listen, hosts[i].host,
		   hosts[i].good ? "passes" : "does not");
	}
	for (size_t i = 0; i < ARRAY_LEN(origins); i++)
		ok(http_origin_ok(origins[i].origin, origins[i].host,
				  origins[i].allowed) == origins[i].good,
		   "for %s Origin %s %s", origins[i].host, origins[i].origin,
		   origins[i].good ? "passes" : "does not");
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "net/url_policy.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

/* URLs with the reason for a refusal: for remote, for local (NULL: allowed). */
static const struct {
	const char *url, *remote, *local;
} urls[] = {
    {"http://example.com/", NULL, NULL},
    {"https://example.com/a?b#c", NULL, NULL},
    {"HTTPS://Example.COM:443/", NULL, NULL},
    {"http://example.com:8080/", NULL, NULL},
    {"http://93.184.216.34/", NULL, NULL},
    {"http://[2606:2800:220:1::1]/", NULL, NULL},
    {"http://xn--fiqs8s.example/", NULL, NULL},
    {"http://\xe4\xbe\x8b.example/", NULL, NULL},

    /* schemes */
    {"file:///etc/passwd", "scheme", "scheme"},
    {"FILE:///etc/passwd", "scheme", "scheme"},
    {"chrome://version/", "scheme", "scheme"},
    {"data:text/html,hi", "scheme", "scheme"},
    {"javascript:alert(1)", "scheme", "scheme"},
    {"about:blank", "scheme", "scheme"},
    {"view-source:http://example.com/", "scheme", "scheme"},
    {"blob:http://example.com/1", "scheme", "scheme"},
    {"ftp://example.com/", "scheme", "scheme"},
    {"ws://example.com/", "scheme", "scheme"},
    {"gopher://127.0.0.1:70/", "scheme", "scheme"},
    {"", "scheme", "scheme"},
    {"example.com", "scheme", "scheme"},
    {"//example.com/", "scheme", "scheme"},
    {"http:example.com", "absolute", "absolute"},
    {"http:/example.com", "absolute", "absolute"},
    {"http:\\\\example.com", "absolute", "absolute"},
    {"http://", "no host", "no host"},
    {"http:///etc", "no host", "no host"},

    /* forms which URL parsers read differently */
    {"http://example.com@127.0.0.1/", "user", "user"},
    {"http://user:secret@example.com/", "user", "user"},
    {"http://example.com\\@127.0.0.1/", "backslash", "backslash"},
    {"http://exa mple.com/", "white space", "white space"},
    {"http://example.com/\r\nHost: a", "white space", "white space"},
    {" http://example.com/", "white space", "white space"},
    {"http://127.0.0.1%2f.example.com/", "not a host", "not a host"},
    {"http://%31%32%37.0.0.1/", "not a host", "not a host"},
    {"http://[::1", "not a host", "not a host"},
    {"http://[::1]x/", "not a host", "not a host"},
    {"http://[127.0.0.1]/", "not a host", "not a host"},
    {"http://[fe80::1%25lo]/", "not a host", "not a host"},
    {"http://a..b/", "not a host", "not a host"},
    {"http://.example.com/", "not a host", "not a host"},
    {"http://1.2.3.4.5/", "not a host", "not a host"},
    {"http://999.1.1.1/", "not a host", "not a host"},
    {"http://a:b:80/", "port", "port"},

    /* ports */
    {"http://example.com:22/", "port", NULL},
    {"http://example.com:25/", "port", NULL},
    {"http://example.com:6379/", "port", NULL},
    {"http://example.com:0/", "port", "port"},
    {"http://example.com:65536/", "port", "port"},
    {"http://example.com:99999999999999999999/", "port", "port"},
    {"http://example.com:80a/", "port", "port"},
    {"http://example.com:-80/", "port", "port"},
    {"http://example.com:/", NULL, NULL},

    /* loopback and private addresses in all spellings */
    {"http://127.0.0.1/", "loopback", NULL},
    {"http://127.1/", "loopback", NULL},
    {"http://127.255.255.254/", "loopback", NULL},
    {"http://2130706433/", "loopback", NULL},
    {"http://0x7f000001/", "loopback", NULL},
    {"http://0x7f.0.0.1/", "loopback", NULL},
    {"http://0177.0.0.1/", "loopback", NULL},
    {"http://017700000001/", "loopback", NULL},
    {"http://127.0.0.1./", "loopback", NULL},
    {"http://[::1]/", "loopback", NULL},
    {"http://[0:0:0:0:0:0:0:1]:80/", "loopback", NULL},
    {"http://localhost/", "loopback", NULL},
    {"http://LocalHost./", "loopback", NULL},
    {"http://a.localhost/", "loopback", NULL},
    {"http://10.0.0.1/", "private", NULL},
    {"http://172.16.0.1/", "private", NULL},
    {"http://172.31.255.255/", "private", NULL},
    {"http://172.32.0.1/", NULL, NULL},
    {"http://192.168.1.1/", "private", NULL},
    {"http://100.64.0.1/", "private", NULL},
    {"http://100.128.0.1/", NULL, NULL},
    {"http://[fc00::1]/", "private", NULL},
    {"http://[fd12:3456::1]/", "private", NULL},
    {"http://printer.local/", "local", NULL},
    {"http://db.home.arpa/", "private", NULL},

    /* never */
    {"http://0.0.0.0/", "unspecified", "unspecified"},
    {"http://0/", "unspecified", "unspecified"},
    {"http://0.1.2.3/", "unspecified", "unspecified"},
    {"http://[::]/", "unspecified", "unspecified"},
    {"http://169.254.169.254/latest/meta-data/", "metadata", "metadata"},
    {"http://2852039166/", "metadata", "metadata"},
    {"http://0xa9fea9fe/", "metadata", "metadata"},
    {"http://metadata.google.internal/", "private", "private"},
    {"http://100.100.100.200/", "metadata", "metadata"},
    {"http://168.63.129.16/", "metadata", "metadata"},
    {"http://192.0.0.192/", "metadata", "metadata"},
    {"http://[fd00:ec2::254]/", "metadata", "metadata"},
    {"http://169.254.1.1/", "link-local", "link-local"},
    {"http://[fe80::1]/", "link-local", "link-local"},
    {"http://[febf::1]/", "link-local", "link-local"},
    {"http://[fec0::1]/", "site-local", "site-local"},
    {"http://224.0.0.1/", "multicast", "multicast"},
    {"http://239.255.255.250/", "multicast", "multicast"},
    {"http://[ff02::1]/", "multicast", "multicast"},
    {"http://255.255.255.255/", "reserved", "reserved"},
    {"http://240.0.0.1/", "reserved", "reserved"},
    {"http://192.0.2.1/", "reserved", "reserved"},
    {"http://198.18.0.1/", "reserved", "reserved"},
    {"http://198.51.100.1/", "reserved", "reserved"},
    {"http://203.0.113.1/", "reserved", "reserved"},
    {"http://[2001:db8::1]/", "reserved", "reserved"},
    {"http://[3fff::1]/", "reserved", "reserved"},
    {"http://[100::1]/", "reserved", "reserved"},
    {"http://[4000::1]/", "reserved", "reserved"},
    {"http://[::ffff:127.0.0.1]/", "translated", "translated"},
    {"http://[::ffff:7f00:1]/", "translated", "translated"},
    {"http://[::ffff:8.8.8.8]/", "translated", "translated"},
    {"http://[::ffff:0:127.0.0.1]/", "translated", "translated"},
    {"http://[::127.0.0.1]/", "translated", "translated"},
    {"http://[64:ff9b::7f00:1]/", "translated", "translated"},
    {"http://[64:ff9b:1::a9fe:a9fe]/", "translated", "translated"},
    {"http://[2002:7f00:1::]/", "translated", "translated"},
    {"http://[2001::7f00:1]/", "translated", "translated"},
    {"http://[2606:2800::5efe:127.0.0.1]/", "translated", "translated"},
    {"http://[2606:2800::200:5efe:127.0.0.1]/", "translated", "translated"},
    {"http://[2606:2800::200:5efe:8.8.8.8]/", "translated", "translated"},
    {"http://192.88.99.1/", "translated", "translated"},
    {"http://a.onion/", "another network", "another network"},
};

/* Addresses which a name may resolve to. */
static const struct {
	const char *address, *remote, *local;
} addresses[] = {
    {"8.8.8.8", NULL, NULL},
    {"2606:4700::1111", NULL, NULL},
    {"127.0.0.53", "loopback", NULL},
    {"10.1.2.3", "private", NULL},
    {"169.254.169.254", "metadata", "metadata"},
    {"::1", "loopback", NULL},
    {"::ffff:10.0.0.1", "translated", "translated"},
    {"fe80::1", "link-local", "link-local"},
    {"0.0.0.0", "unspecified", "unspecified"},
};

static void same(const char *got, const char *want, const char *what,
		 const char *at)
{
	bool right = want == NULL ? got == NULL
				  : got != NULL && strstr(got, want) != NULL;

	ok(right, "%s at %s: %s", what, at, want == NULL ? "may be" : want);
	if (!right)
		printf("# got %s\n", got == NULL ? "(may be)" : got);
}

static const char *of_address(const char *text, enum url_trust trust)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
	struct addrinfo *list;
	const char *errmsg;

	if (getaddrinfo(text, NULL, &hints, &list) != 0)
		return "no address";
	errmsg = url_policy_address(list->ai_addr, trust);
	freeaddrinfo(list);
	return errmsg;
}

int main(void)
{
	struct sockaddr other = {.sa_family = AF_UNIX};
	struct url_place at;
	char host[400];
	int n = 0;

	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		same(url_policy_url(urls[i].url, URL_REMOTE, NULL),
		     urls[i].remote, urls[i].url, "remote");
		same(url_policy_url(urls[i].url, URL_LOCAL, NULL),
		     urls[i].local, urls[i].url, "local");
	}
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
		same(of_address(addresses[i].address, URL_REMOTE),
		     addresses[i].remote, addresses[i].address, "remote");
		same(of_address(addresses[i].address, URL_LOCAL),
		     addresses[i].local, addresses[i].address, "local");
	}
	ok(url_policy_address(&other, URL_LOCAL) != NULL,
	   "an address which is no internet address is refused");
	memset(host, 'a', sizeof(host));
	host[sizeof(host) - 1] = '\0';
	ok(url_policy_host(host, URL_LOCAL) != NULL, "a host has a length");
	ok(url_policy_host("localhost.", URL_REMOTE) != NULL &&
	       url_policy_host("127.0.0.1.", URL_REMOTE) != NULL,
	   "a dot at a name's end makes it no other");
	for (unsigned port = 1; port <= 65535; port++)
		n += url_policy_port(port, URL_REMOTE) == NULL;
	is_int(n, 4, "four ports are reached at remote");
	ok(url_policy_port(0, URL_LOCAL) != NULL &&
	       url_policy_port(65536, URL_LOCAL) != NULL,
	   "a port outside of 1 to 65535 is refused");
	url_policy_url("http://Example.COM.:8080/x:y@z", URL_REMOTE, &at);
	is_str(at.host, "example.com", "a place's host is plain");
	is_int(at.port, 8080, "the port of a URL is read");
	url_policy_url("https://[2606:4700::1111]", URL_REMOTE, &at);
	is_str(at.host, "2606:4700::1111", "an address has no brackets");
	is_int(at.port, 443, "a scheme has a port");
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A list of hosts and networks, as the configuration has it. */
#include "base/text/host_list.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define LIST                                                                   \
	"example.com  192.0.2.7\t10.1.0.0/16 2001:db8::/32 fe80::1 b-_c.local"

static const struct {
	const char *name;
	bool in;
} names[] = {
    {"example.com", true},
    {"EXAMPLE.com.", true},
    {"www.example.com", true},
    {"a.b.example.com", true},
    {"notexample.com", false},
    {"example.com.evil.org", false},
    {"com", false},
    {"", false},
    {".", false},
    {"b-_c.local", true},
    {"192.0.2.7", false}, /* an address is no name */
};

static const struct {
	const char *address;
	bool in;
} addresses[] = {
    {"192.0.2.7", true},       {"192.0.2.8", false},
    {"10.1.255.255", true},    {"10.2.0.0", false},
    {"::ffff:10.1.2.3", true}, {"2001:db8:ffff::1", true},
    {"2001:db9::1", false},    {"fe80::1", true},
    {"fe80::2", false},	       {"::10.1.2.3", false},
    {"0.0.0.0", false},
};

static const char *const wrong[] = {
    "",		  "10.0.0.0/33",  "10.0.0.0/",	 "10.0.0/8",	  "::/129",
    "a..b",	  ".a",		  "a/8",	 "*.a.com",	  "a b",
    "10.0.0.0/x", "10.0.0.0/8/8", "1.2.3.4.5",	 "http://a.com",  "a:80",
    "[::1]",	  "a.",		  "010.0.0.0/8", "10.0.0.0/0008", "a.1"};

static const char *const right[] = {"a",	  "xn--fiqs8s.example",
				    "0.0.0.0/0",  "::/0",
				    "1.2.3.4/32", "\xe4\xbe\x8b.example"};

static bool has(const struct host_list *h, const char *address)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a = {.any = {0}};

	if (strchr(address, ':') != NULL) {
		a.in6.sin6_family = AF_INET6;
		inet_pton(AF_INET6, address, &a.in6.sin6_addr);
	} else {
		a.in.sin_family = AF_INET;
		inet_pton(AF_INET, address, &a.in.sin_addr);
	}
	return host_list_have_address(h, &a.any);
}

int main(void)
{
	struct host_list *h = host_list_new(LIST), *all;
	struct sockaddr_un {
		sa_family_t family;
	} local = {AF_UNIX};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		ok(host_list_have_name(h, names[i].name) == names[i].in,
		   "\"%s\" is%s in it", names[i].name,
		   names[i].in ? "" : " not");
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
		ok(has(h, addresses[i].address) == addresses[i].in,
		   "%s is%s in it", addresses[i].address,
		   addresses[i].in ? "" : " not");
	ok(!host_list_have_address(h, (const void *)&local),
	   "a path is not in the list");
	host_list_free(h);
	all = host_list_new("0.0.0.0/0");
	ok(has(all, "8.8.8.8") && !has(all, "2606::1"),
	   "a network of all IPv4 has no IPv6 address");
	host_list_free(all);
	for (size_t i = 0; i < ARRAY_LEN(right); i++)
		ok(host_list_word_ok(right[i], strlen(right[i])),
		   "\"%s\" is a word", right[i]);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		ok(!host_list_word_ok(wrong[i], strlen(wrong[i])),
		   "\"%s\" is none", wrong[i]);
	ok(host_list_new("a 10.0.0.0/33") == NULL,
	   "a list with a word that is none is none");
	h = host_list_new("  ");
	ok(h != NULL && !host_list_have_name(h, "a") && !has(h, "1.2.3.4"),
	   "an empty list has no host");
	host_list_free(h);
	ok(!host_list_have_name(NULL, "a") && !has(NULL, "1.2.3.4"),
	   "a missing list has no host");
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_host_grants.c - granted hosts of a template: names and addresses which pages may
 * reach; a granted name must not open addresses which only a granted address may open.
 */
#include "browser/net/host_grants.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "net/net_deny.h"
#include "tests/unit/tap.h"

/*
 * A list, a host and port, the resolved address (NULL: not resolved), and the verdict.
 */
static const struct {
	const char *list, *host;
	unsigned port;
	const char *leads;
	bool may;
} cases[] = {
    {"[]", "example.org", 80, NULL, false},
    {"[\"*\"]", "example.org", 80, NULL, true},
    {"[\"*\"]", "example.org", 80, "93.184.216.34", true},
    {"[\"*\"]", "example.org", 80, "127.0.0.1", false},
    {"[\"*\"]", "example.org", 80, "10.0.0.1", false},
    {"[\"*\"]", "example.org", 80, "fd00::1", false},
    {"[\"*\"]", "example.org", 80, "::1", false},
    {"[\"*\"]", "example.org", 80, "::ffff:10.0.0.1", false},
    {"[\"*\"]", "example.org", 80, "169.254.169.254", false},
    {"[\"*\"]", "93.184.216.34", 80, NULL, true},
    {"[\"*\"]", "127.0.0.1", 80, NULL, false},
    {"[\"*\"]", "2130706433", 80, NULL, false},
    {"[\"*\"]", "::1", 80, NULL, false},
    {"[\"*\"]", "localhost", 80, "127.0.0.1", false},
    /* the owner of a granted name may point the name at any address */
    {"[\"example.org\"]", "example.org", 80, "127.0.0.1", false},
    {"[\"*.example.org\"]", "a.example.org", 80, "192.168.0.1", false},
    {"[\"example.org\", \"10.0.0.0/8\"]", "example.org", 80, "10.1.2.3", true},
    {"[\"example.org\", \"10.0.0.0/8\"]", "example.org", 80, "192.168.0.1",
     false},
    {"[\"example.org\", \"10.0.0.0/8:8080\"]", "example.org", 80, "10.1.2.3",
     false},
    {"[\"example.org\", \"10.0.0.0/8:8080\"]", "example.org", 8080, "10.1.2.3",
     true},
    {"[\"10.0.0.0/8\"]", "example.org", 80, NULL, false},
    {"[\"10.0.0.0/8\"]", "10.0.0.1", 80, NULL, true},
    {"[\"10.0.0.0/8\"]", "11.0.0.1", 80, NULL, false},
    {"[\"127.0.0.1\"]", "127.0.0.1", 80, "127.0.0.1", true},
    {"[\"127.0.0.1\"]", "127.0.0.2", 80, NULL, false},
    {"[\"127.0.0.1:80\"]", "127.0.0.1", 81, NULL, false},
    {"[\"[::1]\"]", "::1", 80, "::1", true},
    {"[\"[::1]\"]", "127.0.0.1", 80, NULL, false},
    /*
 * names which can only be local may resolve to local addresses if granted by name
 */
    {"[\"localhost\"]", "localhost", 80, "127.0.0.1", true},
    {"[\"localhost\"]", "localhost.", 80, "::1", true},
    {"[\"localhost:81\"]", "localhost", 80, NULL, false},
    {"[\"*\", \"127.0.0.1\"]", "localhost", 80, "127.0.0.1", true},
    {"[\"wiki.corp\"]", "wiki.corp", 80, "10.0.0.1", true},
    {"[\"*.corp\"]", "wiki.corp", 80, "10.0.0.1", false},
    {"[\"intranet\"]", "intranet", 80, "10.0.0.1", true},
    {"[\"metadata.internal\"]", "metadata.internal", 80, "10.0.0.1", false},
};

static const char *asked(const struct host_grants *g, size_t i)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	const char *leads = cases[i].leads;
	const char *errmsg = host_grants_host(g, cases[i].host, cases[i].port);

	if (errmsg != NULL || leads == NULL)
		return errmsg;
	if (inet_pton(AF_INET, leads, &in.sin_addr) == 1)
		return host_grants_address(g, cases[i].host, cases[i].port,
					   (struct sockaddr *)&in);
	inet_pton(AF_INET6, leads, &in6.sin6_addr);
	return host_grants_address(g, cases[i].host, cases[i].port,
				   (struct sockaddr *)&in6);
}

int main(void)
{
	static const char *const wrong[] = {"[1]", "[\"a b\"]", "[\"\"]",
					    "[\"a\\u0000\"]", "[null]"};
	struct json_object *list;
	struct host_grants *g;

	is_int(net_deny_init(NULL), 0,
	       "the machine's own addresses can be asked");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *errmsg;

		list = json_tokener_parse(cases[i].list);
		g = host_grants_new(list);
		json_object_put(list);
		if (!ok(g != NULL, "a valid list: %s", cases[i].list))
			continue;
		errmsg = asked(g, i);
		is_int(errmsg == NULL, cases[i].may, "%s %s %s at %u%s%s",
		       cases[i].list, cases[i].may ? "opens" : "does not open",
		       cases[i].host, cases[i].port,
		       cases[i].leads != NULL ? ", which is " : "",
		       cases[i].leads != NULL ? cases[i].leads : "");
		ok(errmsg == NULL || host_grants_refuses(errmsg),
		   "a refusal by grants has a reason of grants");
		host_grants_unref(g);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		list = json_tokener_parse(wrong[i]);
		ok(host_grants_new(list) == NULL, "no list: %s", wrong[i]);
		json_object_put(list);
	}
	g = host_grants_new(NULL);
	ok(g != NULL && host_grants_host(g, "example.org", 80) != NULL,
	   "a missing list opens no host");
	host_grants_unref(host_grants_ref(g));
	host_grants_unref(g);
	ok(!host_grants_refuses("a loopback address"),
	   "reasons of other code are not taken for a missing grant");
	return tap_done();
}

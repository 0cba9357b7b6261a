/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_host_rule.c - hosts of network permissions, the rules of methods and paths, and the
 * requests that match, with the paths that servers read in two ways.
 */
#include "net/host_rule.h"

#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static const char *const bad_hosts[] = {"",
					"example.org",
					"example.org:",
					"example.org:0",
					"example.org:65536",
					"*",
					"*:443",
					"*.org:443",
					"*.*.org:443",
					"a.*.org:443",
					"\xc3\xa4.example:443",
					"10.0.0.0/8:443",
					"10.0.0.0/8",
					"[fd00::]/8:443",
					"[fe80::1%25lo]:443",
					"0x7f.1:443",
					"2130706433:443",
					"a b:443",
					"http://example.org:443",
					"example.org:443/x",
					"user@example.org:443",
					"git+https://",
					"git+https://example.org",
					"git+https://example.org/",
					"git+https:///x",
					"git+https://example.org/a/../b",
					"git+https://example.org:0/a"};

static const struct {
	const char *word, *host;
	unsigned port;
	bool matches;
} hosts[] = {
    {"example.org:443", "example.org", 443, true},
    {"Example.ORG:443", "example.org", 443, true},
    {"example.org:443", "example.org", 80, false},
    {"example.org:443", "www.example.org", 443, false},
    {"example.org:443", "example.org.evil.net", 443, false},
    {"*.example.org:443", "www.example.org", 443, true},
    {"*.example.org:443", "a.b.example.org", 443, true},
    {"*.example.org:443", "example.org", 443, false},
    {"*.example.org:443", "notexample.org", 443, false},
    {"*.example.org:443", "192.0.2.7", 443, false},
    {"192.0.2.7:443", "192.0.2.7", 443, true},
    {"192.0.2.7:443", "192.0.2.8", 443, false},
    {"[2001:db8::7]:8443", "2001:db8:0::7", 8443, true},
    {"git+https://git.example.org/acme/*", "git.example.org", 443, true},
    {"git+https://git.example.org:8443/acme/x", "git.example.org", 8443, true},
};

TEST(hosts)
{
	struct host_rule r;

	for (size_t i = 0; i < ARRAY_LEN(bad_hosts); i++)
		ok(host_rule_parse(&r, bad_hosts[i], strlen(bad_hosts[i])) !=
		       NULL,
		   "\"%s\" is no host", bad_hosts[i]);
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		const char *word = hosts[i].word;

		is_str(host_rule_parse(&r, word, strlen(word)), NULL,
		       "\"%s\" is a host", word);
		is_int(host_rule_matches(&r, hosts[i].host, hosts[i].port),
		       hosts[i].matches, "%s and %s:%u", word, hosts[i].host,
		       hosts[i].port);
	}
}

static const char *const bad_rules[] = {
    "",		"GET",	     "GET ",	 "get /",	"/",
    " /",	"GET x",     "GET *",	 "G*T /",	"** /",
    "GET //",	"GET /a//b", "GET /.",	 "GET /a/../b", "GET /a/%2e%2E/b",
    "GET /a?b", "GET /a#b",  "GET /a b", "GET /\\",	"GET /%",
    "GET /%2",	"GET /%zz",  "GET /%00", "GET /a*/b",	"GET /a*b",
    "GET /*b",	"GET /**",   "GET /\xff"};

static const struct {
	const char *rule, *method, *path;
	bool matches;
} rules[] = {
    {"GET /repos/*", "GET", "/repos/a/b", true},
    {"GET /repos/*", "GET", "/repos/", true},
    {"GET /repos/*", "GET", "/repos", false},
    {"GET /repos/*", "POST", "/repos/a", false},
    {"GET /repos/*", "get", "/repos/a", false},
    {"GET /repos/*", "GET", "/Repos/a", false},
    {"GET /repos/*", "GET", "/%72epos/a", true},
    {"GET /repos/*", "GET", "/repos/../admin", false},
    {"GET /repos/*", "GET", "/repos/%2e%2e/admin", false},
    {"GET /repos/*", "GET", "/repos/%2E./admin", false},
    {"GET /repos/*", "GET", "/repos/..;/admin", false},
    {"GET /repos/*", "GET", "/repos/..%2fadmin", false},
    {"GET /repos/*", "GET", "/repos/%252e%252e/admin", false},
    {"GET /repos/*", "GET", "/repos//a", false},
    {"GET /repos/*", "GET", "//repos/a", false},
    {"GET /repos/*", "GET", "/repos/a\\b", false},
    {"GET /repos/*", "GET", "/repos/a%5cb", false},
    {"GET /repos/*", "GET", "/repos/a%00", false},
    {"GET /repos/*", "GET", "/repos/a%0d%0aX", false},
    {"GET /repos/*", "GET", "/repos/a%", false},
    {"GET /repos/*", "GET", "/repos/\xc3\xa4", false},
    {"GET /repos/*", "GET", "/repos/%c3%a4", true},
    {"* /", "DELETE", "/", true},
    {"* /", "DELETE", "/a", false},
    {"* /*", "PATCH", "/a/b/c", true},
    {"POST /repos/acme/*/issues", "POST", "/repos/acme/x/issues", true},
    {"POST /repos/acme/*/issues", "POST", "/repos/acme/x/y/issues", false},
    {"POST /repos/acme/*/issues", "POST", "/repos/acme//issues", false},
    {"POST /repos/acme/*/issues", "POST", "/repos/acme/x/issues/1", false},
    {"POST /repos/acme/*/issues", "POST", "/repos/acme/x%2fy/issues", false},
    {"GET /@scope%2fname", "GET", "/@scope%2Fname", true},
    {"GET /@scope%2fname", "GET", "/@scope/name", false},
    {"GET /v1/mod*", "GET", "/v1/models", true},
    {"GET /v1/mod*", "GET", "/v1/mod", true},
    {"GET /v1/mod*", "GET", "/v1/mo", false},
};

static bool is_in(const struct path_rule *r, const char *method,
		  const char *path)
{
	char canon[HOST_RULE_PATH_MAX];

	return host_rule_canon(canon, path, strlen(path)) &&
	       path_rule_matches(r, method, canon);
}

TEST(paths)
{
	struct path_rule r;

	for (size_t i = 0; i < ARRAY_LEN(bad_rules); i++)
		ok(path_rule_parse(&r, bad_rules[i], strlen(bad_rules[i])) !=
		       NULL,
		   "\"%s\" is no rule", bad_rules[i]);
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		const char *rule = rules[i].rule;

		is_str(path_rule_parse(&r, rule, strlen(rule)), NULL,
		       "\"%s\" is a rule", rule);
		is_int(is_in(&r, rules[i].method, rules[i].path),
		       rules[i].matches, "\"%s\" and %s %s", rule,
		       rules[i].method, rules[i].path);
	}
}

TEST(git)
{
	static const char word[] = "git+https://git.example.org/acme/*";
	struct host_rule r;

	is_str(host_rule_parse(&r, word, strlen(word)), NULL, "a git host");
	is_int(r.n_git, HOST_RULE_GIT_RULES, "two rules stand for git");
	ok(is_in(&r.git[0], "GET", "/acme/x.git/info/refs"),
	   "git may ask for refs");
	ok(is_in(&r.git[1], "POST", "/acme/x/git-upload-pack"),
	   "git may fetch");
	ok(!is_in(&r.git[1], "POST", "/acme/x/git-receive-pack"),
	   "git may not push");
	ok(!is_in(&r.git[0], "GET", "/other/x/info/refs"),
	   "other repositories are none");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Words of network permissions: which are good, their rules, and which cover which. */
#include <string.h>

#include "base/mem.h"
#include "net/network_word.h"
#include "tests/unit/tap.h"

static const struct {
	const char *word;
	bool good;
} words[] = {
    {"a.b:443", true},
    {"*.a.b:443", true},
    {"[2001:db8::7]:443", true},
    {"192.0.2.7:80", true},
    {"git+https://a.b/acme/x.git", true},
    {"a.b:443=GET:/", true},
    {"a.b:443=GET:/x/*,POST:/x", true},
    {"a.b:443=*:/x", true},
    {"", false},
    {"granted", false},
    {"a.b", false},
    {"*:443", false},
    {"*", false},
    {"a.b:443=", false},
    {"a.b:443=GET", false},
    {"a.b:443=GET:", false},
    {"a.b:443=GET:x", false},
    {"a.b:443=get:/x", false},
    {"a.b:443=GET:/x,", false},
    {"a.b:443=GET:/x,,POST:/x", false},
    {"a.b:443=GET:/x;y", false},
    {"a.b:443=GET:/x\"y", false},
    {"a.b:443=GET:/../x", false},
    {"a.b=GET:/x", false},
    {"git+https://a.b/x=GET:/x", false},
};

static const struct {
	const char *granted, *asked;
	bool covers;
} pairs[] = {
    {"a.b:443", "a.b:443", true},
    {"A.b:443", "a.B:443", true},
    {"a.b:443", "a.b:444", false},
    {"a.b:443", "x.a.b:443", false},
    {"a.b:443", "*.a.b:443", false},
    {"*.a.b:443", "x.a.b:443", true},
    {"*.a.b:443", "y.x.a.b:443", true},
    {"*.a.b:443", "a.b:443", false},
    {"*.a.b:443", "*.a.b:443", true},
    {"*.a.b:443", "*.x.a.b:443", true},
    {"*.x.a.b:443", "*.a.b:443", false},
    {"*.a.b:443", "x.a.b:80", false},
    {"*.a.b:443", "xa.b:443", false},
    {"a.b:443", "a.b:443=GET:/x", true},
    {"a.b:443=GET:/x", "a.b:443", false},
    {"a.b:443=GET:/x", "a.b:443=GET:/x", true},
    {"a.b:443=GET:/x", "a.b:443=GET:/y", false},
    {"a.b:443=GET:/*", "a.b:443=GET:/y", false},
    {"a.b:443", "git+https://a.b/acme/x.git", true},
    {"git+https://a.b/acme/x.git", "a.b:443", false},
    {"git+https://a.b/acme/x.git", "git+https://a.b/acme/x.git", true},
    {"192.0.2.7:80", "192.0.2.7:80", true},
    {"192.0.2.7:80", "192.0.2.8:80", false},
    {"*.2.7:80", "192.0.2.7:80", false},
};

TEST(which_words_are_good)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		is_int(network_word_ok(words[i].word, strlen(words[i].word)),
		       words[i].good, "%s is %s", words[i].word,
		       words[i].good ? "good" : "refused");
}

TEST(which_words_cover_which)
{
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		is_int(network_word_covers(pairs[i].granted,
					   strlen(pairs[i].granted),
					   pairs[i].asked),
		       pairs[i].covers, "%s %s %s", pairs[i].granted,
		       pairs[i].covers ? "covers" : "does not cover",
		       pairs[i].asked);
}

TEST(the_rules_of_a_word)
{
	static const char word[] = "a.b:443=GET:/x/*,*:/y:z";
	const char *end = word + strlen(word);
	const char *at = word + network_word_host(word, strlen(word));
	char rule[PATH_RULE_MAX];

	ok(network_word_next(&at, end, rule), "a first rule is found");
	is_str(rule, "GET /x/*", "the first rule");
	ok(network_word_next(&at, end, rule), "a second rule is found");
	is_str(rule, "* /y:z", "only the first colon parts method and path");
	ok(!network_word_next(&at, end, rule), "no third rule of two is found");
}

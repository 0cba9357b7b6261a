/* SPDX-License-Identifier: Apache-2.0 */
/* Texts by schema: patterns, formats, URIs. */
#include "proto/schema/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/schema/schema_private.h"
#include "tests/unit/tap.h"

TEST(patterns)
{
	static const struct {
		const char *pattern, *subject;
		int match; /* -EINVAL: refused */
	} rows[] = {
	    {"b", "abc", 1},
	    {"^b", "abc", 0},
	    {"^abc$", "abc\n", 0},
	    {"^a|b$", "xb", 1},
	    {"^[\\w-.]+$", "a-b.c", 1},
	    {"^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$", "jo.e+x@ex-am.org", 1},
	    {"^\\-\\@\\_$", "-@_", 1},
	    {"^{a}$", "{a}", 1},
	    {"^a{,3}$", "a{,3}", 1},
	    {"^a{2,3}?$", "aaa", 1},
	    {"^(?:ab){2}$", "abab", 1},
	    {"^.$", "\xf0\x9f\x98\x80", 1},
	    {"^.$", "\n", 0},
	    {"^.$", "\xe2\x80\xa8", 0},
	    {"^[^]$", "\n", 1},
	    {"[]", "", 0},
	    {"^[^a]$", "b", 1},
	    {"^[[:alpha:]]$", "[", 0},
	    {"^[[:alpha:]]$", ":]", 1},
	    {"^[a\\]]$", "]", 1},
	    {"^[\\b]$", "\b", 1},
	    {"\\bfoo\\b", "a foo b", 1},
	    {"^\\u0041\\x42\\u{43}\\cA\\0$", "ABC\x01", 0},
	    {"^\\u0041\\x42\\u{43}\\cA$", "ABC\x01", 1},
	    {"^\\ud83d\\ude00$", "\xf0\x9f\x98\x80", 1},
	    {"^[\\ud83d\\ude00-\\u{1f610}]$", "\xf0\x9f\x98\x81", 1},
	    {"\\ud800", "x", 0},
	    {"^[^\\ud800-\\udfff]$", "x", 1},
	    {"^[\\ud800-\\udfff]$", "x", 0},
	    {"^\\s$", "\xef\xbb\xbf", 1},
	    {"^[\\s]$", "\xe3\x80\x80", 1},
	    {"^[\\S]$", "\xc2\xa0", 0},
	    {"^[^\\S]$", "\xc2\xa0", 1},
	    {"^\\d$", "\xd9\xa1", 0},
	    {"^\\p{Nd}$", "\xd9\xa1", 1},
	    {"^\\p{Decimal_Number}$", "\xd9\xa1", 1},
	    {"^\\p{gc=Decimal_Number}$", "\xd9\xa1", 1},
	    {"^\\P{Letter}$", "a", 0},
	    {"^[\\p{Lu}\\d]+$", "A1", 1},
	    {"^\\p{Script=Greek}$", "\xce\xb1", 1},
	    {"^\\p{Assigned}$", "a", 1},
	    {"^(a)\\1$", "aa", 1},
	    {"^(?<x>a)\\k<x>$", "aa", 1},
	    {"^\\1(a)$", "a", 1},
	    {"^(?:(a)|b)\\1$", "b", 1},
	    {"(?<=a)b", "ab", 1},
	    {"(?<!a)b", "ab", 0},
	    {"^(?=.*\\d)(?!.*x).{3,}$", "ab1", 1},
	    {"a/b\\/c", "a/b/c", 1},
	    {"\xc3\xa9+", "\xc3\xa9\xc3\xa9", 1},
	    {"^\xc3\xa9+$", "\xc3\xa9\xc3\xa9", 1},
	    {"", "anything", 1},
	    {"a", "\xff", 0},
	    {"(*UTF)a", "", -EINVAL},
	    {"a**", "", -EINVAL},
	    {"a++", "", -EINVAL},
	    {"^*", "", -EINVAL},
	    {"(?=a)*", "", -EINVAL},
	    {"+", "", -EINVAL},
	    {"a{2,1}", "", -EINVAL},
	    {"a{70000}", "", -EINVAL},
	    {"(", "", -EINVAL},
	    {")", "", -EINVAL},
	    {"[", "", -EINVAL},
	    {"[b-a]", "", -EINVAL},
	    {"\\", "", -EINVAL},
	    {"\\A", "", -EINVAL},
	    {"\\Z", "", -EINVAL},
	    {"\\a", "", -EINVAL},
	    {"\\e", "", -EINVAL},
	    {"\\h", "", -EINVAL},
	    {"\\Qa\\E", "", -EINVAL},
	    {"\\C", "", -EINVAL},
	    {"\\R", "", -EINVAL},
	    {"\\1", "", -EINVAL},
	    {"(a)\\2", "", -EINVAL},
	    {"\\k<x>", "", -EINVAL},
	    {"(?<x>a)(?<x>b)", "", -EINVAL},
	    {"(?<1>a)", "", -EINVAL},
	    {"(?>a)", "", -EINVAL},
	    {"(?#a)", "", -EINVAL},
	    {"(?P<n>a)", "", -EINVAL},
	    {"(?R)", "", -EINVAL},
	    {"(?C1)", "", -EINVAL},
	    {"(?|a)", "", -EINVAL},
	    {"\\x1", "", -EINVAL},
	    {"\\u12", "", -EINVAL},
	    {"\\u{110000}", "", -EINVAL},
	    {"\\01", "", -EINVAL},
	    {"\\p{No_Such}", "", -EINVAL},
	    {"\\p{L}\\p", "", -EINVAL},
	    {"\\p{^L}", "", -EINVAL},
	    {"(?<=a+)b", "", -EINVAL}, /* PCRE2 cannot */
	    {"((((a{1,1000}){1,1000}){1,1000}){1,1000})", "", -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct schema_budget b = {.allowed = SCHEMA_STEPS_MAX};
		struct schema_check c = {.budget = &b};
		struct schema_pattern *p = NULL;
		char errmsg[200];
		struct schema_text t;
		int rc;

		schema_text_init(&t, errmsg, sizeof(errmsg));
		rc = schema_pattern_new(&p, rows[i].pattern,
					strlen(rows[i].pattern), &t);
		if (rc == 0)
			rc = schema_pattern_match(p, &c, rows[i].subject,
						  strlen(rows[i].subject));
		is_int(rc, rows[i].match, "pattern %s %s", rows[i].pattern,
		       rows[i].match < 0   ? "is refused"
		       : rows[i].match > 0 ? "matches"
					   : "does not match");
		ok(rc >= 0 || errmsg[0] != '\0',
		   "a refused pattern has an error text: %s", errmsg);
		schema_pattern_free(p);
		schema_matcher_free(c.matcher);
	}
}

/*
 * Long strings must be checked if a simple expression can match them in linear time.
 */
TEST(long_subjects)
{
	static const char *const patterns[] = {
	    "^[A-Za-z]*$", "^([A-Za-z]{4})*$", "^(?:a|b)+$", "a$", "z?$",
	};
	char *as = xcalloc(1, 100001);

	memset(as, 'a', 100000);
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		struct schema_budget b = {.allowed = SCHEMA_STEPS_MAX};
		struct schema_check c = {.budget = &b};
		struct schema_pattern *p = NULL;
		char errmsg[200];
		struct schema_text t;

		schema_text_init(&t, errmsg, sizeof(errmsg));
		schema_pattern_new(&p, patterns[i], strlen(patterns[i]), &t);
		is_int(schema_pattern_match(p, &c, as, strlen(as)), 1,
		       "100000 bytes match %s", patterns[i]);
		schema_pattern_free(p);
		schema_matcher_free(c.matcher);
	}
	free(as);
}

/*
 * Lenient spellings are rewritten for JavaScript's flag u; other patterns stay
 * unchanged.
 */
TEST(strict)
{
	static const struct {
		const char *pattern, *want;
	} cases[] = {
	    {"", ""},
	    {"^[a-z]{2,3}\\d+(?<y>x)\\k<y>\\1$",
	     "^[a-z]{2,3}\\d+(?<y>x)\\k<y>\\1$"},
	    {"\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/",
	     "\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/"},
	    {"^\\-+\\@\\_\\ \\\"$", "^-+@_ \"$"},
	    {"[\\-\\@\\]]\\-", "[\\-@\\]]-"},
	    {"[\\w-\\.]", "[\\w\\-\\.]"},
	    {"[a-\\d]", "[a\\-\\d]"},
	    {"[\\d-z-]", "[\\d\\-z-]"},
	    {"[-a-c-e]", "[-a-c-e]"},
	    {"a{,3}", "a\\{,3\\}"},
	    {"{a}]", "\\{a\\}\\]"},
	    {"[{}]", "[{}]"},
	    {"\u00e9\\-\u00e9", "\u00e9-\u00e9"},
	    {"(", NULL},
	    {"(?i)a", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *strict = schema_regex_strict(cases[i].pattern,
						   strlen(cases[i].pattern));

		is_str(strict, cases[i].want, "\"%s\" in strict words",
		       cases[i].pattern);
		free(strict);
	}
}

TEST(formats)
{
	static const struct {
		const char *format, *good, *bad;
	} rows[] = {
	    {"date", "2024-02-29", "2023-02-29"},
	    {"date", "2000-02-29", "1900-02-29"},
	    {"date-time", "2026-01-31t23:59:60.5z", "2026-01-31 23:59:59Z"},
	    {"time", "15:59:60-08:00", "12:00:00"},
	    {"time", "00:00:00.123+23:59", "24:00:00Z"},
	    {"duration", "P1Y2M3DT4H5M6S", "P1Y2D"},
	    {"duration", "P3W", "P1DT"},
	    {"duration", "PT0S", "P"},
	    {"email", "\"a b\"@[127.0.0.1]", "a..b@example.com"},
	    {"email", "a@[IPv6:::1]", "a@b@c"},
	    {"idn-email", "\xc3\xa9@\xc3\xa9.fr", "\xc3\xa9"},
	    {"hostname", "a.xn--9n2bp8q", "a_b"},
	    {"hostname", "1.example", "-a.example"},
	    {"ipv4", "127.0.0.1", "127.0.0.01"},
	    {"ipv6", "::ffff:1.2.3.4", "::ffff:1.2.3.04"},
	    {"ipv6", "1::", "fe80::1%eth0"},
	    {"uri", "http://[::1]:80/a?b#c", "/a"},
	    {"uri", "urn:x:y", "http://a b"},
	    {"uri", "http://u:p@h/%41", "http://h/%4g"},
	    {"uri-reference", "../a?b", "a\\b"},
	    {"uri-reference", "", "1:2"},
	    {"iri", "http://\xc3\xa9/", "\xc3\xa9"},
	    {"iri-reference", "\xc3\xa9", "<"},
	    {"uri-template", "/a{?b,c*}{/d:3}", "/a{b"},
	    {"uuid", "2EB8AA08-aa98-11ea-b4aa-73b441d16380",
	     "2eb8aa08aa9811eab4aa73b441d16380"},
	    {"json-pointer", "/a~1b/0", "a"},
	    {"json-pointer", "", "/~2"},
	    {"relative-json-pointer", "1/a", "01/a"},
	    {"relative-json-pointer", "0#", "/a"},
	    {"regex", "(?<=a+)b", "^(abc]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct schema_format *f =
		    schema_format_find(rows[i].format);

		ok(f->good(rows[i].good, strlen(rows[i].good)), "%s: %s",
		   rows[i].format, rows[i].good);
		ok(!f->good(rows[i].bad, strlen(rows[i].bad)), "%s: not %s",
		   rows[i].format, rows[i].bad);
	}
	ok(!schema_is_ipv4("1.2.3.4\0", 8), "an address has no NUL");
}

/* RFC 3986, section 5.4, and cases which the RFC leaves open. */
TEST(uris)
{
	static const char base[] = "http://a/b/c/d;p?q";
	static const struct {
		const char *base, *ref, *want;
	} rows[] = {
	    {base, "g:h", "g:h"},
	    {base, "g", "http://a/b/c/g"},
	    {base, "./g", "http://a/b/c/g"},
	    {base, "g/", "http://a/b/c/g/"},
	    {base, "/g", "http://a/g"},
	    {base, "//g", "http://g"},
	    {base, "?y", "http://a/b/c/d;p?y"},
	    {base, "g?y", "http://a/b/c/g?y"},
	    {base, "#s", "http://a/b/c/d;p?q"},
	    {base, "g#s", "http://a/b/c/g"},
	    {base, ";x", "http://a/b/c/;x"},
	    {base, "", "http://a/b/c/d;p?q"},
	    {base, ".", "http://a/b/c/"},
	    {base, "..", "http://a/b/"},
	    {base, "../g", "http://a/b/g"},
	    {base, "../..", "http://a/"},
	    {base, "../../g", "http://a/g"},
	    {base, "../../../g", "http://a/g"},
	    {base, "/./g", "http://a/g"},
	    {base, "/../g", "http://a/g"},
	    {base, "g.", "http://a/b/c/g."},
	    {base, "..g", "http://a/b/c/..g"},
	    {base, "./g/.", "http://a/b/c/g/"},
	    {base, "g/../h", "http://a/b/c/h"},
	    {base, "g;x=1/../y", "http://a/b/c/y"},
	    {base, "g?y/../x", "http://a/b/c/g?y/../x"},
	    {"http://a", "g", "http://a/g"},
	    {"urn:a:b", "#x", "urn:a:b"},
	    {"", "a.json", "a.json"},
	    {"", "../a", "a"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *got = schema_uri_resolve(rows[i].base, rows[i].ref);

		is_str(got, rows[i].want, "'%s' at %s", rows[i].ref,
		       rows[i].base);
		free(got);
	}
}

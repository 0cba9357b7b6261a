/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/packages/templates/template.h"

#include "base/mem.h"
#include "tests/unit/tap.h"

static const char *const good[] = {
    "0.0.0",
    "1.2.3",
    "10.20.30",
    "1.0.0-a",
    "1.0.0-alpha.1",
    "1.0.0-0.3.7",
    "1.0.0--",
    "1.0.0-x-y-z.--",
    "1.0.0-0a",
    "1.0.0+1",
    "1.0.0+001.sha-5114f85",
    "1.0.0-beta+exp.sha",
    "18446744073709551615.0.0",
};

static const char *const bad[] = {
    "",
    "1",
    "1.2",
    "1.2.3.4",
    "01.2.3",
    "1.02.3",
    "1.2.03",
    "v1.2.3",
    " 1.2.3",
    "1.2.3 ",
    "1.2.3-",
    "1.2.3+",
    "1.2.3-a.",
    "1.2.3-.",
    "1.2.3-01",
    "1.2.3-a..b",
    "1.2.3-a_b",
    "-1.2.3",
    "1.2.3+a+b",
    "1.-2.3",
    "1..3",
    "^1.2.3",
    "18446744073709551616.0.0",
    "1.2.3-\xC3\xA4",
};

/* Versions in rising order. */
static const char *const rising[] = {
    "0.0.1",
    "0.9.0",
    "1.0.0-0",
    "1.0.0-9",
    "1.0.0-10",
    "1.0.0-99999999999999999999",
    "1.0.0-100000000000000000000",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-betas",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "1.10.0",
    "2.0.0-a",
    "2.0.0",
};

static const struct {
	const char *range, *version;
	bool in;
} ranges[] = {
    {"1.2.3", "1.2.3", true},
    {"1.2.3", "1.2.4", false},
    {"1.2.3", "1.2.3+b7", true},
    {"1.2.3-a", "1.2.3-a", true},
    {"1.2.3", "1.2.3-a", false},
    {"^1.2.3", "1.2.3", true},
    {"^1.2.3", "1.2.2", false},
    {"^1.2.3", "1.99.0", true},
    {"^1.2.3", "2.0.0", false},
    {"^1.2", "1.2.0", true},
    {"^1.2", "1.1.9", false},
    {"^1", "1.0.0", true},
    {"^1", "2.0.0", false},
    {"^0.2.3", "0.2.9", true},
    {"^0.2.3", "0.3.0", false},
    {"^0.0.3", "0.0.3", true},
    {"^0.0.3", "0.0.4", false},
    {"^0.0", "0.0.9", true},
    {"^0.0", "0.1.0", false},
    {"^0", "0.9.9", true},
    {"^0", "1.0.0", false},
    {"^1.2.3", "1.3.0-a", false},
    {"^1.2.3-b", "1.2.3-c", true},
    {"^1.2.3-b", "1.2.3-a", false},
    {"^1.2.3-b", "1.2.4-c", false},
    {"^1.2.3-b", "1.2.4", true},
    {"^18446744073709551615", "18446744073709551615.1.0", true},
};

static const char *const bad_ranges[] = {
    "",	    "^",   "^^1", "1.2",   "1",	     "~1.2.3", ">=1.0.0", "*",
    "^1.x", "^01", "^1.", "^1.2.", "^1.2-a", "latest", "^1.2.3.4"};

TEST(parsing)
{
	struct semver v;

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		ok(semver_parse(&v, good[i]), "a version: '%s'", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(!semver_parse(&v, bad[i]),
		   "a text which is no version: '%s'", bad[i]);
	ok(semver_parse(&v, "1.20.300-rc.1+b") && v.major == 1 &&
	       v.minor == 20 && v.patch == 300,
	   "the three numbers");
	is_str(v.pre, "rc.1+b", "the pre-release is lent");
}

TEST(ordering)
{
	struct semver a, b;
	size_t wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(rising); i++)
		for (size_t j = 0; j < ARRAY_LEN(rising); j++) {
			int want = i < j ? -1 : i > j, got;

			if (!semver_parse(&a, rising[i]) ||
			    !semver_parse(&b, rising[j])) {
				ok(false, "%s, %s parse", rising[i], rising[j]);
				wrong++;
				continue;
			}
			got = semver_cmp(&a, &b);
			if ((got < 0 ? -1 : got > 0) != want) {
				ok(false, "%s against %s", rising[i],
				   rising[j]);
				wrong++;
			}
		}
	is_int((int)wrong, 0, "%zu versions are in their order",
	       ARRAY_LEN(rising));
	semver_parse(&a, "1.0.0-a+1");
	semver_parse(&b, "1.0.0-a+2.b");
	is_int(semver_cmp(&a, &b), 0, "build metadata does not count");
}

/*
 * Is a version in RANGE: one with the range's numbers, and zeros for missing numbers?
 */
static bool has_any(const char *range)
{
	static const char *const rest[] = {"", ".0", ".0.0"};
	char text[128];
	struct semver v;

	for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
		snprintf(text, sizeof(text), "%s%s", range + (*range == '^'),
			 rest[i]);
		if (semver_parse(&v, text) && semver_in(&v, range))
			return true;
	}
	return false;
}

TEST(matching)
{
	struct semver v;

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		ok(has_any(ranges[i].range), "a range: %s", ranges[i].range);
		ok(semver_parse(&v, ranges[i].version) &&
		       semver_in(&v, ranges[i].range) == ranges[i].in,
		   "%s is %sin %s", ranges[i].version,
		   ranges[i].in ? "" : "not ", ranges[i].range);
	}
	semver_parse(&v, "1.2.3");
	for (size_t i = 0; i < ARRAY_LEN(bad_ranges); i++) {
		ok(!has_any(bad_ranges[i]), "a text which is no range: '%s'",
		   bad_ranges[i]);
		ok(!semver_in(&v, bad_ranges[i]), "a bad range has no version");
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* tap.h - Test Anything Protocol, for unit tests run by prove(1). */
#ifndef TESTS_UNIT_TAP_H
#define TESTS_UNIT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* True in a build with AddressSanitizer. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

extern int tap_count; /* tests so far */

bool tap_ok(bool pass, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* After the operands comes a name (printf format). */
#define ok(cond, ...) tap_ok((cond), __VA_ARGS__)

#define is_int(got, want, ...)                                                 \
	do {                                                                   \
		int64_t tap_g = (int64_t)(got), tap_w = (int64_t)(want);       \
                                                                               \
		if (!tap_ok(tap_g == tap_w, __VA_ARGS__))                      \
			printf("# %s:%d: got %lld, want %lld\n", __FILE__,     \
			       __LINE__, (long long)tap_g, (long long)tap_w);  \
	} while (0)

#define is_str(got, want, ...)                                                 \
	do {                                                                   \
		const char *tap_g = (got), *tap_w = (want);                    \
		bool tap_same = tap_g != NULL && tap_w != NULL                 \
				    ? strcmp(tap_g, tap_w) == 0                \
				    : tap_g == tap_w;                          \
                                                                               \
		if (!tap_ok(tap_same, __VA_ARGS__))                            \
			printf("# %s:%d: got '%s', want '%s'\n", __FILE__,     \
			       __LINE__, tap_g ? tap_g : "(null)",             \
			       tap_w ? tap_w : "(null)");                      \
	} while (0)

#define skip(errmsg, ...)                                                      \
	do {                                                                   \
		printf("ok %d # SKIP %s: ", ++tap_count, (errmsg));            \
		printf(__VA_ARGS__);                                           \
		putchar('\n');                                                 \
	} while (0)

struct tap_test {
	void (*run)(void);
	struct tap_test *next;
};

/*
 * Define a test, which needs no call: main() is in tap.c, unless the file has a main().
 */
#define TEST(name)                                                             \
	static void test_##name(void);                                         \
	__attribute__((                                                        \
	    constructor(1000 + __LINE__))) static void tap_add_##name(void)    \
	{                                                                      \
		static struct tap_test test = {.run = test_##name};            \
		tap_add(&test);                                                \
	}                                                                      \
	static void test_##name(void)

void tap_add(struct tap_test *t); /* T lasts */

/*
 * For a file with a main(): run all tests defined by TEST(), in the order of lines.
 */
void tap_run(void);
/* Last there: the plan; the exit status. */
int tap_done(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* t_text.c - UTF-8, hexadecimals, base64. */
#include <errno.h>
#include <stdlib.h>

#include "base/text/quantity.h"
#include "base/text/base64.h"
#include "base/text/hex.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "tests/unit/tap.h"

static const struct {
	const char *name;
	const char *text;
	size_t valid;
} utf8s[] = {
    {"nothing", "", 0},
    {"ASCII", "abc\x7F", 4},
    {"the least of two bytes", "\xC2\x80", 2},
    {"the most of two bytes", "\xDF\xBF", 2},
    {"the least of three bytes", "\xE0\xA0\x80", 3},
    {"below the surrogates", "\xED\x9F\xBF", 3},
    {"above the surrogates", "\xEE\x80\x80", 3},
    {"the most of three bytes", "\xEF\xBF\xBF", 3},
    {"the least of four bytes", "\xF0\x90\x80\x80", 4},
    {"the most of all", "\xF4\x8F\xBF\xBF", 4},
    {"a mixture", "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z", 11},
    {"a lone continuation", "a\x80", 1},
    {"two leaders", "\xC3\xC3", 0},
    {"an overlong slash", "a\xC0\xAF", 1},
    {"an overlong of C1", "\xC1\xBF", 0},
    {"an overlong of three", "\xE0\x9F\xBF", 0},
    {"an overlong of four", "\xF0\x8F\xBF\xBF", 0},
    {"the first surrogate", "\xED\xA0\x80", 0},
    {"the last surrogate", "\xED\xBF\xBF", 0},
    {"above U+10FFFF", "\xF4\x90\x80\x80", 0},
    {"F5", "\xF5\x80\x80\x80", 0},
    {"five bytes", "\xF8\x88\x80\x80\x80", 0},
    {"FE and FF", "ok\xFE\xFF", 2},
    {"a cut pair", "ab\xC3", 2},
    {"a cut triple", "ab\xE2\x82", 2},
    {"a cut quadruple", "ab\xF0\x9F\x98", 2},
    {"a letter in a triple", "\xE2\x82z", 0},
    {"a letter in a quadruple", "\xF0\x9F\x98z", 0},
};

TEST(utf8)
{
	for (size_t i = 0; i < ARRAY_LEN(utf8s); i++) {
		size_t n = strlen(utf8s[i].text);
		/* a copy of exact size, to detect a read beyond the end */
		char *copy = xcalloc(n, 1);

		memcpy(copy, utf8s[i].text, n);
		is_int(utf8_valid_len(copy, n), utf8s[i].valid, "UTF-8: %s",
		       utf8s[i].name);
		is_int(utf8_ok(copy, n), utf8s[i].valid == n, "UTF-8: %s: ok?",
		       utf8s[i].name);
		free(copy);
	}
	ok(utf8_ok("a\0b", 3), "UTF-8: NUL is a character");
}

TEST(amount)
{
	static const struct {
		int64_t n;
		const char *unit, *want;
	} amounts[] = {
	    {0, "bytes", "0 bytes"},
	    {1023, "bytes", "1023 bytes"},
	    {1024, "bytes", "1 KiB"},
	    {134217728, "bytes", "128 MiB"},
	    {8937307, "bytes", "8.5 MiB"},
	    {1073741823, "bytes", "1023.9 MiB"},
	    {INT64_MAX, "bytes", "8388607.9 TiB"},
	    {0, "ms", "0 ms"},
	    {700, "ms", "700 ms"},
	    {1500, "ms", "1.5 s"},
	    {1234, "ms", "1.2 s"},
	    {59000, "ms", "59 s"},
	    {60000, "ms", "1 min"},
	    {90000, "ms", "90 s"},
	    {300000, "ms", "5 min"},
	    {3600000, "ms", "1 h"},
	    {5400000, "ms", "90 min"},
	    {172800000, "ms", "2 days"},
	    {12, "files", "12 files"},
	    {-1, "bytes", "-1 bytes"},
	};
	char out[QUANTITY_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(amounts); i++)
		is_str(quantity(out, amounts[i].n, amounts[i].unit),
		       amounts[i].want, "amount %zu", i);
}

TEST(place)
{
	static const struct {
		const char *text;
		size_t at, line, column;
	} places[] = {
	    {"", 0, 1, 1},	    {"abc", 3, 1, 4},
	    {"a\nb", 1, 1, 2},	    {"a\nb", 2, 2, 1},
	    {"\n\n\n", 3, 4, 1},    {"\xC3\xA9z", 2, 1, 2},
	    {"\x80\x80z", 2, 1, 3}, {"ab\n\xE2\x82\xACz\xFFz", 8, 2, 4},
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		size_t line, column;

		utf8_position(places[i].text, places[i].at, &line, &column);
		ok(line == places[i].line && column == places[i].column,
		   "place %zu: line %zu, column %zu", i, line, column);
	}
}

TEST(utf8_put)
{
	static const uint32_t chars[] = {0,	0x7F,	0x80,	 0x7FF,
					 0x800, 0xFFFF, 0x10000, 0x10FFFF};
	static const char want[] = "\0\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80"
				   "\xEF\xBF\xBF\xF0\x90\x80\x80"
				   "\xF4\x8F\xBF\xBF";
	char got[32];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(chars); i++)
		n += utf8_put(got + n, chars[i]);
	is_int(n, sizeof(want) - 1, "characters of 1, 2, 3 and 4 bytes");
	ok(memcmp(got, want, n) == 0, "the first and the last of each");
}

TEST(hex)
{
	is_int(hex_read("09aF", 4), 0x09AF,
	       "hexadecimal digits of either case are read");
	is_int(hex_read("12g4", 4), -1,
	       "a character that is no digit is refused");
	is_int(hex_read("12", 4), -1, "an odd pair of digits is refused");
	is_int(hex_read("", 0), 0, "no digits read as zero");
	for (int c = 0; c < 256; c++) {
		const char *all = "0123456789abcdef0123456789ABCDEF", *at;

		at = c == 0 ? NULL : strchr(all, c);
		if (hex_value((char)c) != (at == NULL ? -1 : (at - all) % 16))
			ok(false, "the value of the character %d", c);
	}
}

/* Cut at each length: never more than asked, never within a character. */
TEST(utf8_cut)
{
	static const char text[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";
	static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};

	for (size_t max = 0; max < ARRAY_LEN(want); max++)
		is_int(utf8_cut(text, strlen(text), max), want[max],
		       "UTF-8: cut at %zu", max);
	is_int(utf8_cut("", 0, 0), 0, "UTF-8: nothing is cut to nothing");
}

TEST(utf8_mend)
{
	static const struct {
		const char *text, *mended;
	} all[] = {{"", ""},
		   {"caf\xC3\xA9", "caf\xC3\xA9"},
		   {"\"caf\xC3\"; more", "\"caf\"; more"},
		   {"\xE2\x82", ""},
		   {"a\xF0\x9F\x98\xFF\xC3\xA9", "a\xC3\xA9"}};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		char *text = xstrdup(all[i].text);

		utf8_mend(text);
		is_str(text, all[i].mended, "UTF-8: mended, %zu", i);
		free(text);
	}
}

/* RFC 4648, section 10, and every digit of the alphabet. */
static const struct {
	const char *plain;
	const char *coded;
} base64s[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xFF", "/w=="},
    {"\xFB\xEF\xBE", "++++"},
    {"\xFF\xFF\xFF", "////"},
};

/* Other texts are refused, so each value has one text. */
static const struct {
	const char *name;
	const char *text;
} not_base64[] = {
    {"one digit", "Z"},
    {"two digits without padding", "Zg"},
    {"three digits without padding", "Zm8"},
    {"one padding short", "Zg="},
    {"padding alone", "===="},
    {"three paddings", "Z==="},
    {"padding before the end", "Zg==Zg=="},
    {"padding within", "Z=g="},
    {"bits under one padding", "Zm9="},
    {"bits under two paddings", "Zh=="},
    {"a newline", "Zm9v\nZm9"},
    {"a blank", "Zm9 "},
    {"the URL alphabet", "_-__"},
    {"a byte beyond ASCII", "Zm9\xE9"},
    {"an unknown sign", "Zm9*"},
};

TEST(base64)
{
	unsigned char all[256], back[BASE64_LEN(sizeof(all)) / 4 * 3];
	char out[BASE64_LEN(sizeof(all)) + 1];
	size_t len;

	for (size_t i = 0; i < ARRAY_LEN(base64s); i++) {
		size_t n = strlen(base64s[i].plain);

		memset(out, '!', sizeof(out));
		base64_encode(out, base64s[i].plain, n);
		is_int(out[BASE64_LEN(n)], '!', "base64 %zu: no byte more", i);
		out[BASE64_LEN(n)] = '\0';
		is_str(out, base64s[i].coded, "base64 %zu: encoded", i);
		is_int(base64_decode(back, &len, out, strlen(out)), 0,
		       "base64 %zu: decoded", i);
		ok(len == n && memcmp(back, base64s[i].plain, n) == 0,
		   "base64 %zu: to the same", i);
	}
	for (size_t i = 0; i < ARRAY_LEN(not_base64); i++)
		is_int(base64_decode(back, &len, not_base64[i].text,
				     strlen(not_base64[i].text)),
		       -EINVAL, "base64 refuses %s", not_base64[i].name);
	is_int(base64_decode(back, &len, "Zm9\0", 4), -EINVAL,
	       "base64 refuses NUL");

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (unsigned char)i;
	base64_encode(out, all, sizeof(all));
	is_int(base64_decode(back, &len, out, BASE64_LEN(sizeof(all))), 0,
	       "all byte values are decoded");
	ok(len == sizeof(all) && memcmp(all, back, len) == 0,
	   "all byte values are the same after encoding and decoding");
}

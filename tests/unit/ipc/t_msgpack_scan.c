/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/msgpack_scan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

#define BYTES(s) (s), sizeof(s) - 1

static const struct {
	const char *name;
	const char *bytes;
	size_t len;
	const char *errmsg;
} refused[] = {
    {"no bytes at all", BYTES(""), "truncated"},
    {"0xc1, which msgpack never uses", BYTES("\xc1"),
     "not msgpack: the byte 0xc1"},
    {"0xc1 as a field", BYTES("\x91\xc1"), "not msgpack: the byte 0xc1"},
    {"a bare integer", BYTES("\x10"), "not an array"},
    {"a bare string", BYTES("\xa1x"), "not an array"},
    {"a map", BYTES("\x80"), "a map"},
    {"a map with the same key twice", BYTES("\x82\xa1k\x01\xa1k\x02"), "a map"},
    {"a map with an integer as key", BYTES("\x81\x01\x02"), "a map"},
    {"a map32 of 2^28 in 5 bytes", BYTES("\xdf\x10\0\0\0"), "a map"},
    {"a map as a field", BYTES("\x92\x10\x81\x01\x02"), "a map"},
    {"an array32 of 2^28 in 5 bytes", BYTES("\xdd\x10\0\0\0"),
     "an array that claims more than the frame holds"},
    {"an array32 of 2^32 - 1", BYTES("\xdd\xff\xff\xff\xff\x01"),
     "an array that claims more than the frame holds"},
    {"an array16 of one more than there are bytes", BYTES("\xdc\0\x03\x01\x02"),
     "an array that claims more than the frame holds"},
    {"a fixarray of one more than there are bytes", BYTES("\x92\x01"),
     "an array that claims more than the frame holds"},
    {"seventeen fields",
     BYTES("\xdc\0\x11\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
	   "\x01\x01\x01"),
     "more fields than any message has"},
    {"an array in an array", BYTES("\x92\x10\x90"), "an array in an array"},
    {"an array32 of 2^28 as a field", BYTES("\x92\x10\xdd\x10\0\0\0"),
     "an array in an array"},
    {"a str32 of 4 GiB as a field", BYTES("\x91\xdb\xff\xff\xff\xff"),
     "truncated"},
    {"a str16 of one more than there are bytes", BYTES("\x91\xda\0\x03xy"),
     "truncated"},
    {"a fixstr that is cut", BYTES("\x91\xa3xy"), "truncated"},
    {"a string that eats the next field", BYTES("\x92\xa2xy"), "truncated"},
    {"an integer that is cut", BYTES("\x91\xcf\x01\x02\x03\x04\x05\x06\x07"),
     "truncated"},
    {"a string's length that is cut", BYTES("\x91\xdb\x01\x02\x03"),
     "truncated"},
    {"an array's count that is cut", BYTES("\xdd\0\0\0"), "truncated"},
    {"a byte after the array", BYTES("\x91\x10\0"), "trailing bytes"},
    {"a second array after the first", BYTES("\x91\x10\x91\x10"),
     "trailing bytes"},
    {"a nil", BYTES("\x91\xc0"), "a nil"},
    {"false", BYTES("\x91\xc2"), "a boolean"},
    {"true", BYTES("\x91\xc3"), "a boolean"},
    {"a bin8", BYTES("\x91\xc4\x01x"), "a bin"},
    {"a bin16", BYTES("\x91\xc5\0\x01x"), "a bin"},
    {"a bin32 of 4 GiB", BYTES("\x91\xc6\xff\xff\xff\xff"), "a bin"},
    {"an ext8", BYTES("\x91\xc7\x01\x01x"), "an ext"},
    {"an ext16", BYTES("\x91\xc8\0\x01\x01x"), "an ext"},
    {"an ext32 of 4 GiB", BYTES("\x91\xc9\xff\xff\xff\xff\x01"), "an ext"},
    {"a fixext1", BYTES("\x91\xd4\x01x"), "an ext"},
    {"a timestamp, which is a fixext4", BYTES("\x91\xd6\xff\0\0\0\0"),
     "an ext"},
    {"a fixext16", BYTES("\x91\xd8\x01xxxxxxxxxxxxxxxx"), "an ext"},
    {"a float", BYTES("\x91\xca\x3f\x80\0\0"), "a float"},
    {"NaN", BYTES("\x91\xcb\x7f\xf8\0\0\0\0\0\0"), "a float"},
    {"infinity", BYTES("\x91\xcb\x7f\xf0\0\0\0\0\0\0"), "a float"},
    {"-1 as a fixint", BYTES("\x91\xff"), "a negative integer"},
    {"-32 as a fixint", BYTES("\x91\xe0"), "a negative integer"},
    {"-128 as an int8", BYTES("\x91\xd0\x80"), "a negative integer"},
    {"-1 as an int16", BYTES("\x91\xd1\xff\xff"), "a negative integer"},
    {"-1 as an int32", BYTES("\x91\xd2\xff\xff\xff\xff"), "a negative integer"},
    {"-2^63 as an int64", BYTES("\x91\xd3\x80\0\0\0\0\0\0\0"),
     "a negative integer"},
};

static const struct {
	const char *name;
	const char *bytes;
	size_t len;
	uint64_t value;
} ints[] = {
    {"0 as a fixint", BYTES("\x91\0"), 0},
    {"127 as a fixint", BYTES("\x91\x7f"), 127},
    {"255 as a uint8", BYTES("\x91\xcc\xff"), 255},
    {"65535 as a uint16", BYTES("\x91\xcd\xff\xff"), 65535},
    {"2^32 - 1 as a uint32", BYTES("\x91\xce\xff\xff\xff\xff"), UINT32_MAX},
    {"2^64 - 1 as a uint64", BYTES("\x91\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
     UINT64_MAX},
    {"every byte of a uint64 in its place",
     BYTES("\x91\xcf\x01\x02\x03\x04\x05\x06\x07\x08"), 0x0102030405060708},
    {"5 as a uint64", BYTES("\x91\xcf\0\0\0\0\0\0\0\x05"), 5},
    {"127 as an int8", BYTES("\x91\xd0\x7f"), 127},
    {"258 as an int16", BYTES("\x91\xd1\x01\x02"), 258},
    {"2^31 - 1 as an int32", BYTES("\x91\xd2\x7f\xff\xff\xff"), INT32_MAX},
    {"2^63 - 1 as an int64", BYTES("\x91\xd3\x7f\xff\xff\xff\xff\xff\xff\xff"),
     INT64_MAX},
    {"an int in an array16", BYTES("\xdc\0\x01\x07"), 7},
    {"an int in an array32", BYTES("\xdd\0\0\0\x01\x07"), 7},
};

static const struct {
	const char *name;
	const char *bytes;
	size_t len;
	const char *text;
} texts[] = {
    {"an empty fixstr", BYTES("\x91\xa0"), ""},
    {"a fixstr", BYTES("\x91\xa3xyz"), "xyz"},
    {"a str8", BYTES("\x91\xd9\x03xyz"), "xyz"},
    {"a str16", BYTES("\x91\xda\0\x03xyz"), "xyz"},
    {"a str32", BYTES("\x91\xdb\0\0\0\x03xyz"), "xyz"},
};

/* Scan a copy of exact size, so that sanitizers see a read beyond the end. */
static int scan(struct msgpack_scan_field *f, size_t *count, const char *bytes,
		size_t len, const char **errmsg)
{
	char *copy = xcalloc(1, len + 1);
	int rc;

	memcpy(copy + 1, bytes, len);
	*errmsg = NULL;
	rc = msgpack_scan_frame(f, count, copy + 1, len, errmsg);
	for (size_t i = 0; rc == 0 && i < *count; i++)
		if (f[i].p != NULL) /* borrows from the copy */
			f[i].p = bytes + (f[i].p - (copy + 1));
	free(copy);
	return rc;
}

TEST(refuses)
{
	struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX];
	const char *errmsg;
	size_t count;

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		int rc =
		    scan(f, &count, refused[i].bytes, refused[i].len, &errmsg);

		is_str(rc == -EBADMSG ? errmsg : "accepted", refused[i].errmsg,
		       "refused: %s", refused[i].name);
	}
}

TEST(accepts_ints)
{
	struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX];
	const char *errmsg;
	size_t count;

	for (size_t i = 0; i < ARRAY_LEN(ints); i++) {
		int rc = scan(f, &count, ints[i].bytes, ints[i].len, &errmsg);

		ok(rc == 0 && count == 1 && f[0].p == NULL &&
		       f[0].n == ints[i].value,
		   "accepted: %s", ints[i].name);
	}
}

TEST(accepts_texts)
{
	struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX];
	const char *errmsg;
	size_t count;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		size_t n = strlen(texts[i].text);
		int rc = scan(f, &count, texts[i].bytes, texts[i].len, &errmsg);

		ok(rc == 0 && count == 1 && f[0].p != NULL && f[0].n == n &&
		       memcmp(f[0].p, texts[i].text, n) == 0,
		   "accepted: %s", texts[i].name);
	}
}

TEST(accepts_many)
{
	static const char frame[] = "\x9f\x01\x02\x03\x04\x05\x06\x07\x08\x09"
				    "\x0a\x0b\x0c\x0d\x0e\xa1z";
	static const char full[] = "\xdc\0\x10\x01\x01\x01\x01\x01\x01\x01\x01"
				   "\x01\x01\x01\x01\x01\x01\x01\x02";
	struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX];
	const char *errmsg;
	size_t count;

	is_int(scan(f, &count, BYTES("\x90"), &errmsg), 0,
	       "an empty array is accepted");
	is_int(count, 0, "an empty array has no fields");
	is_int(scan(f, &count, BYTES(frame), &errmsg), 0,
	       "an array of fifteen fields is accepted");
	is_int(count, 15, "fifteen fields are counted");
	ok(f[13].n == 14 && f[14].p != NULL && *f[14].p == 'z',
	   "the fields are in order");
	is_int(scan(f, &count, BYTES(full), &errmsg), 0,
	       "an array of sixteen fields is accepted");
	is_int(f[15].n, 2, "down to the last");
}

/* Frames of LEN bytes B, such as arrays in arrays. */
TEST(refuses_depth)
{
	static const size_t depths[] = {2, 33, 2000, 65536};
	struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX];
	char *frame = xcalloc(1, 65536);
	const char *errmsg;
	size_t count;

	memset(frame, '\x91', 65536);
	for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
		int rc = scan(f, &count, frame, depths[i], &errmsg);

		is_str(rc == -EBADMSG ? errmsg : "accepted",
		       "an array in an array", "refused: arrays %zu deep",
		       depths[i]);
	}
	free(frame);
}

/* The peak of this process's address space, in KiB. */
static long peak_kb(void)
{
	char *status = buf_file("/proc/self/status", 8192);
	const char *at = strstr(status, "VmPeak:");
	long kb = at == NULL ? -1 : strtol(at + strlen("VmPeak:"), NULL, 10);

	free(status);
	return kb;
}

TEST(reserves_nothing)
{
	struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX];
	const char *errmsg;
	size_t count;
	long before = peak_kb();
	int rc = 0;

	if (before < 0) {
		skip("no /proc", "what is claimed is not reserved");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		rc |= msgpack_scan_frame(f, &count, refused[i].bytes,
					 refused[i].len, &errmsg);
	ok(rc < 0 && peak_kb() - before < 1024,
	   "no memory is reserved for a claimed length");
}

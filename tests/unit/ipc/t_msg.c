/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/msg.h"

#include "ipc/msgpack_scan.h"
#include "tests/unit/ipc/msg_fixture.h"

TEST(round_trips)
{
	for (size_t i = 0; i < n_samples; i++) {
		size_t len = msg_put(frame, &samples[i]);
		const char *errmsg = NULL;
		struct msg m;

		is_int(msg_get(&m, frame, len, &errmsg), 0, "%s decodes (%zu)",
		       msg_type_name(samples[i].type), i);
		ok(errmsg == NULL && same(&m, &samples[i]),
		   "the decoded message equals the encoded message (%zu)", i);
	}
}

/* The largest message of each type fits a frame, or msg_put() asserts. */
TEST(fits_the_largest)
{
	struct str name = {bulk, MSG_NAME_MAX}, head = {bulk, MSG_CHUNK_MAX};
	struct msg run = {.type = MSG_RUN,
			  .run = {.run_id = name,
				  .template_id = name,
				  .entry = name,
				  .timeout_ms = MSG_INT_MAX,
				  .cancel_grace_ms = MSG_INT_MAX,
				  .memory_bytes = MSG_INT_MAX,
				  .output_bytes = MSG_INT_MAX,
				  .artifact_bytes = MSG_INT_MAX,
				  .messages_per_second = MSG_RATE_MAX,
				  .code_bytes = MSG_BODY_MAX - 1,
				  .inputs_bytes = 1,
				  .head = head}};
	struct msg artifact = {.type = MSG_ARTIFACT,
			       .artifact = {.total = MSG_BODY_MAX,
					    .name = name,
					    .mime_type = name,
					    .head = head}};

	memset(bulk, 'x', sizeof(bulk));
	is_str(offence(frame, msg_put(frame, &run)), "accepted",
	       "the largest RUN fits a frame");
	is_str(offence(frame, msg_put(frame, &artifact)), "accepted",
	       "the largest ARTIFACT fits a frame");
}

TEST(refuses_cuts)
{
	for (size_t i = 0; i < n_samples; i++) {
		size_t len = msg_put(frame, &samples[i]), accepted = 0;

		for (size_t n = 0; n < len; n++)
			if (strcmp(offence(frame, n), "accepted") == 0)
				accepted++;
		is_int(accepted, 0, "%s is refused when cut at any byte (%zu)",
		       msg_type_name(samples[i].type), i);
		frame[len] = 0;
		is_str(offence(frame, len + 1), "trailing bytes",
		       "a frame with an extra byte is refused (%zu)", i);
	}
}

/*
 * Objects of all other types, with the one possible error where the error is certain.
 */
static const struct {
	const char *bytes;
	size_t len;
	const char *errmsg;
} strangers[] = {
    {"\xc0", 1, "a nil"},
    {"\xc2", 1, "a boolean"},
    {"\xc3", 1, "a boolean"},
    {"\xc4\x01x", 3, "a bin"},
    {"\xca\0\0\0\0", 5, "a float"},
    {"\xcb\x7f\xf8\0\0\0\0\0\0", 9, "a float"},
    {"\xff", 1, "a negative integer"},
    {"\xd3\xff\xff\xff\xff\xff\xff\xff\xff", 9, "a negative integer"},
    {"\xd4\x01x", 3, "an ext"},
    {"\x80", 1, "a map"},
    {"\x90", 1, "an array in an array"},
    {"\xc1", 1, "not msgpack: the byte 0xc1"},
};

/*
 * Append to OUT the element F of FRAME; all elements are short. The new length of OUT.
 */
static size_t append(unsigned char *out, size_t len,
		     const struct msgpack_scan_field *f)
{
	if (f->p == NULL) {
		out[len++] = 0xcf;
		for (int shift = 56; shift >= 0; shift -= 8)
			out[len++] = (unsigned char)(f->n >> shift);
		return len;
	}
	out[len++] = 0xda;
	out[len++] = (unsigned char)(f->n >> 8);
	out[len++] = (unsigned char)f->n;
	memcpy(out + len, f->p, f->n);
	return len + f->n;
}

/* The error of sample I with field K replaced by LEN bytes. */
static const char *replaced(size_t i, size_t k, const void *bytes, size_t len)
{
	static unsigned char out[4096];
	struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX];
	const char *errmsg;
	size_t count, n = 0;

	msgpack_scan_frame(f, &count, frame, msg_put(frame, &samples[i]),
			   &errmsg);
	out[n++] = (unsigned char)(0x90 | count);
	for (size_t at = 0; at < count; at++) {
		if (at != k) {
			n = append(out, n, &f[at]);
			continue;
		}
		memcpy(out + n, bytes, len);
		n += len;
	}
	return offence(out, n);
}

static bool refuses_strangers(size_t i, size_t k)
{
	bool pass = true;

	for (size_t s = 0; s < ARRAY_LEN(strangers); s++) {
		const char *errmsg =
		    replaced(i, k, strangers[s].bytes, strangers[s].len);

		if (strcmp(errmsg, strangers[s].errmsg) != 0) {
			printf("# 0x%02x: %s\n",
			       (unsigned char)strangers[s].bytes[0], errmsg);
			pass = false;
		}
	}
	return pass;
}

/* A string for an integer and an integer for a string. */
static bool refuses_the_other_kind(size_t i, size_t k,
				   const struct msgpack_scan_field *f)
{
	const char *want =
	    f->p == NULL ? " is not an integer" : " is not a string";
	const char *errmsg = f->p == NULL ? replaced(i, k, "\xa1z", 2)
					  : replaced(i, k, "\x01", 1);

	if (k == 0)
		return strcmp(errmsg, "no message type") == 0;
	return strstr(errmsg, want) != NULL;
}

TEST(refuses_wrong_types)
{
	for (size_t i = 0; i < n_samples; i++) {
		const char *name = msg_type_name(samples[i].type);
		struct msgpack_scan_field f[MSGPACK_SCAN_FIELDS_MAX], as_was[1];
		const char *errmsg;
		size_t count;

		msgpack_scan_frame(f, &count, frame,
				   msg_put(frame, &samples[i]), &errmsg);
		for (size_t k = 0; k < count; k++) {
			as_was[0] = f[k];
			ok(refuses_strangers(i, k) &&
			       refuses_the_other_kind(i, k, as_was),
			   "%s (%zu): field %zu takes its own type alone", name,
			   i, k);
		}
	}
}

/* Frames with one missing field and with one extra field. */
TEST(refuses_wrong_counts)
{
	for (size_t i = 0; i < n_samples; i++) {
		const char *name = msg_type_name(samples[i].type);
		size_t len = msg_put(frame, &samples[i]);

		/* the largest array with a one-byte head */
		if (frame[0] == 0x9f) {
			memmove(frame + 3, frame + 1, len - 1);
			memcpy(frame, "\xdc\0\x0f", 3);
			len += 2;
		}
		frame[frame[0] == 0xdc ? 2 : 0]++;
		frame[len] = 0;
		ok(strncmp(offence(frame, len + 1), name, strlen(name)) == 0,
		   "%s with a field more is refused (%zu)", name, i);
	}
	is_str(offence("\x91\x11", 2), "PROGRESS with other than 3 fields",
	       "PROGRESS with no field is refused");
	is_str(offence("\x93\x11\x01\x02", 4),
	       "PROGRESS with other than 3 fields",
	       "PROGRESS with a field less is refused");
}

TEST(costs)
{
	struct msg call = {.type = MSG_CALL, .call = {.total = MSG_ASK_MAX}};
	struct msg result = {.type = MSG_RESULT, .result = {.total = 1 << 20}};
	struct msg chunk = {.type = MSG_CHUNK};

	is_int(msg_cost(&call, 10000), 1025, "a question counts by its size");
	is_int(msg_cost(&call, 100), 100, "a small question costs its size");
	is_int(msg_cost(&result, 10000), 1,
	       "messages other than questions cost one");
	is_int(msg_cost(&chunk, 10000), 0,
	       "a part of a body counts for nothing");
}

TEST(keeps_codes)
{
	static const int64_t good[] = {-32603, 0,      1,	  428,	    430,
				       -31999, -32769, INT32_MAX, INT32_MIN};
	static const int64_t bad[] = {429,    -32000,	       -32020,
				      -32042, -32600,	       -32602,
				      -32768, INT32_MAX + 1ll, INT32_MIN - 1ll};

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		ok(msg_reply_code_ok(good[i]), "a reply's error may have %lld",
		   (long long)good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(!msg_reply_code_ok(bad[i]),
		   "a reply's error may not have %lld", (long long)bad[i]);
}

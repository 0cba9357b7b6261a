/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_state.c - seals the data that the next round of a call needs, and
 * opens the text that the client brings back, for questions in stateless calls.
 * A bad text gives a verdict. Memory that runs out aborts; nothing else can
 * fail.
 */
#include "proto/mcp/request_state.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/base64.h"
#include "proto/json/json_digest.h"

/* Numbers have their highest byte first. */
#define VERSION 1
#define ROUND 1 /* offsets of the fields; the version is byte 0 */
#define EXPIRES 5
#define RUN 13
#define CALL (RUN + ID_SIZE)
#define REQUESTOR (CALL + REQUEST_STATE_CALL)
#define SEALED (REQUESTOR + 32) /* bytes under the seal */
#define SEAL 32			/* bytes of the seal */
#define WHOLE (SEALED + SEAL)

/*
 * Base64 makes four characters of three bytes; a whole number needs no padding.
 */
_Static_assert(WHOLE % 3 == 0, "a text needs no padding");
_Static_assert(BASE64_LEN(WHOLE) + 1 == REQUEST_STATE_SIZE, "so long is it");
_Static_assert(JSON_DIGEST_BYTES == REQUEST_STATE_CALL, "a digest fits");

static void put_big_endian(unsigned char *to, size_t n, uint64_t v)
{
	for (; n > 0; n--, v >>= 8)
		to[n - 1] = (unsigned char)(v & 0xFF);
}

static uint64_t get_number(const unsigned char *from, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | from[i];
	return v;
}

static void digest_text(unsigned char out[32], const char *text)
{
	struct sha256_ctx md;

	sha256_init(&md);
	sha256_update(&md, strlen(text), (const void *)text);
	sha256_digest(&md, SHA256_DIGEST_SIZE, out);
}

/* Seal SEALED. The label separates requestState from other uses of the key. */
static void seal(unsigned char out[SEAL],
		 const unsigned char key[REQUEST_STATE_KEY],
		 const unsigned char *sealed)
{
	static const char label[] = "paddock requestState";
	unsigned char all[sizeof(label) + SEALED];
	struct hmac_sha256_ctx md;

	memcpy(all, label, sizeof(label));
	memcpy(all + sizeof(label), sealed, SEALED);
	hmac_sha256_set_key(&md, REQUEST_STATE_KEY, key);
	hmac_sha256_update(&md, sizeof(all), all);
	hmac_sha256_digest(&md, SEAL, out);
}

void request_state_call(unsigned char out[REQUEST_STATE_CALL],
			const char *method, const char *name,
			struct json_object *arguments)
{
	size_t m = strlen(method) + 1, n = strlen(name) + 1;
	char *prefix = xcalloc(m + n, 1);

	memcpy(prefix, method, m);
	memcpy(prefix + m, name, n);
	json_digest(out, prefix, m + n, arguments);
	free(prefix);
}

/* ---- the text: Base64 for URLs (RFC 4648, 5) ---- */

static void replace_chars(char *text, const char *these, const char *by)
{
	for (; *text != '\0'; text++) {
		const char *at = strchr(these, *text);

		if (at != NULL)
			*text = by[at - these];
	}
}

static bool unwrap(unsigned char out[WHOLE], const char *text, size_t len)
{
	char standard[REQUEST_STATE_SIZE] = "";
	size_t n;

	if (len != REQUEST_STATE_SIZE - 1)
		return false;
	memcpy(standard, text, len);
	if (strlen(standard) != len || strpbrk(standard, "+/=") != NULL)
		return false;
	replace_chars(standard, "-_", "+/");
	return base64_decode(out, &n, standard, len) == 0;
}

void request_state_seal(char out[REQUEST_STATE_SIZE],
			const unsigned char key[REQUEST_STATE_KEY],
			const struct request_state *s)
{
	unsigned char raw[WHOLE] = {VERSION};

	put_big_endian(raw + ROUND, EXPIRES - ROUND, s->round);
	put_big_endian(raw + EXPIRES, RUN - EXPIRES, (uint64_t)s->expires_ms);
	memcpy(raw + RUN, s->run, strnlen(s->run, ID_SIZE - 1));
	memcpy(raw + CALL, s->call, sizeof(s->call));
	digest_text(raw + REQUESTOR, s->requestor);
	seal(raw + SEALED, key, raw);
	base64_encode(out, raw, sizeof(raw));
	out[REQUEST_STATE_SIZE - 1] = '\0';
	replace_chars(out, "+/", "-_");
}

/*
 * The seal is checked first, then the requestor: another requestor may learn no
 * more than the mismatch.
 */
enum request_state_verdict
request_state_open(struct request_state *s,
		   const unsigned char key[REQUEST_STATE_KEY], const char *text,
		   size_t len, int64_t now_ms)
{
	unsigned char raw[WHOLE], good[SEAL], requestor[32];
	int64_t expires_ms;

	if (!unwrap(raw, text, len) || raw[0] != VERSION)
		return REQUEST_STATE_MALFORMED;
	seal(good, key, raw);
	if (!memeql_sec(good, raw + SEALED, SEAL))
		return REQUEST_STATE_FORGED;
	digest_text(requestor, s->requestor);
	if (memcmp(requestor, raw + REQUESTOR, sizeof(requestor)) != 0)
		return REQUEST_STATE_OTHER_REQUESTOR;
	if (memcmp(s->call, raw + CALL, sizeof(s->call)) != 0)
		return REQUEST_STATE_OTHER_CALL;
	expires_ms = (int64_t)get_number(raw + EXPIRES, RUN - EXPIRES);
	if (now_ms >= expires_ms)
		return REQUEST_STATE_EXPIRED;
	s->expires_ms = expires_ms;
	s->round = (uint32_t)get_number(raw + ROUND, EXPIRES - ROUND);
	memcpy(s->run, raw + RUN, ID_SIZE);
	return REQUEST_STATE_OK;
}

static const char *const texts[REQUEST_STATE_VERDICTS] = {
    [REQUEST_STATE_OK] = "",
    [REQUEST_STATE_MALFORMED] =
	"requestState is no text that this server makes; the client has to "
	"send it as it came, or to call again without it",
    [REQUEST_STATE_FORGED] =
	"requestState does not have the seal of this server: it was changed, or "
	"another server made it; the client has to send it as it came, or to "
	"call again without it",
    [REQUEST_STATE_OTHER_REQUESTOR] =
	"requestState was given to another requestor; the client has to call "
	"again without it",
    [REQUEST_STATE_OTHER_CALL] =
	"requestState was given for another call; the client has to repeat that "
	"one, with the same method, name and arguments, or to call again "
	"without it",
    [REQUEST_STATE_EXPIRED] =
	"requestState came too late: what was asked is not waited for any more; "
	"the client has to call again without it",
};

const char *request_state_text(enum request_state_verdict v)
{
	return texts[v];
}

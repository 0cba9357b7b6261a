/* SPDX-License-Identifier: Apache-2.0 */
/* t_mask.c - secrets are masked in each form, however the stream is cut. */
#include "egress/parse/mask.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static const char secret[] = "sk-0123/abc+DEF=";

/* A form of the secret, in text, and the number of asterisks in its place, at least. */
static const struct {
	const char *name, *text;
	size_t least;
} forms[] = {
    {"the secret", "a sk-0123/abc+DEF= b", 16},
    {"base64", "c2stMDEyMy9hYmMrREVGPQ==", 20},
    {"base64 behind a byte", "eHNrLTAxMjMvYWJjK0RFRj0=", 18},
    {"base64 behind two bytes", "eHhzay0wMTIzL2FiYytERUY9", 20},
    {"hexadecimal", "736b2d303132332f6162632b4445463d", 32},
    {"hexadecimal in capitals", "736B2D303132332F6162632B4445463D", 32},
    {"escapes", "k=sk-0123%2Fabc%2BDEF%3D", 22},
    {"escapes in small letters", "k=sk-0123%2fabc%2bDEF%3d", 22},
    {"two in a row", "sk-0123/abc+DEF=sk-0123/abc+DEF=", 32},
};

static size_t stars(const char *p, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += p[i] == '*';
	return count;
}

/* Pass TEXT in parts of SIZE bytes. The result, which the caller frees. */
static char *pass(const struct mask *m, const char *text, size_t size,
		  size_t *len)
{
	struct buf held = {0}, out = {0};
	size_t n = strlen(text);

	for (size_t at = 0; at <= n; at += size) {
		bool last = at + size > n;
		size_t ready = mask_stream(m, &held, text + at,
					   last ? n - at : size, last);

		buf_add(&out, buf_data(&held), ready);
		buf_drop(&held, ready);
	}
	buf_fini(&held);
	return buf_take(&out, len);
}

TEST(forms)
{
	struct mask m = {0};

	mask_add(&m, secret, strlen(secret));
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		for (size_t size = 1; size <= 40; size += 3) {
			size_t len, n = strlen(forms[i].text);
			char *out = pass(&m, forms[i].text, size, &len);

			if (len != n || stars(out, len) < forms[i].least)
				ok(false, "%s in parts of %zu: %s",
				   forms[i].name, size, out);
			free(out);
		}
	ok(true, "all forms are masked in parts of all sizes");
	mask_fini(&m);
}

TEST(others)
{
	static const char text[] =
	    "sk-0123/abc+DEF sk-0123/abc+sk-0123/abc+DEG=";
	struct mask m = {0};
	size_t len;
	char *out;

	mask_add(&m, secret, strlen(secret));
	out = pass(&m, text, 5, &len);
	is_str(out, text, "a part of a secret stays");
	free(out);
	mask_fini(&m);
	out = pass(&m, "sk-0123/abc+DEF=", 4, &len);
	is_str(out, "sk-0123/abc+DEF=", "without secrets all stays");
	free(out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookies.c - whether the cookies of a session change, for get_page_info; what
 * they are is told to nobody. When Chromium does not answer, the count stays as
 * it was.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "browser/browser.h"
#include "proto/json/json_pack.h"

/* Chromium does not answer when there are too many cookies */
#define PATIENCE_MS 2000

/* FNV-1a with the NUL, so that "ab" "c" and "a" "bc" differ. */
static uint64_t mix(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	while (*text++ != '\0');
	return hash;
}

static uint64_t digest(struct json_object *cookie)
{
	static const char *const parts[] = {"domain", "path", "name", "value"};
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const char *text = json_member_str(cookie, parts[i]);

		hash = mix(hash, text == NULL ? "" : text);
	}
	return hash;
}

int session_look_at_cookies(struct call *c, int64_t *changes)
{
	struct session *s = c->session;
	struct json_object *r, *all;
	const char *errmsg;
	uint64_t sum = 0;

	r = call_cdp_try(c, NULL, "Storage.getCookies",
			 json_pack("browserContextId:s", s->context),
			 clock_mono_ms() + PATIENCE_MS, &errmsg);
	if (r == NULL && errmsg == NULL)
		return -1;
	all = json_member(r, "cookies");
	if (!json_object_is_type(all, json_type_array)) {
		json_object_put(r);
		return 0;
	}
	/* a sum, because their order means nothing */
	for (size_t i = 0; i < json_object_array_length(all); i++)
		sum += digest(json_object_array_get_idx(all, i));
	json_object_put(r);
	if (sum != s->cookies) {
		s->cookies = sum;
		s->cookie_changes++;
	}
	*changes = s->cookie_changes;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.c - drafts of grants from the views of runs, for "paddock explain" and "template
 * learn". The server makes and checks the draft; a draft is missing at an older server, which
 * is no error. Words of a view are untrusted: the server takes only words that paddock.conf
 * may have.
 */
#include "cli/grant/draft.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "cli/template/grants_text.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define MIB (INT64_C(1) << 20)
#define SECOND_MS 1000

/* Return the member KEY of O, an object, made if it is missing. */
static struct json_object *object_at(struct json_object *o, const char *key)
{
	struct json_object *at = json_member(o, key);

	if (at == NULL) {
		at = json_object_new_object();
		json_object_object_add(o, key, at);
	}
	return at;
}

/* Add the words of LIST to those of KEY in WANT. Returns whether any is new. */
static bool add_words(struct json_object *want, const char *key,
		      struct json_object *list)
{
	struct json_object *grant, *all;
	bool more = false;

	if (json_length(list) == 0)
		return false;
	grant = object_at(want, "grant");
	all = json_member(grant, key);
	if (all == NULL) {
		all = json_object_new_array();
		json_object_object_add(grant, key, all);
	}
	json_each(word, list) {
		bool known = false;

		json_each(one, all)
			known =
			    known || strcmp(json_object_get_string(one),
					    json_object_get_string(word)) == 0;
		if (known)
			continue;
		json_object_array_add(all, json_object_get(word));
		more = true;
	}
	return more;
}

/* Round N up to a number that an operator would write. */
static int64_t round_up(int64_t n, const char *unit)
{
	int64_t step = 1;

	if (strcmp(unit, "bytes") == 0 && n > MIB)
		step = MIB;
	if (strcmp(unit, "ms") == 0 && n > SECOND_MS)
		step = SECOND_MS;
	return n > INT64_MAX - step ? n : (n + step - 1) / step * step;
}

/*
 * Return the need of a run that USED more of the limit NAME than ALLOWED. Most limits stop
 * a run, so that the need in all is unknown: twice the limit.
 */
static int64_t needed(const char *name, int64_t used, int64_t allowed,
		      const char *unit)
{
	static const char *const whole[] = {"output_bytes", "logged_bytes"};

	for (size_t i = 0; used > allowed && i < ARRAY_LEN(whole); i++)
		if (strcmp(whole[i], name) == 0)
			return round_up(used, unit);
	return allowed > INT64_MAX / 2 ? allowed : round_up(2 * allowed, unit);
}

/*
 * Add the limit in DETAILS of an error to WANT. Limits of callers and requestors are no
 * limits of the template.
 */
static bool add_limit(struct json_object *want, struct json_object *details)
{
	const char *name = json_member_str(details, "limit");
	const char *unit = json_member_str(details, "unit");
	const char *who = json_member_str(details, "whoCanRaise");
	int64_t allowed = json_member_int(details, "allowed");
	int64_t n;
	struct json_object *limits;

	if (name == NULL || unit == NULL || who == NULL || allowed <= 0 ||
	    strstr(who, "[requestor ") != NULL ||
	    strncmp(who, "nobody", strlen("nobody")) == 0 ||
	    strncmp(who, "the caller", strlen("the caller")) == 0)
		return false;
	n = needed(name, json_member_int(details, "used"), allowed, unit);
	limits = object_at(want, "limits");
	if (json_member_int(limits, name) >= n)
		return false;
	json_object_object_add(limits, name, json_object_new_int64(n));
	return true;
}

bool draft_add(struct json_object *want, struct json_object *view)
{
	struct json_object *lacked = json_member(view, "lacked");
	struct json_object *details =
	    json_member(json_member(view, "error"), "details");
	const char *key = json_member_str(details, "key");
	bool more = add_limit(want, details);

	if (key != NULL)
		more |= add_words(want, key, json_member(details, "asked"));
	if (json_object_is_type(lacked, json_type_object)) {
		json_object_object_foreach(lacked, kind, list)
			more |= add_words(want, kind, list);
	}
	json_each(one, json_member(view, "limitsMet"))
		more |= add_limit(want, one);
	return more;
}

int draft_ask(struct client *c, const char *id, const char *version,
	      struct json_object *want, bool whole, struct json_object **draft)
{
	struct tool_result a;
	int rc;

	*draft = NULL;
	rc = client_method(c, "paddock/draft",
			   json_pack("templateId:s version?s grant?O limits?O "
				     "whole?b",
				     id, version, json_member(want, "grant"),
				     json_member(want, "limits"), whole),
			   &a);
	if (rc != 0)
		return rc;
	if (a.good) {
		*draft = json_object_get(a.value);
		json_object_object_del(*draft, "resultType");
		json_object_object_del(*draft, "_meta");
	}
	tool_result_fini(&a);
	return 0;
}

bool draft_has_section(struct json_object *draft)
{
	const char *section = json_member_str(draft, "section");

	return section != NULL && *section != '\0';
}

int draft_of_run(struct client *c, struct json_object *view,
		 struct json_object **draft)
{
	struct json_object *want = json_object_new_object();
	int rc = 0;

	*draft = NULL;
	if (draft_add(want, view))
		rc = draft_ask(c, json_member_str(view, "templateId"),
			       json_member_str(view, "templateVersion"), want,
			       false, draft);
	json_object_put(want);
	return rc;
}

void draft_show(struct json_object *draft)
{
	struct json_object *manifest = json_member(draft, "manifest");
	struct buf b = {0};

	if (!draft_has_section(draft))
		return;
	if (manifest != NULL) { /* a changed manifest changes the digest */
		json_pretty_add_compact(&b, manifest);
		buf_add(&b, "", 1);
		safe_printf(
		    "First its author has to have template.json ask "
		    "for it: %s\n"
		    "Then \"paddock template grant\" prints what grants "
		    "it.\n",
		    buf_data(&b));
		buf_fini(&b);
		return;
	}
	puts("A draft of what the operator could grant, in paddock.conf:");
	grants_text_lines(json_member_str(draft, "section"));
}

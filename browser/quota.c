/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.c - counts a requestor's sessions, tabs and calls, and decides on one
 * more, for session.c, tab.c and call.c. A refusal is the call's fault, with
 * the requestor's own figures and the configured limit, never other requestors'
 * figures.
 */
#include "browser/browser.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/fair_share.h"
#include "proto/json/json_pack.h"

#define RETRY_MS 1000 /* a guess: other requestors hold the space */

static const struct {
	const char *code, *limit, *unit, *what, *who, *advice;
} kinds[] = {
    [QUOTA_SESSIONS] = {"QUOTA_EXCEEDED", "max_sessions", "sessions",
			"browser sessions", "max_sessions in [browser]",
			"close_session closes one"},
    [QUOTA_TABS] = {"QUOTA_EXCEEDED", "max_tabs", "tabs", "tabs",
		    "max_tabs in [browser]", "close_tab closes one"},
    [QUOTA_SESSION_TABS] = {"QUOTA_EXCEEDED", "max_tabs_per_session", "tabs",
			    "tabs of this session",
			    "max_tabs_per_session in [browser]",
			    "close_tab closes one"},
    [QUOTA_CALLS] = {"BROWSER_BUSY", "browser calls", "calls", "calls", NULL,
		     "try again later"},
};

/* Count the sessions of REQUESTOR, and in *TABS their tabs. */
static unsigned own_sessions(const struct browser *b, const char *requestor,
			     unsigned *tabs)
{
	const struct session *s;
	unsigned n = 0;

	*tabs = 0;
	TAILQ_FOREACH(s, &b->sessions, link)
		if (strcmp(s->requestor, requestor) == 0) {
			n++;
			*tabs += s->n_tabs;
		}
	return n;
}

static int refuse_over_quota(struct call *c, enum quota_kind kind,
			     unsigned mine, unsigned most)
{
	char *who = kinds[kind].who == NULL
			? xstrdup("nobody: it is fixed")
			: xasprintf("the operator: %s", kinds[kind].who);
	struct json_object *details = json_pack(
	    "limit:s used:i allowed:i unit:s whoCanRaise:s "
	    "retryAfterMs?o",
	    kinds[kind].limit, mine, most, kinds[kind].unit, who,
	    kind == QUOTA_SESSION_TABS ? NULL : json_object_new_int(RETRY_MS));

	free(who);
	return call_fault(c, kinds[kind].code, details,
			  "no more %s of yours are taken now: you have %u, and "
			  "there are %u for all; %s",
			  kinds[kind].what, mine, most, kinds[kind].advice);
}

int quota_claim(struct call *c, enum quota_kind kind)
{
	const struct browser *b = c->b;
	const struct limits *l = &b->limits;
	const struct call *o;
	unsigned mine, all, most, tabs;
	int64_t theirs, share;

	switch (kind) {
	case QUOTA_SESSIONS:
		mine = own_sessions(b, c->requestor, &tabs);
		all = b->n_sessions;
		most = l->sessions;
		break;
	case QUOTA_TABS:
		own_sessions(b, c->requestor, &mine);
		all = b->n_tabs;
		most = l->tabs;
		break;
	case QUOTA_CALLS: /* B has counted the call C already */
		mine = 0;
		TAILQ_FOREACH(o, &b->calls, link)
			mine += o != c && o->requestor != NULL &&
				strcmp(o->requestor, c->requestor) == 0;
		all = b->n_calls - 1;
		most = BROWSER_PROTO_CALLS_MAX;
		break;
	default: /* a session has only its own requestor */
		mine = c->session->n_tabs;
		most = l->tabs_per_session;
		return mine < most ? 0 : refuse_over_quota(c, kind, mine, most);
	}
	theirs = all > mine ? all - mine : 0;
	share = b->alone ? (int64_t)most - theirs : fair_share(most, theirs);
	return mine < share ? 0 : refuse_over_quota(c, kind, mine, most);
}

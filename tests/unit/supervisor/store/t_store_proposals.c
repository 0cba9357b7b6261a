/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_proposals.c - rows of proposed grants: kept once, listed by requestor, bounded,
 * approved, dropped and expired; on SQLite, and on PostgreSQL.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/store/store_impl.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define NOW 1000000

static struct {
	struct answer told;
	size_t n;
	char text[256]; /* the fields of the first row */
	int64_t approved_ms, expires_ms;
} got;

static void on_rows(void *arg, const struct store_result *res)
{
	const struct store_proposal *p = res->proposals;

	(void)arg;
	help_done(&got.told, res);
	got.n = res->n_proposals;
	if (got.n == 0)
		return;
	snprintf(got.text, sizeof(got.text), "%s %s %s %s %s", p->id,
		 p->requestor, p->template_id, p->digest, p->body);
	got.approved_ms = p->approved_ms;
	got.expires_ms = p->expires_ms;
}

static size_t list(struct store *s, const char *requestor, const char *id,
		   int64_t now_ms)
{
	memset(&got, 0, sizeof(got));
	store_list_proposals(s, requestor, id, now_ms, on_rows, NULL);
	help_wait(s, &got.told);
	return got.n;
}

static int add(struct store *s, const char *id, const char *requestor,
	       const char *body)
{
	struct store_proposal p = {.requestor = requestor,
				   .template_id = "t",
				   .digest = "d",
				   .body = body,
				   .made_ms = NOW,
				   .expires_ms = NOW + 100};

	snprintf(p.id, sizeof(p.id), "%s", id);
	memset(&got, 0, sizeof(got));
	store_add_proposal(s, &p, on_rows, NULL);
	help_wait(s, &got.told);
	return got.told.rc;
}

static int end(struct store *s, const char *id, int64_t now_ms)
{
	struct answer a = {0};

	store_end_proposal(s, id, now_ms, help_done, &a);
	help_wait(s, &a);
	return a.rc;
}

static void rows(struct store *s)
{
	is_int(add(s, "a1", "ada", "{}"), 0, "a proposal is kept");
	is_str(got.text, "a1 ada t d {}", "a kept proposal has all fields");
	is_int(add(s, "a1", "ada", "{\"reason\":\"later\"}"), 0,
	       "a known proposal is taken");
	is_str(got.text, "a1 ada t d {}", "a known proposal stays as before");
	add(s, "b1", "bob", "{}");
	is_int((int)list(s, NULL, NULL, NOW), 2, "all proposals are listed");
	is_int((int)list(s, "bob", NULL, NOW), 1,
	       "the proposals of a requestor are listed");
	is_int((int)list(s, "bob", "a1", NOW), 0,
	       "a requestor finds no proposal of another");
	is_int((int)list(s, NULL, "a1", NOW), 1, "a proposal is found by id");
	is_int((int)list(s, NULL, NULL, NOW + 100), 0,
	       "an expired proposal is not listed");
	is_int(end(s, "a1", NOW + 7), 0, "a proposal is approved");
	list(s, NULL, "a1", NOW);
	is_int((int)got.approved_ms, NOW + 7, "an approval has its time");
	is_int(end(s, "a1", 0), 0, "a proposal is dropped");
	is_int(end(s, "a1", 0), -ENOENT, "a dropped proposal is not found");
	is_int(end(s, "a1", NOW), -ENOENT,
	       "a dropped proposal cannot be approved");
	store_sweep(s, NOW + 99);
	is_int((int)list(s, NULL, NULL, NOW), 1,
	       "a sweep leaves a proposal before the expiry");
	store_sweep(s, NOW + 100);
	is_int((int)list(s, NULL, NULL, NOW), 0,
	       "a sweep removes an expired proposal");
}

static void bounds(struct store *s)
{
	char id[16], name[16];
	int rc = 0;

	for (int i = 0; i < STORE_PROPOSALS_EACH; i++) {
		snprintf(id, sizeof(id), "a%d", i);
		rc |= add(s, id, "ada", "{}");
	}
	is_int(rc, 0, "a requestor has proposals up to the bound");
	is_int(add(s, "more", "ada", "{}"), -EDQUOT,
	       "a proposal beyond the bound is refused");
	is_int(add(s, "a0", "ada", "{}"), 0,
	       "a known proposal is taken at the bound");
	for (int i = STORE_PROPOSALS_EACH; i < STORE_PROPOSALS_MAX; i++) {
		snprintf(id, sizeof(id), "x%d", i);
		snprintf(name, sizeof(name), "q%d", i / STORE_PROPOSALS_EACH);
		rc |= add(s, id, name, "{}");
	}
	is_int(rc, 0, "all requestors have proposals up to the bound");
	is_int(add(s, "other", "zed", "{}"), -EDQUOT,
	       "a proposal beyond the bound of all is refused");
	is_int((int)list(s, NULL, NULL, NOW), STORE_PROPOSALS_MAX,
	       "all proposals fit into a list");
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");

	rows(s);
	bounds(s);
	store_stop(s, 10000);
	help_remove(dir);
	return tap_done();
}

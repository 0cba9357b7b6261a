/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_journal.c - keys of calls, for mcp/tools/tool_run_journal.c. A key is made of the
 * parent's journal, of the call's template, package and inputs, and of the number of equal
 * calls before: calls at the same time have no order, but equal calls may change places.
 * Nothing here fails.
 */
#include "supervisor/run/run_journal.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/mem.h"
#include "supervisor/run/run.h"

/* A digest's calls; an element of family.journal.calls. */
struct run_journal {
	unsigned char digest[RUN_JOURNAL_CALL];
	unsigned n;
	UT_hash_handle hh;
};

/* Add TEXT with its NUL, so that texts one after the other are not taken for others. */
static void add(struct sha256_ctx *sum, const char *text)
{
	sha256_update(sum, strlen(text) + 1, (const uint8_t *)text);
}

static void digest_call(unsigned char out[RUN_JOURNAL_CALL],
			const struct template *t, const char *inputs)
{
	struct sha256_ctx sum;

	sha256_init(&sum);
	add(&sum, t->id);
	add(&sum, t->version_text);
	add(&sum, t->digest);
	add(&sum, inputs);
	sha256_digest(&sum, RUN_JOURNAL_CALL, out);
}

static void make_key(struct run_journal_call *call, const struct run *parent)
{
	const char *of = parent->family.journal.id != NULL
			     ? parent->family.journal.id
			     : parent->id;
	unsigned char key[(RUN_JOURNAL_KEY - 1) / 2];
	struct sha256_ctx sum;
	char nth[16];

	snprintf(nth, sizeof(nth), "%u", call->nth);
	sha256_init(&sum);
	add(&sum, of);
	add(&sum, nth);
	sha256_update(&sum, sizeof(call->digest), call->digest);
	sha256_digest(&sum, sizeof(key), key);
	for (size_t i = 0; i < sizeof(key); i++)
		snprintf(call->key + 2 * i, 3, "%02x", key[i]);
}

void run_journal_enter(struct run *parent, const struct template *t,
		       const char *inputs, struct run_journal_call *call)
{
	struct run_journal **calls = &parent->family.journal.calls, *same;

	*call = (struct run_journal_call){0};
	digest_call(call->digest, t, inputs);
	HASH_FIND(hh, *calls, call->digest, sizeof(call->digest), same);
	if (same == NULL) {
		if (HASH_COUNT(*calls) >= 2 * RUN_CHILDREN_MAX)
			return;
		same = xcalloc(1, sizeof(*same));
		memcpy(same->digest, call->digest, sizeof(same->digest));
		HASH_ADD(hh, *calls, digest, sizeof(same->digest), same);
	}
	call->nth = same->n++;
	make_key(call, parent);
}

void run_journal_leave(struct run *parent, const struct run_journal_call *call)
{
	struct run_journal **calls = &parent->family.journal.calls, *same;

	if (call->key[0] == '\0')
		return;
	HASH_FIND(hh, *calls, call->digest, sizeof(call->digest), same);
	/* a later equal call has the next key already: the key stays unused */
	if (same == NULL || same->n != call->nth + 1)
		return;
	if (--same->n > 0)
		return;
	HASH_DEL(*calls, same);
	free(same);
}

bool run_journal_resumes(const struct run *r)
{
	return r->family.journal.resumes || run_attempts(r) > 0;
}

void run_journal_start_over(struct run *r)
{
	struct run_journal **calls = &r->family.journal.calls, *one, *next;

	HASH_ITER(hh, *calls, one, next) {
		HASH_DEL(*calls, one);
		free(one);
	}
}

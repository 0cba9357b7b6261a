/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_req.c - a request to the store with copies of all strings in one block,
 * and the answer. store.c and the files of store/db call the functions.
 * Creation cannot fail; store_req_fail() notes why a request failed.
 */
#include "supervisor/store/store_impl.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIELD(name) offsetof(struct store_req, name)

/* The texts among the columns of a run. */
#define COLUMN(t, n, name, kind, ...) COPIED_##kind(name)
#define COPIED_TEXT(name) FIELD(run.name),
#define COPIED_TIME(name)
#define COPIED_INT(name)
#define COPIED_FLAG(name)

/* Offsets of the strings of a request. */
static const size_t strings[] = {
    /* values to write */
    FIELD(run.requestor), FIELD(run.inputs),
    STORE_RUN_HEAD(COLUMN, ) STORE_RUN_BULK(COLUMN, ) STORE_RUN_ADDED(COLUMN, )
	FIELD(run.asked),
    FIELD(run.notebook), FIELD(artifact.requestor), FIELD(artifact.name),
    FIELD(artifact.mime_type), FIELD(artifact.sha256),
    /* values to look up */
    FIELD(filter.requestor), FIELD(filter.template_id), FIELD(filter.from),
    FIELD(filter.before), FIELD(requestor), FIELD(id), FIELD(key),
    FIELD(tmp_path),
    /* values of sessions */
    FIELD(session.key), FIELD(session.requestor), FIELD(session.credential),
    FIELD(session.revision), FIELD(session.client), FIELD(session.uris),
    /* values of proposals */
    FIELD(proposal.requestor), FIELD(proposal.template_id),
    FIELD(proposal.digest), FIELD(proposal.body)};

struct store_req *store_req_new(const struct store_op *op,
				const struct store_req *asked)
{
	size_t len[ARRAY_LEN(strings)] = {0}, size = sizeof(*asked);
	struct store_req *r;
	char *to;

	for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
		const char *s =
		    *(const char *const *)((const char *)asked + strings[i]);

		len[i] = s == NULL ? 0 : strlen(s) + 1;
		size += len[i];
	}
	r = xrealloc(NULL, size);
	*r = *asked;
	r->op = op;
	to = r->text;
	for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
		const char **s = (const char **)((char *)r + strings[i]);

		if (*s == NULL)
			continue;
		memcpy(to, *s, len[i]);
		*s = to;
		to += len[i];
	}
	return r;
}

void store_req_forget(struct store_req *r)
{
	for (size_t i = 0; i < r->res.n_runs; i++)
		free(r->row_text[i]);
	free(r->rows);
	free(r->row_text);
	free(r->found_text);
	for (size_t i = 0; i < r->res.n_mail; i++) {
		free(r->messages[i].body);
		free(r->messages[i].requestor);
	}
	free(r->messages);
	for (size_t i = 0; i < r->res.n_uses; i++) {
		free(r->uses[i].requestor);
		free(r->uses[i].template_id);
	}
	free(r->uses);
	for (size_t i = 0; i < r->res.n_nodes; i++) {
		free(r->nodes[i].id);
		free(r->nodes[i].name);
		free(r->nodes[i].version);
	}
	free(r->nodes);
	for (size_t i = 0; i < r->res.n_residents; i++) {
		free(r->residents[i].view);
		free(r->residents[i].node);
	}
	free(r->residents);
	for (size_t i = 0; i < r->res.n_proposals; i++)
		free(r->proposals[i].text);
	free(r->proposals);
	for (size_t i = 0; i < r->res.n_artifacts; i++)
		free(r->artifact_text[i]);
	free(r->artifacts);
	free(r->artifact_text);
	free(r->data);
	free(r->errmsg);
	r->rows = NULL;
	r->row_text = NULL;
	r->rows_cap = 0;
	r->found_text = NULL;
	r->messages = NULL;
	r->uses = NULL;
	r->nodes = NULL;
	r->residents = NULL;
	r->proposals = NULL;
	r->artifacts = NULL;
	r->artifact_text = NULL;
	r->data = NULL;
	r->errmsg = NULL;
	r->res = (struct store_result){.errmsg = ""};
	r->superseded_by = NULL;
	r->decided = false;
	r->again = false;
}

void store_req_free(struct store_req *r)
{
	store_req_forget(r);
	free(r->inputs_carried);
	free(r);
}

void store_req_fail(struct store_req *r, int rc, const char *errmsg, ...)
{
	char text[STORE_WHY_SIZE];
	va_list ap;

	va_start(ap, errmsg);
	vsnprintf(text, sizeof(text), errmsg, ap);
	va_end(ap);
	free(r->errmsg);
	r->errmsg = xstrdup(text);
	r->res.rc = rc;
	r->res.errmsg = r->errmsg;
	r->decided = true;
}

struct store_run *store_req_row(struct store_req *r)
{
	size_t n = r->res.n_runs;

	if (n == r->rows_cap) {
		r->rows_cap = n == 0 ? 1 : n * 4;
		r->rows = xrealloc(r->rows, r->rows_cap * sizeof(*r->rows));
		r->row_text =
		    xrealloc(r->row_text, r->rows_cap * sizeof(*r->row_text));
	}
	r->row_text[n] = NULL;
	r->rows[n] = (struct store_run){0};
	r->res.runs = r->rows;
	r->res.n_runs = n + 1;
	return &r->rows[n];
}

void *store_take_bytes(const struct store_result *res)
{
	struct store_req *r =
	    CONTAINER((struct store_result *)res, struct store_req, res);
	void *bytes = r->data;

	r->data = NULL;
	r->res.data = NULL;
	return bytes;
}

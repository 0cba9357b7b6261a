/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.c - runs a cell by run_call.c and has show.c show it, for repl.c. A cell
 * that the server refuses, or that is no text, is told and costs nothing else.
 */
#include "cli/repl/cell.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "cli/client/report.h"
#include "cli/repl/show.h"
#include "cli/run/run_call.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

/* Refuse what is no text, of which a part would be left out on the way. */
static bool is_text(const char *code, size_t n)
{
	if (utf8_ok(code, n) && memchr(code, '\0', n) == NULL)
		return true;
	message_print("the cell was not run: code has to be UTF-8 without "
		      "zero bytes");
	return false;
}

/* Tell REFUSAL. 0, or the status when every cell would be refused. */
static int report_cell_refusal(const struct cell_place *p,
			       struct json_object *refusal)
{
	int status = report_refusal(refusal, p->template);

	return status == CLI_ABSENT ? status : 0;
}

static bool is_run(struct json_object *value)
{
	return json_member_str(value, "runId") != NULL &&
	       json_member_str(value, "status") != NULL;
}

/* Wait for the end of R, which A is of. 0 or an exit status. */
static int follow_cell(struct run_call *r, struct tool_result *a,
		       struct show *s, bool *well)
{
	int rc = run_call_follow(r, a);

	if (rc == 0 && is_run(a->value))
		*well = show_end(s, a->value);
	else if (rc == 0)
		report_refusal(a->value, r->template);
	return rc;
}

int cell_run(const struct cell_place *p, const char *code, size_t n, bool *well)
{
	static const struct opt_list none;
	struct cli quiet = *p->cli;
	struct run_call r = {.cli = &quiet,
			     .client = p->client,
			     .template = xstrdup(p->template),
			     .timeout_ms = p->timeout_ms};
	struct show s = {
	    .cli = p->cli, .client = p->client, .folder = p->folder};
	struct tool_result a;
	int rc = 0;

	*well = false;
	quiet.quiet = true; /* no bar between the cell's own lines */
	r.inputs = json_pack("notebook:s code:S", p->notebook, code, n);
	answers_init(&r.answers, &none);
	client_on_log(p->client, show_log, &s);
	if (is_text(code, n)) {
		rc = run_call_start(&r, "sync", &a);
		if (rc == 0) {
			rc = is_run(a.value) ? follow_cell(&r, &a, &s, well)
					     : report_cell_refusal(p, a.value);
			tool_result_fini(&a);
		}
		run_call_fini(&r);
	}
	client_on_log(p->client, NULL, NULL);
	show_fini(&s);
	answers_fini(&r.answers);
	json_object_put(r.inputs);
	free(r.template);
	return rc;
}

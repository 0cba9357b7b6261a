/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_response.c - the answers of run_result.c on the way to their requests, which
 * tool_run.c, tool_run_idempotent.c, tool_runs.c and tasks.c have.
 */
#include "supervisor/session/run_response.h"

#include <string.h>

#include "proto/json/json_pack.h"
#include "supervisor/session/response.h"
#include "supervisor/templates/catalogue.h"
#include "supervisor/run/task_json.h"

static struct json_object *make(struct response *m)
{
	m->answer.view = m->text;
	m->answer.level = m->level;
	m->answer.max = m->max;
	return run_result_make(&m->answer, m->revision);
}

static struct json_object *make_of_task(struct response *m)
{
	struct json_object *result = make(m);
	struct json_object *meta = json_member(result, "_meta");

	if (meta == NULL) {
		meta = json_object_new_object();
		json_add(result, "_meta:o", meta);
	}
	task_json_add_related(meta, m->answer.id);
	return result;
}

static void answer_by(struct request *c, const struct run_result_source *a,
		      struct json_object *(*maker)(struct response *m))
{
	response_send(c, &(struct response){.make = maker,
					    .answer = *a,
					    .gives_way = true,
					    .text = a->view,
					    .len = strlen(a->view)});
}

void run_response_send(struct request *c, const struct run_result_source *a)
{
	answer_by(c, a, make);
}

void run_response_send_task(struct request *c,
			    const struct run_result_source *a)
{
	answer_by(c, a, make_of_task);
}

bool run_response_has_schema(const struct request *c, const char *template_id)
{
	const struct template *t =
	    catalogue_newest(c->ctx->catalogue, template_id);

	return t != NULL && template_promises(t);
}

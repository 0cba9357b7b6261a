/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_response.c - the answers of answer.c on the way to their calls, which
 * tool_run.c, tool_run_idempotent.c, tool_runs.c and tasks.c have.
 */
#include "supervisor/session/run_response.h"

#include <string.h>

#include "proto/json/json.h"
#include "supervisor/session/response.h"
#include "supervisor/templates/catalogue.h"
#include "supervisor/run/task_json.h"

static struct json_object *make(struct making *m)
{
	m->answer.view = m->text;
	m->answer.level = m->level;
	m->answer.max = m->max;
	return answer_make(&m->answer, m->revision);
}

static struct json_object *make_of_task(struct making *m)
{
	struct json_object *result = make(m);
	struct json_object *meta = json_member(result, "_meta");

	if (meta == NULL) {
		meta = json_object_new_object();
		json_object_object_add(result, "_meta", meta);
	}
	task_add_related(meta, m->answer.id);
	return result;
}

static void answer_by(struct call *c, const struct answer_source *a,
		      struct json_object *(*maker)(struct making *m))
{
	call_make(c, &(struct making){.make = maker,
				      .revision = c->session->revision,
				      .answer = *a,
				      .gives_way = true,
				      .text = a->view,
				      .len = strlen(a->view)});
}

void call_answer(struct call *c, const struct answer_source *a)
{
	answer_by(c, a, make);
}

void call_answer_task(struct call *c, const struct answer_source *a)
{
	answer_by(c, a, make_of_task);
}

bool call_promised(const struct call *c, const char *template_id)
{
	const struct template *t =
	    catalogue_newest(c->server->catalogue, template_id);

	return t != NULL && template_promises(t);
}

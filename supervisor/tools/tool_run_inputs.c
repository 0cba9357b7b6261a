/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_inputs.c - what tool_run.c does first: is what a template is
 * given what its schema takes? A check that takes long is done on a thread; a
 * value that fails it, or costs too much, is refused to the call.
 */
#include "supervisor/tools/tool_run_private.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/threads/validation.h"

/* call.state while they are checked on a thread. */
struct checked {
	struct call *call;
	struct conform_job *job; /* NULL: it is over */
	struct make_inputs inputs;
};

static void checked_free(void *state)
{
	struct checked *k = state;

	if (k->job != NULL)
		conform_cancel(k->job);
	free(k);
}

static void refuse_costly(struct refusal *r, const struct conform *v,
			  const struct make_inputs *i)
{
	struct json_object *d = conform_details(v, "inputsSchema");
	char *pointer = xasprintf("%s%s", i->prefix, v->err.pointer);
	char *text = conform_text(v, i->template, "inputsSchema");

	json_object_object_add(d, "pointer", json_object_new_string(pointer));
	refuse(r, "RESOURCE_LIMIT", d, "%s", text);
	free(pointer);
	free(text);
}

static void settle_inputs(struct call *c, const struct make_inputs *i,
			  const struct conform *v)
{
	struct refusal r = {0};

	if (v->rc == 0) {
		i->pass(c, i->template);
		return;
	}
	if (v->rc == -EINVAL)
		contract_invalid(&r, i->prefix, &v->err);
	else
		refuse_costly(&r, v, i);
	call_refuse(c, &r);
}

static void on_checked(void *arg, const struct conform *v,
		       struct json_object *tree)
{
	struct checked *k = arg;
	struct make_inputs i = k->inputs;
	struct call *c = k->call;

	k->job = NULL;
	c->state = NULL;
	c->state_free = NULL;
	checked_free(k);
	json_object_object_add(i.in, i.key, tree);
	settle_inputs(c, &i, v);
}

/* Nobody else may know of any part of them meanwhile. */
static void check_later(struct call *c, const struct make_inputs *i,
			const struct conform *v)
{
	struct json_object *tree;
	struct refusal r = {0};
	struct checked *k;

	if (!admit_cpu(c->session->requestor, &r)) {
		call_refuse(c, &r);
		return;
	}
	tree = json_object_get(json_member(i->in, i->key));
	k = xcalloc(1, sizeof(*k));
	json_object_object_del(i->in, i->key);
	*k = (struct checked){.call = c, .inputs = *i};
	k->job = conform_later(c->session->server->offload,
			       c->session->requestor, v, i->template,
			       i->template->inputs, tree, tree, on_checked, k);
	c->state = k;
	c->state_free = checked_free;
	if (k->job != NULL)
		return;
	json_object_put(tree);
	conform_refuse_more(&r);
	call_refuse(c, &r);
}

void make_check_inputs(struct call *c, const struct make_inputs *i)
{
	struct conform v;

	if (conform_now(&v, c->session->requestor, i->template->inputs,
			json_member(i->in, i->key)))
		settle_inputs(c, i, &v);
	else
		check_later(c, i, &v);
}

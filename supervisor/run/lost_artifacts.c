/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost_artifacts.c - a run's lost artifacts, by the rule of lost_artifacts.h.
 * worker_recv.c and artifact_save.c report refusals, outcome.c asks for the
 * effect on the run, run_json.c shows the list. Nothing here fails.
 */
#include "supervisor/run/lost_artifacts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"

#define MESSAGE_MAX 400 /* bytes: an answer may have fifty messages */

struct item {
	char *name;
	int64_t size;
	uint64_t count;
	bool told, no_file;
	char *code, *message;
	struct json_object *details;
};

struct lost_artifacts {
	struct item item[LOST_ARTIFACTS_MAX];
	size_t n;
	uint64_t lost; /* lost files, of which the template was not told */
	uint64_t told;
};

static void item_fini(struct item *i)
{
	free(i->name);
	free(i->code);
	free(i->message);
	json_object_put(i->details);
}

void lost_artifacts_add(struct run *r, const struct lost_artifact *one,
			const struct tool_error *errmsg)
{
	struct lost_artifacts *m = r->lost_artifacts;
	size_t len = strlen(errmsg->message);

	if (m == NULL)
		m = r->lost_artifacts = xcalloc(1, sizeof(*m));
	if (!one->no_file) /* a link or FIFO is neither told nor lost */
		*(one->told ? &m->told : &m->lost) += one->count;
	if (m->n == LOST_ARTIFACTS_MAX) {
		m->item[m->n - 1].count += one->count;
		return;
	}
	m->item[m->n++] = (struct item){
	    .name = xstrndup(one->name.p, one->name.n),
	    .size = one->size,
	    .count = one->count,
	    .told = one->told && !one->no_file, /* a link or FIFO is neither */
	    .no_file = one->no_file,
	    .code = xstrdup(errmsg->code),
	    .message = xstrndup(errmsg->message,
				utf8_cut(errmsg->message, len, MESSAGE_MAX)),
	    .details = json_object_get(errmsg->details)};
}

/* Move one of the artifacts of the last item from told to lost. */
bool lost_artifacts_unreported(struct run *r)
{
	struct lost_artifacts *m = r->lost_artifacts;

	if (m == NULL || m->told == 0)
		return false;
	m->told--;
	m->lost++;
	m->item[m->n - 1].told = false;
	return true;
}

void lost_artifacts_remove(struct run *r, const char *name)
{
	struct lost_artifacts *m = r->lost_artifacts;

	for (size_t i = m == NULL ? 0 : m->n; i-- > 0;) {
		struct item *it = &m->item[i];

		if (!it->told || it->count != 1 || strcmp(it->name, name) != 0)
			continue;
		m->told--;
		item_fini(it);
		m->n--;
		memmove(it, it + 1, (m->n - i) * sizeof(*it));
	}
}

/* Returns the first lost artifact that makes the run fail. */
static const struct item *first_lost(const struct lost_artifacts *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (!m->item[i].told && !m->item[i].no_file)
			return &m->item[i];
	return &m->item[m->n - 1];
}

static void blame(struct run *r)
{
	const struct lost_artifacts *m = r->lost_artifacts;
	const struct item *i = first_lost(m);
	struct json_object *d = json_object_new_object();

	if (i->details != NULL) {
		json_object_object_foreach(i->details, key, value)
			json_object_object_add(d, key, json_object_get(value));
	}
	json_add(d, "missing:i artifact:s", m->lost, i->name);
	if (m->lost == 1)
		run_set_error(r, i->code, d,
			      "of what the program left in out/, %s "
			      "was not kept: %s",
			      i->name, i->message);
	else
		run_set_error(
		    r, i->code, d,
		    "%llu files that the program left in out/ were not "
		    "kept; the first is %s: %s",
		    (unsigned long long)m->lost, i->name, i->message);
}

enum run_event lost_artifacts_weigh(struct run *r, enum run_event ev)
{
	const struct lost_artifacts *m = r->lost_artifacts;

	if (m == NULL || m->lost + m->told == 0 || ev == EV_FAIL)
		return ev;
	if (r->template->partial)
		return EV_PARTIAL;
	if (m->lost == 0)
		return ev;
	blame(r);
	return EV_FAIL;
}

struct json_object *lost_artifacts_json(const struct run *r)
{
	const struct lost_artifacts *m = r->lost_artifacts;
	struct json_object *list;

	if (m == NULL || m->n == 0)
		return NULL;
	list = json_object_new_array_ext((int)m->n);
	for (const struct item *i = m->item; i < m->item + m->n; i++)
		json_object_array_add(
		    list,
		    json_pack("name:s size:i count?i errorCode:s "
			      "message:s details?O",
			      i->name, i->size, i->count > 1 ? i->count : 0,
			      i->code, i->message, i->details));
	return list;
}

void lost_artifacts_free(struct lost_artifacts *m)
{
	for (size_t i = 0; m != NULL && i < m->n; i++)
		item_fini(&m->item[i]);
	free(m);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload_report.c - makes the result of a reload as JSON: of the configuration,
 * and of templates that are new, changed, gone or refused. reload.c makes one
 * report with each reload. Nothing fails.
 */
#include "supervisor/start/reload_report.h"

#include <string.h>

#include "proto/json/json_pack.h"
#include "supervisor/packages/templates/catalogue.h"

struct json_object *reload_report_new(const char *why)
{
	return json_pack("configuration:s why?s restart:o",
			 why == NULL ? "taken" : "refused", why,
			 json_object_new_array());
}

void reload_report_restart(struct json_object *report, const char *key)
{
	json_object_array_add(json_member(report, "restart"),
			      json_object_new_string(key));
}

/* Compare as a catalogue is sorted; NULL comes after all templates. */
static int order_of(const struct template *a, const struct template *b)
{
	int rc;

	if (a == NULL || b == NULL)
		return (a == NULL) - (b == NULL);
	rc = strcmp(a->id, b->id);
	return rc != 0 ? rc : semver_cmp(&b->version, &a->version);
}

static void add_template_name(struct json_object *list,
			      const struct template *t)
{
	struct json_object *name =
	    json_pack("templateId:s version:s", t->id, t->version_text);

	json_object_array_add(list, name);
}

static void add_changes(struct json_object *report, const struct catalogue *was,
			const struct catalogue *now)
{
	struct json_object *added = json_object_new_array(),
			   *changed = json_object_new_array(),
			   *gone = json_object_new_array();

	for (size_t i = 0, j = 0; i < was->n || j < now->n;) {
		const struct template *a = i < was->n ? was->all[i] : NULL;
		const struct template *b = j < now->n ? now->all[j] : NULL;
		int order = order_of(a, b);

		if (order < 0)
			add_template_name(gone, a);
		else if (order > 0)
			add_template_name(added, b);
		else if (strcmp(a->digest, b->digest) != 0)
			add_template_name(changed, b);
		i += order <= 0;
		j += order >= 0;
	}
	json_add(report, "new:o changed:o gone:o", added, changed, gone);
}

void reload_report_templates(struct json_object *report,
			     const struct catalogue *was,
			     const struct catalogue *now, const char *why)
{
	struct json_object *refused;
	size_t n = now->n_problems < RELOAD_REPORT_REFUSED
		       ? now->n_problems
		       : RELOAD_REPORT_REFUSED;

	json_add(report, "templates:i templatesWhy?s", now->n, why);
	if (now == was)
		return;
	add_changes(report, was, now);
	refused = json_object_new_array();
	for (size_t i = 0; i < n; i++)
		json_object_array_add(
		    refused,
		    json_pack("path:s why:s kept:b", now->problems[i].path,
			      now->problems[i].errmsg, now->problems[i].kept));
	json_add(report, "refused:o refusedMore?i", refused,
		 now->n_problems - n);
}

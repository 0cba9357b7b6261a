/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload_report.h - describes the result of a reload to the caller
 * (paddock/reload).
 */
#ifndef SUPERVISOR_START_RELOAD_REPORT_H
#define SUPERVISOR_START_RELOAD_REPORT_H

#include <json-c/json.h>

struct catalogue;

#define RELOAD_REPORT_REFUSED 256 /* most refused packages listed */

/*
 * Make a report: the configuration was taken (WHY is NULL), or refused. The
 * caller's.
 */
struct json_object *reload_report_new(const char *why);
/* Add the KEY, whose new value needs a restart. */
void reload_report_restart(struct json_object *report, const char *key);
/*
 * Add the templates: NOW has replaced WAS, or WAS stays (NOW is WAS); WHY: the
 * reason to keep WAS, or NULL.
 */
void reload_report_templates(struct json_object *report,
			     const struct catalogue *was,
			     const struct catalogue *now, const char *why);

#endif

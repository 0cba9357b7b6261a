/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_templates.h - tries each shipped template on this machine. */
#ifndef CLI_DOCTOR_TEMPLATES_H
#define CLI_DOCTOR_TEMPLATES_H

#include <json-c/json.h>

#include "cli/client/client.h"

#define DOCTOR_TEMPLATES                                                       \
	"tried" /* [{templateId, works, why, path}] in the report of doctor */
#define DOCTOR_TEMPLATES_MS 120000 /* time for all templates */

/*
 * Run each shipped template that the server lists, once, with little to do, and
 * delete the runs again. The results go into O as DOCTOR_TEMPLATES:
 * [{templateId, works, why}]; a template for which the time was too short has
 * no "works". One that the server could not load, by SKIPPED (the server's
 * health), does not work, and has the package's path. 0, or the exit status
 * when the server has gone.
 */
int doctor_templates(const struct cli *cli, struct client *c,
		     struct json_object *skipped, struct json_object *o);
/* Does none of the programs in TRIED, the results, work, and are there some? */
bool doctor_templates_no_program(struct json_object *tried);

#endif

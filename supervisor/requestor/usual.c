/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usual.c - a moving average of the duration of a requestor's runs for each of
 * a few templates. exec/runs_finish.c adds each run that succeeded,
 * run/record/task_json.c asks. Nothing here fails; the oldest template is forgotten.
 */
#include "supervisor/requestor/usual.h"

#include <stdio.h>
#include <string.h>

#define WEIGHT 4 /* a run moves the average by a quarter */

static size_t entry_of(const struct usual *u, const char *id)
{
	size_t i = 0;

	while (i < USUAL_TEMPLATES && strcmp(u->of[i].template_id, id) != 0)
		i++;
	return i;
}

void usual_add(struct usual *u, const char *id, int64_t ms)
{
	size_t i = entry_of(u, id);

	if (ms < 1)
		ms = 1;
	if (i < USUAL_TEMPLATES) {
		u->of[i].ms += (ms - u->of[i].ms) / WEIGHT;
		return;
	}
	i = u->next++ % USUAL_TEMPLATES;
	snprintf(u->of[i].template_id, sizeof(u->of[i].template_id), "%s", id);
	u->of[i].ms = ms;
}

int64_t usual_ms(const struct usual *u, const char *id)
{
	size_t i = entry_of(u, id);

	return i < USUAL_TEMPLATES ? u->of[i].ms : 0;
}

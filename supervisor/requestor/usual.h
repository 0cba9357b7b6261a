/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usual.h - how long the runs of one requestor usually take, by template. A
 * task's poll interval follows that. The durations of other requestors' runs do
 * not count, for the poll interval would tell them.
 */
#ifndef SUPERVISOR_REQUESTOR_USUAL_H
#define SUPERVISOR_REQUESTOR_USUAL_H

#include <stddef.h>
#include <stdint.h>

#define USUAL_TEMPLATES 16 /* the templates last added are remembered */

/* The value of all zeros: no run was counted. */
struct usual {
	struct {
		char template_id[65]; /* empty: free */
		int64_t ms;
	} of[USUAL_TEMPLATES];
	size_t next; /* the entry that the next new template takes */
};

/*
 * Count that a run of the template ID took MS milliseconds from the creation to
 * the end.
 */
void usual_add(struct usual *u, const char *id, int64_t ms);
/* Return how long runs of ID usually take, in milliseconds; 0: unknown. */
int64_t usual_ms(const struct usual *u, const char *id);

#endif

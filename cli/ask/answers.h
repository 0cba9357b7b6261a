/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.h - answers to the questions of a template: from --answer, else from
 * the user at the terminal; else a decline.
 */
#ifndef CLI_ANSWERS_H
#define CLI_ANSWERS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "cli/terminal/opt.h"

struct answers {
	const struct opt_list *given; /* KEY=VALUE, lent */
	bool *used;		      /* by index in given: was asked for */
	unsigned declined;	      /* questions so far, with nobody to ask */
};

/*
 * Prepare A for the answers GIVEN (lent). False: an item is not KEY=VALUE,
 * which was printed.
 */
bool answers_init(struct answers *a, const struct opt_list *given);
void answers_fini(struct answers *a);

/*
 * Return the capabilities of a client that answers as this module does; LATER:
 * also by tasks, the questions of calls not waited for. The caller frees them.
 */
struct json_object *answers_capabilities(bool later);

/*
 * Answer the questions REQUESTS ({key: {method, params}}, lent) of WHO, a
 * template. Returns {key: response}, the caller's; NULL: a signal came, or no
 * request can be answered here.
 */
struct json_object *answers_give(struct answers *a, const char *who,
				 struct json_object *requests);

/*
 * Print the keys of --answer that no form asked for, and how many questions
 * were declined without a message.
 */
void answers_tell_rest(const struct answers *a);

#endif

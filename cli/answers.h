/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.h - answers to what a template asks: those that were given by --answer,
 * else those of who sits at the terminal; else it is declined.
 */
#ifndef CLI_ANSWERS_H
#define CLI_ANSWERS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "cli/opt.h"

struct answers {
	const struct opt_list *given; /* KEY=VALUE, lent */
	bool *used;		      /* of each, that a form asked for it */
	unsigned declined;	      /* so far, with nobody to ask */
};

/* Is each of GIVEN a key and a value? If not, that has been said: false. */
bool answers_init(struct answers *a, const struct opt_list *given);
void answers_fini(struct answers *a);

/*
 * What a client declares that does as this one; LATER: also by the tasks of what it
 * did not wait for. The caller's.
 */
struct json_object *answers_capabilities(bool later);

/*
 * WHO, a template, asks REQUESTS ({key: {method, params}}, lent). {key: response}, the
 * caller's; NULL: a signal came, or there is nothing that could be answered.
 */
struct json_object *answers_give(struct answers *a, const char *who,
				 struct json_object *requests);

/* Tell the keys that no form asked for, and what was declined without a word. */
void answers_tell_rest(const struct answers *a);

#endif

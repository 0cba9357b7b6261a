/* SPDX-License-Identifier: Apache-2.0 */
/* learn_trials.h - the tests of a package, or given inputs, run for "template learn". */
#ifndef CLI_GRANT_LEARN_TRIALS_H
#define CLI_GRANT_LEARN_TRIALS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "cli/client/client.h"

/*
 * Return [{name, inputs, expect?}]: the tests of the package DIR; the caller's. NULL: a
 * test cannot be read, which was printed.
 */
struct json_object *learn_trials_of(const char *dir);

/* The outcome of a round. */
struct learn_round {
	size_t failed;
	struct json_object *views; /* of failed trials; owned */
};

/*
 * Run TRIALS of the template ID. 0 and *ROUND; or the exit status: the server is lost. A
 * trial without expect has to succeed.
 */
int learn_trials_run(struct client *c, const char *id,
		     struct json_object *trials, struct learn_round *round);
void learn_trials_fini(struct learn_round *round);

#endif

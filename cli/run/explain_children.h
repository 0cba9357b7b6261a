/* SPDX-License-Identifier: Apache-2.0 */
/* explain_children.h - the called runs that failed, as reasons of a failure. */
#ifndef CLI_RUN_EXPLAIN_CHILDREN_H
#define CLI_RUN_EXPLAIN_CHILDREN_H

#include <stdbool.h>

#include "cli/client/client.h"

/*
 * Call TELL with a sentence for each failed child of the run in VIEW, and for failed
 * children of such a child. C brings the messages of errors. False: no child has failed.
 */
bool explain_children(struct client *c, struct json_object *view,
		      void (*tell)(void *arg, const char *sentence), void *arg);

#endif

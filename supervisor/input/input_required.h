/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_required.h - an answer that says what is still needed, and the state that
 * its client brings with the answers (MCP 2026-07-28, multi round-trip requests).
 */
#ifndef SUPERVISOR_INPUT_INPUT_REQUIRED_H
#define SUPERVISOR_INPUT_INPUT_REQUIRED_H

#include "base/id.h"
#include "proto/mcp/request_state.h"
#include "supervisor/session/request.h"

/*
 * C (of a revision without sessions) is answered: REQUESTS ({key: {method,
 * params}}, taken) are needed, and ST is what it is to come back with: its run,
 * round and call, which are set.
 */
void input_required(struct request *c, struct json_object *requests,
		    struct request_state *st);

/* Does C come back with a state? */
bool input_required_is_retry(const struct request *c);
/*
 * What C comes back with, to ST, whose call is set: C asks for the same thing.
 * False: that is none of ours, too old, another requestor's or another call's,
 * and C has been answered by an error that says so.
 */
bool input_required_open(struct request *c, struct request_state *st);
/* C comes back a second time with one and the same state. */
void input_required_used(struct request *c);

#endif

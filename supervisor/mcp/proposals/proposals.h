/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proposals.h - drafts of grants, and proposed grants, for the tables of methods and
 * tools.
 */
#ifndef SUPERVISOR_PROPOSALS_PROPOSALS_H
#define SUPERVISOR_PROPOSALS_PROPOSALS_H

#include "supervisor/session/request.h"

/* The tool propose_grant; ARGS were validated by the tool's inputSchema. */
void tool_propose(struct request *req, struct json_object *args);
/* Does the server of CTX serve TOOL? False: the tool is propose_grant, which is off. */
bool tool_propose_serves(const struct context *ctx, const char *tool);

void draft_methods_draft(struct request *req); /* a draft of a grant */
void proposal_methods_list(
    struct request *req); /* grants that clients proposed */
void proposal_methods_decide(struct request *req); /* approve or reject one */

#endif

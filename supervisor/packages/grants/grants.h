/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants.h - compares a manifest's permissions with the grants: a run gets all
 * that its template asks for, or does not start. One table of kinds; pure
 * functions over template and config.
 */
#ifndef SUPERVISOR_GRANTS_GRANTS_H
#define SUPERVISOR_GRANTS_GRANTS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/config/config.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/packages/templates/template.h"

/*
 * Is T granted all that T asks for? If not, R is PERMISSION_NOT_ALLOWED and
 * names the missing permissions and the lines to grant them.
 */
bool grants_allow(const struct template *t, const struct config *c,
		  struct tool_error *r);

bool grants_asks(const struct template *t); /* does T ask for any permission? */
/*
 * May T call the template ID now? NULL: yes. Else the reason, static, which follows
 * "T may not call ID: ".
 */
const char *grants_call(const struct template *t, const struct config *c,
			const char *id);
/*
 * Does T ask for TOOL, and is TOOL granted? Returns NULL; or why not, a static
 * text.
 */
const char *grants_tool(const struct template *t, const struct config *c,
			const char *tool);
/* Is T, which asks for PATH, granted PATH? */
bool grants_read(const struct template *t, const struct config *c,
		 const char *path);
/*
 * Return all paths granted to T for reading: a list with spaces between. The
 * caller frees the list.
 */
char *grants_reads(const struct template *t, const struct config *c);
/*
 * Does any grant allow any template to read PATH? For callers that know no
 * template.
 */
bool grants_any_read(const struct config *c, const char *path);
/*
 * Does T ask for a permission, and have a grant bound to its digest alone? Then
 * runs must use the bytes of that digest, and nothing else.
 */
bool grants_by_digest(const struct template *t, const struct config *c);
bool grants_asks_locks(const struct template *t);

/*
 * Return the patterns of hosts that the browser may open for T: an array, the
 * caller's.
 */
struct json_object *grants_hosts(const struct template *t,
				 const struct config *c);

/*
 * Return what T, which is granted all that it asks for, may connect to: an array of
 * {host, allow?} as paddock-egress is told, the caller's.
 */
struct json_object *grants_network(const struct template *t,
				   const struct config *c);

/* Return the names of the secrets that T asks for, lent; NULL: none. */
struct json_object *grants_secrets(const struct template *t);
/*
 * Are all secrets of T there, and for T and REQUESTOR (NULL: any)? If not, R is
 * PERMISSION_NOT_ALLOWED, and names the first other one and who can change it.
 */
bool grants_secrets_allow(const struct template *t, const struct config *c,
			  const char *requestor, struct tool_error *r);

/*
 * Return {asked, granted, missing?: [{key, asked, reason?}], grant?}: for
 * people and clients, who see only the permissions asked for; HOSTS: the hosts
 * granted as well. The member grant has the lines to grant the missing
 * permissions. The caller frees the object.
 */
struct json_object *grants_view(const struct template *t,
				const struct config *c, bool hosts);

/*
 * Return why G grants nothing to any template of ALL: a name or digest is
 * wrong. NULL: G grants something.
 */
const char *grants_unused(const struct config_grant *g,
			  const struct catalogue *all);

/* Write a line of the log for each useless grant of C. */
void grants_log(const struct catalogue *all, const struct config *c);

/*
 * Return, for the operator: {templateId, version, path, digest, permissions as
 * above, section}. The section, for paddock.conf, grants T's package all that T
 * asks for. The caller frees the object.
 */
struct json_object *grants_of(const struct template *t, const struct config *c);

#endif

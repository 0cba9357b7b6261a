/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants.h - what a manifest asks for and what is granted: a run gets both
 * or nothing. One table of kinds; pure functions over template and config.
 */
#ifndef SUPERVISOR_GRANTS_GRANTS_H
#define SUPERVISOR_GRANTS_GRANTS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "supervisor/templates/catalogue.h"
#include "supervisor/config/config.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/templates/template.h"

/*
 * May T run, as to what it asks for? Else PERMISSION_NOT_ALLOWED in R, which
 * names what is missing and the lines that would grant it.
 */
bool grants_allow(const struct template *t, const struct config *c,
		  struct tool_error *r);

bool grants_asks(const struct template *t); /* for anything? */
/* Does T ask for TOOL, and is it granted? Why not, a static text; or NULL. */
const char *grants_tool(const struct template *t, const struct config *c,
			const char *tool);
/* Is T, which asks for PATH, granted it? */
bool grants_read(const struct template *t, const struct config *c,
		 const char *path);
/* All that T is granted to read: a list with spaces between; the caller's. */
char *grants_reads(const struct template *t, const struct config *c);
/* Does anything grant PATH to any template? For who does not know them. */
bool grants_any_read(const struct config *c, const char *path);
/*
 * Does T ask for something, and have a grant that holds for its digest alone?
 * Then its runs are to use what that digest is of, and nothing else.
 */
bool grants_by_digest(const struct template *t, const struct config *c);
bool grants_asks_locks(const struct template *t);

/* The patterns that the browser may open for T: an array, the caller's. */
struct json_object *grants_hosts(const struct template *t,
				 const struct config *c);

/*
 * {asked, granted, missing?: [{key, asked, reason?}], grant?}: for people and
 * clients, who learn no more of what is granted than was asked for; HOSTS:
 * and which hosts. grant is the lines that would grant what is missing. The
 * caller's.
 */
struct json_object *grants_view(const struct template *t,
				const struct config *c, bool hosts);

/* Why G grants nothing to any of ALL: a name or digest is wrong. NULL: it does. */
const char *grants_unused(const struct config_grant *g,
			  const struct catalogue *all);

/* A line of the log for each of these. */
void grants_log(const struct catalogue *all, const struct config *c);

/*
 * For its operator: {templateId, version, path, digest, permissions as above,
 * section}, the last a section of paddock.conf that grants T, as it is, all
 * that it asks for. The caller's.
 */
struct json_object *grants_of(const struct template *t, const struct config *c);

#endif

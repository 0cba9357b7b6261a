/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the table of all methods which a client may call, and the functions of
 * this folder that the table names. man/paddockd.8 has the forms of paddock's own
 * methods.
 */
#ifndef SUPERVISOR_METHODS_METHODS_H
#define SUPERVISOR_METHODS_METHODS_H

#include "supervisor/session/dispatch.h"
#include "supervisor/session/request.h"

extern const struct methods methods;

#define COMPLETION_MAX 100 /* values in an answer; MCP's bound */

/*
 * Complete an argument of a prompt, from its manifest, or of paddock's
 * resources: ids of the requestor's newest runs, and of a run's artifacts. Only
 * values which begin like the given text are offered.
 */
void completion_complete(struct request *req);

#define DELETION_MAX 1000 /* ids in a request */

/* Delete ended runs, or uploads, of the client before their expiry. */
void deletion_runs(struct request *req);
void deletion_artifacts(struct request *req);

#define LISTEN_URIS_MAX 64 /* most URIs of a request */
#define LISTEN_TASKS_MAX 64

/*
 * subscriptions/listen of MCP 2026-07-28: a request by whose stream the client is
 * told of the changes named in the request, until client or server ends.
 */
void listen_begin(struct request *req);

/* List the resources, and the URIs with names in them. */
void resources_list(struct request *req);
void resources_list_templates(struct request *req);

void subscriptions_add(struct request *req);  /* resources/subscribe */
void subscriptions_drop(struct request *req); /* resources/unsubscribe */
/* Return the URIs of S's subscriptions, BYTES of them at most; the caller's. */
struct json_object *subscriptions_list(const struct session *s, size_t bytes);
/*
 * Subscribe S, without subscriptions yet, to URIS (*lent*) as before a restart:
 * possible changes are told as soon as there is a stream.
 */
void subscriptions_restore(struct session *s, struct json_object *uris);

void resident_methods_list(struct request *req); /* programs between runs */
void resident_methods_end(struct request *req);

void server_methods_usage(struct request *req); /* the resources used by runs */
void server_methods_nodes(struct request *req); /* the servers of a database */
void server_methods_waiting(struct request *req); /* the workers that wait */
void server_methods_reload(struct request *req);  /* reload as SIGHUP does */

#endif

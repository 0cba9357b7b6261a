/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress_record.h - the use of a run's network, by reports of the run's child of
 * paddock-egress, for the run's view. Bounded, whatever the child says.
 */
#ifndef SUPERVISOR_EGRESS_EGRESS_RECORD_H
#define SUPERVISOR_EGRESS_EGRESS_RECORD_H

#include <json-c/json.h>
#include <stdbool.h>

#include "ipc/egress_proto.h"

#define EGRESS_RECORD_HOSTS 64u /* hosts that a view names */

struct egress_record;

/*
 * Add R to *REC, a new record when NULL. Returns whether R is the first refusal of
 * the host for the reason, or the first request to the host with the secret.
 */
bool egress_record_add(struct egress_record **rec,
		       const struct egress_report *r);
/* Log the refusal R, with the line to grant the host. */
void egress_record_log(const char *run, const char *requestor,
		       const char *template, const struct egress_report *r);
/*
 * Return {connections, requests, refused, bytesUp, bytesDown, hosts: [{host,
 * connections, requests, bytesUp, bytesDown, secrets?, refused?, refusals?}], moreHosts?}, or
 * NULL when REC is NULL. The caller's.
 */
struct json_object *egress_record_view(const struct egress_record *rec);
void egress_record_free(struct egress_record *rec); /* NULL is fine */

#endif

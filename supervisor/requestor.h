/*
 * requestor.h - who asks: never what a client says of itself.
 */
#ifndef SUPERVISOR_REQUESTOR_H
#define SUPERVISOR_REQUESTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>

#include "supervisor/sched.h"
#include "supervisor/template.h"

struct requestor {
	char *name; /* "uid:1000", or a [requestor] section's name */
	enum template_trust trust;
	struct sched_lane lane; /* its runs that wait, and how many have begun */
	UT_hash_handle hh; /* in requestors.by_name */
};

/* All that were seen; they live as long as the server. */
struct requestors {
	struct requestor *by_name;
};

/* The local user UID: trust local. Made at the first time. Borrowed. */
struct requestor *requestors_of_uid(struct requestors *all, uid_t uid);
/* The one of that name, or NULL. Borrowed. */
struct requestor *requestors_find(struct requestors *all, const char *name);
void requestors_fini(struct requestors *all);

/* Callers that nothing tells apart: they share this one. */
#define REQUESTOR_ANONYMOUS "anonymous"
bool requestor_is_anonymous(const struct requestor *q);

const char *trust_name(enum template_trust trust); /* "local", "remote" */

#endif

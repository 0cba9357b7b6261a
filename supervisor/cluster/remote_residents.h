/* SPDX-License-Identifier: Apache-2.0 */
/* remote_residents.h - what clients here see and end of residents at other servers. */
#ifndef SUPERVISOR_CLUSTER_REMOTE_RESIDENTS_H
#define SUPERVISOR_CLUSTER_REMOTE_RESIDENTS_H

#include <stdbool.h>

struct json_object;
struct request;
struct requestor;
struct runs;

void remote_residents_init(struct runs *s);
void remote_residents_fini(struct runs *s);

/* The functions below are those of struct cluster. */
void remote_residents_list(struct request *req, const struct requestor *q,
			   bool nodes, struct json_object *list);
void remote_residents_end(struct request *req, const struct requestor *q,
			  const char *id, const char *name,
			  void (*then)(struct request *req, int rc,
				       const char *id, const char *name));

#endif

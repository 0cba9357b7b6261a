/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdp.h - the Chrome DevTools Protocol over a pair of pipes: calls, answers and
 * events. cdp_parse.h parses the input.
 */
#ifndef BROWSER_CDP_CDP_H
#define BROWSER_CDP_CDP_H

#include <event2/event.h>
#include <json-c/json.h>
#include <stdint.h>

#define CDP_QUEUE_MAX (16u << 20) /* bytes waiting to be written */

struct cdp; /* a connection: its ids, its waiting calls */

struct cdp_ops {
	/* SESSION: a target's, or NULL: the browser's. All lent. */
	void (*event)(void *arg, const char *session, const char *method,
		      struct json_object *params);
	void (*end)(void *arg); /* the connection closed or failed */
};

/* An answer, lent: RESULT; or NULL and ERROR, for people; both NULL: the
 * connection ended. */
typedef void cdp_done(void *arg, struct json_object *result, const char *error);

/* Make a connection over both descriptors, which it takes. */
struct cdp *cdp_new(struct event_base *base, int in, int out,
		    const struct cdp_ops *ops, void *arg);
/* Free C without calling ops->end or the DONE of any call. */
void cdp_free(struct cdp *c);

/*
 * Send METHOD to SESSION (NULL: the browser) with PARAMS (taken; may be NULL).
 * DONE (NULL: none) is called once, later, unless cdp_forget() is called with
 * the returned id.
 */
uint32_t cdp_call(struct cdp *c, const char *session, const char *method,
		  struct json_object *params, cdp_done *done, void *arg);
void cdp_forget(struct cdp *c, uint32_t id);

#endif

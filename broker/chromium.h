/*
 * chromium.h - the one Chromium: started when something needs it, stopped
 * when nothing has for a while, started again when it died.
 */
#ifndef BROKER_CHROMIUM_H
#define BROKER_CHROMIUM_H

#include "broker/broker.h"

struct cdp;

struct chromium *chromium_new(struct broker *b);
void chromium_free(struct chromium *ch); /* and nothing of it is left */

/* Wait, in C's fiber, until it is up. 0, or -1 and a fault. */
int chromium_ready(struct call *c);
struct cdp *chromium_cdp(struct chromium *ch); /* NULL: it is not up */
uint64_t chromium_starts(const struct chromium *ch);
void chromium_stop(struct chromium *ch, const char *why);
void chromium_reap(struct chromium *ch);   /* at SIGCHLD */
void chromium_worked(struct chromium *ch); /* an action went well */
void chromium_sweep(struct chromium *ch);

/* What `status' says of it, into O. */
void chromium_view(const struct chromium *ch, struct json_object *o);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium.h - the one Chromium: started when something needs it, stopped
 * when nothing has for a while, started again when it died.
 */
#ifndef BROWSER_CHROMIUM_H
#define BROWSER_CHROMIUM_H

#include "browser/browser.h"

struct cdp;

/* The program to start, WANTED or a usual one, without links; NULL: none. */
char *chromium_find(const char *wanted);
/* Its arguments, PATH being the first; the caller frees the array. */
char **chromium_argv(char *path);

/* Lends PATH, which may be NULL; takes STARTER (chromium_starter.h; -1: none). */
struct chromium *chromium_new(struct browser *b, const char *path, int starter);
void chromium_free(struct chromium *ch); /* and nothing of it is left */

/* Wait, in C's fiber, until it is up. 0, or -1 and a fault. */
int chromium_ready(struct call *c);
struct cdp *chromium_cdp(struct chromium *ch); /* NULL: it is not up */
uint64_t chromium_starts(const struct chromium *ch);
void chromium_worked(struct chromium *ch); /* an action went well */
void chromium_sweep(struct chromium *ch);

/*
 * If its PID 1 just killed a process for its use: a fault's message and DETAILS
 * (NULL: not wanted), both the caller's; else NULL.
 */
const char *
chromium_death_code(struct chromium *ch); /* of the fault of its tabs */
char *chromium_ended_one(struct chromium *ch, struct json_object **details);

/* What `status' says of it, into O. */
void chromium_view(const struct chromium *ch, struct json_object *o);

#endif

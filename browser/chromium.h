/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium.h - the only Chromium: started on demand, stopped after a time
 * without use, started again after a crash.
 */
#ifndef BROWSER_CHROMIUM_H
#define BROWSER_CHROMIUM_H

#include "browser/browser.h"

struct cdp;

/*
 * Return the path of Chromium's program, links resolved: WANTED, or when WANTED is
 * NULL a usual place or name. NULL: not found.
 */
char *chromium_find(const char *wanted);
/* Return the program's arguments, PATH first; the caller frees the array. */
char **chromium_argv(char *path);

/* Lends PATH (may be NULL); takes STARTER (chromium_starter.h; -1: none). */
struct chromium *chromium_new(struct browser *b, const char *path, int starter);
void chromium_free(struct chromium *ch); /* ends Chromium and all its
					    processes */

/* Wait in C's fiber until Chromium is up. 0, or -1 and a fault. */
int chromium_ready(struct call *c);
/* returns NULL unless Chromium is up */
struct cdp *chromium_cdp(struct chromium *ch);
uint64_t chromium_starts(const struct chromium *ch);
void chromium_worked(struct chromium *ch); /* to be called after a successful
					      action */
void chromium_sweep(struct chromium *ch);

/*
 * chromium_ended_one(): when PID 1 just killed a process for its use, return
 * the fault's message and DETAILS (NULL: not wanted), both the caller's; else
 * NULL.
 */
const char *
chromium_death_code(struct chromium *ch); /* code of the fault of its tabs */
char *chromium_ended_one(struct chromium *ch, struct json_object **details);

/* Add Chromium's part of `status' to O. */
void chromium_view(const struct chromium *ch, struct json_object *o);

#endif

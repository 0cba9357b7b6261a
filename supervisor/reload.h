/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.h - the configuration and all templates read again, and put in place
 * of what is there, or not at all.
 */
#ifndef SUPERVISOR_RELOAD_H
#define SUPERVISOR_RELOAD_H

#include <stddef.h>

struct config;
struct reload;
struct server;

/* The configuration as it is on disk, the caller's; or NULL, and ERRMSG. */
typedef struct config *(*config_reader)(void *arg, char *errmsg, size_t size);
/* It is over. ERRMSG (lent) it was refused; NULL: it was not. */
typedef void (*reload_done)(void *arg, const char *errmsg);

struct reload *reload_new(struct server *srv, config_reader read,
			  void *read_arg, reload_done done, void *arg);
void reload_free(struct reload *r);

/* Begin; while one is under way: once more when that is over. */
void reload_ask(struct reload *r);
/* What is under way is not put in place; DONE is not called. */
void reload_stop(struct reload *r);

#endif

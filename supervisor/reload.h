/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.h - reads the configuration and all templates again, and puts them in
 * place: the configuration at once, the templates when they are loaded. With
 * [server] watch_templates the templates are also loaded whenever their folders
 * change.
 */
#ifndef SUPERVISOR_RELOAD_H
#define SUPERVISOR_RELOAD_H

#include <stddef.h>

struct config;
struct json_object;
struct reload;
struct server;

/* Return the configuration as on disk, the caller's; or NULL, and ERRMSG. */
typedef struct config *(*config_reader)(void *arg, char *errmsg, size_t size);

struct reload_ops {
	void (*begun)(void *arg);
	/* The configuration was replaced: requestors and their rights are
	   known. */
	void (*taken)(void *arg);
	/* The reload is over. ERRMSG (lent): the refused part; NULL: nothing
	   was refused. */
	void (*done)(void *arg, const char *errmsg);
};

/* Make the reloader; OPS is copied. */
struct reload *reload_new(struct server *srv, config_reader read,
			  void *read_arg, const struct reload_ops *ops,
			  void *arg);
void reload_free(struct reload *r);

/*
 * Begin a reload; while one is under way: once more when that is over. TOLD
 * (NULL: no callback) is called once with ARG and the report, as context.h
 * says.
 */
void reload_ask(struct reload *r,
		void (*told)(void *arg, struct json_object *report), void *arg);
/* Cancel the reload under way; DONE is not called, TOLD gets NULL. */
void reload_stop(struct reload *r);

#endif

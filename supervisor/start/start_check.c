/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_check.c - finds whether the server would start. main.c asks before each
 * start, and "paddockd --check" instead of a start: health.c's table, and the
 * templates; main.c measures the cage afterwards. Nothing is left behind; a
 * fault is reported, and its status returned.
 */
#include "supervisor/start/start_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "base/text/words.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/config/config.h"
#include "supervisor/packages/grants/package_check.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/health/health.h"
#include "supervisor/spawn/privs.h"
#include "supervisor/packages/templates/catalogue.h"

/* ---- the user ---- */

int start_check_user(const struct config *c)
{
	char errmsg[512];

	if (privs_choose(c->user, errmsg, sizeof(errmsg)) < 0) {
		log_tell(LOG_LEVEL_ERROR, "server", "%s", errmsg);
		return EX_CONFIG;
	}
	if (privs_leave_root())
		log_open_by(privs_open_log);
	return 0;
}

/* ---- resources ---- */

/* The faults found before the start. */
struct found {
	/* report all faults, not only the fault that ends the start */
	bool check;
	/* exit status of the first fault that ends the start; or 0 */
	int status;
};

static void on_found(void *arg, enum health_status verdict, int status,
		     const char *says)
{
	struct found *f = arg;
	bool fails = verdict == HEALTH_FAILED;

	if (f->check)
		log_plain("%s", says);
	else if (f->status == 0)
		log_tell(fails ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN, "server",
			 "%s", says);
	if (f->status == 0 && (fails || f->check))
		f->status = status;
}

int start_check_all(const struct config *c, bool stdio, bool check)
{
	const struct health_start of = {
	    .config = c, .stdio = stdio, .check = check};
	struct found found = {.check = check};

	health_check_start(&of, on_found, &found);
	return found.status;
}

/* ---- templates ---- */

/* Print LIST, which is put, on a line. */
static void print_json(struct json_object *list)
{
	puts(json_object_to_json_string_ext(
	    list, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(list);
}

/*
 * Report each word of LIST, the value of KEY in the section WHERE, that names no
 * template: clients would see less.
 */
static void tell_unknown(const char *where, const char *key, const char *list,
			 const struct catalogue *cat)
{
	const char *word;
	size_t n;

	while ((word = words_next(&list, &n)) != NULL) {
		char *id = xstrndup(word, n);

		if (catalogue_newest(cat, id) == NULL)
			log_plain("[%s]: %s has %s, and there is no such "
				  "template",
				  where, key, id);
		free(id);
	}
}

static void print_templates(const struct catalogue *cat, const struct config *c)
{
	const char *published = c->publish_templates;

	for (size_t i = 0; i < cat->n; i++)
		printf("%s %s\n", cat->all[i]->id, cat->all[i]->version_text);
	for (size_t i = 0; i < c->n_grants; i++) {
		const char *errmsg = grants_unused(&c->grants[i], cat);

		if (errmsg != NULL)
			log_plain("[grant \"%s\"] is not used: %s",
				  c->grants[i].name, errmsg);
	}
	for (size_t i = 0; i < c->n_requestors; i++) {
		char *where =
		    xasprintf("requestor \"%s\"", c->requestors[i].name);

		tell_unknown(where, "templates", c->requestors[i].templates,
			     cat);
		free(where);
	}
	for (size_t i = 0; i < c->n_overs; i++)
		if (catalogue_newest(cat, c->overs[i].name) == NULL)
			log_plain(
			    "[template \"%s\"]: there is no such template",
			    c->overs[i].name);
	if (published != NULL && !words_have("yes no search", published))
		tell_unknown("server", "publish_templates", published, cat);
}

/* Is PATH a folder that cannot be read, which has been reported already? */
static bool is_folder(const struct config *c, const char *path)
{
	for (size_t i = 0; i < c->n_templates; i++)
		if (strcmp(c->templates[i], path) == 0)
			return access(path, R_OK | X_OK) != 0;
	return false;
}

static int check_templates(const struct config *c, const struct start_check *p)
{
	struct catalogue *cat = catalogue_load_configured(
	    c, privsep_workers_are_others(), NULL, NULL);
	int status = cat->n_problems == 0 ? 0 : EX_CONFIG;
	struct json_object *list;

	if (p->faults) {
		print_json(package_check_all(cat));
	} else if (p->grants) {
		/* {templateId, version, path, digest, permissions, section} */
		list = json_object_new_array();
		for (size_t i = 0; i < cat->n; i++)
			json_object_array_add(list, grants_of(cat->all[i], c));
		print_json(list);
	} else {
		print_templates(cat, c);
	}
	for (size_t i = 0; !p->faults && i < cat->n_problems; i++)
		if (p->templates_alone || !is_folder(c, cat->problems[i].path))
			log_plain("%s: %s", cat->problems[i].path,
				  cat->problems[i].errmsg);
	catalogue_free(cat);
	return status;
}

int precheck(const struct config *c, const struct start_check *p)
{
	int status = p->templates_alone ? 0 : start_check_user(c), more;

	if (status == 0 && !p->templates_alone)
		status = start_check_all(c, p->stdio, true);
	more = check_templates(c, p);
	return status != 0 ? status : more;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* config_private.h - shared by the files of this folder alone. */
#ifndef SUPERVISOR_CONFIG_CONFIG_PRIVATE_H
#define SUPERVISOR_CONFIG_CONFIG_PRIVATE_H

#include <dirent.h>

#include "supervisor/config/config.h"

/*
 * A section: of struct config itself; or named, as [requestor "NAME"], with an
 * array in struct config, whose elements begin with the name.
 */
struct config_section {
	const char *name;
	/* "NAME" of a named section; NULL: part of struct config itself */
	const char *names;
	bool (*is_name)(const char *s, size_t n);
	/* offsets and element size of the array in struct config */
	size_t list, count, size;
	const char *expected, *too_many;
};

#define CONFIG_SECTIONS 10
#define CONFIG_NAMED_MAX 1000 /* most sections of one kind */
extern const struct config_section config_sections[CONFIG_SECTIONS];

/* Find the section called NAME, of either kind; NULL: there is none. */
const struct config_section *config_section_find(const char *name);
/* Return how many sections of S there are, and the struct of the Ith. */
size_t config_section_count(const struct config *c,
			    const struct config_section *s);
void *config_section_at(const struct config *c, const struct config_section *s,
			size_t i);
/*
 * Return the index of the section of S named NAME (N bytes), made with defaults
 * if new.
 */
size_t config_section_index(struct config *c, const struct config_section *s,
			    const char *name, size_t n);
void config_section_default(const struct config_section *s, void *base);

/* Are N bytes at S a templateId? */
bool config_is_id(const char *s, size_t n);

/* ---- config_secret.c ---- */

/* Are N bytes at S the name of a secret, METHOD:/PATH? */
bool config_is_secret(const char *s, size_t n);
bool config_is_rule(const char *s, size_t n);
/* Is VALUE "NAME: a text with {}", a printable word, the name of a variable? */
bool config_is_header(const char *value);
bool config_is_word(const char *value);
bool config_is_variable(const char *value);
/* Check all [secret] sections, as config_check(). */
int config_check_secrets(const struct config *c, const char *file, char *errmsg,
			 size_t size);

/* Add the folder of templates PATH, N bytes. */
void config_add_templates(struct config *c, const char *path, size_t n);

/*
 * Read the file PATH into C. APPROVED: by no link, and with sections for grants alone. 0;
 * -ENOENT: no file; -EINVAL with ERRMSG.
 */
int config_file_read(struct config *c, const char *path, bool approved,
		     char *errmsg, size_t size);
/*
 * List the files NAME.conf of DIR in *LIST, in the order of names. Returns the number, or
 * -EINVAL with ERRMSG.
 */
int config_file_list(const char *dir, struct dirent ***list, char *errmsg,
		     size_t size);

/*
 * Check the relations between keys. 0, or -EINVAL with ERRMSG, which names
 * FILE.
 */
int config_check(const struct config *c, const char *file, char *errmsg,
		 size_t size);

#endif

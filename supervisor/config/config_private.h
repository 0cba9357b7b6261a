/* SPDX-License-Identifier: Apache-2.0 */
/* config_private.h - between the files of this folder alone. */
#ifndef SUPERVISOR_CONFIG_CONFIG_PRIVATE_H
#define SUPERVISOR_CONFIG_CONFIG_PRIVATE_H

#include "supervisor/config/config.h"

/*
 * A section: of struct config itself; or, as [requestor "NAME"], each of a
 * struct of its own that begins with the name, in an array of struct config.
 */
struct config_section {
	const char *name;
	/* "NAME", of the second kind; NULL: it is of the first */
	const char *names;
	bool (*is_name)(const char *s, size_t n);
	size_t list, count, size; /* of the array, in struct config */
	const char *expected, *too_many;
};

#define CONFIG_SECTIONS 7
#define CONFIG_NAMED_MAX 1000 /* of one kind */
extern const struct config_section config_sections[CONFIG_SECTIONS];

/* The section called NAME, without a name of its own; or NULL. */
const struct config_section *config_section_find(const char *name);
/* How many there are of S, and the struct of the Ith. */
size_t config_section_count(const struct config *c,
			    const struct config_section *s);
void *config_section_at(const struct config *c, const struct config_section *s,
			size_t i);
/* Which of them is called NAME (N bytes)? Made with defaults if it is new. */
size_t config_section_index(struct config *c, const struct config_section *s,
			    const char *name, size_t n);
void config_section_default(const struct config_section *s, void *base);

/* Are N bytes at S a templateId? */
bool config_is_id(const char *s, size_t n);

/* One folder of templates more: PATH, N bytes. */
void config_add_templates(struct config *c, const char *path, size_t n);

/* What no single key can tell. 0, or -EINVAL with ERRMSG, which names FILE. */
int config_check(const struct config *c, const char *file, char *errmsg,
		 size_t size);

#endif

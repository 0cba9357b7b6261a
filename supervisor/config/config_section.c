/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_section.c - the sections of paddock.conf, and the structs that hold
 * the values of a section. The reader of files walks the sections, and
 * --print-config prints all. Only writing to the stream can fail, and the
 * stream's owner checks.
 */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/words.h"
#include "supervisor/config/config_keys.h"
#include "supervisor/config/config_private.h"

static bool is_grantee(const char *s, size_t n)
{
	return (n == 1 && *s == '*') || config_is_id(s, n);
}

#define LIST(of)                                                               \
	.list = offsetof(struct config, of##s),                                \
	.count = offsetof(struct config, n_##of##s),                           \
	.size = sizeof(struct config_##of)

const struct config_section config_sections[CONFIG_SECTIONS] = {
    {.name = "server"},
    {.name = "store"},
    {.name = "limits"},
    {.name = "sandbox"},
    {.name = "browser"},
    {.name = "network"},
    {.name = CONFIG_SECRET,
     .names = "NAME",
     .is_name = config_is_secret,
     LIST(secret),
     .expected = "[secret \"NAME\"] with letters, digits and . _ - as NAME, "
		 "beginning with a letter, 63 at the most",
     .too_many = "there are more than 1000 secrets"},
    {.name = CONFIG_REQUESTOR,
     .names = "NAME",
     .is_name = requestor_name_ok,
     LIST(requestor),
     .expected = "[requestor \"NAME\"] with " REQUESTOR_NAME_RULE " as NAME",
     .too_many = "there are more than 1000 requestors"},
    {.name = CONFIG_GRANT,
     .names = "TEMPLATE",
     .is_name = is_grantee,
     LIST(grant),
     .expected =
	 "[grant \"TEMPLATE\"] with a templateId as TEMPLATE, or * for all",
     .too_many = "there are grants for more than 1000 templates"},
    {.name = CONFIG_TEMPLATE,
     .names = "TEMPLATE",
     .is_name = config_is_id,
     .list = offsetof(struct config, overs),
     .count = offsetof(struct config, n_overs),
     .size = sizeof(struct config_template),
     .expected = "[template \"TEMPLATE\"] with a templateId as TEMPLATE",
     .too_many = "there are sections for more than 1000 templates"},
};

const struct config_section *config_section_find(const char *name)
{
	for (size_t i = 0; i < CONFIG_SECTIONS; i++)
		if (strcmp(config_sections[i].name, name) == 0)
			return &config_sections[i];
	return NULL;
}

size_t config_section_count(const struct config *c,
			    const struct config_section *s)
{
	size_t n = 1;

	if (s->names != NULL)
		memcpy(&n, (const char *)c + s->count, sizeof(n));
	return n;
}

void *config_section_at(const struct config *c, const struct config_section *s,
			size_t i)
{
	char *list;

	if (s->names == NULL)
		return (void *)(uintptr_t)c;
	memcpy(&list, (const char *)c + s->list, sizeof(list));
	return list + i * s->size;
}

size_t config_section_index(struct config *c, const struct config_section *s,
			    const char *name, size_t n)
{
	size_t i, count = config_section_count(c, s);
	char *list, *copy;

	for (i = 0; i < count; i++) {
		const char *known = *(char **)config_section_at(c, s, i);

		if (strncmp(known, name, n) == 0 && known[n] == '\0')
			return i;
	}
	list = count > 0 ? config_section_at(c, s, 0) : NULL;
	list = xrealloc(list, ++count * s->size);
	memset(list + i * s->size, 0, s->size);
	copy = xstrndup(name, n);
	memcpy(list + i * s->size, &copy, sizeof(copy));
	memcpy((char *)c + s->list, &list, sizeof(list));
	memcpy((char *)c + s->count, &count, sizeof(count));
	config_section_default(s, list + i * s->size);
	return i;
}

void config_section_default(const struct config_section *s, void *base)
{
	size_t n;
	const struct config_key *keys = config_keys(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i].section, s->name) == 0)
			config_key_default(&keys[i], base);
}

void config_print(const struct config *c, FILE *out)
{
	size_t n;
	const struct config_key *keys = config_keys(&n);

	for (size_t i = 0; i < CONFIG_SECTIONS; i++) {
		const struct config_section *s = &config_sections[i];

		for (size_t j = 0; j < config_section_count(c, s); j++) {
			const void *base = config_section_at(c, s, j);

			fprintf(out, "%s[%s", i == 0 ? "" : "\n", s->name);
			if (s->names != NULL)
				fprintf(out, " \"%s\"", *(char *const *)base);
			fputs("]\n", out);
			for (size_t k = 0; k < n; k++)
				if (strcmp(keys[k].section, s->name) == 0)
					config_key_print(&keys[k], base, out);
		}
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_print.c - prints a configuration in its own syntax, for
 * --print-config. Only writing to the stream can fail, and its owner checks the
 * stream.
 */
#include <string.h>

#include "supervisor/config/config_keys.h"
#include "supervisor/config/config_private.h"

static void print_section(const struct config_section *s, const void *base,
			  FILE *out)
{
	size_t n;
	const struct config_key *keys = config_keys(&n);

	fprintf(out, "%s[%s", s == config_sections ? "" : "\n", s->name);
	if (s->names != NULL)
		fprintf(out, " \"%s\"", *(char *const *)base);
	fputs("]\n", out);
	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i].section, s->name) == 0)
			config_key_print(&keys[i], base, out);
}

void config_print(const struct config *c, FILE *out)
{
	for (size_t i = 0; i < CONFIG_SECTIONS; i++) {
		const struct config_section *s = &config_sections[i];

		for (size_t j = 0; j < config_section_count(c, s); j++)
			print_section(s, config_section_at(c, s, j), out);
	}
}

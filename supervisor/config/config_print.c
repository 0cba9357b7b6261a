/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_print.c - a configuration in its own syntax, for --print-config, and
 * its keys for the manual page paddock.conf(5). Nothing here fails but the
 * stream, and that is its owner's to see.
 */
#include <inttypes.h>
#include <string.h>

#include "supervisor/config/config_keys.h"
#include "supervisor/config/config_private.h"

#define MANUAL_COLUMNS 78

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

/* A sentence begins a line, and no line is long: mdoc(7) wants it so. */
static void manual_text(const char *text, FILE *out)
{
	size_t col = 0;
	bool ends = false;

	while (*text != '\0') {
		size_t n = strcspn(text, " ");

		if (col > 0 && (ends || col + n >= MANUAL_COLUMNS)) {
			fputc('\n', out);
			col = 0;
		}
		col += (size_t)fprintf(out, "%s%.*s", col > 0 ? " " : "",
				       (int)n, text);
		ends = text[n - 1] == '.';
		text += n + strspn(text + n, " ");
	}
	fputc('\n', out);
}

static void manual_key(const struct config_key *k, FILE *out)
{
	char expected[256], text[300];

	config_key_expected(k, expected, sizeof(expected));
	fprintf(out, ".It Ic %s\n", k->name);
	manual_text(k->help, out);
	snprintf(text, sizeof(text), "Expected: %s.", expected);
	manual_text(text, out);
	if (k->type == CONFIG_BOOL)
		fprintf(out, "Default: %s.\n", k->def != 0 ? "yes" : "no");
	else if (k->type < CONFIG_BOOL && !k->optional)
		fprintf(out, "Default: %" PRId64 ".\n", k->def);
	else if (k->def_text != NULL)
		fprintf(out, "Default: %s.\n", k->def_text);
}

void config_manual(FILE *out)
{
	size_t n;
	const struct config_key *keys = config_keys(&n);

	for (size_t i = 0; i < CONFIG_SECTIONS; i++) {
		const struct config_section *s = &config_sections[i];

		fprintf(out, ".Ss \"[%s%s%s]\"\n.Bl -tag -width Ds\n", s->name,
			s->names != NULL ? " " : "",
			s->names != NULL ? s->names : "");
		for (size_t j = 0; j < n; j++)
			if (strcmp(keys[j].section, s->name) == 0)
				manual_key(&keys[j], out);
		fputs(".El\n", out);
	}
}

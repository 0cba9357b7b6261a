/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_manual_fixture.c - the keys of paddock.conf(5), made from the table of
 * the configuration's keys.
 */
#include "tests/unit/supervisor/config/config_manual_fixture.h"

#include <inttypes.h>
#include <string.h>

#include "supervisor/config/config_keys.h"

#define MANUAL_COLUMNS 78

/*
 * Print TEXT with each sentence on a new line and no long lines, as mdoc(7) recommends.
 */
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

/* The placeholder for the name of a named section. */
static const char *name_of(const char *section)
{
	return strcmp(section, CONFIG_REQUESTOR) == 0 ||
		       strcmp(section, CONFIG_SECRET) == 0
		   ? " NAME"
	       : strcmp(section, CONFIG_GRANT) == 0 ||
		       strcmp(section, CONFIG_TEMPLATE) == 0
		   ? " TEMPLATE"
		   : "";
}

void help_config_manual(FILE *out)
{
	size_t n;
	const struct config_key *keys = config_keys(&n);
	const char *section = "";

	for (size_t i = 0; i < n; i++) {
		if (strcmp(keys[i].section, section) != 0) {
			if (i > 0)
				fputs(".El\n", out);
			section = keys[i].section;
			fprintf(out, ".Ss \"[%s%s]\"\n.Bl -tag -width Ds\n",
				section, name_of(section));
		}
		manual_key(&keys[i], out);
	}
	fputs(".El\n", out);
}

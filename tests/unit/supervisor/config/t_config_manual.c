/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_config_manual.c - the manual page must have each key of the configuration as
 * printed from the table; PADDOCK_WRITE=1 updates the page.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "supervisor/config/config.h"
#include "tests/unit/supervisor/config/config_manual_fixture.h"
#include "tests/unit/tap.h"

#define PAGE "man/paddock.conf.5"

/* Print the lines of LIST that are missing in TEXT. */
static void tell_missing(const char *text, char *list)
{
	char *at = list, *line;

	while ((line = strsep(&at, "\n")) != NULL) {
		const char *found = strstr(text, line);

		if (found == NULL)
			printf("# missing: %s\n", line);
		else
			text = found;
	}
}

/* Replace the part of TEXT between the first and last section by LIST. */
static void write_page(const char *text, const char *list)
{
	const char *from = strstr(text, ".Ss \"[server]\"");
	const char *to = from != NULL ? strstr(from, ".Sh ") : NULL;
	FILE *f = to != NULL ? fopen(PAGE, "w") : NULL;

	if (f == NULL)
		return;
	fprintf(f, "%.*s%s%s", (int)(from - text), text, list, to);
	fclose(f);
}

int main(void)
{
	char *text = buf_file(PAGE, 1 << 20), *list = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&list, &size);

	if (out == NULL)
		return 1;
	help_config_manual(out);
	fclose(out);
	if (*text != '\0' && getenv("PADDOCK_WRITE") != NULL) {
		write_page(text, list);
		free(text);
		text = buf_file(PAGE, 1 << 20);
	}
	ok(*text != '\0', PAGE " is there");
	if (list != NULL &&
	    !ok(strstr(text, list) != NULL,
		"the keys in the manual are those of the table, word for word"))
		tell_missing(text, list);
	free(text);
	free(list);
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* config_fixture.h - configurations as text. */
#ifndef TESTS_UNIT_SUPERVISOR_CONFIG_CONFIG_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_CONFIG_CONFIG_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/config/config.h"
#include "tests/unit/tap.h"

static char errmsg[512];

/* The output of config_print() for C; the caller frees the text. */
static char *printed(const struct config *c)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	config_print(c, f);
	fclose(f);
	return text;
}

static int parse(struct config *c, const char *text)
{
	errmsg[0] = '\0';
	return config_read_text(c, "f", text, strlen(text), errmsg,
				sizeof(errmsg));
}

#endif

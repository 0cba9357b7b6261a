/* SPDX-License-Identifier: Apache-2.0 */
/* template_fixture.h - manifests as text. */
#ifndef TESTS_UNIT_SUPERVISOR_TEMPLATES_TEMPLATE_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_TEMPLATES_TEMPLATE_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/packages/templates/manifest.h"
#include "supervisor/packages/templates/template.h"
#include "tests/unit/supervisor/packages/templates/diagnostics_fixture.h"
#include "tests/unit/tap.h"

static const char smallest[] =
    "{\"templateId\":\"t\",\"version\":\"1.2.3\",\"name\":\"T\","
    "\"description\":\"Does.\",\"runtime\":{\"type\":\"lua\"},"
    "\"inputsSchema\":{\"type\":\"object\"}}";

/* The smallest manifest with member KEY set to the JSON text VALUE (NULL:
 * left out); the caller's. */
static char *manifest(const char *key, const char *value)
{
	struct json_object *m, *v = NULL;
	char *text;

	json_parse(&m, smallest, strlen(smallest), NULL);
	if (value == NULL) {
		json_object_object_del(m, key);
	} else if (key != NULL) {
		json_parse(&v, value, strlen(value), NULL);
		json_object_object_add(m, key, v);
	}
	text = xstrdup(json_text(m, NULL));
	json_object_put(m);
	return text;
}

#endif

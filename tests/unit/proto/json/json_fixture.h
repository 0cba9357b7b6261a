/* SPDX-License-Identifier: Apache-2.0 */
/* json_fixture.h - texts to parse. */
#ifndef TESTS_UNIT_PROTO_JSON_JSON_FIXTURE_H
#define TESTS_UNIT_PROTO_JSON_JSON_FIXTURE_H

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "tests/unit/tap.h"

/* Parse a copy without a byte to spare, so that a read beyond it shows. */
static int parse(struct json_object **out, const char *text, size_t len,
		 struct json_error *err)
{
	char *copy = xcalloc(len, 1);
	int rc;

	memcpy(copy, text, len);
	rc = json_parse(out, copy, len, err);
	free(copy);
	return rc;
}

#endif

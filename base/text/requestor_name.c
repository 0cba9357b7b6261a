/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestor_name.c - the rule for a requestor's name, for the configuration's
 * reader and for "paddock token". It only looks; its callers refuse.
 */
#include "base/text/requestor_name.h"

#include <string.h>

static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-";

bool requestor_name_ok(const char *name, size_t n)
{
	if (n == 0 || n > REQUESTOR_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (memchr(letters, name[i], sizeof(letters) - 1) == NULL)
			return false;
	return true;
}

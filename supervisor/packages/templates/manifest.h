/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - checks template.json, and fills in defaults. Pure: no byte is
 * read from the disk here.
 */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_H
#define SUPERVISOR_TEMPLATES_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/packages/package/diagnostics.h"
#include "supervisor/packages/templates/template.h"

/*
 * Check LEN bytes of a template.json. Returns a template without dir, code and
 * digest (one user: the caller's), or NULL with all faults added to F, which
 * has no errors yet: the value found, a value that would pass, and the place.
 */
struct template *manifest_parse(const char *text, size_t len,
				struct diagnostics *f);

#endif

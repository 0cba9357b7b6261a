/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - template.json: what it must say, and what holds where it is
 * silent. Pure: no byte is read from the disk here.
 */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_H
#define SUPERVISOR_TEMPLATES_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/package/diagnostics.h"
#include "supervisor/templates/template.h"

/*
 * Check LEN bytes of a template.json. A template without dir, code and digest
 * (one user: the caller's), or NULL with all that is wrong added to F, which
 * has no errors yet: what came, what would pass, and where.
 */
struct template *manifest_parse(const char *text, size_t len,
				struct diagnostics *f);

#endif

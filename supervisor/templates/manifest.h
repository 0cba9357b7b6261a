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

#define MANIFEST_FILE "template.json"

/*
 * Check LEN bytes of a template.json. A template without dir, code and digest
 * (one user: the caller's), or NULL with all that is wrong added to F, which
 * has no errors yet: what came, what would pass, and where.
 */
struct template *manifest_parse(const char *text, size_t len,
				struct diagnostics *f);

/* What each of its schemas may cost to compile: some 60 ms. */
#define MANIFEST_SCHEMA_STEPS 3000000

/*
 * Is PATH the plain relative name of a file: no empty, "." or ".." part and
 * no control character?
 */
bool manifest_path_ok(const char *path);

/* The schema of the manifest, as text; it lives as long as the program. */
const char *manifest_schema_text(size_t *len);

#endif

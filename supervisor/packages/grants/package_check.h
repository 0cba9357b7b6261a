/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_check.h - finds the faults of a package without running anything.
 */
#ifndef SUPERVISOR_GRANTS_PACKAGE_CHECK_H
#define SUPERVISOR_GRANTS_PACKAGE_CHECK_H

#include <json-c/json.h>

#include "supervisor/packages/templates/catalogue.h"

/*
 * Return the faults of each package of ALL, and of packages left out of ALL:
 * [{path, templateId?, version?, lua?, faults: [], more?}], by path; lua is the
 * file that a worker has yet to compile. The caller frees the array.
 */
struct json_object *package_check_all(const struct catalogue *all);

#endif

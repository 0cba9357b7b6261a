/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_check.h - everything about a package that can be said without running it.
 */
#ifndef SUPERVISOR_GRANTS_PACKAGE_CHECK_H
#define SUPERVISOR_GRANTS_PACKAGE_CHECK_H

#include <json-c/json.h>

#include "supervisor/templates/catalogue.h"

/*
 * What is wrong with each package of ALL, and with those that it left out:
 * [{path, templateId?, version?, lua?, faults: […], more?}], by path; lua is
 * the file that a worker is still to compile. The caller's.
 */
struct json_object *package_check_all(const struct catalogue *all);

#endif

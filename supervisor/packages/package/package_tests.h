/* SPDX-License-Identifier: Apache-2.0 */
/* package_tests.h - checks whether the tests of a package are tests at all. */
#ifndef SUPERVISOR_PACKAGE_PACKAGE_TESTS_H
#define SUPERVISOR_PACKAGE_PACKAGE_TESTS_H

#include "supervisor/packages/package/diagnostics.h"

/*
 * Read each tests/NAME.json of the package FD, and add to F the parts that
 * "paddock template test" could not take, and statuses that no run could have.
 */
void package_tests_check(int fd, struct diagnostics *f);

#endif

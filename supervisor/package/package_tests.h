/* SPDX-License-Identifier: Apache-2.0 */
/* package_tests.h - the tests of a package: are they tests at all? */
#ifndef SUPERVISOR_PACKAGE_PACKAGE_TESTS_H
#define SUPERVISOR_PACKAGE_PACKAGE_TESTS_H

#include "supervisor/package/diagnostics.h"

/*
 * Read each tests/NAME.json of the package FD, and add to F what "paddock
 * template test" could not take, or what no run could ever be.
 */
void package_tests_check(int fd, struct diagnostics *f);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_browser.h - the part of "paddock selftest" that needs a browser. */
#ifndef CLI_SELFTEST_BROWSER_H
#define CLI_SELFTEST_BROWSER_H

#include <stddef.h>

#include "cli/client.h"

extern const size_t selftest_browser_n;

/*
 * Try them, as the TAP lines FIRST and on. 0, with *FAILED and *SKIPPED more by
 * what did not hold, and what could not be tried; or the exit status.
 */
int selftest_browser(struct client *c, size_t first, int *failed, int *skipped);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.h - the attacks of "paddock selftest". */
#ifndef CLI_SELFTEST_H
#define CLI_SELFTEST_H

#include <stddef.h>

#include "cli/client.h"

enum selftest_by {
	SELFTEST_LUA,
	SELFTEST_SH,
	SELFTEST_PYTHON,
	SELFTEST_ASKS, /* a manifest alone: there is to be no run */
};

#define SELFTEST_ENDS "*" /* however it ends, as long as it does */

struct selftest {
	enum selftest_by by;
	const char *try, *what; /* the template's input; for people */
	const char *code; /* the run's errorCode, or the refusal's; NULL: it
				   succeeds */
	const char *text; /* its result as JSON; of a failure, a piece of
				   its details or message */
	int timeout_ms;	  /* of the run; 0: the template's own */
};

extern const struct selftest selftests[];
extern const size_t selftests_n;

extern const size_t selftest_browser_n;

/*
 * Try them, as the TAP lines FIRST and on. 0, with *FAILED and *SKIPPED more by
 * what did not hold, and what could not be tried; or the exit status.
 */
int selftest_browser(const struct cli *cli, struct client *c, size_t first,
		     int *failed, int *skipped);

#endif

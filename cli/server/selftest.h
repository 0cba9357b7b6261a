/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.h - the attacks of "paddock selftest". */
#ifndef CLI_SELFTEST_H
#define CLI_SELFTEST_H

#include <stddef.h>

#include "cli/client/client.h"

enum selftest_by {
	SELFTEST_LUA,
	SELFTEST_LUA_CPU,
	SELFTEST_SH,
	SELFTEST_SH_CPU,
	SELFTEST_PYTHON,
	SELFTEST_NOTEBOOK, /* a notebook for all rows */
	SELFTEST_CELLS,	   /* in Lua: a notebook for all rows */
	SELFTEST_OTHER,	   /* in Lua: a second notebook */
	SELFTEST_ASKS,	   /* the manifest asks: no run may start */
};

#define SELFTEST_ENDS "*" /* any end, as long as the run ends */

struct selftest {
	enum selftest_by by;
	const char *try, *what; /* the template's input; for people */
	/* expected: the errorCode of run or refusal; NULL: success */
	const char *code;
	/* expected: the JSON result; of a failure, a piece of its details */
	const char *text;
	int timeout_ms; /* of the run; 0: the template's own */
};

extern const struct selftest selftests[];
extern const size_t selftests_n;

#endif

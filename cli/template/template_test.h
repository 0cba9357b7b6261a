/* SPDX-License-Identifier: Apache-2.0 */
/* template_test.h - outcomes of runs in the form of a package's tests. */
#ifndef CLI_TEMPLATE_TEST_H
#define CLI_TEMPLATE_TEST_H

#include <json-c/json.h>

#include "cli/client/tool_result.h"

/* Return the run's outcome in the form of "expect"; the caller's. */
struct json_object *template_test_outcome(const struct tool_result *a);

#endif

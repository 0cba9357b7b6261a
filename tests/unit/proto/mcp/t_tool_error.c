/* SPDX-License-Identifier: Apache-2.0 */
/* t_tool_error.c - what passes a quota again: only stored bytes expire. */
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/tool_error.h"
#include "tests/unit/tap_json.h"

TEST(quotas)
{
	static const struct {
		const char *limit, *who;
		int64_t retry_ms;
		const char *want;
	} cases[] = {
	    {"artifact_bytes", "the operator: x", 60000,
	     "wait until something of yours expires, or have the limit raised, "
	     "by the operator: x"},
	    {"store_bytes", "the operator: x", 60000,
	     "wait until something of yours expires, or have the limit raised, "
	     "by the operator: x"},
	    {"default_store_bytes", "the operator: x", 60000,
	     "wait until something of yours expires, or have the limit raised, "
	     "by the operator: x"},
	    {"cpu_seconds_per_hour", "the operator: x", 60000,
	     "try again in 1 min, when what was used an hour ago counts no "
	     "more, or have the limit raised, by the operator: x"},
	    {"max_parked_runs", "the operator: x", 1000,
	     "answer or cancel a run of yours that waits for answers, or have "
	     "the limit raised, by the operator: x"},
	    {"checks under way", "nobody: they end by themselves", 1000,
	     "try again in 1 s, when some of your checks have ended"},
	    {"another", "the operator: x", 2000,
	     "try again in 2 s, or have the limit raised, by the operator: x"},
	    {NULL, NULL, 1000, "try again in 1 s"},
	    {NULL, NULL, 0, "try again when less of yours is under way"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *d =
		    json_pack("limit?s whoCanRaise?s retryAfterMs:i",
			      cases[i].limit, cases[i].who, cases[i].retry_ms);
		char *hint = recover_hint_of("QUOTA_EXCEEDED", d);

		is_str(hint, cases[i].want,
		       "the hint names the way out of a quota");
		free(hint);
		json_object_put(d);
	}
	char *hint = recover_hint_of("QUOTA_EXCEEDED", NULL);
	is_str(hint, "try again when less of yours is under way",
	       "without details the hint is a general sentence");
	free(hint);
}

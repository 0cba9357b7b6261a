/* SPDX-License-Identifier: Apache-2.0 */
/* How long runs usually take: the average, and what is forgotten. */
#include "supervisor/requestor/usual.h"

#include <stdio.h>

#include "tests/unit/tap.h"

TEST(average)
{
	struct usual u = {0};

	is_int(usual_ms(&u, "a"), 0, "nothing is known of a new template");
	usual_add(&u, "a", 600);
	is_int(usual_ms(&u, "a"), 600, "the first run is the average");
	usual_add(&u, "a", 200);
	is_int(usual_ms(&u, "a"), 500, "one short run moves it by a quarter");
	usual_add(&u, "b", 0);
	is_int(usual_ms(&u, "b"), 1, "a run of no time is known");
	is_int(usual_ms(&u, "a"), 500, "templates are apart");
}

TEST(bound)
{
	struct usual u = {0};
	char id[16];

	for (int i = 0; i <= USUAL_TEMPLATES; i++) {
		snprintf(id, sizeof(id), "t%d", i);
		usual_add(&u, id, i + 1);
	}
	is_int(usual_ms(&u, "t0"), 0, "the oldest template is forgotten");
	is_int(usual_ms(&u, "t1"), 2, "the next oldest is not");
	is_int(usual_ms(&u, id), USUAL_TEMPLATES + 1, "the newest is known");
}

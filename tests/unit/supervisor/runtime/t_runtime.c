/* SPDX-License-Identifier: Apache-2.0 */
/* t_runtime.c - the table of runtimes is whole, and finds each by its name. */
#include "supervisor/runtime/runtime.h"

#include <string.h>

#include "tests/unit/tap.h"

static void whole(enum runtime_kind kind)
{
	const struct runtime *r = runtimes[kind];
	enum runtime_kind found = RUNTIMES;

	ok(runtime_find(runtime_names[kind], &found) && found == kind,
	   "%s is found by the word of manifests", runtime_names[kind]);
	ok(r->title != NULL && r->group != NULL && r->kept_max > 0,
	   "%s has a title, a cgroup and a bound of waiting cages",
	   runtime_names[kind]);
	ok(r->load != NULL && r->check != NULL && r->measured != NULL &&
	       r->broken != NULL && r->is_measured != NULL,
	   "%s has each function", runtime_names[kind]);
	for (int i = 0; i < (int)kind; i++)
		ok(strcmp(runtimes[i]->group, r->group) != 0,
		   "the cgroup of %s is not the cgroup of %s",
		   runtime_names[kind], runtime_names[i]);
}

int main(void)
{
	enum runtime_kind kind = RUNTIMES;

	for (int i = 0; i < RUNTIMES; i++)
		whole((enum runtime_kind)i);
	ok(!runtime_find("cobol", &kind) && !runtime_find(NULL, &kind) &&
	       kind == RUNTIMES,
	   "another word is no runtime, and changes nothing");
	ok(runtimes[0]->always && !runtimes[0]->sees_host,
	   "the first runtime, of a zygote without an argument, is always there");
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_isolation.c - what was measured, as a level; nothing is silent. */
#include <errno.h>
#include <string.h>

#include "proto/json/json.h"
#include "supervisor/spawn/isolation.h"
#include "tests/unit/tap.h"

#define ALL 0xFFFFu

static const struct {
	uint32_t layers;
	enum isolation_level level;
	const char *missing;
} cases[] = {
    {ALL, ISOLATION_USERNS, "cgroup"},
    {ALL & ~SANDBOX_BIT(SANDBOX_UID), ISOLATION_USERNS, "uid cgroup"},
    {ALL & ~SANDBOX_BIT(SANDBOX_LANDLOCK), ISOLATION_USERNS, "landlock cgroup"},
    {ALL & ~SANDBOX_BIT(SANDBOX_NETNS), ISOLATION_CONTAINER, "netns cgroup"},
    {ALL & ~(SANDBOX_BIT(SANDBOX_NETNS) | SANDBOX_BIT(SANDBOX_LANDLOCK)),
     ISOLATION_RESTRICTED, "netns landlock cgroup"},
    {ALL & ~SANDBOX_BIT(SANDBOX_SECCOMP), ISOLATION_NONE, "seccomp cgroup"},
    {ALL & ~SANDBOX_BIT(SANDBOX_CAPS), ISOLATION_RESTRICTED,
     "capabilities cgroup"},
};

static int64_t words(const char *s)
{
	int64_t n = 1;

	while ((s = strchr(s, ' ')) != NULL) {
		s++;
		n++;
	}
	return n;
}

int main(void)
{
	struct isolation iso = {0};
	char lacks[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zygote_proto_event note = {.layers = cases[i].layers,
						  .landlock_abi = 7};

		isolation_set(&iso, &note, "none");
		is_int(iso.level, cases[i].level, "without %s: %s",
		       cases[i].missing, isolation_name(cases[i].level));
		is_str(iso.missing, cases[i].missing,
		       "the missing feature is named");
		is_int((int64_t)json_object_array_length(
			   json_member(iso.view, "missing")),
		       words(cases[i].missing),
		       "the view lists the missing feature");
	}
	isolation_lacks(&iso, ISOLATION_FULL, lacks, sizeof(lacks));
	is_str(lacks, "capabilities cgroup",
	       "the features missing for the level full are named");
	is_int(isolation_level_of("userns"), ISOLATION_USERNS,
	       "a level is found by name");
	is_int(isolation_level_of("none"), -EINVAL,
	       "the level none cannot be required");
	isolation_fini(&iso);
	return tap_done();
}

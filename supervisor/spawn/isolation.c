/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/spawn/isolation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define GUARD_CGROUP (1u << 31) /* ours, beside those that a worker measures */

static const struct {
	uint32_t bit;
	const char *name;
} guards[] = {
    {ZYGOTE_PROTO_GUARD_SECCOMP, "seccomp"},
    {ZYGOTE_PROTO_GUARD_NNP, "no_new_privs"},
    {ZYGOTE_PROTO_GUARD_CAPS, "capabilities"},
    {ZYGOTE_PROTO_GUARD_USERNS, "userns"},
    {ZYGOTE_PROTO_GUARD_NETNS, "netns"},
    {ZYGOTE_PROTO_GUARD_IPCNS, "ipcns"},
    {ZYGOTE_PROTO_GUARD_UTSNS, "utsns"},
    {ZYGOTE_PROTO_GUARD_MNTNS, "mntns"},
    {ZYGOTE_PROTO_GUARD_ROOT, "root"},
    {ZYGOTE_PROTO_GUARD_UID, "uid"},
    {ZYGOTE_PROTO_GUARD_LANDLOCK, "landlock"},
    {ZYGOTE_PROTO_GUARD_RLIMITS, "rlimits"},
    {ZYGOTE_PROTO_GUARD_CLOSED, "descriptors"},
    {ZYGOTE_PROTO_GUARD_EMPTY_ENV, "environment"},
    {ZYGOTE_PROTO_GUARD_UNDUMPABLE, "undumpable"},
    {ZYGOTE_PROTO_GUARD_PDEATHSIG, "pdeathsig"},
    {GUARD_CGROUP, "cgroup"},
};

/*
 * An ordinary user without a user namespace cannot empty its bounding set:
 * no_new_privs makes that harmless, so restricted does without.
 */
#define NEED_RESTRICTED                                                        \
	(ZYGOTE_PROTO_GUARD_SECCOMP | ZYGOTE_PROTO_GUARD_NNP |                 \
	 ZYGOTE_PROTO_GUARD_RLIMITS | ZYGOTE_PROTO_GUARD_CLOSED |              \
	 ZYGOTE_PROTO_GUARD_EMPTY_ENV | ZYGOTE_PROTO_GUARD_UNDUMPABLE)
#define NEED_CONTAINER                                                         \
	(NEED_RESTRICTED | ZYGOTE_PROTO_GUARD_CAPS |                           \
	 ZYGOTE_PROTO_GUARD_PDEATHSIG)
#define NEED_NAMESPACES                                                        \
	(ZYGOTE_PROTO_GUARD_USERNS | ZYGOTE_PROTO_GUARD_NETNS |                \
	 ZYGOTE_PROTO_GUARD_IPCNS | ZYGOTE_PROTO_GUARD_UTSNS |                 \
	 ZYGOTE_PROTO_GUARD_MNTNS | ZYGOTE_PROTO_GUARD_ROOT)

/* What each level needs; every one includes those below it. */
static const struct {
	const char *name;
	uint32_t needs;
} levels[ISOLATION_LEVELS] = {
    [ISOLATION_NONE] = {"none", 0},
    [ISOLATION_RESTRICTED] = {"restricted", NEED_RESTRICTED},
    [ISOLATION_CONTAINER] = {"container",
			     NEED_CONTAINER | ZYGOTE_PROTO_GUARD_LANDLOCK},
    [ISOLATION_USERNS] = {"userns", NEED_CONTAINER | NEED_NAMESPACES},
    [ISOLATION_FULL] = {"full", NEED_CONTAINER | NEED_NAMESPACES |
				    ZYGOTE_PROTO_GUARD_LANDLOCK |
				    ZYGOTE_PROTO_GUARD_UID | GUARD_CGROUP},
};

static void name_bits(uint32_t bits, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(guards); i++)
		if ((bits & guards[i].bit) != 0 && n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s",
					      n > 0 ? " " : "", guards[i].name);
}

static struct json_object *view(const struct isolation *iso, const char *cgroup)
{
	struct json_object *v = json_object_new_object();
	struct json_object *missing = json_object_new_array();
	char names[sizeof(iso->missing)], *at = names, *name;

	snprintf(names, sizeof(names), "%s", iso->missing);
	while ((name = strsep(&at, " ")) != NULL)
		if (name[0] != '\0')
			json_object_array_add(missing,
					      json_object_new_string(name));
	json_object_object_add(
	    v, "level", json_object_new_string(isolation_name(iso->level)));
	json_object_object_add(v, "landlockAbi",
			       json_object_new_int(iso->report.landlock_abi));
	json_object_object_add(v, "cgroup", json_object_new_string(cgroup));
	json_object_object_add(v, "missing", missing);
	return v;
}

void isolation_set(struct isolation *iso,
		   const struct zygote_proto_event *report, const char *cgroup)
{
	struct isolation programs = *iso; /* they are measured apart */

	isolation_fini(iso);
	memcpy(iso->no_programs, programs.no_programs,
	       sizeof(iso->no_programs));
	memcpy(iso->weak, programs.weak, sizeof(iso->weak));
	iso->report = *report;
	if (strcmp(cgroup, "none") != 0)
		iso->report.guards |= GUARD_CGROUP;
	for (int l = ISOLATION_RESTRICTED; l < ISOLATION_LEVELS; l++)
		if ((levels[l].needs & ~iso->report.guards) == 0)
			iso->level = (enum isolation_level)l;
	name_bits(~iso->report.guards, iso->missing, sizeof(iso->missing));
	iso->view = view(iso, cgroup);
}

void isolation_fini(struct isolation *iso)
{
	json_object_put(iso->view);
	*iso = (struct isolation){0};
}

const char *isolation_name(enum isolation_level level)
{
	return levels[level].name;
}

int isolation_level_of(const char *name)
{
	for (int l = ISOLATION_RESTRICTED; l < ISOLATION_LEVELS; l++)
		if (strcmp(levels[l].name, name) == 0)
			return l;
	return -EINVAL;
}

void isolation_lacks(const struct isolation *iso, enum isolation_level level,
		     char *out, size_t size)
{
	name_bits(levels[level].needs & ~iso->report.guards, out, size);
}

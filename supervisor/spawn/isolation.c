/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isolation.c - computes the level of a worker's cage from the measures of the
 * zygote's self-test, and prints the level as JSON for views, doctor and
 * --require-isolation. server.c sets the level when a zygote reports. The file
 * measures nothing; a level without a name is -EINVAL.
 */
#include "supervisor/spawn/isolation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"

/* a bit for cgroups, after the layers of a worker */
#define CGROUP SANDBOX_LAYERS
#define BIT(layer) SANDBOX_BIT(SANDBOX_##layer)

/* Names in views; a program's PID namespace is in no level. */
static const char *const layer_names[] = {
    [SANDBOX_SECCOMP] = "seccomp",
    [SANDBOX_NNP] = "no_new_privs",
    [SANDBOX_CAPS] = "capabilities",
    [SANDBOX_USERNS] = "userns",
    [SANDBOX_NETNS] = "netns",
    [SANDBOX_IPCNS] = "ipcns",
    [SANDBOX_UTSNS] = "utsns",
    [SANDBOX_MNTNS] = "mntns",
    [SANDBOX_ROOT] = "root",
    [SANDBOX_UID] = "uid",
    [SANDBOX_LANDLOCK] = "landlock",
    [SANDBOX_RLIMITS] = "rlimits",
    [SANDBOX_CLOSED] = "descriptors",
    [SANDBOX_EMPTY_ENV] = "environment",
    [SANDBOX_UNDUMPABLE] = "undumpable",
    [SANDBOX_PDEATHSIG] = "pdeathsig",
    [CGROUP] = "cgroup",
};

/*
 * Without a user namespace an ordinary user cannot empty the bounding set, but
 * no_new_privs makes the bounding set harmless, so "restricted" does not need the layer.
 */
#define NEED_RESTRICTED                                                        \
	(BIT(SECCOMP) | BIT(NNP) | BIT(RLIMITS) | BIT(CLOSED) |                \
	 BIT(EMPTY_ENV) | BIT(UNDUMPABLE))
#define NEED_CONTAINER (NEED_RESTRICTED | BIT(CAPS) | BIT(PDEATHSIG))
#define NEED_NAMESPACES                                                        \
	(BIT(USERNS) | BIT(NETNS) | BIT(IPCNS) | BIT(UTSNS) | BIT(MNTNS) |     \
	 BIT(ROOT))

/* The layers of each level; each level includes the lower levels. */
static const struct {
	const char *name;
	uint32_t needs;
} levels[ISOLATION_LEVELS] = {
    [ISOLATION_NONE] = {"none", 0},
    [ISOLATION_RESTRICTED] = {"restricted", NEED_RESTRICTED},
    [ISOLATION_CONTAINER] = {"container", NEED_CONTAINER | BIT(LANDLOCK)},
    [ISOLATION_USERNS] = {"userns", NEED_CONTAINER | NEED_NAMESPACES},
    [ISOLATION_FULL] = {"full", NEED_CONTAINER | NEED_NAMESPACES |
				    BIT(LANDLOCK) | BIT(UID) |
				    SANDBOX_BIT(CGROUP)},
};

static void name_bits(uint32_t bits, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(layer_names); i++)
		if ((bits & SANDBOX_BIT(i)) != 0 && layer_names[i] != NULL &&
		    n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s",
					      n > 0 ? " " : "", layer_names[i]);
}

static struct json_object *isolation_view(const struct isolation *iso,
					  const char *cgroup)
{
	struct json_object *v = json_object_new_object();
	struct json_object *missing = json_object_new_array();
	char names[sizeof(iso->missing)], *at = names, *name;

	snprintf(names, sizeof(names), "%s", iso->missing);
	while ((name = strsep(&at, " ")) != NULL)
		if (name[0] != '\0')
			json_object_array_add(missing, json_text_new(name));
	json_add(v, "level:s landlockAbi:i cgroup:s missing:o",
		 isolation_name(iso->level), iso->report.landlock_abi, cgroup,
		 missing);
	/* the text is made once, since each run's view and end includes the text */
	json_object_set_serializer(v, json_object_userdata_to_json_string,
				   xstrdup(json_text(v, NULL)),
				   json_object_free_userdata);
	return v;
}

void isolation_set(struct isolation *iso,
		   const struct zygote_proto_event *report, const char *cgroup)
{
	json_object_put(iso->view); /* programs have a separate measure */
	iso->level = ISOLATION_NONE;
	iso->report = *report;
	if (strcmp(cgroup, "none") != 0)
		iso->report.layers |= SANDBOX_BIT(CGROUP);
	for (int l = ISOLATION_RESTRICTED; l < ISOLATION_LEVELS; l++)
		if ((levels[l].needs & ~iso->report.layers) == 0)
			iso->level = (enum isolation_level)l;
	name_bits(~iso->report.layers, iso->missing, sizeof(iso->missing));
	iso->view = isolation_view(iso, cgroup);
}

void isolation_fini(struct isolation *iso)
{
	json_object_put(iso->view);
	*iso = (struct isolation){0};
}

const char *isolation_no_programs(const struct isolation *iso)
{
	if (iso->no_programs[0] != '\0')
		return iso->no_programs;
	return iso->no_groups ? iso->no_start : NULL;
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
	name_bits(levels[level].needs & ~iso->report.layers, out, size);
}

#include "supervisor/programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "supervisor/cgroup.h"

/* The shim's own, beside what it keeps of inputs and output. */
#define SHIM_BYTES (16ll << 20)

enum crew_kind programs_kind(const struct template *t)
{
	return t->runtime == RUNTIME_PROGRAM ? CREW_PROGRAM : CREW_LUA;
}

/* Is PATH one of LIST (spaces between them), or below one? */
static bool is_allowed(const char *list, const char *path)
{
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, " ");
		size_t len = n;

		while (len > 1 && list[len - 1] == '/')
			len--;
		if (strncmp(path, list, len) == 0 &&
		    (path[len] == '/' || path[len] == '\0'))
			return true;
		list += n;
		list += strspn(list, " ");
	}
	return false;
}

static void add_read(struct crew_tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->n_reads; i++)
		if (strcmp(tree->reads[i], path) == 0)
			return;
	if (tree->n_reads == CREW_READS_MAX) {
		log_warn("programs",
			 "read_path=\"%s\" shown=no msg=\"programs may ask for "
			 "%u paths together\"",
			 path, CREW_READS_MAX);
		return;
	}
	tree->reads[tree->n_reads++] = (char *)path;
}

void programs_show(struct crew *c, const struct catalogue *all,
		   const struct config *config)
{
	struct crew_tree tree = {.weak = config->allow_weak_programs};

	tree.packages = xcalloc(all->n + 1, sizeof(char *));
	tree.reads = xcalloc(CREW_READS_MAX, sizeof(char *));
	for (size_t i = 0; i < all->n; i++) {
		const struct template *t = all->all[i];

		if (t->runtime != RUNTIME_PROGRAM)
			continue;
		tree.packages[tree.n_packages++] = t->dir;
		for (size_t j = 0; j < t->n_reads; j++)
			if (is_allowed(config->read_paths, t->reads[j]))
				add_read(&tree, t->reads[j]);
	}
	crew_set_tree(c, &tree);
	free(tree.packages);
	free(tree.reads);
}

bool programs_allow(const struct template *t, const struct config *config,
		    const struct isolation *iso, struct refusal *r)
{
	if (t->runtime != RUNTIME_PROGRAM)
		return true;
	if (iso->no_programs[0] != '\0') {
		refuse(r, "ISOLATION_TOO_WEAK", NULL,
		       "programs cannot be caged on this machine, so %s is not "
		       "run: %s",
		       t->id, iso->no_programs);
		return false;
	}
	for (size_t i = 0; i < t->n_reads; i++) {
		if (is_allowed(config->read_paths, t->reads[i]))
			continue;
		refuse(r, "PERMISSION_NOT_ALLOWED", NULL,
		       "%s asks to read %s, which this server does not allow; "
		       "the operator can, by read_paths in [sandbox]",
		       t->id, t->reads[i]);
		return false;
	}
	return true;
}

struct json_object *programs_view(const struct isolation *iso)
{
	struct json_object *v = json_object_new_object();
	bool can = iso->no_programs[0] == '\0';

	json_object_object_add(v, "available", json_object_new_boolean(can));
	if (!can)
		json_object_object_add(
		    v, "reason", json_object_new_string(iso->no_programs));
	else if (iso->weak[0] != '\0')
		json_object_object_add(v, "weak",
				       json_object_new_string(iso->weak));
	return v;
}

struct crew_job programs_job(const struct run *r)
{
	const struct template *t = r->template;

	return (struct crew_job){
	    .kind = programs_kind(t),
	    .cpu_ms = (uint64_t)r->limits.cpu_ms,
	    .memory_bytes = (uint64_t)r->limits.memory_bytes,
	    .package = t->dir,
	    .reads = t->reads,
	    .n_reads = t->n_reads,
	    .processes = (uint64_t)r->limits.processes,
	    .open_files = (uint64_t)r->limits.open_files,
	    .files = (uint64_t)r->limits.files};
}

int programs_hold(const struct run *r, uint32_t slot, pid_t pid)
{
	const struct run_limits *l = &r->limits;
	const struct cgroup_limits limits = {
	    .memory_bytes = (uint64_t)(l->memory_bytes + SHIM_BYTES +
				       l->output_bytes) +
			    r->inputs_len,
	    .processes = (uint64_t)l->processes + 1};

	return cgroup_run_begin(slot, &limits, pid);
}

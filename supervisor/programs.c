#include "supervisor/programs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "supervisor/cgroup.h"
#include "supervisor/granted_path.h"
#include "supervisor/grants.h"
#include "supervisor/manifest.h"

/* The shim's own, beside what it keeps of inputs and output. */
#define SHIM_BYTES (16ll << 20)

enum crew_kind programs_kind(const struct template *t)
{
	return t->runtime == RUNTIME_PROGRAM ? CREW_PROGRAM : CREW_LUA;
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
			if (grants_read(t, config, t->reads[j]))
				add_read(&tree, t->reads[j]);
	}
	crew_set_tree(c, &tree);
	free(tree.packages);
	free(tree.reads);
}

/* Can PATH, which is granted, be shown by what lies there? */
static bool may_read(const struct template *t, const char *path,
		     const char *granted, struct refusal *r)
{
	struct file_id id;
	char why[PATH_MAX + 256];
	int rc = granted_path_find_listed(granted, path, &id, why, sizeof(why));

	if (rc == 0 || rc == -ENOENT || rc == -EPERM)
		return true; /* or who shows it to programs tells */
	refuse(r, "PERMISSION_NOT_ALLOWED", NULL,
	       "%s asks to read what it cannot be shown: %s", t->id, why);
	return false;
}

static bool may_read_all(const struct template *t, const struct config *config,
			 struct refusal *r)
{
	char *granted = grants_reads(t, config);
	bool may = true;

	for (size_t i = 0; may && i < t->n_reads; i++)
		may = may_read(t, t->reads[i], granted, r);
	free(granted);
	return may;
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
	return t->n_reads == 0 || may_read_all(t, config, r);
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
	    .files = (uint64_t)r->limits.files,
	    .locks = grants_asks_locks(t)};
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

/* ---- by root ---- */

/* Is PATH what a link in FOLDER leads to? */
static bool is_linked(const char *folder, const char *path)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	bool found = false;

	while (d != NULL && !found && (e = readdir(d)) != NULL) {
		char *at = xasprintf("%s/%s", folder, e->d_name);
		char *real = e->d_type == DT_LNK ? realpath(at, NULL) : NULL;

		found = real != NULL && strcmp(real, path) == 0;
		free(real);
		free(at);
	}
	if (d != NULL)
		closedir(d);
	return found;
}

static bool is_one(const char *folder)
{
	char *manifest = xasprintf("%s/template.json", folder);
	bool is = access(manifest, F_OK) == 0;

	free(manifest);
	return is;
}

/* PATH, without links as a template has it, is what catalogue.h calls one. */
static bool is_package(const struct config *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	bool found = false;

	if (slash == NULL || strcmp(slash, "/..") == 0 || strcmp(slash, "/.") == 0)
		return false;
	for (size_t i = 0; i < c->n_templates && !found; i++) {
		char *folder = realpath(c->templates[i], NULL);
		size_t n = folder != NULL ? strlen(folder) : 0;

		if (folder != NULL && is_one(folder))
			found = strcmp(path, folder) == 0;
		else if (folder != NULL)
			found = ((size_t)(slash - path) == n &&
				 memcmp(path, folder, n) == 0) ||
				is_linked(folder, path);
		free(folder);
	}
	return found;
}

static bool may_have(const struct config *c, const char *arg)
{
	static const char package[] = "package=", read[] = "read=";

	if (strncmp(arg, package, strlen(package)) == 0)
		return is_package(c, arg + strlen(package));
	if (strncmp(arg, read, strlen(read)) == 0) {
		arg += strlen(read);
		return *arg == '/' && manifest_path_ok(arg + 1) &&
		       grants_any_read(c, arg);
	}
	return strcmp(arg, "weak") == 0 && c->allow_weak_programs;
}

bool programs_may_start(const struct config *c, char *const argv[])
{
	if (argv[0] == NULL)
		return false;
	if (argv[1] == NULL)
		return true; /* Lua's, which sees no file */
	if (strcmp(argv[1], "program") != 0)
		return false;
	for (size_t i = 2; argv[i] != NULL; i++)
		if (!may_have(c, argv[i]))
			return false;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs.c - decides about program templates: their view of the host, whether
 * one may run, and the cgroup. server.c and reload.c show, runs ask. The
 * privileged child asks whether a zygote's arguments are allowed by the
 * configuration. A refusal of a program names the path or grant.
 */
#include "supervisor/run/worker/programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop_guard.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/packages/grants/granted_path.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/limits.h"
#include "supervisor/store/state/state_file.h"
#include "proto/json/json_pack.h"
#include "supervisor/runtime/runtime.h"

/* The shim's own, beside copies of inputs and output. */
#define SHIM_BYTES (16ll << 20)

static void add_read(struct spawner_rootfs *tree, const char *path)
{
	for (size_t i = 0; i < tree->n_reads; i++)
		if (strcmp(tree->reads[i], path) == 0)
			return;
	if (tree->n_reads == SPAWNER_READS_MAX) {
		log_warn("programs",
			 "read_path=\"%s\" shown=no msg=\"programs may ask for "
			 "%u paths together\"",
			 path, SPAWNER_READS_MAX);
		return;
	}
	tree->reads[tree->n_reads++] = (char *)path;
}

char *programs_artifacts(const struct config *config)
{
	char *dir =
	    xasprintf("%s/" STORE_ARTIFACTS_DIR, config_files_dir(config));
	char *real;

	loop_guard_allow("a folder of ours, when a run or a zygote begins");
	real = realpath(dir, NULL);
	loop_guard_forbid();
	free(dir);
	return real;
}

/*
 * Return the folder of artifacts with *ID, if there is one: a new state has
 * none. The caller frees the path.
 */
static char *find_artifacts(const struct config *config, struct file_id *id)
{
	char *path = programs_artifacts(config);
	int fd = path != NULL
		     ? nofollow_open(AT_FDCWD, path, O_PATH | O_DIRECTORY)
		     : -1;

	if (fd >= 0 && file_id_of(fd, id) == 0) {
		close(fd);
		return path;
	}
	if (fd >= 0)
		close(fd);
	*id = (struct file_id){0};
	free(path);
	return NULL;
}

/*
 * Have small packages copied as well, so that no process outside shares their
 * pages; as far as there is room beside the packages that have to be copied.
 */
static void copy_small(struct spawner_rootfs *tree,
		       const struct template *const *of)
{
	uint64_t room = tree->copies_bytes, small = 0;

	for (size_t i = 0; i < tree->n_packages; i++)
		if (tree->packages[i].copied)
			room -= of[i]->package_bytes < room
				    ? of[i]->package_bytes
				    : room;
	if (room > PROGRAMS_SMALL_ALL)
		room = PROGRAMS_SMALL_ALL;
	for (size_t i = 0; i < tree->n_packages; i++) {
		uint64_t bytes = of[i]->package_bytes;

		if (tree->packages[i].copied || bytes > PROGRAMS_SMALL ||
		    bytes > tree->copy_bytes || bytes > room - small)
			continue;
		tree->packages[i].copied_if = true;
		small += bytes;
	}
}

void programs_show(struct spawner *c, const struct catalogue *all,
		   const struct config *config)
{
	const struct template **of = xcalloc(all->n + 1, sizeof(*of));
	struct spawner_rootfs tree = {
	    .weak = config->allow_weak_programs,
	    .copy_bytes = (uint64_t)config->max_package_copy_bytes,
	    .copies_bytes = (uint64_t)config->max_package_copies_bytes};

	tree.packages = xcalloc(all->n + 1, sizeof(*tree.packages));
	tree.reads = xcalloc(SPAWNER_READS_MAX, sizeof(char *));
	for (size_t i = 0; i < all->n; i++) {
		const struct template *t = all->all[i];
		struct spawner_package *p = &tree.packages[tree.n_packages];

		tree.kinds |= UINT32_C(1) << t->runtime;
		if (!runtimes[t->runtime]->sees_host)
			continue;
		of[tree.n_packages++] = t;
		*p = (struct spawner_package){.path = t->dir,
					      .id = t->folder,
					      .copied =
						  grants_by_digest(t, config)};
		memcpy(p->digest, t->digest, sizeof(p->digest));
		for (size_t j = 0; j < t->n_reads; j++)
			if (grants_read(t, config, t->reads[j]))
				add_read(&tree, t->reads[j]);
	}
	copy_small(&tree, of);
	free(of);
	tree.artifacts = find_artifacts(config, &tree.artifacts_id);
	spawner_set_tree(c, &tree);
	free(tree.packages);
	free(tree.reads);
	free(tree.artifacts);
}

/*
 * In a program's root some folders, such as /work, are the program's own. Return
 * the own folder that hides the host's PATH; NULL: the program can see PATH.
 */
static const char *hidden_by(const char *path)
{
	static const char *const own[] = {"/work", "/template", "/proc"};

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (granted_path_names(own[i], path))
			return own[i];
	return NULL;
}

/* Can PATH, which is granted, be shown to T? A fault is in R. */
static bool may_read(const struct template *t, const char *path,
		     const char *granted, struct tool_error *r)
{
	const char *own = hidden_by(path);
	struct file_id id;
	char errmsg[PATH_MAX + 256];
	int rc;

	if (own != NULL) {
		tool_error_set(
		    r, "PERMISSION_NOT_ALLOWED", NULL,
		    "%s asks to read %s, which no program can be shown, "
		    "since each has a %s of its own; files have to lie "
		    "elsewhere, and be asked for and granted there",
		    t->id, path, own);
		return false;
	}
	rc = granted_path_find(granted, path, &id, errmsg, sizeof(errmsg));
	if (rc == 0 || rc == -ENOENT || rc == -EPERM)
		return true; /* the zygote will tell the rest */
	tool_error_set(r, "PERMISSION_NOT_ALLOWED", NULL,
		       "%s asks to read what it cannot be shown: %s", t->id,
		       errmsg);
	return false;
}

static bool has_network(const struct template *t, const struct config *config)
{
	struct json_object *hosts = grants_network(t, config);
	bool has = json_length(hosts) > 0;

	json_object_put(hosts);
	return has;
}

bool programs_allow(const struct template *t, const struct config *config,
		    const struct isolation *iso, struct tool_error *r)
{
	const char *why;
	char *granted;
	bool may = true;

	if (!runtimes[t->runtime]->sees_host)
		return true;
	why = isolation_no_programs(iso);
	if (why != NULL) {
		tool_error_set(
		    r, "ISOLATION_TOO_WEAK", NULL,
		    "programs cannot be caged on this machine, so %s is not "
		    "run: %s",
		    t->id, why);
		return false;
	}
	if (iso->weak[0] != '\0' && has_network(t, config)) {
		tool_error_set(
		    r, "ISOLATION_TOO_WEAK", NULL,
		    "programs have no user namespace on this machine, without "
		    "which none can have network, so %s is not run: %s",
		    t->id, iso->weak);
		return false;
	}
	granted = t->n_reads > 0 ? grants_reads(t, config) : NULL;
	for (size_t i = 0; may && i < t->n_reads; i++)
		may = may_read(t, t->reads[i], granted, r);
	free(granted);
	return may;
}

struct json_object *programs_view(const struct isolation *iso)
{
	const char *why = isolation_no_programs(iso);
	bool weak = why == NULL && iso->weak[0] != '\0';

	return json_pack("available:b reason?s weak?s", why == NULL, why,
			 weak ? iso->weak : NULL);
}

struct spawner_job programs_job(const struct run *r)
{
	const struct template *t = r->template;
	struct spawner_job job = {.kind = t->runtime,
				  .cpu_ms = (uint64_t)r->limits.cpu_ms,
				  .memory_bytes =
				      (uint64_t)r->limits.memory_bytes};

	if (!runtimes[t->runtime]->sees_host)
		return job;
	job.package = t->dir;
	job.package_id = t->folder;
	job.digest = t->digest;
	job.reads = t->reads;
	job.n_reads = t->n_reads;
	job.limits = limits_of_program(r);
	job.locks = grants_asks_locks(t);
	job.in = t->prestart > 0 && t->file_spots != NULL;
	return job;
}

int programs_hold(const struct run *r, const struct spawned *b)
{
	const struct run_limits *l = &r->limits;
	const struct cgroup_limits limits = {
	    .memory_bytes =
		(uint64_t)(l->memory_bytes + SHIM_BYTES + l->output_bytes) +
		r->inputs_len,
	    .processes = (uint64_t)l->processes + 1};

	return b->held ? cgroup_run_again(b->child.slot, &limits)
		       : cgroup_run_begin(b->child.slot, &limits, b->child.pid);
}

/* ---- with root's rights ---- */

/* Does NAME, a link in the folder AT, lead to WANT? */
static bool leads_to(int at, const char *name, const struct file_id *want)
{
	int fd = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct file_id id = {0};
	bool same =
	    fd >= 0 && file_id_of(fd, &id) == 0 && file_id_same(&id, want);

	if (fd >= 0)
		close(fd);
	return same;
}

/* Does a link in the folder FD lead to WANT? */
static bool is_linked(int fd, const struct file_id *want)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again >= 0 ? fdopendir(again) : NULL;
	struct dirent *e;
	bool found = false;

	if (d == NULL && again >= 0)
		close(again);
	while (d != NULL && !found && (e = readdir(d)) != NULL)
		found = (e->d_type == DT_LNK || e->d_type == DT_UNKNOWN) &&
			leads_to(fd, e->d_name, want);
	if (d != NULL)
		closedir(d);
	return found;
}

/*
 * Is PATH absolute, with no empty part, "." or ".."? Such parts would name
 * another parent.
 */
static bool is_plain(const char *path)
{
	size_t len = strlen(path);

	return path[0] == '/' && path[len - 1] != '/' &&
	       strstr(path, "//") == NULL && strstr(path, "/./") == NULL &&
	       strstr(path, "/../") == NULL &&
	       (len < 2 || strcmp(path + len - 2, "/.") != 0) &&
	       (len < 3 || strcmp(path + len - 3, "/..") != 0);
}

/* Identify the folder PATH, and its parent; through no link. */
static bool identify(const char *path, struct file_id *id,
		     struct file_id *parent)
{
	const char *slash = strrchr(path, '/');
	char *up;
	int fd, at;
	bool good;

	up = xasprintf("%.*s/", (int)(slash - path), path);
	at = nofollow_open(AT_FDCWD, up, O_PATH | O_DIRECTORY);
	fd = at >= 0 ? nofollow_open(at, slash + 1, O_PATH | O_DIRECTORY) : -1;
	good =
	    fd >= 0 && file_id_of(fd, id) == 0 && file_id_of(at, parent) == 0;
	if (fd >= 0)
		close(fd);
	if (at >= 0)
		close(at);
	free(up);
	return good;
}

/* Is FOLDER the package ID, or a folder of packages with ID among them? */
static bool has_package(const char *folder, const struct file_id *id,
			const struct file_id *parent)
{
	int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct file_id own = {0};
	bool has = false;

	if (fd < 0)
		return false;
	if (file_id_of(fd, &own) < 0)
		has = false;
	else if (faccessat(fd, "template.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		has = file_id_same(&own, id);
	else
		has = file_id_same(&own, parent) || is_linked(fd, id);
	close(fd);
	return has;
}

enum standing { NOT_ALLOWED, ALLOWED, NOT_THERE };

/* Read ID from "DEVICE:INODE:". Returns the text behind; NULL: malformed. */
static const char *file_id_read(const char *arg, struct file_id *id)
{
	char *end;

	errno = 0;
	id->dev = strtoull(arg, &end, 16);
	if (end == arg || *end != ':')
		return NULL;
	arg = end + 1;
	id->ino = strtoull(arg, &end, 16);
	return end == arg || *end != ':' || errno != 0 ? NULL : end + 1;
}

/*
 * Judge "DEVICE:INODE:[DIGEST:]PATH": is PATH that folder, and a package as
 * catalogue.h defines? Descriptors are compared; and the zygote shows no
 * package when it finds another folder there.
 */
static enum standing package_stands(const struct config *c, const char *arg)
{
	struct file_id want, id, parent;
	const char *path = file_id_read(arg, &want);
	bool found = false;

	if (path == NULL)
		return NOT_ALLOWED;
	path += zygote_proto_digest_len(path);
	if (!is_plain(path))
		return NOT_ALLOWED;
	if (!identify(path, &id, &parent) || !file_id_same(&id, &want))
		return NOT_THERE;
	for (size_t i = 0; i < c->n_templates && !found; i++)
		found = has_package(c->templates[i], &id, &parent);
	return found ? ALLOWED : NOT_ALLOWED;
}

/* Is ARG "BYTES:BYTES", the configured bounds of copies? */
static bool are_bounds(const struct config *c, const char *arg)
{
	char own[48];

	snprintf(own, sizeof(own), "%" PRId64 ":%" PRId64,
		 c->max_package_copy_bytes, c->max_package_copies_bytes);
	return strcmp(arg, own) == 0;
}

/* Is ARG "DEVICE:INODE:DIR", the state's artifacts and no other folder? */
static bool are_artifacts(const struct config *c, const char *arg)
{
	char *own = programs_artifacts(c);
	struct file_id id;
	const char *path = file_id_read(arg, &id);
	bool are = own != NULL && path != NULL && strcmp(path, own) == 0;

	free(own);
	return are;
}

/*
 * May a zygote have the argument ARG? A package that is gone becomes "unshown",
 * which the zygote leaves out.
 */
static bool may_show_file(const struct config *c, char *arg)
{
	static const char package[] = "package=", unshown[] = "unshown=";
	static const char read[] = "read=", copies[] = "copies=";
	static const char artifacts[] = "artifacts=";
	enum standing how;

	if (strncmp(arg, unshown, strlen(unshown)) == 0)
		return true;
	if (strncmp(arg, package, strlen(package)) == 0) {
		how = package_stands(c, arg + strlen(package));
		if (how == NOT_THERE)
			memcpy(arg, unshown, strlen(unshown));
		return how != NOT_ALLOWED;
	}
	if (strncmp(arg, read, strlen(read)) == 0) {
		arg += strlen(read);
		return *arg == '/' && nofollow_is_plain(arg + 1) &&
		       grants_any_read(c, arg);
	}
	if (strncmp(arg, copies, strlen(copies)) == 0)
		return are_bounds(c, arg + strlen(copies));
	if (strncmp(arg, artifacts, strlen(artifacts)) == 0)
		return are_artifacts(c, arg + strlen(artifacts));
	return strcmp(arg, "weak") == 0 && c->allow_weak_programs;
}

_Static_assert(sizeof("package=") == sizeof("unshown="), "one for the other");

bool programs_may_start(const struct config *c, char *const argv[])
{
	enum runtime_kind kind = 0;

	if (argv[0] == NULL)
		return false;
	if (argv[1] == NULL)
		return true; /* the first runtime's zygote sees no file */
	if (!runtime_find(argv[1], &kind) ||
	    (!runtimes[kind]->sees_host && argv[2] != NULL))
		return false;
	for (size_t i = 2; argv[i] != NULL; i++)
		if (!may_show_file(c, argv[i]))
			return false;
	return true;
}

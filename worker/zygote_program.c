/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote_program.c - the zygote of workers that see the host: arguments with the
 * parts of the host to show, the cage, and clones with a root of their own. The
 * runtime of programs has these functions in its table. A part that cannot be
 * shown is reported, and fails only the runs that need the part.
 */
#include "worker/zygote.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/uids.h"
#include "sandbox/rootfs/rootfs.h"
#include "sandbox/sandbox_program.h"
#include "worker/held_mounts.h"
#include "worker/selftest.h"

static struct rootfs rootfs; /* filled by the arguments */

/* ---- arguments ---- */

/*
 * Arguments: "package=DEVICE:INODE:[DIGEST:]DIR", "unshown=" for an absent
 * package, "read=PATH", "weak" when programs may do without a user namespace,
 * and with a digest "copies=BYTES:BYTES", of a package and of all packages.
 */
static size_t take_path_id(struct rootfs_path *p, const char *arg)
{
	int n = 0;

	/* NOLINTNEXTLINE(cert-err34-c): the supervisor writes the numbers */
	return sscanf(arg, "%" SCNx64 ":%" SCNx64 ":%n", &p->id.dev, &p->id.ino,
		      &n) == 2
		   ? (size_t)n
		   : 0;
}

static bool take_package(const char *arg, int err)
{
	struct rootfs *r = &rootfs;
	struct rootfs_path p = {.err = err};
	size_t n = take_path_id(&p, arg);

	if (n == 0)
		return false;
	if (zygote_proto_digest_len(arg + n) > 0) {
		memcpy(p.digest, arg + n, ZYGOTE_PROTO_DIGEST_DIGITS);
		p.may_be_itself = arg[n + ZYGOTE_PROTO_DIGEST_DIGITS] == '?';
		n += zygote_proto_digest_len(arg + n);
	}
	if (arg[n] != '/')
		return false;
	p.path = xstrdup(arg + n);
	r->packages =
	    xrealloc(r->packages, (r->n_packages + 1) * sizeof(*r->packages));
	r->packages[r->n_packages++] = p;
	return true;
}

/* The argument "artifacts=DEVICE:INODE:DIR" is the folder of files for runs. */
static bool take_artifacts(const char *arg)
{
	struct rootfs_path p = {0};
	size_t n = take_path_id(&p, arg);

	if (n == 0 || arg[n] != '/')
		return false;
	p.path = xstrdup(arg + n);
	rootfs.artifacts = p;
	return true;
}

static bool take_read(const char *path)
{
	struct rootfs *r = &rootfs;

	if (r->n_reads == ROOTFS_READS_MAX)
		return false;
	r->reads = xrealloc(r->reads, (r->n_reads + 1) * sizeof(*r->reads));
	r->reads[r->n_reads++] = (struct rootfs_path){.path = xstrdup(path)};
	return true;
}

bool zygote_program_argument(const char *arg)
{
	static const char package[] = "package=", unshown[] = "unshown=";
	static const char read[] = "read=", copies[] = "copies=";
	static const char artifacts[] = "artifacts=";

	if (strcmp(arg, "weak") == 0)
		return rootfs.no_userns = true;
	if (strncmp(arg, package, strlen(package)) == 0)
		return take_package(arg + strlen(package), 0);
	if (strncmp(arg, unshown, strlen(unshown)) == 0)
		return take_package(arg + strlen(unshown), -ESTALE);
	if (strncmp(arg, artifacts, strlen(artifacts)) == 0)
		return take_artifacts(arg + strlen(artifacts));
	if (strncmp(arg, copies, strlen(copies)) == 0)
		/* NOLINTNEXTLINE(cert-err34-c): likewise */
		return sscanf(arg + strlen(copies), "%" SCNu64 ":%" SCNu64,
			      &rootfs.copy_bytes, &rootfs.copies_bytes) == 2;
	return strncmp(arg, read, strlen(read)) == 0 &&
	       take_read(arg + strlen(read));
}

/* ---- the cage ---- */

/* Write a clause about P, with the reason why programs do not see P. */
static void explain_shown(const struct rootfs_path *p, char *text, size_t size)
{
	if (p->errmsg != NULL)
		snprintf(text, size, "%.100s: %s", p->path, p->errmsg);
	else if (p->err == -ELOOP)
		snprintf(
		    text, size,
		    "%.400s leads through a symbolic link%s%.*s, and links "
		    "are not followed",
		    p->path, p->link > 0 ? ", " : "",
		    p->link < 400 ? (int)p->link : 0, p->path);
	else if (p->err == -ESTALE)
		snprintf(text, size,
			 "%s was another folder when programs were prepared "
			 "than when it was loaded",
			 p->path);
	else if (p->err == -EMEDIUMTYPE)
		snprintf(text, size, "%s is neither a file nor a folder",
			 p->path);
	else
		snprintf(text, size, "%s: %s", p->path, strerror(-p->err));
}

enum { OF_PACKAGES, OF_READS, OF_ARTIFACTS };

static void report_mount_failure(const struct rootfs_path *list, size_t n,
				 int of)
{
	for (size_t i = 0; i < n; i++) {
		struct zygote_proto_event event = {
		    .type = ZYGOTE_PROTO_MOUNT_FAILED,
		    .seq = (uint32_t)i,
		    .pid = of,
		    .err = -list[i].err,
		    .used = list[i].used,
		    .used_by_all = list[i].used_by_all};

		if (list[i].err == 0)
			continue;
		explain_shown(&list[i], event.text, sizeof(event.text));
		zygote_tell(&event);
	}
}

/* The modules lie beside this program, whatever starts it. */
static const char *find_modules(void)
{
	static char path[PATH_MAX + sizeof("/modules")];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL)
		return NULL;
	memcpy(slash, "/modules", sizeof("/modules"));
	return path;
}

/*
 * The root is the host's, read-only. The zygote keeps the right to mount, and
 * has no filter, because every worker would inherit the filter.
 */
int zygote_program_build(struct sandbox *sb, unsigned int host_ids,
			 struct selftest *found)
{
	enum sandbox_layer failed;
	const char *at;
	int rc;

	rootfs.modules = find_modules();
	rc = sandbox_build_program(sb, ZYGOTE_PROTO_SLOTS, host_ids, &rootfs,
				   &failed, &at);
	if (rc == -ENOSYS && failed == SANDBOX_ROOT)
		return zygote_broken(
		    sandbox_layer_name(failed), rc,
		    "the host's files cannot be shown without "
		    "open_tree, move_mount and mount_setattr, which "
		    "needs Linux 5.12");
	if (rc != 0)
		return zygote_broken(sandbox_layer_name(failed), rc,
				     failed == SANDBOX_ROOT && at != NULL
					 ? at
					 : sandbox_layer_remedy(failed, rc));
	rc = pdeathsig_set(ZYGOTE_PROTO_CONTROL_FD);
	if (rc != 0)
		return zygote_broken("pdeathsig", rc, "");
	report_mount_failure(rootfs.packages, rootfs.n_packages, OF_PACKAGES);
	report_mount_failure(rootfs.reads, rootfs.n_reads, OF_READS);
	report_mount_failure(&rootfs.artifacts, 1, OF_ARTIFACTS);
	rc = selftest_program(sb, &rootfs, found);
	if (rc != 0)
		return zygote_broken("self-test", rc, found->text);
	if (found->text[0] != '\0')
		return zygote_broken("self-test", 0, found->text);
	return 0;
}

/* ---- workers ---- */

pid_t zygote_program_spawn(const struct sandbox *sb,
			   const struct sandbox_worker *w,
			   const struct zygote_proto_spawn *s,
			   clone_program_life *life)
{
	const struct zygote_proto_request *request = &s->request;
	struct sandbox_program p = {.w = *w,
				    .package = request->package,
				    .reads = request->reads,
				    .limits = request->limits,
				    .grouped = request->grouped != 0,
				    .divided = request->divided != 0,
				    .locks = request->locks != 0,
				    .network = request->network != 0,
				    .in = request->in != 0,
				    .files = s->files,
				    .n_files = request->n_files};
	pid_t pid;

	if (request->package >= rootfs.n_packages ||
	    request->limits.processes == 0)
		return -EINVAL;
	if (rootfs.packages[request->package].err != 0)
		return rootfs.packages[request->package].err;
	if (request->hold != 0)
		p.hold_fd = held_mounts_open(request->slot, request->seq);
	pid = clone_program(sb, &p, CLONE_OF_SUPERVISOR, life);
	if (p.hold_fd > 0)
		close(p.hold_fd);
	return pid;
}

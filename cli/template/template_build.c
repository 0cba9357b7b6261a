/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_build.c - "paddock template build": fills site-packages/ and
 * node_modules/ of a package from its locks. main.c's table calls it. Existing
 * folders stay until the new folders are fetched and checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/dir_remove.h"
#include "base/os/dir_walk.h"
#include "base/os/nofollow.h"
#include "base/os/sys.h"
#include "base/text/quantity.h"
#include "cli/template/build_cage.h"
#include "cli/template/build_lock.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "cli/template/template_findings.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

static struct {
	const char *index, *registry, *proxy;
} given;

struct build {
	const struct cli *cli;
	const char *dir;     /* as the user named it */
	char *real;	     /* the absolute path */
	int package, around; /* the package, and the folder around it */
	int worker;	     /* the program to build with */
	char *stage;	     /* the stage folder's name in AT */
	int at, stage_fd;    /* AT is package or around */
	struct build_lock locks[BUILD_KINDS];
	int n;
	bool swapped[BUILD_KINDS]; /* the stage holds the old folder */
	struct json_object *made;
};

/* ---- the stage: where folders are built ---- */

static bool is_same_disk(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev;
}

/*
 * Open the folder NAME in AT as the stage, for this user alone and locked while
 * the process lives. Files left by a build that was killed are removed. 0,
 * -EWOULDBLOCK: a build is under way already, or another -errno.
 */
static int open_stage(struct build *b, int at, const char *name)
{
	struct stat st;
	int fd, rc;

	if (mkdirat(at, name, 0700) != 0 && errno != EEXIST)
		return -errno;
	fd = nofollow_open(at, name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	rc = sys_result(fstat(fd, &st));
	if (rc == 0 && st.st_uid != geteuid())
		rc = -EPERM; /* made by another user: not trusted */
	if (rc == 0)
		rc = sys_result(flock(fd, LOCK_EX | LOCK_NB));
	for (size_t i = 0; i < BUILD_KINDS && rc == 0; i++)
		rc = dir_remove(fd, build_kinds[i].folder);
	if (rc != 0) {
		close(fd);
		return rc;
	}
	b->at = at;
	b->stage_fd = fd;
	b->stage = xstrdup(name);
	return 0;
}

/*
 * Make the stage beside the package, so that the package's files stay as
 * loaded; if that fails, in the package.
 */
static int make_stage(struct build *b)
{
	char *beside = xasprintf(".%s.build", strrchr(b->real, '/') + 1);
	int rc = b->around >= 0 && is_same_disk(b->around, b->package)
		     ? open_stage(b, b->around, beside)
		     : -EXDEV;

	free(beside);
	if (rc < 0 && rc != -EWOULDBLOCK)
		rc = open_stage(b, b->package, ".build");
	if (rc == -EWOULDBLOCK)
		return message_fail(CLI_TROUBLE,
				    "%s is being built already, by another",
				    b->dir);
	return rc == 0 ? 0
		       : message_fail(CLI_TROUBLE,
				      "%s: nothing can be made "
				      "there: %s",
				      b->dir, strerror(-rc));
}

/* ---- building a folder ---- */

static int make(struct build *b, const struct build_lock *l)
{
	struct build_cage c = {
	    .index = l->kind == &build_kinds[0] ? given.index : given.registry,
	    .proxy = given.proxy,
	    .worker = b->worker,
	    .verbose = b->cli->verbose};
	int rc;

	if (mkdirat(b->stage_fd, l->kind->folder, 0755) != 0)
		return message_fail(CLI_TROUBLE, "%s: %s", b->dir,
				    strerror(errno));
	c.into =
	    nofollow_open(b->stage_fd, l->kind->folder, O_RDONLY | O_DIRECTORY);
	if (c.into < 0)
		return message_fail(CLI_TROUBLE, "%s: %s", b->dir,
				    strerror(-c.into));
	rc = build_cage_run(&c, l);
	close(c.into);
	if (rc == 0)
		json_object_array_add(
		    b->made,
		    json_pack("folder:s files:i bytes:i", l->kind->folder,
			      (int64_t)c.files, (int64_t)c.bytes));
	return rc;
}

/* ---- moving folders into place ---- */

/*
 * Move folder I into the package, in exchange for the old folder if there is an
 * old folder.
 */
static int swap(struct build *b, int i)
{
	const char *name = b->locks[i].kind->folder;
	int rc = sys_result(
	    renameat2(b->stage_fd, name, b->package, name, RENAME_NOREPLACE));

	if (rc != -EEXIST)
		return rc;
	rc = sys_result(
	    renameat2(b->stage_fd, name, b->package, name, RENAME_EXCHANGE));
	b->swapped[i] = rc == 0;
	return rc;
}

static int put_in_place(struct build *b)
{
	const char *but = b->at == b->package ? b->stage : NULL;
	struct dir_walk *all = NULL;
	char errmsg[512];
	int done = 0, rc = 0;

	while (rc == 0 && done < b->n) {
		rc = swap(b, done);
		if (rc == 0)
			done++;
	}
	if (rc < 0)
		rc = message_fail(CLI_TROUBLE, "%s/%s: %s", b->dir,
				  b->locks[done].kind->folder, strerror(-rc));
	else
		rc = dir_walk_list_but(b->package, but, &all, errmsg,
				       sizeof(errmsg));
	if (rc < 0)
		rc = message_fail(CLI_FAILED,
				  "with what was fetched %s "
				  "would be no package: %s",
				  b->dir, errmsg);
	dir_walk_free(all);
	while (rc != 0 && done-- > 0) { /* swap back */
		const char *name = b->locks[done].kind->folder;

		if (b->swapped[done])
			(void)renameat2(b->stage_fd, name, b->package, name,
					RENAME_EXCHANGE);
		else
			(void)renameat2(b->package, name, b->stage_fd, name,
					RENAME_NOREPLACE);
	}
	return rc;
}

static void report_build(const struct build *b)
{
	char size[QUANTITY_SIZE];

	if (b->cli->json) {
		json_pretty_print(b->made, true);
		return;
	}
	json_each(one, b->made)
		safe_printf(
		    "%s/%s: %" PRId64 " files, %s\n", b->dir,
		    json_member_str(one, "folder"),
		    json_member_int(one, "files"),
		    quantity(size, json_member_int(one, "bytes"), "bytes"));
	if (!b->cli->quiet)
		message_more(
		    "a daemon that has loaded the package takes the new files when templates are "
		    "reloaded (paddock reload, or SIGHUP); when the files differ from the old files, "
		    "a grant with a digest has to be given anew (paddock template grant)");
}

static int build_all(struct build *b)
{
	int rc = make_stage(b);

	for (int i = 0; i < b->n && rc == 0; i++)
		rc = make(b, &b->locks[i]);
	if (rc == 0)
		rc = put_in_place(b);
	for (size_t i = 0; i < BUILD_KINDS && b->stage != NULL; i++)
		(void)dir_remove(b->stage_fd, build_kinds[i].folder);
	/* after a failure the next build removes the stage */
	if (b->stage != NULL)
		(void)unlinkat(b->at, b->stage, AT_REMOVEDIR);
	if (rc == 0)
		report_build(b);
	return rc;
}

static int open_package(struct build *b)
{
	char *up;
	int rc = template_findings_dir(b->dir);

	if (rc != 0)
		return rc;
	b->real = realpath(b->dir, NULL);
	if (b->real == NULL)
		return message_fail(CLI_ABSENT, "%s: %s", b->dir,
				    strerror(errno));
	if (!template_findings_is_package(b->real))
		return message_fail(CLI_USAGE,
				    "%s is no package: it has no template.json",
				    b->dir);
	b->package = nofollow_open(AT_FDCWD, b->real, O_RDONLY | O_DIRECTORY);
	if (b->package < 0)
		return message_fail(CLI_USAGE, "%s: %s", b->dir,
				    strerror(-b->package));
	up = xasprintf("%.*s", (int)(strrchr(b->real, '/') - b->real) + 1,
		       b->real);
	b->around = nofollow_open(AT_FDCWD, up, O_RDONLY | O_DIRECTORY);
	free(up);
	return 0;
}

/* As root, become the package's owner, whose files may be hostile. */
static int become_owner(const struct build *b)
{
	struct stat st;

	if (geteuid() != 0)
		return 0;
	if (fstat(b->package, &st) == 0 &&
	    (st.st_uid == 0 ||
	     (setgroups(0, NULL) == 0 &&
	      setresgid(st.st_gid, st.st_gid, st.st_gid) == 0 &&
	      setresuid(st.st_uid, st.st_uid, st.st_uid) == 0)))
		return 0;
	return message_fail(CLI_TROUBLE, "%s: %s", b->dir, strerror(errno));
}

static int build(const struct cli *cli, int n, const char *const *arg)
{
	struct build b = {.cli = cli,
			  .dir = arg[0],
			  .package = -1,
			  .around = -1,
			  .worker = -1,
			  .stage_fd = -1,
			  .made = json_object_new_array()};
	int rc = open_package(&b);

	(void)n;
	umask(022); /* workers of other users have to read the files */
	if (rc == 0)
		b.worker = build_cage_open();
	if (rc == 0)
		rc = b.worker < 0 ? CLI_TROUBLE : become_owner(&b);
	if (rc == 0) {
		b.n = build_lock_read(b.package, b.dir, b.locks);
		rc = b.n < 0 ? CLI_USAGE : build_all(&b);
	}
	for (int i = 0; i < b.n; i++)
		build_lock_fini(&b.locks[i]);
	sys_close(b.stage_fd);
	sys_close(b.worker);
	sys_close(b.around);
	sys_close(b.package);
	json_object_put(b.made);
	free(b.stage);
	free(b.real);
	return rc;
}

static const struct opt opts[] = {
    {"index-url", 0, OPT_TEXT, &given.index, "URL",
     "where pip finds packages; without: PyPI"},
    {"registry", 0, OPT_TEXT, &given.registry, "URL",
     "where npm finds packages; without: npm's"},
    {"proxy", 0, OPT_TEXT, &given.proxy, "URL",
     "what leads there; the environment's is not taken"},
};

const struct command cmd_template_build = {
    .name = "template build",
    .args = "DIR",
    .summary = "fetch the modules that a package's locks name",
    .text = "From requirements.txt with hashes pip fills site-packages/, and "
	    "from\npackage-lock.json npm fills node_modules/: wheels and "
	    "packages alone, in a cage\nthat sees the lock and reaches the "
	    "network; nothing that is fetched is executed.\nThe same lock "
	    "leaves the same files. When it fails, what was there stays.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 1,
    .max = 1,
    .run = build,
};

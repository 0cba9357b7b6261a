/* SPDX-License-Identifier: Apache-2.0 */
/* Packages on disk. */
#include "supervisor/packages/templates/template_look.h"
#include "supervisor/packages/templates/template_load.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "supervisor/packages/package/package.h"
#include "tests/unit/supervisor/packages/templates/template_fixture.h"

static char root[] = "/tmp/t_template.XXXXXX";

static char *in_root(const char *name)
{
	return xasprintf("%s/%s", root, name);
}

static void put(const char *name, const void *data, size_t len, mode_t mode)
{
	char *path = in_root(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		printf("# cannot write %s\n", path);
	if (fd >= 0)
		close(fd);
	free(path);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text), 0600);
}

static void put_manifest(const char *runtime)
{
	char *text = manifest("runtime", runtime);

	put_text("template.json", text);
	free(text);
}

static void make_dir(const char *name)
{
	char *path = in_root(name);

	mkdir(path, 0700);
	free(path);
}

static void gone(const char *name)
{
	char *path = in_root(name);

	if (remove(path) < 0)
		printf("# cannot remove %s\n", path);
	free(path);
}

static void rename_into(const char *from, const char *to)
{
	char *old = in_root(from), *new = in_root(to);

	if (rename(old, new) < 0)
		printf("# cannot move %s\n", old);
	free(old);
	free(new);
}

/* Loading the package fails for the reason WANT. */
static void refused(const char *want, const char *name)
{
	struct template *t =
	    template_load(root, geteuid() == 0, errmsg, sizeof(errmsg));

	point();
	ok(t == NULL, "refused: %s", name);
	is_str(t == NULL ? errmsg : NULL, want,
	       "the refusal of a package has the right text");
	template_unref(t);
}

static struct template *loaded(const char *name)
{
	struct template *t =
	    template_load(root, geteuid() == 0, errmsg, sizeof(errmsg));

	ok(t != NULL, "%s: %s", name, t != NULL ? "loaded" : errmsg);
	return t;
}

TEST(lua_packages)
{
	static const char code[] = "return function() end\n";
	struct template *t;

	refused("template.json: No such file or directory", "no manifest");
	put_text("template.json", smallest);
	refused("template.json#/runtime/entry: main.lua: No such file or "
		"directory",
		"no code");
	put_text("main.lua", code);
	t = loaded("a lua package");
	if (t != NULL) {
		is_str(t->code, code, "a loaded package has the code");
		is_int(t->code_len, sizeof(code) - 1,
		       "a loaded package has the length of the code");
		is_str(t->dir, root, "a loaded package has the folder");
	}
	template_unref(t);
	put_text("main.lua", "");
	template_unref(loaded("an empty main.lua is loaded"));
	put_text("main.lua", "\x1bLua\x54");
	refused(
	    "template.json#/runtime/entry: main.lua is precompiled Lua, but "
	    "must be source",
	    "bytecode");
	put("main.lua", "ab\0c", 4, 0600);
	refused("main.lua:1:3: code has no character U+0000", "a NUL");
	put_text("main.lua", "abc\xFF");
	refused("main.lua:1:4: this is not text in UTF-8",
		"bytes that are no text");
	gone("main.lua");
	gone("template.json");
}

TEST(odd_files)
{
	char *main_lua = in_root("main.lua"),
	     *manifest_path = in_root("template.json");
	char *huge = xcalloc(1, PACKAGE_FILE_MAX + 1);

	mkfifo(manifest_path, 0600);
	refused("template.json is a FIFO, but must be a plain file",
		"a FIFO for a manifest");
	gone("template.json");
	make_dir("template.json");
	refused("template.json is a folder, but must be a plain file",
		"a folder for a manifest");
	gone("template.json");
	(void)!symlink("/etc/hostname", manifest_path);
	refused("template.json is a symbolic link, but must be a plain file",
		"a link for a manifest");
	gone("template.json");
	memset(huge, ' ', PACKAGE_FILE_MAX + 1);
	put("template.json", huge, PACKAGE_FILE_MAX + 1, 0600);
	refused("template.json has 1048577 bytes, but at most 1048576 are read",
		"a huge manifest");
	put_text("template.json", smallest);
	put("main.lua", huge, PACKAGE_FILE_MAX + 1, 0600);
	refused("template.json#/runtime/entry: main.lua has 1048577 bytes, but "
		"at most 1048576 are read",
		"huge code");
	gone("main.lua");
	(void)!symlink("/etc/hostname", main_lua);
	refused(
	    "template.json#/runtime/entry: main.lua is a symbolic link, but "
	    "must be a plain file",
	    "a link for code");
	gone("main.lua");
	mkfifo(main_lua, 0600);
	refused("template.json#/runtime/entry: main.lua is a FIFO, but must be "
		"a plain file",
		"a FIFO for code");
	gone("main.lua");
	gone("template.json");
	free(huge);
	free(manifest_path);
	free(main_lua);
}

TEST(program_packages)
{
	char *run = in_root("bin/run"), *link = in_root("link");

	put_manifest("{\"type\":\"program\",\"entry\":\"bin/run\"}");
	make_dir("bin");
	put("bin/run", "#!/bin/sh\n", 10, 0600);
	refused(
	    "template.json#/runtime/entry: bin/run is not executable (chmod "
	    "+x would do)",
	    "a program without x");
	chmod(run, 0755);
	chmod(root, 0755);
	template_unref(loaded("a program"));
	put_manifest("{\"type\":\"program\",\"entry\":\"link/run\"}");
	(void)!symlink("bin", link);
	refused("template.json#/runtime/entry: link/run: on the way there is "
		"something else than a folder (symbolic links are not "
		"followed)",
		"a program behind a link");
	put_manifest("{\"type\":\"program\",\"entry\":\"bin\"}");
	refused("template.json#/runtime/entry: bin is a folder, but must be a "
		"plain file",
		"a folder for a program");
	gone("link");
	gone("bin/run");
	gone("bin");
	gone("template.json");
	free(link);
	free(run);
}

static void bind_socket(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", root, name);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		printf("# cannot bind %s\n", a.sun_path);
	close(fd);
}

static void too_deep(void)
{
	char path[128] = "";
	size_t len = 0;

	for (int i = 0; i < DIR_WALK_DEPTH_MAX + 1; i++) {
		len += (size_t)snprintf(path + len, sizeof(path) - len, "%sd",
					len > 0 ? "/" : "");
		make_dir(path);
	}
	refused("d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/"
		"d/d: folders lie more than 32 deep",
		"folders in folders");
	for (; len > 1; path[len -= 2] = '\0')
		gone(path);
	gone("d");
}

static void too_many(void)
{
	char name[32];

	make_dir("m");
	for (int i = 0; i < DIR_WALK_ENTRIES_MAX; i++) {
		snprintf(name, sizeof(name), "m/%d", i);
		put(name, "", 0, 0600);
	}
	refused("the package has more than 32768 files and folders",
		"a flood of files");
	for (int i = 0; i < DIR_WALK_ENTRIES_MAX; i++) {
		snprintf(name, sizeof(name), "m/%d", i);
		gone(name);
	}
	gone("m");
}

TEST(other_files)
{
	char *sparse = in_root("sparse"), *link = in_root("link");

	put_text("template.json", smallest);
	put_text("main.lua", "return function() end");
	(void)!symlink("main.lua", link);
	refused("link is neither a plain file nor a folder; a package has no "
		"links, FIFOs or devices",
		"a link beside");
	gone("link");
	bind_socket("s");
	refused("s is neither a plain file nor a folder; a package has no "
		"links, FIFOs or devices",
		"a socket beside");
	gone("s");
	put("sparse", "", 0, 0600);
	is_int(truncate(sparse, (off_t)1 << 40), 0, "a sparse file of 1 TiB");
	refused("the files of the package have more than 536870912 bytes "
		"together",
		"more than the bytes of a package");
	gone("sparse");
	too_deep();
	too_many();
	template_unref(loaded("good again"));
	gone("main.lua");
	gone("template.json");
	free(link);
	free(sparse);
}

static void digest_of(char hex[65])
{
	struct template *t =
	    template_load(root, geteuid() == 0, errmsg, sizeof(errmsg));

	snprintf(hex, 65, "%s", t != NULL ? t->digest : "");
	template_unref(t);
}

/*
 * The workers of a root server run as other users: a closed folder above the package
 * stops the workers.
 */
TEST(closed_above)
{
	char *room = in_root("room"), *dir = in_root("room/own"), want[512];
	struct template *t;

	chmod(root, 0755);
	make_dir("room");
	make_dir("room/own");
	chmod(dir, 0755);
	put_manifest("{\"type\": \"program\", \"entry\": \"main\"}");
	rename_into("template.json", "room/own/template.json");
	put("room/own/main", "#!/bin/sh\n", 10, 0755);
	ok(template_load(dir, true, errmsg, sizeof(errmsg)) == NULL,
	   "a program in a folder that is closed to others is refused");
	snprintf(
	    want, sizeof(want),
	    "template.json:1:106: the package is below %s, which others may "
	    "not enter, but workers are others here (chmod o+x would do, "
	    "or another place for it) (/runtime/entry)",
	    room);
	is_str(errmsg, want, "the refusal names the closed folder");
	t = template_load(dir, false, errmsg, sizeof(errmsg));
	ok(t != NULL,
	   "a package below a closed folder loads where workers are the server's user");
	template_unref(t);
	chmod(room, 0711);
	t = template_load(dir, true, errmsg, sizeof(errmsg));
	ok(t != NULL,
	   "a package below a folder with passage for others loads: %s",
	   errmsg);
	template_unref(t);
	gone("room/own/main");
	gone("room/own/template.json");
	gone("room/own");
	gone("room");
	free(room);
	free(dir);
}

/* A stamp taken during the digest must equal a stamp taken alone. */
static void same_stamps(void)
{
	char digest[65], stamp[65], digest2[65], stamp2[65];
	struct package_size all, both;
	int fd = package_open(root, errmsg, sizeof(errmsg));

	is_int(package_digest_stamped(fd, NULL, 0, digest2, stamp2, &both,
				      errmsg, sizeof(errmsg)),
	       0, "digest and stamp at once");
	is_int(package_digest(fd, NULL, 0, digest, errmsg, sizeof(errmsg)), 0,
	       "the digest alone");
	is_int(package_stamp(fd, stamp, &all, errmsg, sizeof(errmsg)), 0,
	       "the stamp alone is taken");
	is_str(digest2, digest, "the digest with a stamp is the same");
	is_str(stamp2, stamp, "the stamp with a digest is the same");
	is_int((int)both.files, (int)all.files,
	       "both ways count the same files");
	is_int((int)both.bytes, (int)all.bytes,
	       "both ways count the same bytes");
	close(fd);
}

/* Check the loaded T for changes; returns the errno. */
static int look(struct template *t)
{
	struct template_look l;

	template_look_init(&l, t);
	template_look(&l);
	template_look_keep(&l, t);
	return l.rc;
}

static struct template *program(void)
{
	put_manifest("{\"type\": \"program\", \"entry\": \"main\"}");
	put("main", "#!/bin/sh\n", 10, 0755);
	chmod(root, 0755);
	return template_load(root, false, errmsg, sizeof(errmsg));
}

/* Of many files a package is looked through now and then alone. */
TEST(many_files)
{
	struct template *t;
	char name[32];

	make_dir("m");
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "m/%d", i);
		put(name, "", 0, 0600);
	}
	t = program();
	is_int(template_look_known(t), -EINPROGRESS,
	       "a package is to be looked at");
	is_int(look(t), 0, "a package of many files is unchanged");
	is_int(template_look_known(t), 0,
	       "an unchanged package is trusted for a while");
	put_text("m/7", "changed");
	t->looked.until_us = 0;
	is_int(template_look_known(t), -EINPROGRESS,
	       "an unchanged package is checked again later");
	is_int(look(t), -ESTALE, "a changed package is stale");
	is_int(template_look_known(t), -ESTALE,
	       "a stale package stays stale without a check");
	template_unref(t);
	same_stamps();
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "m/%d", i);
		gone(name);
	}
	gone("m");
	gone("main");
	gone("template.json");
}

/*
 * Reading a large package again could take as long as the owner of the files likes.
 */
TEST(large_files)
{
	struct template *t;
	char path[256];

	put("data", "", 0, 0600);
	snprintf(path, sizeof(path), "%s/data", root);
	is_int(truncate(path, TEMPLATE_LOOK_BYTES), 0, "a package of 4 MiB");
	t = program();
	is_int(look(t), 0, "a package of large files is unchanged");
	utimes(path, NULL);
	is_int(look(t), -ESTALE,
	       "a package of large files is stale after a touch");
	is_int(template_look_known(t), -ESTALE,
	       "a stale large package stays stale until loaded again");
	template_unref(t);
	gone("data");
	t = program();
	snprintf(path, sizeof(path), "%s/main", root);
	utimes(path, NULL);
	is_int(look(t), 0,
	       "a package of small files is read again after a touch");
	is_int(template_look_known(t), -EINPROGRESS,
	       "a package of small files is checked each time");
	put("main", "#!/bin/ls\n", 10, 0755);
	is_int(look(t), -ESTALE, "a package with changed bytes is stale");
	put("main", "#!/bin/sh\n", 10, 0755);
	is_int(look(t), 0, "a package with restored bytes is unchanged");
	template_unref(t);
	gone("main");
	gone("template.json");
}

/* A check without a free descriptor has no result. */
TEST(cannot_be_seen)
{
	struct template *t = program();
	struct rlimit was, none;
	int next = dup(0), rc[4];

	close(next);
	getrlimit(RLIMIT_NOFILE, &was);
	none = was;
	for (size_t i = 0; i < ARRAY_LEN(rc); i++) {
		none.rlim_cur = (rlim_t)next + i;
		setrlimit(RLIMIT_NOFILE, &none);
		rc[i] = look(t);
	}
	setrlimit(RLIMIT_NOFILE, &was);
	is_int(rc[0], -EMFILE, "a check without a descriptor fails");
	is_int(rc[1], -EMFILE, "a check with one free descriptor fails");
	is_int(rc[3], 0, "a check with three free descriptors succeeds");
	is_int(template_look_known(t), -EINPROGRESS,
	       "a failed check is no verdict");
	template_unref(t);
	gone("main");
	gone("template.json");
}

TEST(digests)
{
	/* Computed by sha256sum(1) over the bytes described in package.h. */
	static const char known[] = "cfaebe0e140ac07b063bb8a6c5aaaf98"
				    "1d5338d4039e25868a103722e7f9e388";
	char a[65], b[65];

	put_text("template.json", smallest);
	put_text("main.lua", "return function() end\n");
	digest_of(a);
	is_str(a, known, "the digest is what the header says");
	make_dir("sub");
	digest_of(b);
	is_str(b, a, "an empty folder does not count");
	put_text("sub/x", "");
	digest_of(b);
	ok(strcmp(a, b) != 0, "an empty file changes the digest");
	put_text("sub/x", "1");
	digest_of(a);
	ok(strcmp(a, b) != 0, "the bytes of a file change the digest");
	gone("sub/x");
	put_text("sub/y", "1");
	digest_of(b);
	ok(strcmp(a, b) != 0, "the name of a file changes the digest");
	gone("sub/y");
	put_text("sub-x", "1");
	digest_of(a);
	ok(strcmp(a, b) != 0, "the folder of a file changes the digest");
	gone("sub-x");
	gone("sub");
	gone("main.lua");
	gone("template.json");
}

/* The digest is of the bytes read before, or there is no digest. */
TEST(kept)
{
	struct package_bytes k[2] = {{"main.lua", "12345", 5}, {"x", "", 0}};
	char hex[65];
	int fd;

	put_text("main.lua", "12345");
	put_text("x", "");
	fd = package_open(root, errmsg, sizeof(errmsg));
	is_int(package_digest(fd, k, 2, hex, errmsg, sizeof(errmsg)), 0,
	       "a digest of the bytes read before is taken");
	put_text("main.lua", "12346");
	is_int(package_digest(fd, k, 2, hex, errmsg, sizeof(errmsg)), -EINVAL,
	       "changed bytes of the same length are refused");
	is_str(errmsg, "main.lua: it changed while it was read",
	       "the refusal names the changed file");
	put_text("main.lua", "1234");
	is_int(package_digest(fd, k, 2, hex, errmsg, sizeof(errmsg)), -EINVAL,
	       "a file with fewer bytes is refused");
	put_text("main.lua", "123456");
	is_int(package_digest(fd, k, 2, hex, errmsg, sizeof(errmsg)), -EINVAL,
	       "a file with more bytes is refused");
	put_text("main.lua", "12345");
	gone("x");
	is_int(package_digest(fd, k, 2, hex, errmsg, sizeof(errmsg)), -EINVAL,
	       "a package with a missing file is refused");
	is_str(errmsg, "the package changed while it was read",
	       "the refusal tells that the package changed");
	close(fd);
	gone("main.lua");
}

static void unreadable(void)
{
	char *path = in_root("none");

	ok(template_load(path, geteuid() == 0, errmsg, sizeof(errmsg)) == NULL,
	   "a missing folder is refused");
	is_str(errmsg, "cannot open the folder: No such file or directory",
	       "the refusal of a missing folder has the right text");
	free(path);
	put_text("template.json", smallest);
	path = in_root("template.json");
	ok(template_load(path, geteuid() == 0, errmsg, sizeof(errmsg)) == NULL,
	   "a file is no package");
	chmod(path, 0);
	if (geteuid() != 0)
		refused("template.json: Permission denied", "unreadable");
	else
		skip("root reads anything", "an unreadable manifest");
	free(path);
	gone("template.json");
}

/* Bind FROM over NAME; false: we may not. */
static bool mount_over(const char *name, const char *from)
{
	char *path = in_root(name);
	bool can = mount(from, path, NULL, MS_BIND, NULL) == 0;

	free(path);
	return can;
}

static void unmount(const char *name)
{
	char *path = in_root(name);

	umount2(path, MNT_DETACH);
	free(path);
}

/*
 * A mount in a package is not part of the package: reads could wait for the owner of
 * the mount.
 */
static void mounts(void)
{
	put_text("template.json", smallest);
	put_text("main.lua", "return function() end\n");
	make_dir("sub");
	template_unref(loaded("a package with a folder"));
	if (!mount_over("sub", "/usr/share")) {
		skip("only root may mount", "what is mounted in a package");
	} else {
		refused("sub: something is mounted there; a package has no "
			"mounts in it",
			"a mount in a package");
		unmount("sub");
		ok(mount_over("main.lua", "/etc/passwd"), "a file is mounted");
		refused("template.json#/runtime/entry: main.lua is mounted "
			"there, and only what lies in the package is read",
			"a mount over its code");
		unmount("main.lua");
		template_unref(loaded("the same, once that is gone"));
	}
	gone("sub");
	gone("main.lua");
	gone("template.json");
}

int main(void)
{
	if (mkdtemp(root) == NULL)
		return 1;
	tap_run();
	unreadable();
	mounts();
	is_int(rmdir(root), 0, "nothing is left behind");
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_rootfs_copy.c - the copy of a package granted by digest: the copy must have the
 * supervisor's digest, or no copy is made.
 */
#include "sandbox/rootfs/rootfs_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/dir_walk.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "supervisor/packages/package/package.h"
#include "tests/unit/tap.h"

static char root[] = "/tmp/paddock-copy-XXXXXX";
static int at; /* root, open */

static void hex_of(const unsigned char *sum, char hex[65])
{
	for (size_t i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
}

/* Sums of all lengths up to some blocks, in pieces of all sizes. */
static void sums(void)
{
	unsigned char data[300], sum[SHA256_DIGEST_SIZE];
	char want[65], got[65];
	struct sha256_ctx md;
	size_t wrong = 0;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 3);
	for (size_t len = 0; len <= sizeof(data); len++) {
		sha256_init(&md);
		sha256_update(&md, len, data);
		sha256_digest(&md, sizeof(sum), sum);
		hex_of(sum, want);
		for (size_t piece = 1; piece <= 130; piece += 3) {
			struct sha256 s;

			sha256_begin(&s);
			for (size_t i = 0; i < len; i += piece)
				sha256_add(&s, data + i,
					   len - i < piece ? len - i : piece);
			sha256_end(&s, got);
			wrong += strcmp(want, got) != 0;
		}
	}
	is_int(wrong, 0, "SHA-256 of up to 300 bytes is OpenSSL's");
}

static void put(const char *name, const char *bytes, size_t len, mode_t mode)
{
	char *path = xasprintf("%s/%s", root, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len ||
	    fchmod(fd, mode) != 0)
		abort();
	close(fd);
	free(path);
}

static void make_package(void)
{
	static char large[70000];

	if (mkdtemp(root) == NULL)
		abort();
	at = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mkdirat(at, "p", 0755) || mkdirat(at, "p/a", 0755) ||
	    mkdirat(at, "p/a/b", 0755) || mkdirat(at, "p/none", 0755) ||
	    mkdirat(at, "new", 0755))
		abort();
	memset(large, 'x', sizeof(large));
	put("p/main", "#!/bin/sh\n", 10, 0755);
	put("p/a/b/large", large, sizeof(large), 0644);
	put("p/a/empty", "", 0, 0444);
	put("p/a-b", "1", 1, 0644);
}

static int count(const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dir_walk *f;
	char errmsg[256];
	int n =
	    dir_walk_list(fd, &f, errmsg, sizeof(errmsg)) == 0 ? (int)f->n : -1;

	dir_walk_free(f);
	close(fd);
	return n;
}

static void set_mode(const char *name, mode_t mode)
{
	if (fchmodat(at, name, mode, 0) != 0)
		abort();
}

static char digest[65];

/*
 * Copy to "new/NAME" with the given bounds; err and errmsg of the result are the
 * verdict.
 */
static struct rootfs_path copy(const char *name, bool others, uint64_t one,
			       uint64_t all)
{
	struct rootfs t = {
	    .copy_bytes = one, .copies_bytes = all, .others = others};
	struct rootfs_path p = {0};
	char *to = xasprintf("/new/%s", name);
	int fd = openat(at, "p", O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t copied = 10;

	memcpy(p.digest, digest, sizeof(digest));
	p.err = rootfs_copy(&t, &p, fd, at, to, &copied);
	if (p.err == 0)
		is_int(copied, 10 + 70011, "%s is counted", name);
	else
		is_int(count(to + 1), 0, "%s: nothing of it is left", name);
	close(fd);
	free(to);
	return p;
}

static void is_refused(struct rootfs_path p, int err, const char *errmsg,
		       const char *name)
{
	is_int(p.err, err, "%s", name);
	ok(p.errmsg != NULL && strstr(p.errmsg, errmsg) != NULL,
	   "a refused copy has the reason: %s", p.errmsg);
	free(p.errmsg);
}

static void copies(void)
{
	int fd = openat(at, "p", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	char errmsg[256] = "", got[65];
	struct rootfs_path p;
	int new;

	is_int(package_digest(fd, NULL, 0, digest, errmsg, sizeof(errmsg)), 0,
	       "a package has a digest %s", errmsg);
	p = copy("one", true, 70011, 70021);
	is_int(p.err, 0, "a package is copied: %s",
	       p.errmsg != NULL ? p.errmsg : "");
	new = openat(at, "new/one", O_PATH | O_DIRECTORY | O_CLOEXEC);
	is_int(package_digest(new, NULL, 0, got, errmsg, sizeof(errmsg)), 0,
	       "the copied package has a digest");
	is_str(got, digest, "the copy has the digest of the package");
	is_int(fstatat(new, "a/empty", &st, 0), 0,
	       "the copy has the executable file");
	is_int(st.st_mode & 07777, 0755,
	       "a copied executable has the mode 0755");
	is_int(st.st_mtime, 315532800, "a copied file has the fixed time");
	is_int(fstatat(new, "none", &st, 0), -1,
	       "a file outside of the digest is not copied");
	close(new);
	close(fd);
	is_refused(copy("large", true, 70010, 1 << 20), -EFBIG,
		   "max_package_copy_bytes", "larger than one may be");
	is_refused(copy("all", true, 70011, 70020), -EFBIG,
		   "max_package_copies_bytes", "larger than all may be");
	put("p/a-b", "2", 1, 0644);
	is_refused(copy("changed", true, 1 << 20, 1 << 20), -ESTALE,
		   "had the digest", "other bytes");
	put("p/a-b", "1", 1, 0640);
	is_refused(copy("hidden", true, 1 << 20, 1 << 20), -EACCES,
		   "a-b: others may not read it", "what others may not read");
	is_int(copy("mine", false, 1 << 20, 1 << 20).err, 0,
	       "a file unreadable for others is copied for the same user");
	put("p/a-b", "1", 1, 0644);
	set_mode("p/a", 0754);
	is_refused(copy("folder", true, 1 << 20, 1 << 20), -EACCES,
		   "a: others may not read it",
		   "a folder that others may not enter");
	set_mode("p/a", 0755);
	if (symlinkat("main", at, "p/z") != 0)
		abort();
	is_refused(copy("link", true, 1 << 20, 1 << 20), -EINVAL,
		   "z is neither a plain file nor a folder", "a link");
}

int main(void)
{
	char *cmd;

	sums();
	umask(022);
	make_package();
	copies();
	cmd = xasprintf("rm -r %s", root);
	is_int(system(cmd), 0, "the test's folder is removed");
	free(cmd);
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/store/state/artifact_file.h"

#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static const struct {
	const char *text;
	const char *sha256;
} sums[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
};

static bool tmp_empty(const char *dir)
{
	char *cmd = xasprintf("test -z \"$(ls -A '%s/artifacts/tmp')\"", dir);
	bool empty = system(cmd) == 0;

	free(cmd);
	return empty;
}

static bool has_bytes(const char *dir, size_t n)
{
	char *cmd = xasprintf(
	    "test \"$(cat '%s'/artifacts/tmp/* | wc -c)\" = %zu", dir, n);
	bool has = system(cmd) == 0;

	free(cmd);
	return has;
}

static void test_finish(const char *dir)
{
	for (size_t i = 0; i < ARRAY_LEN(sums); i++) {
		struct artifact_file *b = artifact_file_new(dir, "inst_a");
		char hex[65], *path, *want;
		struct stat st = {0};

		for (const char *p = sums[i].text; *p != '\0'; p++)
			is_int(artifact_file_write(b, p, 1), 0,
			       "a piece is written");
		ok(has_bytes(dir, strlen(sums[i].text)),
		   "the written piece is in the file");
		path = artifact_file_finish(b, hex);
		is_str(hex, sums[i].sha256, "the digest is SHA-256 in hex");
		want = xasprintf("%s/artifacts/tmp/inst_a.", dir);
		ok(path != NULL, "a path comes back");
		if (path == NULL)
			continue;
		ok(strncmp(path, want, strlen(want)) == 0,
		   "the file is named for the instance");
		ok(stat(path, &st) == 0 &&
		       st.st_size == (off_t)strlen(sums[i].text),
		   "the file has the written bytes");
		is_int(st.st_mode & 0777, 0600,
		       "the file is readable for the owner alone");
		unlink(path);
		free(path);
		free(want);
	}
}

static void test_large(const char *dir)
{
	struct artifact_file *b = artifact_file_new(dir, "inst_a");
	static char block[65536];
	int rc = 0;

	for (int i = 0; i < 64; i++)
		rc |= artifact_file_write(b, block, sizeof(block));
	is_int(rc, 0, "4 MiB are written");
	ok(has_bytes(dir, 64 * sizeof(block)),
	   "the written 4 MiB are in the file");
	ok(!tmp_empty(dir), "a growing artifact is a temporary file");
	artifact_file_free(b);
	ok(tmp_empty(dir), "freeing the artifact removes the temporary file");
	artifact_file_free(NULL);
}

/* A limit on the size of files stands for a full disk. */
static void test_full(const char *dir)
{
	struct rlimit was, small;
	static char block[8192];
	struct artifact_file *b = artifact_file_new(dir, "inst_a");
	char hex[65];

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	small = was;
	small.rlim_cur = 10000;
	setrlimit(RLIMIT_FSIZE, &small);
	is_int(artifact_file_write(b, block, sizeof(block)), 0,
	       "a write within the limit succeeds");
	is_int(artifact_file_write(b, block, sizeof(block)), -EFBIG,
	       "a write beyond the limit fails");
	setrlimit(RLIMIT_FSIZE, &was);
	is_int(artifact_file_write(b, block, 1), -EFBIG,
	       "a failed file stays failed");
	ok(has_bytes(dir, small.rlim_cur),
	   "the bytes within the limit are in the file");
	ok(artifact_file_finish(b, hex) == NULL && errno == EFBIG,
	   "a failed file cannot be finished");
	ok(tmp_empty(dir), "the file is gone");
}

static void test_nowhere(const char *dir)
{
	char *file = help_file(dir, "file", "x");

	errno = 0;
	ok(artifact_file_new(file, "inst_a") == NULL && errno == ENOTDIR,
	   "a state folder that is a file is an error");
	free(file);
}

int main(void)
{
	char *dir = help_dir(), *state = xasprintf("%s/state", dir);

	test_finish(state);
	test_large(state);
	test_full(state);
	test_nowhere(dir);
	free(state);
	help_remove(dir);
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs a fuzz target without libFuzzer: each file of the named directories
 * is given to the target once; each directory is one line of TAP.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/tap.h"

#define INPUT_MAX (1 << 20) /* bytes in one input */

/* Give the target a copy whose end is the end of the allocated memory. */
static bool replay_fd(int fd)
{
	struct stat st;
	uint8_t *data;
	bool pass;

	if (fstat(fd, &st) < 0 || st.st_size > INPUT_MAX)
		return false;
	data = malloc(st.st_size > 0 ? (size_t)st.st_size : 1);
	if (data == NULL)
		return false;
	pass = read(fd, data, (size_t)st.st_size) == st.st_size;
	if (pass)
		LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
	return pass;
}

static bool replay_file(DIR *dir, const char *name)
{
	int fd = openat(dirfd(dir), name, O_RDONLY | O_CLOEXEC);
	bool pass = fd >= 0 && replay_fd(fd);

	if (!pass)
		printf("# cannot read %s\n", name);
	if (fd >= 0)
		close(fd);
	return pass;
}

/* An empty directory fails: nothing would have been tested. */
static void replay_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash == NULL ? path : slash + 1;
	DIR *dir = opendir(path);
	int replayed = 0, failed = 0;

	for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		if (replay_file(dir, e->d_name))
			replayed++;
		else
			failed++;
	}
	if (dir != NULL)
		closedir(dir);
	ok(replayed > 0 && failed == 0, "corpus %s: %d inputs replayed", name,
	   replayed);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay_dir(argv[i]);
	return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_seal_key.c - the key below the state folder: made once, read by all. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/store/state/seal_key.h"
#include "supervisor/store/state/state_file.h"
#include "tests/unit/tap.h"

static char state[] = "/tmp/t_seal_key.XXXXXX";
static char *path; /* of the file */

static int count(void *arg, const char *name)
{
	(void)name;
	(*(int *)arg)++;
	return 0;
}

static void write_file(const void *data, size_t len, mode_t mode)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (write(fd, data, len) != (ssize_t)len || fchmod(fd, mode) != 0)
		printf("# cannot write %s\n", path);
	close(fd);
}

TEST(made)
{
	unsigned char first[SEAL_KEY_BYTES], again[SEAL_KEY_BYTES],
	    none[SEAL_KEY_BYTES] = {0};
	char *below = xasprintf("%s/a/b", state), *file;
	char errmsg[300] = "";
	struct stat st = {0};
	int entries = 0;

	is_int(seal_key_load(first, below, errmsg, sizeof(errmsg)), 0,
	       "a key and its folders are made");
	ok(memcmp(first, none, sizeof(none)) != 0,
	   "a new key is not all zeros");
	file = xasprintf("%s/" SEAL_KEY_FILE, below);
	ok(stat(file, &st) == 0, "a new key is in the file");
	is_int(st.st_mode & 07777, 0600,
	       "the key's file is readable for the owner alone");
	is_int(st.st_size, SEAL_KEY_BYTES,
	       "the key's file has the length of a key");
	state_file_each(below, count, &entries);
	is_int(entries, 1, "no other file is left beside the key");
	is_int(seal_key_load(again, below, errmsg, sizeof(errmsg)), 0,
	       "an existing key is read");
	ok(memcmp(first, again, sizeof(first)) == 0,
	   "a key read again is the same");
	is_str(errmsg, "", "reading a key leaves no error text");
	unlink(file);
	rmdir(below);
	strrchr(below, '/')[0] = '\0';
	rmdir(below);
	free(file);
	free(below);
}

#define AT_ONCE 16

/* Wait for the end of TO_GO, and write the loaded key to FROM. */
static void child(int to_go, int from)
{
	unsigned char key[SEAL_KEY_BYTES];
	char errmsg[300], c;

	if (read(to_go, &c, 1) == 0 &&
	    seal_key_load(key, state, errmsg, sizeof(errmsg)) == 0 &&
	    write(from, key, sizeof(key)) == sizeof(key))
		_exit(0);
	_exit(1);
}

TEST(at_once)
{
	unsigned char keys[AT_ONCE + 1][SEAL_KEY_BYTES];
	int go[2], out[2], good = 0, same = 0, entries = 0, status;
	size_t got = 0;
	ssize_t n;

	if (pipe(go) != 0 || pipe(out) != 0)
		return;
	for (int i = 0; i < AT_ONCE; i++) {
		if (fork() == 0) {
			close(go[1]);
			child(go[0], out[1]);
		}
	}
	close(go[0]);
	close(go[1]); /* now */
	close(out[1]);
	while (got < sizeof(keys) &&
	       (n = read(out[0], (char *)keys + got, sizeof(keys) - got)) > 0)
		got += (size_t)n;
	close(out[0]);
	while (wait(&status) > 0)
		good += status == 0;
	is_int(good, AT_ONCE, "many processes load a key at once");
	for (size_t i = 1; i < got / SEAL_KEY_BYTES; i++)
		same += memcmp(keys[0], keys[i], SEAL_KEY_BYTES) == 0;
	is_int(same, AT_ONCE - 1,
	       "processes starting at once have the same key");
	state_file_each(state, count, &entries);
	is_int(entries, 1, "processes starting at once leave one file");
	unlink(path);
}

#define KEY "0123456789abcdef0123456789abcdef"

/* A bad file is neither used nor changed, and is reported. */
static void check_refused(const char *says, const char *name)
{
	unsigned char a[SEAL_KEY_BYTES], b[SEAL_KEY_BYTES];
	char errmsg[300] = "";

	is_int(seal_key_load(a, state, errmsg, sizeof(errmsg)), -EINVAL, "%s",
	       name);
	if (!ok(strstr(errmsg, says) != NULL &&
		    strstr(errmsg, "remove that file") != NULL,
		"%s: the sentence", name))
		printf("# %s\n", errmsg);
	seal_key_load(b, state, errmsg, sizeof(errmsg));
	ok(memcmp(a, KEY, sizeof(a)) != 0 && memcmp(a, b, sizeof(a)) != 0,
	   "%s: a key of memory alone", name);
}

TEST(files)
{
	char *elsewhere = xasprintf("%s/elsewhere", state);

	write_file(KEY, 31, 0600);
	check_refused("has not 32 bytes", "a file that is too short");
	write_file(KEY "x", 33, 0600);
	check_refused("has not 32 bytes", "a file that is too long");
	write_file(KEY, 32, 0640);
	check_refused("another mode than 0600", "a file that a group reads");
	write_file(KEY, 32, 0602);
	check_refused("another mode than 0600", "a file that all write");
	if (geteuid() == 0) {
		write_file(KEY, 32, 0600);
		if (chown(path, 65534, 65534) == 0)
			check_refused("belongs to another user",
				      "a file of another user");
	} else {
		skip("not root", "a file of another user");
	}
	write_file(KEY, 32, 0600);
	if (rename(path, elsewhere) == 0 && symlink(elsewhere, path) == 0)
		check_refused("is a symbolic link", "a link to a good one");
	unlink(path);
	unlink(elsewhere);
	if (mkfifo(path, 0600) == 0)
		check_refused("is no regular file", "a pipe, which is not "
						    "waited for");
	unlink(path);
	free(elsewhere);
}

TEST(nowhere)
{
	unsigned char a[SEAL_KEY_BYTES], b[SEAL_KEY_BYTES];
	char errmsg[300] = "";

	write_file("", 0, 0600); /* a file where the folder would be */
	is_int(seal_key_load(a, path, errmsg, sizeof(errmsg)), -ENOTDIR,
	       "no folder for it");
	ok(strstr(errmsg, "let the file be made and read") != NULL,
	   "no folder: the sentence");
	seal_key_load(b, path, errmsg, sizeof(errmsg));
	ok(memcmp(a, b, sizeof(a)) != 0, "no folder: a key of memory alone");
	unlink(path);
}

int main(void)
{
	if (mkdtemp(state) == NULL)
		return 1;
	path = xasprintf("%s/" SEAL_KEY_FILE, state);
	tap_run();
	is_int(rmdir(state), 0, "nothing is left behind");
	free(path);
	return tap_done();
}

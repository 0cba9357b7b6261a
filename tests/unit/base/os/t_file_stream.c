/* SPDX-License-Identifier: Apache-2.0 */
/* Files over a stream, from an honest sender and from a lying sender. */
#include "base/os/file_stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/dir_remove.h"
#include "base/os/dir_walk.h"
#include "tests/unit/tap.h"

static char root[] = "/tmp/file_stream.XXXXXX";
static int at, ends[2];

static int put(const char *name, int size, int type)
{
	char head[64] = {1, (char)size};
	size_t n = strlen(name);

	memcpy(head + 9, name, n);
	return file_stream_put(ends[0], type, head, n > 0 ? 9 + n : 0);
}

/* Read the stream up to now and write the files into the folder. */
static int take(struct file_stream *s)
{
	char block[65536];
	ssize_t n;
	int rc = 0;

	file_stream_init(s, at);
	while (rc == 0 &&
	       (n = recv(ends[1], block, sizeof(block), MSG_DONTWAIT)) > 0)
		rc = file_stream_take(s, block, (size_t)n);
	while (recv(ends[1], block, sizeof(block), MSG_DONTWAIT) > 0)
		;
	return rc;
}

static void begin(void)
{
	if (mkdtemp(root) == NULL ||
	    (at = open(root, O_RDONLY | O_DIRECTORY)) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
}

static void whole(void)
{
	struct file_stream s;
	struct stat st = {0};
	char text[16] = "";
	int fd;

	is_int(file_stream_put_bytes(ends[0], "a/b/c", "hello", 5), 0,
	       "bytes are sent as a file");
	is_int(put("a/run", 0, FILE_STREAM_FILE), 0, "an empty file is sent");
	is_int(file_stream_put(ends[0], FILE_STREAM_SAID, "words", 5), 0,
	       "words are sent after files");
	is_int(file_stream_put(ends[0], FILE_STREAM_DONE, "", 0), 0,
	       "the end of the stream is sent");
	is_int(take(&s), 0, "the receiver takes the whole stream");
	ok(s.done && s.files == 2 && s.bytes == 5 && s.entries == 4,
	   "the receiver counts files, bytes and entries");
	ok(buf_len(&s.said) == 5 && memcmp(buf_data(&s.said), "words", 5) == 0,
	   "the words are kept");
	file_stream_fini(&s);
	fd = openat(at, "a/b/c", O_RDONLY);
	ok(read(fd, text, sizeof(text)) == 5 && strcmp(text, "hello") == 0,
	   "the file has its bytes");
	close(fd);
	ok(fstatat(at, "a/run", &st, 0) == 0 && (st.st_mode & 07777) == 0755,
	   "an executable file stays executable");
	is_int(file_stream_put_file(ends[0], at, "a/b/c", "copy"), 0,
	       "a file is sent");
	is_int(take(&s), 0, "the receiver takes a file sent by descriptor");
	file_stream_fini(&s);
	ok(fstatat(at, "copy", &st, 0) == 0 && st.st_size == 5 &&
	       (st.st_mode & 07777) == 0644,
	   "a received copy has the size and mode 0644");
	is_int(file_stream_put_file(ends[0], at, "none", "copy"), -ENOENT,
	       "a missing file is not sent");
}

static void refused(const char *name, const char *errmsg)
{
	struct file_stream s;

	put(name, 1, FILE_STREAM_FILE);
	ok(take(&s) < 0 && strstr(s.errmsg, errmsg) != NULL, "\"%s\": %s", name,
	   s.errmsg);
	file_stream_fini(&s);
}

static void lies(void)
{
	char deep[DIR_WALK_PATH_MAX] = "";
	struct file_stream s;

	if (symlinkat("/tmp", at, "link") != 0)
		abort();
	refused("../x", "no plain name");
	refused("/x", "no plain name");
	refused("a//x", "no plain name");
	refused("a/./x", "no plain name");
	refused("a/\n", "no plain name");
	refused("link/x", "link: ");
	refused("link", "File exists");
	refused("copy", "File exists");
	refused("copy/x", "Not a directory");
	refused("", "a name of 0 bytes");
	for (int i = 0; i <= DIR_WALK_DEPTH_MAX; i++)
		strcat(deep, "d/");
	strcat(deep, "x");
	ok(strlen(deep) < 100, "a name of many folders");
	{
		char head[128] = {0};

		memcpy(head + 9, deep, strlen(deep));
		file_stream_put(ends[0], FILE_STREAM_FILE, head,
				9 + strlen(deep));
		ok(take(&s) < 0 && strstr(s.errmsg, "deep") != NULL,
		   "folders in folders");
		file_stream_fini(&s);
		memset(head, 'x', sizeof(head));
		file_stream_put(ends[0], FILE_STREAM_FILE, head, 20);
		ok(take(&s) < 0 && strstr(s.errmsg, "bytes together") != NULL,
		   "more bytes than announced are refused");
		file_stream_fini(&s);
	}
	put("", 0, 'Q');
	ok(take(&s) < 0 && strstr(s.errmsg, "unknown type") != NULL,
	   "an unknown type");
	file_stream_fini(&s);
	put("", 0, FILE_STREAM_DONE);
	put("", 0, FILE_STREAM_DONE);
	ok(take(&s) < 0 && strstr(s.errmsg, "after the end") != NULL,
	   "something after the end");
	file_stream_fini(&s);
	file_stream_put(ends[0], FILE_STREAM_FAIL, "for \x1b[1m a reason", 17);
	ok(take(&s) == 0 && s.failed &&
	       strcmp(s.errmsg, "for ?[1m a reason") == 0,
	   "a failure is words without control");
	file_stream_fini(&s);
}

static void removed(void)
{
	DIR *d;

	is_int(dir_remove(at, "none"), 0, "removing a missing path succeeds");
	is_int(dir_remove(at, "link"), 0, "a link is removed");
	is_int(access("/tmp", F_OK), 0, "the target of a removed link stays");
	is_int(dir_remove(at, "a"), 0, "a folder is removed with all files");
	is_int(dir_remove(at, "d"), 0, "a deep folder is removed");
	is_int(dir_remove(at, "copy"), 0, "a plain file is removed");
	d = opendir(root);
	ok(d != NULL && readdir(d) != NULL && readdir(d) != NULL &&
	       readdir(d) == NULL,
	   "nothing is left");
	if (d != NULL)
		closedir(d);
	rmdir(root);
}

int main(void)
{
	begin();
	whole();
	lies();
	removed();
	return tap_done();
}

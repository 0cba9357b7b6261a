/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_stream.c - sends and receives files, for the caged builder of a package
 * (worker/fetch/) and the command that keeps the package. Received data is not
 * trusted: the first fault ends the reception, with a sentence.
 */
#include "base/os/file_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/dir_walk.h"
#include "base/os/nofollow.h"
#include "base/os/sys.h"
#include "base/text/errmsg.h"

#define PREFIX 5    /* type and length of a record */
#define FILE_HEAD 9 /* bytes before a file's name */
#define BLOCK ((size_t)64 << 10)

/* ---- sending ---- */

static int send_whole(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t done = send(fd, p, n, MSG_NOSIGNAL);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

static void encode_number(char *to, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (char)(value >> (8 * i));
}

int file_stream_put(int fd, enum file_stream_type type, const void *head,
		    size_t len)
{
	char record[PREFIX + FILE_STREAM_HEAD_MAX];

	if (len > FILE_STREAM_HEAD_MAX)
		return -EMSGSIZE;
	record[0] = (char)type;
	encode_number(record + 1, len, 4);
	memcpy(record + PREFIX, head, len);
	return send_whole(fd, record, PREFIX + len);
}

static int put_head(int fd, const char *name, bool executable, uint64_t size)
{
	char head[FILE_HEAD + DIR_WALK_PATH_MAX];
	size_t n = strnlen(name, DIR_WALK_PATH_MAX + 1);

	if (n > DIR_WALK_PATH_MAX)
		return -ENAMETOOLONG;
	head[0] = executable ? 1 : 0;
	encode_number(head + 1, size, 8);
	memcpy(head + FILE_HEAD, name, n);
	return file_stream_put(fd, FILE_STREAM_FILE, head, FILE_HEAD + n);
}

int file_stream_put_file(int fd, int at, const char *path, const char *name)
{
	struct stat st;
	int file = dir_walk_open_file(at, path, &st), rc;
	uint64_t left;
	char *block;

	if (file < 0)
		return file;
	left = (uint64_t)st.st_size;
	rc = put_head(fd, name, (st.st_mode & S_IXUSR) != 0, left);
	block = xcalloc(1, BLOCK);
	while (left > 0 && rc == 0) {
		ssize_t n = read(file, block, left < BLOCK ? left : BLOCK);

		if (n < 0 && errno == EINTR)
			continue;
		rc = n < 0    ? -errno
		     : n == 0 ? -ESTALE
			      : send_whole(fd, block, (size_t)n);
		left -= n > 0 ? (uint64_t)n : 0;
	}
	free(block);
	close(file);
	return rc;
}

int file_stream_put_bytes(int fd, const char *name, const void *data,
			  size_t len)
{
	int rc = put_head(fd, name, false, len);

	return rc == 0 ? send_whole(fd, data, len) : rc;
}

/* ---- receiving ---- */

void file_stream_init(struct file_stream *s, int at)
{
	*s = (struct file_stream){.at = at, .file = -1, .need = PREFIX};
}

void file_stream_fini(struct file_stream *s)
{
	buf_fini(&s->said);
	buf_fini(&s->held);
	sys_drop(&s->file);
}

#define wrong(s, ...) errmsg_set((s)->errmsg, sizeof((s)->errmsg), __VA_ARGS__)

static int trouble(struct file_stream *s, int rc, const char *name)
{
	wrong(s, "%s: %s", name, strerror(-rc));
	return rc;
}

static uint64_t decode_number(const char *from, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)(unsigned char)from[i] << (8 * i);
	return value;
}

static int charge_entry(struct file_stream *s)
{
	return ++s->entries > DIR_WALK_ENTRIES_MAX
		   ? wrong(s, "there are more than %d files and folders",
			   DIR_WALK_ENTRIES_MAX)
		   : 0;
}

/* Create and open the folder of NAME; *LAST is the name in that folder. */
static int make_parent_folders(struct file_stream *s, char *name, char **last)
{
	int at = fcntl(s->at, F_DUPFD_CLOEXEC, 0), depth = 0;
	char *slash;

	if (at < 0)
		return trouble(s, -errno, name);
	for (; (slash = strchr(name, '/')) != NULL; name = slash + 1) {
		int next, rc = 0;

		*slash = '\0';
		if (++depth > DIR_WALK_DEPTH_MAX)
			rc = wrong(s, "%s: folders lie more than %d deep", name,
				   DIR_WALK_DEPTH_MAX);
		else if (mkdirat(at, name, 0755) == 0)
			rc = charge_entry(s);
		next = rc < 0 ? rc
			      : nofollow_open_here(at, name,
						   O_RDONLY | O_DIRECTORY);
		close(at);
		if (next < 0)
			return rc < 0 ? rc : trouble(s, next, name);
		at = next;
	}
	*last = name;
	return at;
}

static int create(struct file_stream *s, char *name, bool executable)
{
	char *last = name;
	int at = s->at >= 0 ? make_parent_folders(s, name, &last) : s->at;
	int rc = 0;

	if (at < 0)
		return s->at >= 0 ? at : 0;
	s->file = openat(at, last,
			 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			 executable ? 0755 : 0644);
	if (s->file < 0)
		rc = trouble(s, -errno, last);
	close(at);
	return rc;
}

static int begin_file(struct file_stream *s, const char *head, size_t n)
{
	char name[DIR_WALK_PATH_MAX + 1];

	if (n <= FILE_HEAD || n - FILE_HEAD > DIR_WALK_PATH_MAX)
		return wrong(s, "a file has a name of %zu bytes",
			     n > FILE_HEAD ? n - FILE_HEAD : 0);
	memcpy(name, head + FILE_HEAD, n - FILE_HEAD);
	name[n - FILE_HEAD] = '\0';
	if (strlen(name) != n - FILE_HEAD || !nofollow_is_plain(name))
		return wrong(s, "%s is no plain name of a file", name);
	s->left = decode_number(head + 1, 8);
	if (s->left > DIR_WALK_BYTES_MAX ||
	    s->bytes + s->left > DIR_WALK_BYTES_MAX)
		return wrong(s,
			     "%s: the files have more than %zu bytes "
			     "together",
			     name, DIR_WALK_BYTES_MAX);
	s->bytes += s->left;
	s->files++;
	return charge_entry(s) < 0 ? -EINVAL : create(s, name, head[0] != 0);
}

static int take_record(struct file_stream *s, char type, const char *head,
		       size_t n)
{
	switch (type) {
	case FILE_STREAM_FILE:
		return begin_file(s, head, n);
	case FILE_STREAM_SAID:
		/* keep the end of the printed text, which tells of an error */
		buf_add(&s->said, head, n);
		if (buf_len(&s->said) > BLOCK)
			buf_drop(&s->said, buf_len(&s->said) - BLOCK);
		return 0;
	case FILE_STREAM_FAIL:
		wrong(s, "%.*s", (int)n, head);
		s->failed = true;
		return 0;
	case FILE_STREAM_DONE:
		s->done = true;
		return 0;
	default:
		return wrong(s, "a record has the unknown type %d", type);
	}
}

/* Take the held bytes: the prefix of a record, or a whole record. */
static int take_held(struct file_stream *s)
{
	const char *p = buf_data(&s->held);
	size_t n = (size_t)decode_number(p + 1, 4);
	int rc;

	if (n > FILE_STREAM_HEAD_MAX)
		return wrong(s, "a record has a head of %zu bytes", n);
	s->need = PREFIX + n;
	if (buf_len(&s->held) < s->need)
		return 0;
	rc = take_record(s, p[0], p + PREFIX, n);
	buf_drop(&s->held, s->need);
	s->need = PREFIX;
	return rc;
}

static int take_body(struct file_stream *s, const char *p, size_t n)
{
	while (n > 0 && s->file >= 0) {
		ssize_t done = write(s->file, p, n);

		if (done < 0 && errno != EINTR)
			return trouble(s, -errno, "a file");
		p += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

int file_stream_take(struct file_stream *s, const char *p, size_t n)
{
	int rc = 0;

	while (rc == 0 && n > 0 && !s->done && !s->failed) {
		size_t want = s->left > 0 ? (n < s->left ? n : (size_t)s->left)
					  : s->need - buf_len(&s->held);

		if (want > n)
			want = n;
		if (s->left > 0) {
			rc = take_body(s, p, want);
			s->left -= want;
		} else {
			buf_add(&s->held, p, want);
			if (buf_len(&s->held) == s->need)
				rc = take_held(s);
		}
		if (rc == 0 && s->left == 0)
			sys_drop(&s->file);
		p += want;
		n -= want;
	}
	if (rc == 0 && n > 0)
		rc = wrong(s, "there is more after the end");
	return rc;
}

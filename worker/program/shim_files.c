/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_files.c - sends files of /work, or bytes, as artifacts, for shim_lines.c and
 * shim_output.c. An artifact that cannot be kept is an error text, and struct shim notes
 * who refused the artifact.
 */
#include "worker/program/shim_private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "worker/channel.h"
#include "worker/progress.h"
#include "worker/text.h"

#define CACHED_TRIES 10
#ifndef RESOLVE_CACHED /* Linux 5.12 */
#define RESOLVE_CACHED 0x20
#endif

/* Receive the answer to an artifact; a refused artifact does not count. */
static const char *take_artifact_answer(struct shim *s, uint64_t size, char *id)
{
	static char errmsg[MSG_TEXT_MAX + 1];
	struct buf body = {0};
	bool ok = shim_await_artifact(s, &body);
	const char *text = buf_len(&body) > 0 ? buf_data(&body) : "";
	size_t n =
	    buf_len(&body) < MSG_TEXT_MAX ? buf_len(&body) : MSG_TEXT_MAX;
	size_t at = ok ? 0 : text_refusal(s->refusal, text, n);
	char *to = ok ? id : errmsg;

	memcpy(to, text + at, n - at);
	to[n - at] = '\0';
	buf_fini(&body);
	if (ok)
		return NULL;
	s->refused = BY_SUPERVISOR;
	s->artifact_bytes -= size;
	return errmsg;
}

static const char *artifact_fault(struct shim *s, uint64_t size,
				  struct str name, struct str mime_type)
{
	static char errmsg[256];
	uint64_t left = s->run.artifact_bytes - s->artifact_bytes;

	s->refused = UNFIT;
	if (!text_is_name(name.p, name.n, MSG_NAME_MAX))
		return "an artifact's name is 1 to 256 bytes of UTF-8 without "
		       "control characters";
	if (!text_is_name(mime_type.p, mime_type.n, MSG_NAME_MAX))
		return "an artifact's mimeType is 1 to 256 bytes of UTF-8 "
		       "without control characters";
	s->refused = NOT_REFUSED;
	if (size <= MSG_BODY_MAX && size <= left)
		return NULL;
	s->refused = BY_LIMIT;
	memcpy(s->refusal, "RESOURCE_LIMIT", sizeof("RESOURCE_LIMIT"));
	s->over_bytes = s->artifact_bytes + size;
	snprintf(
	    errmsg, sizeof(errmsg),
	    "it has %llu bytes, and of the %llu that all artifacts may have "
	    "together %llu are left; who can raise that is the template's "
	    "author: limits.maxArtifactBytes, up to the server's "
	    "max_artifact_bytes",
	    (unsigned long long)size, (unsigned long long)s->run.artifact_bytes,
	    (unsigned long long)left);
	return errmsg;
}

const char *shim_bytes(struct shim *s, const char *p, size_t n, struct str name,
		       struct str mime_type, char *id)
{
	struct msg m = {.type = MSG_ARTIFACT};
	const char *errmsg = artifact_fault(s, n, name, mime_type);

	if (errmsg != NULL)
		return errmsg;
	s->artifact_bytes += n;
	m.artifact.name = name;
	m.artifact.mime_type = mime_type;
	progress_flush();
	channel_send_body(&m, p, n);
	return take_artifact_answer(s, n, id);
}

/* Does PATH lead out of the folder in which PATH begins? */
static bool does_path_leave(const char *path)
{
	int depth = 0;
	size_t n;

	for (; *path != '\0' && depth >= 0; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n == 2 && memcmp(path, "..", 2) == 0)
			depth--;
		else if (n > 0 && (n != 1 || *path != '.'))
			depth++;
	}
	return depth < 0;
}

/*
 * Open PATH with names from the kernel's cache alone, where tmpfs has all names. A
 * missing name would be looked up under the lock of the folder, which a process of the
 * program may hold.
 */
int shim_open_below(int at, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC | O_NOCTTY,
			       .resolve = RESOLVE_BENEATH |
					  RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_XDEV | RESOLVE_CACHED};
	long fd = -1;

	/* a name that is just being renamed may be missed */
	for (int i = 0; i < CACHED_TRIES; i++) {
		fd = syscall(SYS_openat2, at, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (fd >= 0)
		return (int)fd;
	if (errno != EAGAIN)
		return -errno;
	return does_path_leave(path) ? -EXDEV : -ENOENT;
}

/* Send the rest of FD's SIZE bytes; a file that shrank is filled with zeros. */
static void send_rest(int fd, uint64_t at, uint64_t size)
{
	static char piece[MSG_CHUNK_MAX];

	while (at < size) {
		size_t n = size - at < sizeof(piece) ? (size_t)(size - at)
						     : sizeof(piece);
		struct msg m = {.type = MSG_CHUNK};
		ssize_t got = pread(fd, piece, n, (off_t)at);

		if (got < (ssize_t)n)
			memset(piece + (got > 0 ? got : 0), 0,
			       n - (size_t)(got > 0 ? got : 0));
		m.chunk.data = (struct str){piece, n};
		channel_send(&m);
		at += n;
	}
}

static const char *send_file(struct shim *s, int fd, const struct stat *st,
			     struct str name, struct str mime_type, char *id)
{
	static char head[MSG_CHUNK_MAX];
	uint64_t size = (uint64_t)st->st_size;
	struct msg m = {.type = MSG_ARTIFACT};
	const char *errmsg = artifact_fault(s, size, name, mime_type);
	ssize_t n;

	if (errmsg != NULL)
		return errmsg;
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0) {
		s->refused = UNFIT;
		return "the file cannot be read";
	}
	if ((uint64_t)n > size)
		n = (ssize_t)size;
	s->artifact_bytes += size;
	m.artifact.total = size;
	m.artifact.name = name;
	m.artifact.mime_type = mime_type;
	m.artifact.head = (struct str){head, (size_t)n};
	progress_flush();
	channel_send(&m);
	send_rest(fd, (uint64_t)n, size);
	return take_artifact_answer(s, size, id);
}

/* O_NONBLOCK keeps a FIFO from blocking the shim; the FIFO is refused afterwards. */
const char *shim_file_below(struct shim *s, int at, const char *path,
			    struct str name, struct str mime_type, char *id)
{
	const char *errmsg;
	struct stat st;
	int fd = shim_open_below(at, path, O_RDONLY | O_NONBLOCK);

	s->refused = UNFIT;
	if (fd == -ELOOP || fd == -EXDEV)
		return "it leads through a symbolic link, or out of /work";
	if (fd < 0)
		return fd == -ENOENT ? "there is no such file in /work"
				     : "it cannot be opened";
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		errmsg = "it is not a plain file";
	else
		errmsg = send_file(s, fd, &st, name, mime_type, id);
	close(fd);
	return errmsg;
}

const char *shim_file(struct shim *s, const char *path, struct str name,
		      struct str mime_type, char *id)
{
	int work =
	    openat(AT_FDCWD, ROOTFS_WORK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *errmsg;

	if (work < 0)
		return "/work cannot be opened";
	errmsg = shim_file_below(s, work, path, name, mime_type, id);
	close(work);
	return errmsg;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq_password.c - reads [store] password_file for pq_link.c, for example a
 * credential passed by systemd. A file that others may read is refused, as
 * libpq refuses such a PGPASSFILE; no message has the content.
 */
#include "supervisor/store/postgres/pq_password.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static struct {
	char *path; /* NULL: no file is configured */
	/* opened at the start, when root may have had permissions that are gone later */
	int fd;
	bool was_root;
} file;

void pq_password_file(const char *path)
{
	if (path == NULL || path[0] == '\0')
		return;
	file.path = xstrdup(path);
	file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	file.was_root = geteuid() == 0;
}

static int refuse_password(char *why, size_t size, const char *text)
{
	snprintf(why, size, "password_file %s: %s", file.path, text);
	return -ENOKEY;
}

int pq_password_read(char to[PQ_PASSWORD_SIZE], char *why, size_t size)
{
	struct stat st;
	bool is_lent;
	int fd, rc = 0;
	ssize_t n;

	to[0] = '\0';
	if (file.path == NULL)
		return 0;
	fd = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* a process that is no longer root reads the file opened at the start */
	if (fd < 0 && errno == EACCES && file.fd >= 0)
		fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || fstat(fd, &st) != 0) {
		rc = refuse_password(why, size, strerror(errno));
		goto out;
	}
	/*
	 * A credential of systemd belongs to root, and an ACL lets the user of the
	 * service read the file; the mask of the ACL then is in the group bits.
	 */
	is_lent = st.st_uid == 0 && !file.was_root;
	if (!S_ISREG(st.st_mode) || (st.st_mode & (is_lent ? 037 : 077)) != 0) {
		rc = refuse_password(
		    why, size,
		    "it is no file, or others may read it; chmod 600");
		goto out;
	}
	n = pread(fd, to, PQ_PASSWORD_SIZE - 1, 0);
	to[n > 0 ? n : 0] = '\0';
	to[strcspn(to, "\r\n")] = '\0';
	if (to[0] == '\0' || n == PQ_PASSWORD_SIZE - 1)
		rc = refuse_password(
		    why, size,
		    "its first line is empty, or too long for a "
		    "password");
out:
	if (fd >= 0)
		close(fd);
	if (rc != 0)
		explicit_bzero(to, PQ_PASSWORD_SIZE);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grant_file.c - writes approved grants into grants.d, for grant.c. The command has the
 * operator's rights, and the server, which has the text, perhaps less: so the command
 * takes only ids and sections of the expected form, follows no link, and writes into no
 * folder that others may write to. The server reads such a file with sections for grants
 * alone.
 */
#include "cli/grant/grant_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json.h"

#define ID_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_"
#define NAME_MAX_BYTES 64
#define DIGEST_HEX 64
#define FOLDER "/grants.d"

static bool is_id(const char *s)
{
	return s != NULL && islower((unsigned char)*s) &&
	       strlen(s) <= NAME_MAX_BYTES && s[strspn(s, ID_CHARS)] == '\0';
}

static bool is_digest(const char *s)
{
	return s != NULL && strspn(s, "0123456789abcdef") == DIGEST_HEX &&
	       s[DIGEST_HEX] == '\0';
}

/*
 * Has LINE, with N bytes, a place in a grant to the template ID with DIGEST? *HEADS and
 * *DIGESTS count both kinds of lines, of which each section has one.
 */
static bool is_line(const char *line, size_t n, const char *id,
		    const char *digest, int *heads, int *digests)
{
	char *copy = xstrndup(line, n);
	char *grant = xasprintf("[grant \"%s\"]", id);
	char *template = xasprintf("[template \"%s\"]", id);
	char *key = xasprintf("digest = %s", digest);
	bool head = strcmp(copy, grant) == 0 || strcmp(copy, template) == 0;
	bool own = strcmp(copy, key) == 0;
	bool good;

	*heads += head;
	*digests += own;
	good = head || own || *copy == '\t' || *copy == '#' ||
	       (islower((unsigned char)*copy) && strstr(copy, " = ") != NULL &&
		strncmp(copy, "digest", strlen("digest")) != 0);
	for (const char *p = copy; *p != '\0'; p++)
		good = good && ((unsigned char)*p >= ' ' || *p == '\t') &&
		       *p != 0x7F;
	free(copy);
	free(grant);
	free(template);
	free(key);
	return good;
}

static bool is_section(const char *text, const char *id, const char *digest)
{
	int heads = 0, digests = 0;

	if (text == NULL || *text == '\0')
		return false;
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		if (!is_line(text, n, id, digest, &heads, &digests))
			return false;
		text += n + (text[n] == '\n');
	}
	return heads > 0 && heads == digests;
}

/* Open the folder DIR, made if it is missing, through no link. A descriptor or -errno. */
static int open_folder(const char *dir)
{
	struct stat st;
	int fd, rc = 0;

	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return -errno;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		rc = -errno;
	else if ((st.st_uid != geteuid() && st.st_uid != 0) ||
		 (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		rc = -EPERM;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static int write_all(int fd, const char *text)
{
	size_t n = strlen(text);

	while (n > 0) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			text += done;
			n -= (size_t)done;
		}
	}
	return fsync(fd) == 0 ? 0 : -errno;
}

/* Make the file NAME of the folder DIR with TEXT, whole or not at all. 0 or -errno. */
static int make_file(int dir, const char *name, const char *text)
{
	char *part = xasprintf(".%s.part", name);
	int fd, rc;

	(void)unlinkat(dir, part, 0); /* of a command that was killed */
	fd = openat(dir, part,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0) {
		rc = -errno;
		free(part);
		return rc;
	}
	rc = fchmod(fd, 0644) == 0 ? write_all(fd, text) : -errno;
	close(fd);
	if (rc == 0 && renameat(dir, part, dir, name) != 0)
		rc = -errno;
	if (rc == 0)
		(void)fsync(dir);
	else
		(void)unlinkat(dir, part, 0);
	free(part);
	return rc;
}

static int not_written(const char *path, int err)
{
	message_print("%s: %s, so nothing was approved", path,
		      err == EPERM ? "others may write to this folder"
				   : strerror(err));
	if (err == EACCES)
		message_more("  hint: the file is the operator's: try again as "
			     "root, with sudo");
	return CLI_TROUBLE;
}

int grant_file_write(struct json_object *proposal, char **path)
{
	struct json_object *draft = json_member(proposal, "draft");
	const char *dir = json_member_str(proposal, "grantsDir");
	const char *id = json_member_str(proposal, "templateId");
	const char *name = json_member_str(proposal, "proposalId");
	const char *digest = json_member_str(draft, "digest");
	const char *text = json_member_str(draft, "section");
	char *file;
	int fd, rc;

	*path = NULL;
	if (dir == NULL || *dir != '/' || strlen(dir) <= strlen(FOLDER) ||
	    strcmp(dir + strlen(dir) - strlen(FOLDER), FOLDER) != 0)
		return message_fail(CLI_TROUBLE,
				    "the server names no folder grants.d for "
				    "approved grants");
	if (!is_id(id) || !is_id(name) || !is_digest(digest) ||
	    !is_section(text, id, digest))
		return message_fail(CLI_TROUBLE,
				    "the server's draft has not the form of a "
				    "grant to one package, so nothing was "
				    "written");
	fd = open_folder(dir);
	if (fd < 0)
		return not_written(dir, -fd);
	file = xasprintf("%s.%s.conf", id, name);
	*path = xasprintf("%s/%s", dir, file);
	rc = make_file(fd, file, text);
	close(fd);
	free(file);
	if (rc == 0)
		return 0;
	rc = not_written(*path, -rc);
	free(*path);
	*path = NULL;
	return rc;
}

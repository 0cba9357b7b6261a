/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_config_write.c - "paddock client-config --write": merges the entry
 * into the file of a client. client_config.c calls it. A file that is not plain
 * JSON, as with comments in it, is refused and stays as it is.
 */
#include "cli/server/client_config_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define NEW_MODE 0644 /* less the umask */

/* Stat PATH; *THERE: the file exists. 0, or an exit status. */
static int look_at_config(const char *path, struct stat *st, bool *there)
{
	*there = stat(path, st) == 0;
	if (!*there && errno != ENOENT)
		return message_fail(CLI_TROUBLE, "%s: %s", path,
				    strerror(errno));
	if (*there && !S_ISREG(st->st_mode))
		return message_fail(
		    CLI_USAGE, "%s, which --write names, is no file", path);
	return 0;
}

/*
 * Return the member KEY of ROOT, made if missing; NULL: ROOT or KEY is no
 * object, which was printed.
 */
static struct json_object *servers_of(struct json_object *root,
				      const char *path, const char *key)
{
	struct json_object *servers;

	if (!json_object_is_type(root, json_type_object)) {
		message_print("%s is left as it is: it has to be an object",
			      path);
		return NULL;
	}
	if (!json_object_object_get_ex(root, key, &servers)) {
		servers = json_object_new_object();
		json_object_object_add(root, key, servers);
	}
	if (json_object_is_type(servers, json_type_object))
		return servers;
	message_print("%s is left as it is: \"%s\" in it has to be an object",
		      path, key);
	return NULL;
}

/* Write TEXT to FD, with mode and owner of ST if THERE. 0 or -errno. */
static int fill_config(int fd, const struct stat *st, bool there,
		       const char *text, size_t len)
{
	mode_t mask = umask(0);

	umask(mask);
	if (there && (st->st_uid != geteuid() || st->st_gid != getegid()) &&
	    fchown(fd, st->st_uid, st->st_gid) < 0)
		return -errno;
	if (fchmod(fd, there ? st->st_mode & 07777 : NEW_MODE & ~mask) < 0)
		return -errno;
	for (size_t done = 0; done < len;) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* Replace the file PATH by TEXT in one step. 0 or -errno. */
static int replace_config(const char *path, const struct stat *st, bool there,
			  const char *text, size_t len)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC), rc = fd < 0 ? -errno : 0;

	if (fd >= 0) {
		rc = fill_config(fd, st, there, text, len);
		if (close(fd) < 0 && rc == 0)
			rc = -errno;
		if (rc == 0 && rename(temporary, path) < 0)
			rc = -errno;
		if (rc < 0)
			unlink(temporary);
	}
	free(temporary);
	return rc;
}

static void report_written(const char *path, struct json_object *servers,
			   bool again)
{
	struct buf others = {0};

	json_object_object_foreach(servers, name, value) {
		(void)value;
		if (strcmp(name, CLIENT_CONFIG_NAME) != 0)
			buf_printf(&others, "%s%s",
				   buf_len(&others) > 0 ? ", " : "", name);
	}
	buf_add(&others, "", 1);
	message_more(
	    "%s " CLIENT_CONFIG_NAME " in %s%s%s", again ? "replaced" : "wrote",
	    path, buf_len(&others) > 1 ? ", beside " : "", buf_data(&others));
	buf_fini(&others);
}

static int merge_config(const char *path, const struct stat *st, bool there,
			const char *key, struct json_object *entry, bool quiet)
{
	struct json_object *root = json_object_new_object(), *servers;
	struct buf text = {0};
	bool again;
	int rc = 0;

	if (there && st->st_size > 0) {
		json_object_put(root);
		if (json_file_read(&root, path) < 0) {
			message_more("  hint: %s is left as it is; without "
				     "--write what belongs there is printed",
				     path);
			return CLI_USAGE;
		}
	}
	servers = servers_of(root, path, key);
	if (servers == NULL) {
		json_object_put(root);
		return CLI_USAGE;
	}
	again = json_object_object_get_ex(servers, CLIENT_CONFIG_NAME, NULL);
	json_object_object_add(servers, CLIENT_CONFIG_NAME,
			       json_object_get(entry));
	json_pretty_add(&text, root);
	buf_add_str(&text, "\n");
	rc = replace_config(path, st, there, buf_data(&text), buf_len(&text));
	if (rc < 0)
		rc = message_fail(CLI_TROUBLE, "%s is left as it is: %s", path,
				  strerror(-rc));
	else if (!quiet)
		report_written(path, servers, again);
	buf_fini(&text);
	json_object_put(root);
	return rc;
}

int client_config_write(const char *path, const char *key,
			struct json_object *entry, bool quiet)
{
	struct stat st;
	bool there;
	int rc = look_at_config(path, &st, &there);
	char *real;

	if (rc != 0)
		return rc;
	real = there ? realpath(path, NULL) : NULL; /* a link stays a link */
	rc = merge_config(real != NULL ? real : path, &st, there, key, entry,
			  quiet);
	free(real);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_start.c - checks whether a server can start with this configuration.
 * Each check asks the module that is going to need the resource, without
 * leaving a trace. health.c calls the checks in its order; a failed check gives
 * a sentence and an exit status.
 */
#include "supervisor/run/health/health.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/browser/browser.h"
#include "supervisor/store/state/disk_space.h"
#include "supervisor/clients/streamable_http/http_listen.h"
#include "supervisor/clients/stdio/unix_listen.h"
#include "supervisor/start/sdnotify.h"
#include "supervisor/spawn/privs.h"
#include "supervisor/store/state/state_file.h"

/*
 * Return the exit status: to mend rights for EACCES and EPERM, else to change
 * the configuration.
 */
static int exit_status_of(int rc)
{
	return rc == -EACCES || rc == -EPERM ? EX_NOPERM : EX_CONFIG;
}

/* ---- templates ---- */

static int look_at_templates(const char *dir, char *errmsg, size_t size)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	if (rc == -ENOENT)
		snprintf(errmsg, size,
			 "%s, which templates names, is not there; "
			 "make that folder, or name another",
			 dir);
	else if (rc == -ENOTDIR)
		snprintf(errmsg, size,
			 "%s, which templates names, is no folder; "
			 "name the folder that the packages are in",
			 dir);
	else if (rc < 0)
		snprintf(errmsg, size,
			 "the folder %s, which templates names, "
			 "cannot be read: %s; let this user read it, or name "
			 "another",
			 dir, strerror(-rc));
	return rc == 0 ? 0 : exit_status_of(rc);
}

int health_start_templates(const struct health_start *c, char *errmsg,
			   size_t size)
{
	int status = 0;

	if (!c->config->templates_given)
		return 0; /* default folders may be missing */
	for (size_t i = 0; status == 0 && i < c->config->n_templates; i++)
		status =
		    look_at_templates(c->config->templates[i], errmsg, size);
	return status;
}

/* ---- the state folder ---- */

/*
 * May DIR be written, or made where it is missing? 0 or -errno; *AT is the
 * nearest existing folder.
 */
static int look_at_way(const char *dir, char **at)
{
	int rc;

	*at = xstrdup(dir);
	while ((rc = state_file_folder_ok(*at)) == -ENOENT) {
		char *slash = strrchr(*at, '/');

		if (slash == NULL || slash == *at)
			break;
		*slash = '\0';
	}
	return rc;
}

int health_start_state(const struct health_start *c, char *errmsg, size_t size)
{
	const char *dir = c->config->state_dir;
	char *at, text[HEALTH_ERRMSG_SIZE / 2];
	int rc;

	/* as root: can the folder be given to the user who will serve? */
	if (access(dir, F_OK) == 0 && privs_try_state(dir, errmsg, size) < 0 &&
	    !privs_may_write(dir))
		return EX_NOPERM;
	rc = look_at_way(dir, &at);
	if (rc == -EACCES && privs_leave_root() && privs_may_write(at))
		rc = 0; /* the user's already; root may have no right */
	if (rc == 0 && !privs_may_reach(at, strcmp(at, dir) != 0))
		rc = -EACCES;
	if (rc < 0)
		snprintf(text, sizeof(text), "%s: %s; %s", at, strerror(-rc),
			 store_remedy(rc));
	else if (c->config->database == NULL)
		rc = store_look(dir, text, sizeof(text));
	free(at);
	if (rc == 0)
		return 0;
	snprintf(errmsg, size, "the state folder cannot be used: %s", text);
	return store_ends_start(rc);
}

/*
 * Try the database, for --check alone: a start opens the database in any case,
 * with the same errors.
 */
int health_start_database(const struct health_start *c, char *errmsg,
			  size_t size)
{
	char text[HEALTH_ERRMSG_SIZE / 2];
	struct store_database about;
	int rc;

	if (!c->check || c->config->database == NULL)
		return 0;
	rc = store_look_database(c->config->database, &about, text,
				 sizeof(text));
	if (rc != 0) {
		snprintf(errmsg, size, "the database cannot be used: %s", text);
		return store_ends_start(rc);
	}
	health_database_text(&about, text, sizeof(text));
	log_plain("the database %s", text);
	return 0;
}

int health_start_disk(const struct health_start *c, char *errmsg, size_t size)
{
	enum disk_space room = disk_space(c->config, 0);

	if (room == DISK_SPACE_OK)
		return 0;
	snprintf(errmsg, size,
		 "the disk of the state folder %s is nearly full: "
		 "make room there, or set a lower disk_reserve_bytes",
		 c->config->state_dir);
	return EX_UNAVAILABLE;
}

/* ---- logs ---- */

static int look_at_log(const char *key, const char *path, char *errmsg,
		       size_t size)
{
	int rc =
	    path == NULL || log_held_fd(path) >= 0 ? 0 : privs_try_log(path);

	if (rc == 0)
		return 0;
	if (rc == -ENXIO) {
		snprintf(errmsg, size,
			 "%s is %s, which is a FIFO that no program reads, or "
			 "a socket; start the program that reads the FIFO "
			 "before paddockd, or name another file",
			 key, path);
		return EX_UNAVAILABLE;
	}
	snprintf(errmsg, size,
		 "%s is %s, which cannot be opened: %s; make its "
		 "folder and let this user write there, or name another file",
		 key, path, strerror(-rc));
	return exit_status_of(rc);
}

int health_start_log(const struct health_start *c, char *errmsg, size_t size)
{
	return look_at_log("log_file", c->config->log_file, errmsg, size);
}

int health_start_audit(const struct health_start *c, char *errmsg, size_t size)
{
	return look_at_log("audit_file", c->config->audit_file, errmsg, size);
}

/* ---- addresses of clients ---- */

/*
 * Is a daemon of this configuration running? Then its addresses are not free.
 */
static bool is_served(const struct health_start *c)
{
	return c->check && unix_listen_is_served(c->config->socket);
}

int health_start_socket(const struct health_start *c, char *errmsg, size_t size)
{
	if (c->stdio || is_served(c) ||
	    (!c->check && sdnotify_listen_fds() > 0))
		return 0;
	return unix_listen_try(c->config, errmsg, size);
}

int health_start_listen(const struct health_start *c, char *errmsg, size_t size)
{
	if (c->stdio || c->config->listen == NULL)
		return 0;
	return http_listen_try(c->config, c->check && !is_served(c), errmsg,
			       size);
}

/* ---- descriptors ---- */

/*
 * Descriptors of the server with store and cgroups; of a run: a socket and a
 * cgroup; of clients: some connections with files.
 */
#define OWN_FDS 64
#define RUN_FDS 2
#define CLIENT_FDS 32

/* The server raises the soft limit to the hard limit. */
int health_start_descriptors(const struct health_start *c, char *errmsg,
			     size_t size)
{
	long long runs = c->config->max_concurrent_runs;
	long long least = OWN_FDS + RUN_FDS * runs + CLIENT_FDS;
	struct rlimit has;

	if (getrlimit(RLIMIT_NOFILE, &has) < 0 || has.rlim_max >= (rlim_t)least)
		return 0;
	snprintf(errmsg, size,
		 "the limit of open files is %lld, and this configuration "
		 "needs %lld descriptors: %d for the server, %d for each of "
		 "the %lld runs of max_concurrent_runs, and %d for clients; "
		 "the operator raises the limit by LimitNOFILE in the unit, "
		 "or by ulimit -n where paddockd is started, or sets a lower "
		 "max_concurrent_runs",
		 (long long)has.rlim_max, least, OWN_FDS, RUN_FDS, runs,
		 CLIENT_FDS);
	return EX_UNAVAILABLE;
}

/* ---- the browser ---- */

int health_start_browser(const struct health_start *c, char *errmsg,
			 size_t size)
{
	const char *named = c->config->chromium;

	if (!c->config->browser_enabled || named == NULL ||
	    browser_chromium(c->config) != NULL)
		return 0;
	snprintf(errmsg, size,
		 "chromium in [browser] is %s, which is no program "
		 "that can be started; install it, or leave that key out",
		 named);
	return EX_CONFIG;
}

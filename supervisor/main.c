/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - paddockd: flags, configuration, privileges and logs in order, then
 * server.c and daemon.c, or a check. No logic. A failed step ends the start
 * with a line for people and a status of sysexits(3).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/os/fds_open.h"
#include "base/os/log.h"
#include "base/os/log_append.h"
#include "base/mem.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/browser/browser.h"
#include "supervisor/run/audit.h"
#include "supervisor/daemon.h"
#include "supervisor/egress/egress.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/start/flags.h"
#include "supervisor/start/start_check.h"
#include "supervisor/spawn/privs.h"
#include "supervisor/run/worker/programs.h"
#include "supervisor/server.h"
#include "supervisor/store/import/store_import.h"
#include "supervisor/store/postgres/pq_password.h"
#include "supervisor/store/store.h"
#include "supervisor/clients/stdio/stdio.h"
#include "supervisor/spawn/ids/uid_range.h"

#define INSTALLED "/usr/libexec/paddock/"

#define PATH_ROOM 64 /* room for the text behind the last slash */

/*
 * Return the path of the program NAME: beside this program, or where programs
 * are installed.
 */
static const char *program_path(const char *name, char path[PATH_MAX])
{
	static const char *const places[] = {"", "../libexec/paddock/"};
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - PATH_ROOM);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	for (size_t i = 0; slash != NULL && i < ARRAY_LEN(places); i++) {
		snprintf(slash + 1, PATH_ROOM, "%s%s", places[i], name);
		if (access(path, X_OK) == 0)
			return path;
	}
	snprintf(path, PATH_MAX, INSTALLED "%s", name);
	return path;
}

static const char *worker_path(void)
{
	static char path[PATH_MAX];

	return program_path("paddock-worker", path);
}

static const char *browser_path(void)
{
	static char path[PATH_MAX];

	return program_path("paddock-browser", path);
}

static const char *egress_path(void)
{
	static char path[PATH_MAX];

	return program_path("paddock-egress", path);
}

static struct server_programs programs(void)
{
	return (struct server_programs){.worker = worker_path(),
					.browser = browser_path(),
					.egress = egress_path()};
}

static enum isolation_level required(const struct config *c,
				     const struct flags *f)
{
	if (f->require != ISOLATION_NONE || c->require_isolation == NULL)
		return f->require;
	return (enum isolation_level)isolation_level_of(c->require_isolation);
}

/*
 * Open a log. Privsep opens the files of the start's configuration; the server
 * opens files that came with HUP.
 */
static int keeper_open(const char *path)
{
	int fd = privsep_open_log(path);

	if (fd != -EPERM)
		return fd;
	log_open_by(NULL);
	fd = log_file(path);
	log_open_by(keeper_open);
	return fd;
}

/* Privsep's own copy of the configuration; no request changes it. */
struct view {
	const struct flags *flags;
	const struct config *config;
};

/*
 * Does the configuration allow ARGV by MAY? If not, read the configuration again:
 * changes count from their first use on.
 */
static bool may_exec(struct view *v,
		     bool (*may)(const struct config *c, char *const argv[]),
		     char *const argv[])
{
	struct config *fresh;
	char errmsg[1024];

	if (may(v->config, argv))
		return true;
	fresh = flags_config((void *)v->flags, errmsg, sizeof(errmsg));
	if (fresh == NULL)
		return false;
	v->config = fresh; /* the old is not freed: the server may share it */
	return may(fresh, argv);
}

static bool may_start_worker(void *view, char *const argv[])
{
	return may_exec(view, programs_may_start, argv);
}

static bool may_start_egress(void *view, char *const argv[])
{
	return may_exec(view, egress_may_start, argv);
}

/* Do all that only root can do for the serving user. */
static int before_start(const struct config *c, const struct flags *f)
{
	static struct view view;
	const struct privsep_paths paths = {.may_start = may_start_worker,
					    .may_start_egress =
						may_start_egress,
					    .arg = &view,
					    .worker = worker_path(),
					    .browser = browser_path(),
					    .egress = egress_path(),
					    .socket = c->socket,
					    .state = c->state_dir,
					    .log = c->log_file,
					    .audit = c->audit_file};
	char errmsg[512];
	int rc = uid_range_take(errmsg, sizeof(errmsg));

	if (rc < 0) {
		log_tell(LOG_LEVEL_ERROR, "server", "%s", errmsg);
		return EX_UNAVAILABLE;
	}
	cgroup_init();
	if (!privs_leave_root())
		return 0;
	/* a missing folder is made when the server is ready; a stdio server
	   takes the folder with its first run */
	if (!f->stdio && access(c->state_dir, F_OK) == 0 &&
	    privs_give_state(c->state_dir, errmsg, sizeof(errmsg)) < 0 &&
	    !privs_may_write(c->state_dir)) {
		log_tell(LOG_LEVEL_ERROR, "server", "%s", errmsg);
		return EX_NOPERM;
	}
	view = (struct view){f, c};
	rc = privsep_start(&paths);
	if (rc == 0)
		return 0;
	log_tell(LOG_LEVEL_ERROR, "server",
		 "no process can be started that keeps root's rights: %s",
		 strerror(-rc));
	return EX_UNAVAILABLE;
}

static int drop_privileges(void)
{
	int rc;

	cgroup_hand_over();
	rc = privs_drop();
	if (rc == 0)
		return 0;
	log_tell(LOG_LEVEL_ERROR, "server", "root cannot be given up: %s",
		 strerror(-rc));
	return EX_NOPERM;
}

/*
 * Open the logs. From here on no other server has the socket, and so the logs.
 * The logs belong to the serving user.
 */
static int open_logs(const struct config *c)
{
	const char *file = c->log_file;
	int rc;

	privs_give(file);
	rc = log_open(file);
	if (rc == 0) {
		file = c->audit_file;
		privs_give(file);
		rc = audit_open(file);
	}
	if (privsep_pid() != 0)
		log_open_by(keeper_open);
	if (rc == 0)
		return 0;
	log_tell(LOG_LEVEL_ERROR, "server", "%s cannot be opened: %s", file,
		 log_append_why(-rc));
	return rc == -EACCES || rc == -EPERM ? EX_NOPERM : EX_CONFIG;
}

/* The transport that serves; one of two. */
struct transport {
	struct stdio *stdio;
	struct daemon *daemon;
};

static int open_transport(struct server *srv, struct transport *t,
			  const struct flags *f)
{
	if (!f->stdio) {
		srv->on_ready = daemon_ready;
		srv->on_opened = daemon_opened;
		srv->arg = t->daemon;
		return daemon_open(t->daemon);
	}
	srv->on_ready = stdio_ready;
	srv->arg = t->stdio = stdio_open(&srv->context);
	return 0;
}

static int serve_config(const struct config *config, struct flags *f)
{
	struct server srv = {
	    .context = {.others = !f->stdio, .passing = f->passing}};
	const struct server_programs paths = programs();
	struct transport t = {0};
	bool served = false;
	size_t fds = fds_open();
	int status;

	daemon_hold_signals();
	status = before_start(config, f);
	if (status != 0) {
		config_free(config);
		return status;
	}
	status = server_start(&srv, config, &paths, required(config, f));
	if (status == 0) {
		t.daemon = daemon_new(&srv, &srv.context, flags_config, f);
		status = open_transport(&srv, &t, f);
	}
	if (status == 0)
		status = open_logs(config);
	if (status == 0)
		status = drop_privileges();
	if (status == 0) {
		status = server_loop(&srv);
		served = !f->stdio;
	}
	stdio_close(t.stdio);
	daemon_free(t.daemon);
	srv.on_opened = NULL; /* the store may answer later */
	server_fini(&srv);
	if (!privs_leave_root())
		cgroup_remove();
	if (fds_open() > fds)
		log_warn("server", "left=%zu of=descriptors", fds_open() - fds);
	if (served) /* a log without this line is of a killed server */
		log_info("daemon", "ended=yes status=%d", status);
	return status;
}

/* ---- the check of the cage ---- */

static void on_browser_tried(void *arg, const char *errmsg)
{
	struct context *ctx = arg;

	if (errmsg != NULL)
		log_plain("chromium in [browser] is %s, which is no browser "
			  "that works here: %s; name another, or leave that "
			  "key out",
			  ctx->config->chromium, errmsg);
	ctx->stop(ctx, errmsg == NULL ? 0 : EX_CONFIG);
}

/* A browser that the operator names is started, as by the first call of a tool. */
static void on_measured(void *arg)
{
	struct context *ctx = arg;

	if (ctx->config->chromium != NULL && browser_lacks(ctx->config) == NULL)
		browser_try(ctx->browser, on_browser_tried, ctx);
	else
		ctx->stop(ctx, 0);
}

/* Measure the cage and try the browser as a server does, and report faults. Takes C. */
static int try_cage(const struct config *c, const struct flags *f)
{
	struct server srv = {.context = {.others = !f->stdio}};
	const struct server_programs paths = programs();
	char errmsg[512];
	int status = EX_UNAVAILABLE;

	if (uid_range_try(errmsg, sizeof(errmsg)) < 0) {
		log_plain("%s", errmsg);
		config_free(c);
		return status;
	}
	cgroup_init();
	status = server_start(&srv, c, &paths, required(c, f));
	srv.on_ready = on_measured;
	srv.arg = &srv.context;
	if (status == 0)
		status = server_loop(&srv);
	server_fini(&srv);
	cgroup_remove();
	return status;
}

/* Run the checks. Takes CONFIG. */
static int check_config(const struct config *config, const struct flags *f)
{
	const struct start_check p = {.stdio = f->stdio,
				      .templates_alone = f->templates_alone,
				      .grants = f->grants,
				      .faults = f->faults};
	int status = precheck(config, &p);

	if (status == 0 && !f->templates_alone)
		return try_cage(config, f);
	config_free(config);
	return status;
}

/* Copy the state in STATE_DIR into the database. Takes CONFIG. */
static int import_state(const struct config *config, const char *state_dir)
{
	struct store_imported done = {0};
	char errmsg[1024];
	int rc = 0, status = 0;

	if (config->database == NULL) {
		log_plain("there is no database to import into: set url in "
			  "[store] of the configuration");
		status = EX_CONFIG;
	} else {
		rc = store_import(
		    state_dir, config->database,
		    config_has_rows(config) ? NULL : config_files_dir(config),
		    &done, errmsg, sizeof(errmsg));
	}
	if (rc != 0) {
		log_plain("nothing was imported: %s", errmsg);
		status = store_ends_start(rc) != 0 ? store_ends_start(rc)
						   : EX_UNAVAILABLE;
	} else if (status == 0 && done.before > 0) {
		printf("imported before: %lld runs and artifacts of %s are all "
		       "there\n",
		       (long long)done.before, state_dir);
	} else if (status == 0) {
		printf("imported %lld runs, %lld artifacts of %lld bytes and "
		       "%lld sessions of %s\n",
		       (long long)done.runs, (long long)done.artifacts,
		       (long long)done.bytes, (long long)done.sessions,
		       state_dir);
	}
	config_free(config);
	return status;
}

/* Fill descriptors 0 to 2, so that no later file gets one of them. */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Return STATUS; or failure, if stdout could not be written. */
static int shown_status(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	log_plain("stdout cannot be written to: %s", strerror(errno));
	return status == 0 ? EXIT_FAILURE : status;
}

int main(int argc, char **argv)
{
	struct flags f = {.uid = getuid()};
	struct config *config;
	char errmsg[1024];
	int status;

	/* large freed blocks go back to the system: malloc(3) itself keeps up to
	   twice the largest block ever freed */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 2 << 20);
	fill_standard_fds();
	umask(0); /* each mode is the one said where a thing is made */
	signal(SIGPIPE, SIG_IGN); /* the reader of stderr may have left */
	status = flags_read(&f, argc, argv);
	if (status >= 0)
		return shown_status(status);
	config = flags_config(&f, errmsg, sizeof(errmsg));
	if (config == NULL) {
		log_plain("%s", errmsg);
		return EX_CONFIG;
	}
	if (f.print) {
		config_print(config, stdout);
		config_free(config);
		return shown_status(0);
	}
	log_set_level((enum log_level)log_level_of(config->log_level));
	pq_password_file(config->password_file);
	if (f.import != NULL)
		return shown_status(import_state(config, f.import));
	/* a check reports by log_plain() instead */
	log_hold(f.check || config->log_file != NULL);
	if (f.check)
		return shown_status(check_config(config, &f));
	status = start_check_user(config);
	if (status == 0)
		status = start_check_all(config, f.stdio, false);
	if (status == 0)
		return serve_config(config, &f);
	config_free(config);
	return status;
}

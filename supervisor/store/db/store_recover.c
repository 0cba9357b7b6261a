/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_recover.c - finds dead instances by their lock files, takes over or
 * ends their runs, and removes files without a row. Called before the first
 * run, and when the owner of a run is dead. A failure is -errno, and left to
 * the next recovery; a lock keeps two instances from the same work.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/store/state/state_file.h"

/* age of a file after which the file is a stray, unless the instance is alive */
#define ORPHAN_S 3600
#define SHARED_MS ((int64_t)3600 * 1000) /* between scans of a shared folder */

struct stray {
	char *run;
	char *art; /* NULL: the folder is empty */
};

struct store_recovery {
	/*
	 * instances whose lock is held here, so that no other survivor does the same work
	 */
	char **dead;
	int *lock;
	size_t n_dead;
	struct stray *strays; /* files and folders without a row */
	size_t n_strays;
	char *scanning; /* the run whose folder is being read */
	bool empty;
	struct store_keep *own; /* requestors with their own retention */
	size_t n_own;
	struct store *s;
};

char *store_instance_path(const struct store *s, const char *name)
{
	return xasprintf("%s/" STORE_INSTANCES_DIR "/%s", s->dir, name);
}

/* Open and lock a file that still has the name PATH: the descriptor, or -errno. */
static int lock_file(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	struct stat st;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		rc = -errno;
	else if (fstat(fd, &st) != 0 || st.st_nlink == 0)
		rc = -EWOULDBLOCK; /* just removed by the last owner */
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

bool store_instance_lives(struct store *s, const char *name)
{
	char *path = store_instance_path(s, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool is_missing = fd < 0 && errno == ENOENT;
	bool lives = fd < 0 ? !is_missing : flock(fd, LOCK_SH | LOCK_NB) != 0;

	if (fd >= 0)
		close(fd);
	free(path);
	/* an instance on another machine has the lock file there */
	if (is_missing && s->engine->lives != NULL)
		return s->engine->lives(s, name) != 0;
	return lives;
}

int store_instance_lock(struct store *s)
{
	char *dir = xasprintf("%s/" STORE_INSTANCES_DIR, s->dir);
	char *path = store_instance_path(s, s->instance);
	struct stat st;
	int rc = 0, fd = s->instance_fd;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
		goto out;
	if (fd >= 0)
		close(fd);
	s->instance_fd = -1;
	rc = state_file_mkdirs(dir);
	for (int i = 0; rc == 0 && s->instance_fd < 0; i++) {
		fd = lock_file(path, O_CREAT);
		if (fd >= 0)
			s->instance_fd = fd;
		else if (fd != -EWOULDBLOCK)
			rc = fd;
		else if (!store_pause(s, i)) /* a survivor examines the file */
			rc = -EBUSY;
	}
	if (rc != 0)
		store_failed(s, rc, path);
	else /* senders of mail touch the file; on other machines they cannot */
		atomic_store(
		    &s->nudged,
		    s->nudge_fd >= 0 &&
			inotify_add_watch(s->nudge_fd, path, IN_ATTRIB) >= 0 &&
			s->engine->lives == NULL);
out:
	free(path);
	free(dir);
	return rc;
}

void store_instance_unlock(struct store *s)
{
	char *path;

	if (s->instance_fd < 0)
		return;
	path = store_instance_path(s, s->instance);
	unlink(path);
	free(path);
	close(s->instance_fd);
	s->instance_fd = -1;
}

static int on_instance(void *arg, const char *name)
{
	struct store_recovery *v = arg;
	char *path;
	int fd;

	if (name[0] == '.' || strcmp(name, v->s->instance) == 0)
		return 0;
	path = store_instance_path(v->s, name);
	fd = lock_file(path, 0);
	free(path);
	if (fd < 0)
		return 0; /* alive, or another survivor has the lock */
	v->dead = xrealloc(v->dead, (v->n_dead + 1) * sizeof(*v->dead));
	v->lock = xrealloc(v->lock, (v->n_dead + 1) * sizeof(*v->lock));
	v->dead[v->n_dead] = xstrdup(name);
	v->lock[v->n_dead++] = fd;
	return 0;
}

static bool is_dead(const struct store_recovery *v, const char *name,
		    size_t len)
{
	for (size_t i = 0; i < v->n_dead; i++)
		if (strlen(v->dead[i]) == len &&
		    memcmp(v->dead[i], name, len) == 0)
			return true;
	return false;
}

/* 1: a row names the file; 0: no row does; or -errno. */
static int lives(struct store *s, const char *run, const char *art)
{
	struct store_cursor *st =
	    store_query(s, STMT_ARTIFACT_LIVES, STORE_STR(art), STORE_STR(run));
	int rc = store_sql_step(s, st);

	if (rc == 1)
		store_sql_reset(st);
	return rc;
}

static void add_stray(struct store_recovery *v, const char *art)
{
	v->strays = xrealloc(v->strays, (v->n_strays + 1) * sizeof(*v->strays));
	v->strays[v->n_strays++] =
	    (struct stray){.run = xstrdup(v->scanning),
			   .art = art != NULL ? xstrdup(art) : NULL};
}

static int on_artifact(void *arg, const char *name)
{
	struct store_recovery *v = arg;
	int rc = lives(v->s, v->scanning, name);

	v->empty = false;
	if (rc == 0)
		add_stray(v, name);
	return rc < 0 ? rc : 0;
}

static int on_run_dir(void *arg, const char *name)
{
	struct store_recovery *v = arg;
	char *dir;
	int rc;

	if (strcmp(name, STORE_TMP_NAME) == 0)
		return 0;
	dir = xasprintf("%s/" STORE_ARTIFACTS_DIR "/%s", v->s->files, name);
	v->scanning = xstrdup(name);
	v->empty = true;
	rc = state_file_each(dir, on_artifact, v);
	if (rc == 0 && v->empty)
		add_stray(v, NULL);
	free(v->scanning);
	v->scanning = NULL;
	free(dir);
	return rc == -ENOTDIR ? 0 : rc;
}

static void end_recovery(struct store *s, struct store_req *r)
{
	struct store_recovery *v = r->recovery;

	(void)s;
	if (v == NULL)
		return;
	for (size_t i = 0; i < v->n_dead; i++) {
		close(v->lock[i]);
		free(v->dead[i]);
	}
	for (size_t i = 0; i < v->n_strays; i++) {
		free(v->strays[i].run);
		free(v->strays[i].art);
	}
	for (size_t i = 0; i < v->n_own; i++)
		free((char *)(uintptr_t)v->own[i].requestor);
	free(v->own);
	free(v->dead);
	free(v->lock);
	free(v->strays);
	free(v);
	r->recovery = NULL;
}

/*
 * Find dead instances and possible strays, without the write lock, since other
 * instances may be busy.
 */
static int find_dead(struct store *s, struct store_req *r)
{
	struct store_recovery *v = xcalloc(1, sizeof(*v));
	char *dir = xasprintf("%s/" STORE_INSTANCES_DIR, s->dir);
	int64_t now = clock_mono_ms();
	bool due;
	int rc;

	v->s = s;
	r->recovery = v;
	pthread_mutex_lock(&s->lock);
	v->own = xcalloc(s->n_lost_own + 1, sizeof(*v->own));
	for (; v->n_own < s->n_lost_own; v->n_own++)
		v->own[v->n_own] = (struct store_keep){
		    .requestor = xstrdup(s->lost_own[v->n_own].requestor),
		    .run_ms = s->lost_own[v->n_own].run_ms};
	pthread_mutex_unlock(&s->lock);
	rc = state_file_each(dir, on_instance, v);
	/* a folder shared with other machines is scanned even if no instance died here */
	due = strcmp(s->files, s->dir) != 0 && now >= s->look_ms;
	if (rc == 0 && v->n_dead == 0 && due)
		s->look_ms = now + SHARED_MS;
	if (rc == 0 && (v->n_dead > 0 || due)) {
		free(dir);
		dir = xasprintf("%s/" STORE_ARTIFACTS_DIR, s->files);
		rc = state_file_each(dir, on_run_dir, v);
	}
	if (rc != 0 && s->errmsg[0] == '\0')
		store_failed(s, rc, dir);
	free(dir);
	return rc;
}

/* A claim of runs of a dead instance, with the retention. */
struct claim {
	const char *instance;
	int64_t now_ms, keep_ms;
	const char *requestor; /* whose runs; NULL: all remaining requestors */
};

/* End the runs of C that had begun, or that were to be cancelled. */
static int end_runs(struct store *s, struct store_req *r, const struct claim *c)
{
	static const enum store_stmt all[] = {STMT_CLAIM_RUNNING,
					      STMT_CLAIM_CANCELLED};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(all); i++) {
		rc = store_change(s, all[i], STORE_STR(c->instance),
				  STORE_STR(s->instance), STORE_NUM(c->now_ms),
				  STORE_NUM(c->now_ms + c->keep_ms),
				  STORE_STR(c->requestor));
		if (rc == 0 && all[i] == STMT_CLAIM_RUNNING)
			r->res.interrupted += (size_t)s->engine->changes(s);
	}
	return rc;
}

/*
 * Claim the runs to be retried and the runs that had not begun: R gets both,
 * except when the caller only ends begun runs (R->begun), or when any instance
 * may claim the runs from the common queue.
 */
static int claim_open(struct store *s, struct store_req *r,
		      enum store_stmt which, const char *instance)
{
	bool stays = r->begun || store_is_shared(s);
	struct store_cursor *st =
	    store_query(s, which, STORE_STR(instance),
			STORE_STR(stays ? instance : s->instance));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1)
		if (!stays)
			store_run_row(r, st);
	return rc;
}

static int claim_instance(struct store *s, struct store_req *r,
			  const char *instance)
{
	const struct store_recovery *v = r->recovery;
	struct claim c = {.instance = instance, .now_ms = clock_wall_ms()};
	int rc = claim_open(s, r, STMT_CLAIM_RESUMED, instance);

	if (rc == 0)
		rc = store_change(s, STMT_CLAIM_RUNNING_ARTIFACTS,
				  STORE_STR(instance),
				  STORE_NUM(c.now_ms + r->limit));
	for (size_t i = 0; rc == 0 && i < v->n_own; i++) {
		c.requestor = v->own[i].requestor;
		c.keep_ms = v->own[i].run_ms;
		rc = end_runs(s, r, &c);
	}
	c.requestor = NULL;
	c.keep_ms = r->time_ms;
	if (rc == 0)
		rc = end_runs(s, r, &c);
	if (rc == 0 && store_is_shared(s))
		return store_queue_again(s, instance, c.now_ms, r->time_ms);
	if (rc != 0 || r->begun)
		return rc;
	rc = claim_open(s, r, STMT_CLAIM_QUEUED, instance);
	/* mail about the claimed runs is now for this instance */
	return rc == 0 ? store_change(s, STMT_CLAIM_MAIL, STORE_STR(instance),
				      STORE_STR(s->instance))
		       : rc;
}

/*
 * A row is written only after the instance has a lock file: without a file the
 * instance is dead.
 */
static bool is_missing(const struct store *s, const char *instance)
{
	char *path = store_instance_path(s, instance);
	bool missing = access(path, F_OK) != 0 && errno == ENOENT;

	free(path);
	return missing;
}

static int claim_all(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_sql(s, STMT_INSTANCES);
	char **names = NULL;
	size_t n = 0;
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		names = xrealloc(names, (n + 1) * sizeof(*names));
		names[n++] = xstrdup(store_text(st, 0));
	}
	for (size_t i = 0; i < n; i++) {
		char *name = names[i];
		int dead = is_dead(r->recovery, name, strlen(name));

		/* runs without an owner wait in the common queue */
		if (rc != 0 || strcmp(name, s->instance) == 0 || *name == '\0')
			dead = 0;
		else if (s->engine->bury != NULL)
			dead = s->engine->bury(s, name, dead != 0);
		else if (dead == 0)
			dead = is_missing(s, name);
		if (dead != 0)
			rc = dead == 1 ? claim_instance(s, r, name) : dead;
		free(name);
	}
	free(names);
	return rc;
}

static bool is_old(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && time(NULL) - st.st_mtime > ORPHAN_S;
}

/*
 * Is STRAY surely a stray? Under the write lock of SQLite no living supervisor is between
 * naming a file and writing the row, so a file without a row is a stray for good. With a
 * server's database instances write at any time, so only an old file is a stray.
 */
static bool is_settled(const struct store *s, const struct stray *stray)
{
	char *path;
	bool old;

	if (s->engine->lives == NULL)
		return true;
	path = state_file_artifact(s->files, stray->run, stray->art);
	old = is_old(path);
	free(path);
	return old;
}

static int remove_strays(struct store *s, const struct store_recovery *v)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < v->n_strays; i++) {
		const struct stray *stray = &v->strays[i];

		if (stray->art == NULL) {
			state_file_remove_dir(s->files, stray->run);
			continue;
		}
		rc = lives(s, stray->run, stray->art);
		if (rc == 0 && is_settled(s, stray))
			state_file_remove(s->files, stray->run, stray->art);
	}
	return rc < 0 ? rc : 0;
}

static int by_id(const void *a, const void *b)
{
	const struct store_run *x = a, *y = b;

	return strcmp(x->id, y->id);
}

static int recover(struct store *s, struct store_req *r)
{
	int rc = claim_all(s, r);

	if (r->res.n_runs > 1) /* runs queue again in the original order */
		qsort(r->rows, r->res.n_runs, sizeof(*r->rows), by_id);
	return rc == 0 ? remove_strays(s, r->recovery) : rc;
}

/* Remove a temporary file of a dead instance; the name is INSTANCE.XXXXXX. */
static int on_tmp(void *arg, const char *name)
{
	const struct store_recovery *v = arg;
	size_t len = strcspn(name, ".");
	char *path = xasprintf("%s/" STORE_TMP_DIR "/%s", v->s->files, name);
	char *instance = xstrndup(name, len);

	if (is_dead(v, name, len) ||
	    (is_old(path) && !store_instance_lives(v->s, instance)))
		unlink(path);
	free(instance);
	free(path);
	return 0;
}

/* Remove the remains of dead instances after the commit of the claim. */
static void bury(struct store *s, struct store_req *r)
{
	const struct store_recovery *v = r->recovery;
	char *tmp = xasprintf("%s/" STORE_TMP_DIR, s->files);

	state_file_each(tmp, on_tmp, r->recovery);
	for (size_t i = 0; i < v->n_dead; i++) {
		char *path = store_instance_path(s, v->dead[i]);

		unlink(path);
		free(path);
	}
	free(tmp);
	end_recovery(s, r);
}

STORE_OP(recover, .writes = true, .prep = find_dead, .keep = bury,
	 .undo = end_recovery);

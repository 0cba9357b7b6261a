/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_files.c - gives files to a run, for worker.c: artifacts are opened,
 * and shown to a program or read to a Lua template; inline files go with RUN.
 * An artifact that has gone since the run was made fails the run with the error
 * of asking for the artifact.
 */
#include "supervisor/run/worker/worker_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/mem.h"
#include "base/os/sys.h"
#include "ipc/file_part.h"
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/store/state/state_file.h"
#include "supervisor/run/worker/programs.h"
#include "supervisor/runtime/runtime.h"

/* Modes for workers of another user id; the state's own folder is 0700. */
#define SHOWN_MODE 0444
#define FOLDER_MODE 0711

/* A part of the body: lent bytes, or bytes of a file. */
struct part {
	const char *p; /* lent bytes; NULL: read FD */
	int fd;
	uint64_t n;
};

struct worker_files {
	struct shown_file *shown;
	struct file_part_head *heads;
	struct part *parts;
	size_t n_parts;
	uint64_t total, files;
	size_t at;	  /* the part that was read last */
	uint64_t at_byte; /* the offset of that part in the body */
};

void worker_files_free(struct worker_files *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < f->n_parts; i++)
		sys_close(f->parts[i].fd);
	free(f->shown);
	free(f->heads);
	free(f->parts);
	free(f);
}

/* ---- artifacts ---- */

static int not_opened(struct run *r, const struct run_file *f, int err)
{
	bool expired = f->expires_ms > 0 && f->expires_ms <= clock_wall_ms();

	if (err == ENOENT || err == ESTALE) {
		run_set_error(
		    r, expired ? "ARTIFACT_EXPIRED" : "ARTIFACT_NOT_FOUND",
		    NULL,
		    expired ? "the artifact %s has passed its time and is gone"
			    : "you have no artifact \"%s\" any more",
		    f->artifact);
		return -ENOENT;
	}
	if (err == EMFILE || err == ENFILE)
		return -err; /* an error that passes */
	run_set_error(r, "STORE_UNAVAILABLE", NULL,
		      "the artifact %s cannot be read now: %s", f->artifact,
		      store_says(-err));
	return -err;
}

static const char *folder_of(const struct run_file *f)
{
	return f->copy[0] == '\0' && f->folder[0] != '\0' ? f->folder
							  : STORE_TMP_NAME;
}

static const char *name_of(const struct run_file *f)
{
	return f->copy[0] != '\0' ? f->copy : f->artifact;
}

/*
 * Open F's file. Returns a descriptor, or -errno with the reason in R's error.
 */
static int open_one(struct run *r, const char *state, const struct run_file *f,
		    struct stat *st)
{
	char *path = state_file_artifact(state, folder_of(f), name_of(f));
	int fd, rc;

	loop_guard_allow("64 names of ours at most, when a run begins");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	loop_guard_forbid();
	rc = fd < 0 ? not_opened(r, f, f->copy_rc != 0 ? -f->copy_rc : errno)
		    : 0;

	free(path);
	if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode) ||
			st->st_size != (off_t)f->size))
		rc = not_opened(r, f, EIO);
	if (rc == 0)
		return fd;
	sys_close(fd);
	return rc;
}

static int show_one(struct run *r, const char *state, const struct run_file *f,
		    struct shown_file *to)
{
	struct stat st = {0};
	int fd = open_one(r, state, f, &st);
	char *all, *folder;
	int rc;

	if (fd < 0)
		return fd;
	if ((st.st_mode & 07777) != SHOWN_MODE) {
		/* an older server, or one without a program to show it, kept the
		   file private */
		all = xasprintf("%s/" STORE_ARTIFACTS_DIR, state);
		folder = xasprintf("%s/%s", all, folder_of(f));
		loop_guard_allow("two folders and a file of ours, once each");
		(void)chmod(all, FOLDER_MODE);
		(void)chmod(folder, FOLDER_MODE);
		(void)fchmod(fd, SHOWN_MODE);
		loop_guard_forbid();
		free(folder);
		free(all);
	}
	rc = file_id_of(fd, &to->id);
	snprintf(to->path, sizeof(to->path), "%s/%s", folder_of(f), name_of(f));
	snprintf(to->name, sizeof(to->name), "%s", f->name);
	close(fd);
	return rc;
}

/*
 * Can programs be shown artifacts? If not yet, a new zygote is being started.
 */
static int ready(struct spawner *spawner, const struct config *config,
		 struct run *r)
{
	char *path = programs_artifacts(config);
	const char *errmsg = "";
	struct file_id id;
	int fd, rc;

	loop_guard_allow("a folder of ours, when a run begins");
	fd = path != NULL ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	rc = fd < 0 ? -errno : file_id_of(fd, &id);
	loop_guard_forbid();

	if (rc == 0)
		rc = spawner_show_artifacts(spawner, r->template->runtime, path,
					    &id, &errmsg);
	if (rc == -EAGAIN)
		rc = -EINPROGRESS;
	else if (rc != 0)
		run_set_error(r, "STORE_UNAVAILABLE", NULL,
			      "programs cannot be given files of this server's "
			      "now: %s",
			      errmsg[0] != '\0' ? errmsg : store_says(rc));
	sys_close(fd);
	free(path);
	return rc;
}

static int show_files(struct worker_files *w, struct spawner *spawner,
		      const struct config *config, struct run *r,
		      struct spawner_job *job)
{
	size_t n = run_files_artifacts(r->files);
	int rc = n > 0 ? ready(spawner, config, r) : 0;

	job->in = true;
	if (rc != 0 || n == 0)
		return rc;
	w->shown = xcalloc(n, sizeof(*w->shown));
	job->files = w->shown;
	for (size_t i = 0; i < r->files->n && rc == 0; i++)
		if (r->files->v[i].bytes == NULL)
			rc = show_one(r, config_files_dir(config),
				      &r->files->v[i],
				      &w->shown[job->n_files++]);
	return rc;
}

/* ---- the body ---- */

static void add_part(struct worker_files *w, const char *p, int fd, uint64_t n)
{
	w->parts[w->n_parts++] = (struct part){p, fd, n};
	w->total += n;
}

/*
 * Add the files that go with RUN: all, or to a worker that sees the host the
 * inline files.
 */
static int add_files(struct worker_files *w, struct run *r, const char *state)
{
	bool all = !runtimes[r->template->runtime]->sees_host;
	struct stat st;

	for (size_t i = 0; i < r->files->n; i++) {
		const struct run_file *f = &r->files->v[i];
		const char *label = all ? f->pointer : f->name;
		struct file_part_head *h = &w->heads[i];
		int fd = -1;

		if (f->bytes == NULL && !all)
			continue;
		if (f->bytes == NULL)
			fd = open_one(r, state, f, &st);
		if (f->bytes == NULL && fd < 0)
			return fd;
		*h = (struct file_part_head){.size = (uint64_t)f->size,
					     .label_len =
						 (uint32_t)strlen(label)};
		w->files += sizeof(*h) + h->label_len + h->size;
		add_part(w, (const char *)h, -1, sizeof(*h));
		add_part(w, label, -1, h->label_len);
		add_part(w, f->bytes, fd, h->size);
	}
	return 0;
}

int worker_files_open(struct worker_files **out, struct spawner *spawner,
		      const struct config *config, struct run *r,
		      struct spawner_job *job)
{
	struct worker_files *w = xcalloc(1, sizeof(*w));
	int rc = 0;

	*out = w;
	w->heads = xcalloc(r->files->n, sizeof(*w->heads));
	w->parts = xcalloc(2 + 3 * r->files->n, sizeof(*w->parts));
	add_part(w, r->template->code, -1, r->template->code_len);
	add_part(w, r->files->inputs, -1, r->files->inputs_len);
	if (runtimes[r->template->runtime]->sees_host)
		rc = show_files(w, spawner, config, r, job);
	return rc == 0 ? add_files(w, r, config_files_dir(config)) : rc;
}

uint64_t worker_files_body(const struct worker_files *f)
{
	return f->total;
}

uint64_t worker_files_bytes(const struct worker_files *f)
{
	return f != NULL ? f->files : 0;
}

/*
 * Read P from its byte AT on. Returns how many bytes; 0: the file is shorter.
 */
static ssize_t read_part(const struct part *p, uint64_t at, char *to, size_t n)
{
	ssize_t got;

	if (p->fd < 0) {
		memcpy(to, p->p + at, n);
		return (ssize_t)n;
	}
	loop_guard_allow("a part of a frame, in its requestor's turn");
	do
		got = pread(p->fd, to, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	loop_guard_forbid();
	return got < 0 ? -errno : got;
}

ssize_t worker_files_piece(struct worker_files *f, uint64_t at, char *to,
			   size_t max)
{
	size_t have = 0;

	if (at < f->at_byte)
		f->at = f->at_byte = 0;
	while (f->at < f->n_parts && have < max) {
		const struct part *p = &f->parts[f->at];
		uint64_t from = at + have - f->at_byte;
		size_t n = max - have;
		ssize_t got;

		if (from >= p->n) {
			f->at_byte += p->n;
			f->at++;
			continue;
		}
		if (n > p->n - from)
			n = (size_t)(p->n - from);
		got = read_part(p, from, to + have, n);
		if (got <= 0)
			return got < 0 ? got : -EIO;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

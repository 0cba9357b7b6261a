/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawner_rootfs.c - decides the view of the host for programs: the rootfs for zygotes,
 * the paths that could not be shown, and the indexes of a job in the rootfs. spawner.c
 * and the start of a run call the functions. A path that cannot be shown fails only runs
 * with the path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/runtime/runtime.h"
#include "supervisor/spawn/spawner_private.h"

/* least pause between renewals for paths that could not be shown */
#define RENEW_EVERY_MS 2000

/* ---- the rootfs ---- */

void spawner_rootfs_fini(struct spawner *c)
{
	struct spawner_rootfs *t = &c->rootfs;

	for (size_t i = 0; i < t->n_packages; i++)
		free(t->packages[i].path);
	for (size_t i = 0; i < t->n_reads; i++)
		free(t->reads[i]);
	free(t->packages);
	free(t->reads);
	free(t->artifacts);
	*t = (struct spawner_rootfs){0};
}

void spawner_set_tree(struct spawner *c, const struct spawner_rootfs *rootfs)
{
	struct spawner_rootfs *t = &c->rootfs;

	spawner_rootfs_fini(c);
	*t = *rootfs;
	t->artifacts = xstrdup_opt(rootfs->artifacts);
	t->packages = xcalloc(t->n_packages + 1, sizeof(*t->packages));
	t->reads = xcalloc(t->n_reads + 1, sizeof(*t->reads));
	for (size_t i = 0; i < t->n_packages; i++) {
		t->packages[i] = rootfs->packages[i];
		t->packages[i].path = xstrdup(rootfs->packages[i].path);
	}
	for (size_t i = 0; i < t->n_reads; i++)
		t->reads[i] = xstrdup(rootfs->reads[i]);
	for (int kind = 0; kind < RUNTIMES; kind++) {
		struct zygote_pool *p = &c->pool[kind];
		bool sees_host = runtimes[kind]->sees_host;
		bool wanted = runtimes[kind]->always ||
			      (sees_host ? rootfs->n_packages > 0
					 : (rootfs->kinds >> kind & 1) != 0);

		if (!sees_host && wanted == p->wanted)
			continue;
		zygote_retire(c, (enum runtime_kind)kind);
		p->wanted = wanted;
		p->restart_ms = 0;
		p->failed_starts = 0;
		p->measured = false;
		if (p->wanted)
			event_add(p->restart, CLOCK_TIMEVAL(0));
	}
}

/* ---- paths that a zygote could not show ---- */

void spawner_rootfs_failed(struct zygote *z,
			   const struct zygote_proto_event *event)
{
	struct mount_failure *u = xcalloc(1, sizeof(*u));

	u->is_read = event->pid == 1;
	u->is_artifacts = event->pid == 2;
	u->at = event->seq;
	u->err = event->err;
	u->used = event->used;
	u->used_by_all = event->used_by_all != 0;
	memcpy(u->errmsg, event->text, sizeof(u->errmsg));
	SLIST_INSERT_HEAD(&z->mount_failure, u, link);
	if (u->err != ENOENT)
		log_warn("crew", "unshown=%s why=\"%s\"",
			 u->is_artifacts ? "artifacts"
			 : u->is_read	 ? "read"
					 : "package",
			 u->errmsg);
}

void spawner_rootfs_forget(struct zygote *z)
{
	struct mount_failure *u;

	while ((u = SLIST_FIRST(&z->mount_failure)) != NULL) {
		SLIST_REMOVE_HEAD(&z->mount_failure, link);
		free(u);
	}
}

/* Does U concern JOB? A missing read does no harm. */
static bool concerns(const struct spawner *c, const struct spawner_job *job,
		     const struct mount_failure *u)
{
	if (u->is_artifacts)
		return false; /* reported by spawner_show_artifacts() */
	if (!u->is_read)
		return u->at < c->rootfs.n_packages &&
		       strcmp(c->rootfs.packages[u->at].path, job->package) ==
			   0;
	if (u->err == ENOENT || u->at >= c->rootfs.n_reads)
		return false;
	for (size_t i = 0; i < job->n_reads; i++)
		if (strcmp(c->rootfs.reads[u->at], job->reads[i]) == 0)
			return true;
	return false;
}

bool spawner_lacks(struct spawner *c, const struct spawner_job *job,
		   struct spawner_lack *lack)
{
	const struct spawner_rootfs *t = &c->rootfs;
	struct zygote_pool *p = &c->pool[job->kind];
	const struct mount_failure *u;

	if (p->current == NULL)
		return false;
	SLIST_FOREACH(u, &p->current->mount_failure, link)
		if (concerns(c, job, u))
			break;
	if (u == NULL)
		return false;
	*lack = (struct spawner_lack){
	    .errmsg = u->errmsg,
	    .is_read = u->is_read,
	    .is_copy = !u->is_read && t->packages[u->at].copied,
	    .err = u->err,
	    .used = u->used,
	    .by_all = u->used_by_all,
	    .allowed = u->used_by_all ? t->copies_bytes : t->copy_bytes};
	if (clock_mono_ms() - p->renewed_ms >= RENEW_EVERY_MS) {
		p->renewed_ms = clock_mono_ms();
		spawner_renew(c, job->kind);
	}
	return true;
}

/* ---- artifacts ---- */

int spawner_show_artifacts(struct spawner *c, enum runtime_kind kind,
			   const char *path, const struct file_id *id,
			   const char **errmsg)
{
	struct spawner_rootfs *t = &c->rootfs;
	struct zygote_pool *p = &c->pool[kind];
	const struct mount_failure *u;
	bool renew = t->artifacts == NULL || strcmp(t->artifacts, path) != 0 ||
		     !file_id_same(&t->artifacts_id, id);

	if (renew) { /* the folder for later zygotes */
		free(t->artifacts);
		t->artifacts = xstrdup(path);
		t->artifacts_id = *id;
	}
	if (p->current == NULL)
		return -EAGAIN; /* the next zygote has the folder */
	if (renew || !file_id_same(&p->current->artifacts, id)) {
		spawner_renew(c, kind);
		return -EAGAIN;
	}
	SLIST_FOREACH(u, &p->current->mount_failure, link)
		if (u->is_artifacts)
			break;
	if (u == NULL)
		return 0;
	*errmsg = u->errmsg;
	return -u->err;
}

/* ---- a job in the rootfs ---- */

int spawner_rootfs_request(const struct spawner *c,
			   const struct spawner_job *job,
			   struct zygote_proto_request *request)
{
	const struct spawner_rootfs *t = &c->rootfs;
	size_t at = 0;

	while (at < t->n_packages &&
	       strcmp(t->packages[at].path, job->package) != 0)
		at++;
	if (at == t->n_packages ||
	    !file_id_same(&t->packages[at].id, &job->package_id) ||
	    strcmp(t->packages[at].digest, job->digest) != 0)
		return -ESTALE;
	request->package = (uint32_t)at;
	request->limits = job->limits;
	request->limits.open_files =
	    spawner_files_below_ours(c, job->limits.open_files);
	request->locks = job->locks;
	request->in = job->in;
	request->n_files = (uint32_t)job->n_files;
	for (size_t i = 0; i < job->n_reads; i++)
		for (at = 0; at < t->n_reads; at++)
			if (strcmp(t->reads[at], job->reads[i]) == 0) {
				request->reads |= UINT64_C(1) << at;
				break;
			}
	return 0;
}

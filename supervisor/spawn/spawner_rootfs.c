/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs see of the host: the tree that their zygotes are told to
 * build, what of it one could not show, and a job's place in it. The crew and
 * who starts runs call it. A part that cannot be shown fails the runs that
 * need it and no others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/spawn/spawner_private.h"

#define RENEW_EVERY_MS 2000 /* at most, for what was not there to be shown */

/* ---- the tree ---- */

void crew_tree_fini(struct crew *c)
{
	struct crew_tree *t = &c->tree;

	for (size_t i = 0; i < t->n_packages; i++)
		free(t->packages[i].path);
	for (size_t i = 0; i < t->n_reads; i++)
		free(t->reads[i]);
	free(t->packages);
	free(t->reads);
	*t = (struct crew_tree){0};
}

static void copy_tree(struct crew *c, const struct crew_tree *tree)
{
	struct crew_tree *t = &c->tree;

	crew_tree_fini(c);
	*t = *tree;
	t->packages = xcalloc(t->n_packages + 1, sizeof(*t->packages));
	t->reads = xcalloc(t->n_reads + 1, sizeof(*t->reads));
	for (size_t i = 0; i < t->n_packages; i++) {
		t->packages[i] = tree->packages[i];
		t->packages[i].path = xstrdup(tree->packages[i].path);
	}
	for (size_t i = 0; i < t->n_reads; i++)
		t->reads[i] = xstrdup(tree->reads[i]);
}

void crew_set_tree(struct crew *c, const struct crew_tree *tree)
{
	static const struct timeval now = {0};
	struct crew_post *p = &c->post[CREW_PROGRAM];

	zygote_retire(c, CREW_PROGRAM);
	copy_tree(c, tree);
	p->wanted = tree->n_packages > 0;
	p->restart_ms = RESTART_FIRST_MS;
	p->failed_starts = 0;
	p->measured = false;
	if (p->wanted)
		event_add(p->restart, &now);
}

/* ---- what a zygote could not show ---- */

void crew_tree_unshown(struct zygote *z, const struct crew_note *note)
{
	struct unshown *u = xcalloc(1, sizeof(*u));

	u->is_read = note->pid == 1;
	u->at = note->seq;
	u->err = note->err;
	u->used = note->used;
	u->used_by_all = note->used_by_all != 0;
	memcpy(u->why, note->text, sizeof(u->why));
	SLIST_INSERT_HEAD(&z->unshown, u, link);
	if (u->err != ENOENT)
		log_warn("crew", "unshown=%s why=\"%s\"",
			 u->is_read ? "read" : "package", u->why);
}

void crew_tree_forget(struct zygote *z)
{
	struct unshown *u;

	while ((u = SLIST_FIRST(&z->unshown)) != NULL) {
		SLIST_REMOVE_HEAD(&z->unshown, link);
		free(u);
	}
}

static bool find_package(const struct crew_tree *t, const char *path,
			 size_t *at)
{
	for (*at = 0; *at < t->n_packages; ++*at)
		if (strcmp(t->packages[*at].path, path) == 0)
			return true;
	return false;
}

static bool find_read(const struct crew_tree *t, const char *path, size_t *at)
{
	for (*at = 0; *at < t->n_reads; ++*at)
		if (strcmp(t->reads[*at], path) == 0)
			return true;
	return false;
}

/* Is U of JOB's? A read that is not there does no harm. */
static bool concerns(const struct crew *c, const struct crew_job *job,
		     const struct unshown *u)
{
	if (!u->is_read)
		return u->at < c->tree.n_packages &&
		       strcmp(c->tree.packages[u->at].path, job->package) == 0;
	if (u->err == ENOENT || u->at >= c->tree.n_reads)
		return false;
	for (size_t i = 0; i < job->n_reads; i++)
		if (strcmp(c->tree.reads[u->at], job->reads[i]) == 0)
			return true;
	return false;
}

static void describe(const struct crew_tree *t, const struct unshown *u,
		     struct crew_lack *lack)
{
	*lack = (struct crew_lack){
	    .why = u->why,
	    .is_read = u->is_read,
	    .is_copy = !u->is_read && t->packages[u->at].copied,
	    .err = u->err,
	    .used = u->used,
	    .by_all = u->used_by_all,
	    .allowed = u->used_by_all ? t->copies_bytes : t->copy_bytes};
}

bool crew_lacks(struct crew *c, const struct crew_job *job,
		struct crew_lack *lack)
{
	struct crew_post *p = &c->post[CREW_PROGRAM];
	const struct unshown *u;

	if (job->kind != CREW_PROGRAM || p->current == NULL)
		return false;
	SLIST_FOREACH(u, &p->current->unshown, link)
		if (concerns(c, job, u))
			break;
	if (u == NULL)
		return false;
	describe(&c->tree, u, lack);
	if (clock_mono_ms() - p->renewed_ms >= RENEW_EVERY_MS) {
		p->renewed_ms = clock_mono_ms();
		crew_renew(c, CREW_PROGRAM);
	}
	return true;
}

/* ---- a job's place ---- */

int crew_tree_order(const struct crew *c, const struct crew_job *job,
		    struct crew_order *order)
{
	const struct crew_tree *t = &c->tree;
	size_t at;

	if (!find_package(t, job->package, &at) ||
	    !file_id_same(&t->packages[at].id, &job->package_id) ||
	    strcmp(t->packages[at].digest, job->digest) != 0)
		return -ESTALE;
	order->package = (uint32_t)at;
	order->processes = job->processes;
	order->open_files = crew_files_below_ours(c, job->open_files);
	order->files = job->files;
	order->locks = job->locks;
	for (size_t i = 0; i < job->n_reads; i++)
		if (find_read(t, job->reads[i], &at))
			order->reads |= UINT64_C(1) << at;
	return 0;
}

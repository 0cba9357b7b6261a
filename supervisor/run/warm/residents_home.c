/* SPDX-License-Identifier: Apache-2.0 */
/*
 * residents_home.c - residents where several servers share a database: residents.c asks
 * where a resident lives, and cluster/resident_homes.c answers, shows changed views to
 * other servers, and hears of ends that other servers ask for. On one machine each
 * resident lives here. Also says which run is before another. No function fails.
 */
#include "supervisor/run/warm/residents_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json.h"

void residents_share(struct residents *all, const struct resident_homes *homes,
		     void *arg)
{
	if (all == NULL) /* tests of runs have no residents */
		return;
	all->homes = homes;
	all->homes_arg = arg;
}

bool residents_are_shared(const struct residents *all)
{
	return all->homes != NULL && all->homes->is_shared(all->homes_arg);
}

const char *resident_text(const struct resident *x)
{
	return strchr(x->key, '\n') + 1;
}

bool resident_is_wanted(const struct resident *x)
{
	return !TAILQ_EMPTY(&x->turns);
}

const struct requestor *resident_owner(const struct resident *x)
{
	return x->requestor;
}

void resident_note_changed(struct resident *x)
{
	x->is_changed = true;
	if (residents_are_shared(x->all))
		x->all->homes->changed(x->all->homes_arg);
}

bool residents_home_is_known(struct resident *x)
{
	struct residents *all = x->all;

	if (x->home == HOME_NONE && residents_are_shared(all)) {
		x->home = HOME_ASKED;
		all->homes->ask(all->homes_arg, x);
	} else if (x->home == HOME_NONE) {
		x->home = HOME_HERE;
	}
	return x->home == HOME_HERE;
}

bool residents_live_here(const struct residents *all, const struct run *r)
{
	const struct resident *x;

	if (r->notebook.name == NULL || all == NULL ||
	    !residents_are_shared(all))
		return true;
	x = residents_find(all, r->requestor, r->template->id,
			   r->notebook.name);
	return x != NULL && x->home == HOME_HERE;
}

const struct run *residents_before(const struct residents *all,
				   const struct run *r)
{
	const struct resident *x;

	if (r->job.resident != NULL)
		return TAILQ_PREV(r, run_turns, job.turn);
	if (r->notebook.name == NULL || all == NULL)
		return NULL;
	x = residents_find(all, r->requestor, r->template->id,
			   r->notebook.name);
	return x != NULL ? TAILQ_LAST(&x->turns, run_turns) : NULL;
}

void residents_homed(struct resident *x, int rc, const char *lost)
{
	struct residents *all = x->all;
	struct run *r = TAILQ_FIRST(&x->turns);
	bool is_mine = rc == 0 || rc == -EDQUOT;

	if (is_mine) {
		x->home = HOME_HERE;
		x->is_refused = rc != 0;
		free(x->lost);
		x->lost = xstrdup_opt(lost);
	}
	if (is_mine && r != NULL) {
		all->homes->start(all->homes_arg, r);
		return;
	}
	while ((r = TAILQ_FIRST(&x->turns)) != NULL) {
		residents_leave(all, r);
		all->homes->give_back(all->homes_arg, r, rc == -EREMOTE);
	}
	if (!is_mine)
		x->home = HOME_NONE;
	resident_put_to_rest(x);
}

int residents_end_asked(struct residents *all, const struct requestor *q,
			const char *text, bool for_room)
{
	const char *name = strrchr(text, '/');
	char *template_id;
	int rc;

	if (name == NULL)
		return -ENOENT;
	template_id = xstrndup(text, (size_t)(name - text));
	rc = for_room ? residents_end_for(all, q, template_id, name + 1,
					  RESIDENTS_ROOM_NEEDED)
		      : residents_end(all, q, template_id, name + 1);
	all->evicted += for_room && rc == 0;
	free(template_id);
	return rc;
}

void residents_show_changed(struct residents *all)
{
	struct json_object *view;
	struct resident *x;

	TAILQ_FOREACH(x, &all->list, link) {
		if (!x->is_changed || !x->alive || x->home != HOME_HERE)
			continue;
		x->is_changed = false;
		view = resident_view(x);
		all->homes->show(all->homes_arg, x, json_text(view, NULL));
		json_object_put(view);
	}
}

void residents_show_again(struct residents *all)
{
	struct resident *x;

	TAILQ_FOREACH(x, &all->list, link)
		resident_note_changed(x);
}

char *residents_busy(const struct residents *all)
{
	const struct resident *x;
	struct buf out = {0};

	if (all == NULL)
		return xstrdup("");
	TAILQ_FOREACH(x, &all->list, link)
		if (!TAILQ_EMPTY(&x->turns))
			buf_printf(&out, "%s\t%s\n", x->requestor->name,
				   resident_text(x));
	buf_add(&out, "", 1);
	return buf_take(&out, NULL);
}

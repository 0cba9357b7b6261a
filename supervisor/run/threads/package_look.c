/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_look.c - has a program's package checked for changes on a thread, for
 * runs_queue.c and warm.c. A requestor with too many jobs in the threads waits
 * for a moment; errors are those of template_look().
 */
#include "supervisor/run/threads/package_look.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

#define CPU_MS 10000 /* deadline; 512 MiB in 32,768 files take a tenth */
#define AGAIN_MS 20  /* when the threads take no more jobs of a requestor */

struct package_look {
	struct thread_pool *o;
	struct requestor *who;
	struct template *template; /* the template, which counts a user */
	struct template_look look; /* the look; WORK's, while there is a job */
	struct thread_pool_job *job;
	struct event *begin; /* timer to begin, pending while there is no job */
	package_look_done done;
	void *arg;
};

/* ---- on a thread ---- */

/*
 * Runs in bounded time: the number of files listed and of bytes read is
 * bounded.
 */
static void look_at_package(struct thread_pool_job *j, void *arg)
{
	struct package_look *p = arg;

	(void)j;
	template_look(&p->look);
}

/* ---- on the loop ---- */

static void on_seen(void *arg, const struct thread_pool_result *end)
{
	struct package_look *p = arg;

	(void)end;
	template_look_keep(&p->look, p->template);
	p->done(p->arg, p->look.rc, p->look.errmsg);
}

static void drop_look(void *arg)
{
	struct package_look *p = arg;

	template_unref(p->template);
	event_free(p->begin);
	free(p);
}

static const struct thread_pool_kind kind = {.name = "package",
					     .cpu_ms = CPU_MS,
					     .work = look_at_package,
					     .done = on_seen,
					     .drop = drop_look};

static void begin_look(evutil_socket_t fd, short what, void *arg)
{
	struct package_look *p = arg;
	int known = template_look_known(p->template);

	(void)fd, (void)what;
	template_look_init(&p->look, p->template);
	if (known != -EINPROGRESS) {
		p->done(p->arg, known, "it was changed after it was loaded");
		drop_look(p);
		return;
	}
	p->job = thread_pool_submit(p->o, p->who, &kind, p);
	if (p->job == NULL)
		evtimer_add(p->begin, CLOCK_TIMEVAL(AGAIN_MS));
}

struct package_look *package_look_ask(struct event_base *base,
				      struct thread_pool *o,
				      struct requestor *q, struct template *t,
				      package_look_done done, void *arg)
{
	struct package_look *p = xcalloc(1, sizeof(*p));

	p->o = o;
	p->who = q;
	p->template = template_ref(t);
	p->done = done;
	p->arg = arg;
	p->begin = evtimer_new(base, begin_look, p);
	if (template_look_known(t) == -EINPROGRESS)
		begin_look(-1, 0, p);
	else
		event_active(p->begin, EV_TIMEOUT, 0);
	return p;
}

void package_look_forget(struct package_look *p)
{
	if (p == NULL)
		return;
	if (p->job != NULL)
		thread_pool_cancel(p->job);
	else
		drop_look(p);
}

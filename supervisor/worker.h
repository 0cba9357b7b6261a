/*
 * worker.h - the supervisor's view of one worker: what goes to it, what it
 * says, and how it ends. Whatever it says is a claim.
 */
#ifndef SUPERVISOR_WORKER_H
#define SUPERVISOR_WORKER_H

#include <event2/event.h>

#include "supervisor/crew.h"
#include "supervisor/run.h"

/* What every worker is started with; owned by runs.c. */
struct worker_env {
	struct event_base *base;
	struct crew *crew;
	/* R's worker said something that shows: steps, progress, a log line. */
	void (*on_news)(void *arg, struct run *r);
	/*
	 * R's worker has sent a whole artifact, whose bytes are in TMP_PATH
	 * (taken). Answer by worker_answer(), now or later.
	 */
	void (*on_artifact)(void *arg, struct run *r, struct run_artifact *a,
			    char *tmp_path, const char *sha256);
	/* R's worker is gone; EV is the verdict, r->error says why. */
	void (*on_over)(void *arg, struct run *r, enum run_event ev);
	/* There is no worker for R after all (-EAGAIN: queue it again). */
	void (*on_unborn)(void *arg, struct run *r, int err);
	void *arg;
	const char *state_dir;
	const char *instance;
};

/*
 * Start a worker for R, which is RUNNING: its limits, code and inputs go to
 * it. 0, or -EAGAIN: no zygote or slot now; -errno.
 */
int worker_start(const struct worker_env *env, struct run *r);

/* R is CANCELLING: SIGTERM, and SIGKILL when the grace is over. */
void worker_cancel(struct run *r);

/* The answer to an ARTIFACT: its id, or (OK false) why it was not kept. */
void worker_answer(struct run *r, bool ok, const char *text);

#endif

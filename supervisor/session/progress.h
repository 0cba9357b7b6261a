/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - the progress of a run, for a client which gave a token, and its
 * log lines, as notifications/message.
 */
#ifndef SUPERVISOR_SESSION_PROGRESS_H
#define SUPERVISOR_SESSION_PROGRESS_H

#include <event2/event.h>

#include "supervisor/session/session.h"

struct progress {
	struct session *session;
	const struct client_terms *terms;
	void *stream;		   /* of the request that gave the token */
	struct json_object *token; /* NULL: no progress is sent */
	const char *task_id;	   /* NULL: the run is no task */
	struct run *run;	   /* the run of the latest progress */
	bool told;
	uint64_t told_done;
	int64_t told_ms;
	struct event *later; /* sends progress held back by the rate */
};

/*
 * Send the progress of R. Session, terms, stream, token and task_id of P are
 * set, and *lent*.
 */
void progress_news(struct progress *p, struct run *r);
/* End P: progress held back is sent NOW, or never. */
void progress_stop(struct progress *p, bool now);
void progress_fini(struct progress *p);

/*
 * Send to P's client what R SAID (NOTICE_LOG), unless below the client's level
 * or the client does not read. P needs no token.
 */
void progress_log(struct progress *p, const struct run *r,
		  const struct run_notice *said);

#endif

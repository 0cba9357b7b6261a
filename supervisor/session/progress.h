/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how far a run is, told to the client that gave a token, and what
 * it logs, as notifications/message.
 */
#ifndef SUPERVISOR_SESSION_PROGRESS_H
#define SUPERVISOR_SESSION_PROGRESS_H

#include <event2/event.h>

#include "supervisor/session/session.h"

struct progress {
	struct session *session;
	const struct client_terms *terms;
	void *stream;		   /* of the request that gave the token */
	struct json_object *token; /* NULL: none, and nothing is told */
	const char *task_id;	   /* NULL: it does not belong to a task */
	struct run *run;	   /* the one that was told of last */
	bool told;
	uint64_t told_done;
	int64_t told_ms;
	struct event *later; /* the latest, held back by the rate */
};

/* Session, terms, stream, token and task_id are set, and lent. R has gone on. */
void progress_news(struct progress *p, struct run *r);
/* Nothing more comes: what was held back is told NOW, or never. */
void progress_stop(struct progress *p, bool now);
void progress_fini(struct progress *p);

/*
 * Tell P's client what R SAID (NOTICE_LOG), unless it is below the client's
 * level or the client does not read. P needs no token for that.
 */
void progress_log(struct progress *p, const struct run *r,
		  const struct run_notice *said);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_row.h - a run as the store keeps it, and a queued one back from there.
 */
#ifndef SUPERVISOR_RUN_RUN_ROW_H
#define SUPERVISOR_RUN_RUN_ROW_H

#include "supervisor/run/run.h"
#include "supervisor/store/store.h"

/* Which of a run's rounds had come back when it ended; ROW is a whole one. */
uint32_t run_row_rounds_used(const struct store_run *row);
/* Was one of them GUEST's, who waited at another machine? See run.heard. */
bool run_row_heard(const struct store_run *row, const char *guest);

/* Is what ROW has ended with a whole reply of its template's? */
bool run_row_is_reply(const struct store_run *row);

/* Write R's row whole, as R is now. */
void run_row_put(struct store *s, struct run *r, enum store_urgency urgency,
		 store_done done, void *arg);
/*
 * R has ended, and its row as well, however long that takes; unless another run has its
 * key by now, and so R never had one.
 */
void run_row_put_again(struct store *s, struct run *r, store_done done,
		       void *arg);
/* R has ended, and its row, if it is still there, is put right: what R used. */
void run_row_correct(struct store *s, struct run *r, store_done done,
		     void *arg);

/*
 * A queued run of ROW, which has inputs. Of its limits, timeout_ms and ttl_ms
 * are what was asked for (0: nothing); the rest is the caller's to set.
 */
struct run *run_row_revive(const struct store_run *row,
			   struct requestor *requestor, struct template *t);

/* What ROW, which is to be tried again, says of attempts becomes R's. */
void run_row_attempts(struct run *r, const struct store_run *row);

/* ROW, which was claimed, is another's to run: it waits where it did. */
void run_row_leave(struct store *s, const struct store_run *row);

/* Who watches R, which another has, is told what LOG (or NULL) has more than before. */
void run_row_tell_log(struct run *r, const char *log);

/* ROW will never be run: it has failed, and is remembered for TTL_MS. */
void run_row_interrupt(struct store *s, const struct store_run *row,
		       int64_t ttl_ms);

/* ROW, with its VIEW (NULL: none), has ended: R, another's, ends in that state. */
void run_row_end(struct run *r, const struct store_run *row,
		 struct json_object *view);

#endif

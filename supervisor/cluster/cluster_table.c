/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_table.c - the table by which the core calls supervisor/cluster/, and the state
 * of a server in the cluster. server.c sets ctx->cluster to the table where the store is
 * shared. No function of the file fails.
 */
#include "supervisor/cluster/cluster_table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "supervisor/cluster/answer_mail.h"
#include "supervisor/cluster/cluster_private.h"
#include "supervisor/cluster/forwarded_response.h"
#include "supervisor/cluster/proxied_request.h"
#include "supervisor/cluster/remote_questions.h"
#include "supervisor/cluster/remote_residents.h"
#include "supervisor/cluster/remote_waiters.h"

static void init(struct runs *s)
{
	s->cluster = xcalloc(1, sizeof(*s->cluster));
	shared_queue_init(s);
	limit_shares_init(s);
	remote_runs_init(s);
	resident_homes_init(s);
	remote_residents_init(s);
	s->cluster->answers = answer_mail_new(s->ctx);
}

static void open_all(struct runs *s)
{
	shared_queue_open(s);
	limit_shares_open(s);
	lease_open(s);
}

static void fini(struct runs *s)
{
	answer_mail_free(s->cluster->answers);
	lease_fini(s);
	resident_homes_fini(s);
	remote_residents_fini(s);
	remote_runs_fini(s);
	limit_shares_fini(s);
	shared_queue_fini(s);
	free(s->cluster);
	s->cluster = NULL;
}

const struct cluster cluster_table = {
    .init = init,
    .open = open_all,
    .fini = fini,
    .has_lease = lease_holds,
    .may_start = shared_queue_may_start,
    .has_others = shared_queue_has_others,
    .set_aside = shared_queue_set_aside,
    .leave = shared_queue_leave,
    .queued = shared_queue_queued,
    .wake = shared_queue_wake,
    .claim = shared_queue_claim,
    .serve = shared_queue_serve,
    .hand_over = shared_queue_hand_over,
    .keeps = lease_keeps,
    .disowned = remote_runs_disowned,
    .cancel = remote_runs_cancel,
    .visit = remote_runs_visit,
    .unwatched = remote_runs_unwatched,
    .message = remote_runs_message,
    .end_asked = resident_homes_end_asked,
    .messages_read = lease_messages_read,
    .wants_answers = answer_mail_wanted,
    .answers = answer_mail_take,
    .shown_questions = remote_questions_asked,
    .missing = remote_waiters_missing,
    .may_ask = remote_waiters_may_ask,
    .ask = remote_waiters_ask,
    .wait = proxied_request_new,
    .wait_over = proxied_request_leave,
    .questions = remote_questions_requests,
    .answer = remote_questions_answer,
    .reply = remote_questions_reply,
    .list_residents = remote_residents_list,
    .end_resident = remote_residents_end,
    .name_request = forwarded_response_name,
    .forward = forwarded_response_forward,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_api.c - the calls of the store: a function for each kind of request fills a
 * request and queues the request. The whole supervisor calls; no call waits. A failure
 * comes back in the result for the callback DONE, never as a return value.
 */
#include "supervisor/store/store_impl.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

/*
 * Queue a request of kind OP with DONE and ARG; further arguments are members
 * of the request.
 */
#define ASK(op, ...)                                                           \
	store_ask(s, &store_op_##op,                                           \
		  &(struct store_req){.done = done, .arg = arg, __VA_ARGS__})

void store_put_run(struct store *s, const struct store_run *run,
		   enum store_urgency urgency, store_done done, void *arg)
{
	ASK(put_run, .urgent = urgency != STORE_DEFERRED,
	    .retry = urgency == STORE_RETRY, .run = *run);
}

void store_get_run(struct store *s, const char *requestor, const char *id,
		   store_done done, void *arg)
{
	ASK(get_run, .urgent = true, .requestor = requestor, .id = id);
}

void store_get_inputs(struct store *s, const char *requestor, const char *id,
		      store_done done, void *arg)
{
	ASK(get_inputs, .urgent = true, .requestor = requestor, .id = id);
}

void store_get_task(struct store *s, const char *requestor, const char *id,
		    store_done done, void *arg)
{
	ASK(get_task, .urgent = true, .requestor = requestor, .id = id);
}

void store_list_tasks(struct store *s, const char *requestor,
		      const char *before, int64_t now_ms, int limit,
		      store_done done, void *arg)
{
	ASK(list_tasks, .urgent = true, .requestor = requestor,
	    .id = before != NULL ? before : ID_AFTER_ALL, .time_ms = now_ms,
	    .limit = limit);
}

void store_find_idem(struct store *s, const char *requestor,
		     const char *template_id, const char *key, store_done done,
		     void *arg)
{
	ASK(find_idem, .urgent = true, .requestor = requestor,
	    .id = template_id, .key = key);
}

void store_find_child(struct store *s, const char *requestor, const char *key,
		      int64_t until_ms, store_done done, void *arg)
{
	ASK(find_child, .urgent = true, .requestor = requestor, .key = key,
	    .time_ms = until_ms);
}

void store_list_runs(struct store *s, const struct store_filter *f,
		     store_done done, void *arg)
{
	ASK(list_runs, .urgent = true, .filter = *f);
}

void store_put_artifact(struct store *s, const struct store_artifact *a,
			const char *tmp_path, enum store_urgency urgency,
			store_done done, void *arg)
{
	ASK(put_artifact, .urgent = urgency != STORE_DEFERRED,
	    .retry = urgency == STORE_RETRY, .artifact = *a,
	    .tmp_path = tmp_path);
}

/* May wait until the end of the run is written, but must not be lost. */
void store_expire_artifacts(struct store *s, const char *run_id,
			    int64_t expires_ms)
{
	store_ask(s, &store_op_expire_artifacts,
		  &(struct store_req){
		      .retry = true, .id = run_id, .time_ms = expires_ms});
}

void store_read_artifact(struct store *s, const char *requestor, const char *id,
			 int64_t offset, int64_t limit, store_done done,
			 void *arg)
{
	ASK(read_artifact, .urgent = true, .requestor = requestor, .id = id,
	    .offset = offset, .limit = limit);
}

void store_list_artifacts(struct store *s, const char *requestor, bool all,
			  const char *from, const char *before, int limit,
			  store_done done, void *arg)
{
	ASK(list_artifacts, .urgent = true, .requestor = requestor, .all = all,
	    .id = from != NULL ? from : "",
	    .key = before != NULL ? before : ID_AFTER_ALL, .limit = limit,
	    .time_ms = clock_wall_ms());
}

void store_usage(struct store *s, const char *requestor, store_done done,
		 void *arg)
{
	ASK(usage, .urgent = true, .requestor = requestor);
}

void store_used(struct store *s, const char *requestor, int64_t since_ms,
		store_done done, void *arg)
{
	ASK(used, .urgent = true, .requestor = requestor, .time_ms = since_ms);
}

void store_nodes(struct store *s, store_done done, void *arg)
{
	ASK(nodes, .urgent = true);
}

void store_put_session(struct store *s, const struct store_session *session,
		       enum store_urgency urgency, store_done done, void *arg)
{
	ASK(put_session, .urgent = urgency != STORE_DEFERRED,
	    .retry = urgency == STORE_RETRY, .session = *session);
}

void store_get_session(struct store *s, const char *key, int64_t now_ms,
		       store_done done, void *arg)
{
	ASK(get_session, .urgent = true, .key = key, .time_ms = now_ms);
}

void store_add_proposal(struct store *s, const struct store_proposal *proposal,
			store_done done, void *arg)
{
	ASK(add_proposal, .urgent = true, .proposal = *proposal);
}

void store_list_proposals(struct store *s, const char *requestor,
			  const char *id, int64_t now_ms, store_done done,
			  void *arg)
{
	ASK(list_proposals, .urgent = true, .requestor = requestor, .id = id,
	    .time_ms = now_ms);
}

void store_end_proposal(struct store *s, const char *id, int64_t now_ms,
			store_done done, void *arg)
{
	ASK(end_proposal, .urgent = true, .id = id, .time_ms = now_ms);
}

void store_drop_session(struct store *s, const char *key,
			enum store_urgency urgency, store_done done, void *arg)
{
	ASK(drop_session, .urgent = urgency != STORE_DEFERRED, .retry = true,
	    .key = key);
}

void store_drop_sessions(struct store *s, const char *requestor)
{
	store_ask(s, &store_op_drop_sessions,
		  &(struct store_req){.retry = true, .requestor = requestor});
}

void store_recover(struct store *s, store_done done, void *arg)
{
	ASK(recover, .urgent = true, .time_ms = s->lost_run_ms,
	    .limit = s->lost_artifact_ms);
}

void store_recover_begun(struct store *s, store_done done, void *arg)
{
	ASK(recover, .urgent = true, .begun = true, .time_ms = s->lost_run_ms,
	    .limit = s->lost_artifact_ms);
}

void store_keep_lost(struct store *s, int64_t run_ms, int64_t artifact_ms,
		     const struct store_keep *own, size_t n)
{
	s->lost_run_ms = run_ms;
	s->lost_artifact_ms = artifact_ms;
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->n_lost_own; i++)
		free((char *)(uintptr_t)s->lost_own[i].requestor);
	free(s->lost_own);
	s->lost_own = n > 0 ? xcalloc(n, sizeof(*own)) : NULL;
	s->n_lost_own = 0;
	for (; s->n_lost_own < n; s->n_lost_own++)
		s->lost_own[s->n_lost_own] = (struct store_keep){
		    .requestor = xstrdup(own[s->n_lost_own].requestor),
		    .run_ms = own[s->n_lost_own].run_ms};
	pthread_mutex_unlock(&s->lock);
}

void store_sweep(struct store *s, int64_t now_ms)
{
	store_ask(s, &store_op_sweep, &(struct store_req){.time_ms = now_ms});
}

void store_delete_run(struct store *s, const char *requestor, const char *id,
		      store_done done, void *arg)
{
	ASK(delete_run, .urgent = true, .requestor = requestor, .id = id);
}

void store_delete_ended(struct store *s, const struct store_filter *f,
			int64_t before_ms, store_done done, void *arg)
{
	ASK(delete_ended, .urgent = true, .filter = *f, .time_ms = before_ms);
}

void store_delete_upload(struct store *s, const char *requestor, const char *id,
			 store_done done, void *arg)
{
	ASK(delete_upload, .urgent = true, .requestor = requestor, .id = id);
}

void store_delete_uploads(struct store *s, const char *requestor,
			  const char *from, int64_t before_ms, store_done done,
			  void *arg)
{
	ASK(delete_uploads, .urgent = true, .requestor = requestor,
	    .id = from != NULL ? from : "", .time_ms = before_ms);
}

void store_send_mail(struct store *s, const char *requestor, const char *id,
		     enum store_mail kind, int64_t until_ms, store_done done,
		     void *arg)
{
	ASK(send_mail, .urgent = true, .requestor = requestor, .id = id,
	    .kind = kind, .time_ms = until_ms, .limit = s->lost_run_ms);
}

void store_send_answer(struct store *s, const char *requestor, const char *id,
		       const char *body, int64_t until_ms, store_done done,
		       void *arg)
{
	ASK(send_answer, .urgent = true, .requestor = requestor, .id = id,
	    .key = body, .time_ms = until_ms);
}

void store_send_to(struct store *s, const char *requestor, const char *instance,
		   const char *body, int64_t until_ms, store_done done,
		   void *arg)
{
	ASK(send_to, .urgent = true, .requestor = requestor, .id = instance,
	    .key = body, .time_ms = until_ms);
}

void store_drop_answer(struct store *s, const struct store_message *l)
{
	store_ask(s, &store_op_drop_answer,
		  &(struct store_req){
		      .urgent = true, .id = l->run_id, .offset = l->number});
}

void store_read_mail(struct store *s, bool answers, store_done done, void *arg)
{
	ASK(read_mail, .urgent = true, .limit = answers);
}

void store_serve(struct store *s, const char *lines, store_done done, void *arg)
{
	ASK(serve, .urgent = true, .key = lines);
}

void store_claim(struct store *s, const struct store_claim *c, store_done done,
		 void *arg)
{
	ASK(claim, .urgent = true, .limit = c->limit, .offset = c->least,
	    .all = c->own, .key = c->except, .id = c->busy);
}

void store_home_resident(struct store *s, const char *requestor,
			 const char *resident, int64_t most, store_done done,
			 void *arg)
{
	ASK(home_resident, .urgent = true, .retry = true,
	    .requestor = requestor, .id = resident, .limit = most);
}

void store_leave_resident(struct store *s, const char *requestor,
			  const char *resident, const char *lost)
{
	store_ask(s, &store_op_leave_resident,
		  &(struct store_req){.urgent = true,
				      .retry = true,
				      .requestor = requestor,
				      .id = resident,
				      .key = lost});
}

void store_show_resident(struct store *s, const char *requestor,
			 const char *resident, const char *view,
			 store_done done, void *arg)
{
	ASK(show_resident, .requestor = requestor, .id = resident, .key = view);
}

void store_list_residents(struct store *s, const char *requestor,
			  store_done done, void *arg)
{
	ASK(list_residents, .urgent = true, .requestor = requestor);
}

void store_end_resident(struct store *s, const char *requestor,
			const char *resident, store_done done, void *arg)
{
	ASK(end_resident, .urgent = true, .requestor = requestor,
	    .id = resident);
}

void store_keep_resident(struct store *s, const char *requestor,
			 const char *resident)
{
	store_ask(s, &store_op_keep_resident,
		  &(struct store_req){
		      .urgent = true, .requestor = requestor, .id = resident});
}

void store_resident_ends(struct store *s, const char *requestor,
			 const char *resident, store_done done, void *arg)
{
	ASK(resident_ends, .urgent = true, .requestor = requestor,
	    .id = resident);
}

void store_look_at_queue(struct store *s, bool counts, store_done done,
			 void *arg)
{
	ASK(look_at_queue, .urgent = true, .limit = counts);
}

void store_share(struct store *s, const struct store_share *share,
		 store_done done, void *arg)
{
	ASK(share, .urgent = true, .requestor = share->requestor,
	    .share = *share);
}

void store_end_unserved(struct store *s)
{
	store_ask(s, &store_op_end_unserved,
		  &(struct store_req){.time_ms = s->lost_run_ms});
}

void store_find_unheard(struct store *s, const char *ids, store_done done,
			void *arg)
{
	ASK(unheard, .urgent = true, .key = ids);
}

void store_find_orphans(struct store *s, const char *called, store_done done,
			void *arg)
{
	ASK(orphans, .urgent = true, .key = called);
}

void store_heard(struct store *s, const char *id)
{
	store_ask(s, &store_op_heard, &(struct store_req){.id = id});
}

void store_show(struct store *s, const struct store_run *run)
{
	store_ask(s, &store_op_show,
		  &(struct store_req){.urgent = true, .run = *run});
}

void store_probe(struct store *s, store_done done, void *arg)
{
	ASK(probe, .urgent = true);
}

void store_open(struct store *s, store_done done, void *arg)
{
	ASK(open, .urgent = true);
}

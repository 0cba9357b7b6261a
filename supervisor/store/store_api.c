/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_api.c - one function for each thing that can be asked of the store: it
 * fills a request and queues it. The callers are all over the supervisor; none
 * waits. A failure comes back in the result that DONE is called with, never
 * from here.
 */
#include "supervisor/store/store_impl.h"

void store_put_run(struct store *s, const struct store_run *run,
		   enum store_urgency urgency, store_done done, void *arg)
{
	store_ask(s, &store_op_put_run,
		  &(struct store_req){.urgent = urgency != STORE_DEFERRED,
				      .retry = urgency == STORE_RETRY,
				      .run = *run,
				      .done = done,
				      .arg = arg});
}

void store_get_run(struct store *s, const char *requestor, const char *id,
		   store_done done, void *arg)
{
	store_ask(s, &store_op_get_run,
		  &(struct store_req){.urgent = true,
				      .requestor = requestor,
				      .id = id,
				      .done = done,
				      .arg = arg});
}

void store_get_task(struct store *s, const char *requestor, const char *id,
		    store_done done, void *arg)
{
	store_ask(s, &store_op_get_task,
		  &(struct store_req){.urgent = true,
				      .requestor = requestor,
				      .id = id,
				      .done = done,
				      .arg = arg});
}

void store_list_tasks(struct store *s, const char *requestor,
		      const char *before, int64_t now_ms, int limit,
		      store_done done, void *arg)
{
	store_ask(
	    s, &store_op_list_tasks,
	    &(struct store_req){.urgent = true,
				.requestor = requestor,
				.id = before != NULL ? before : ID_AFTER_ALL,
				.time_ms = now_ms,
				.limit = limit,
				.done = done,
				.arg = arg});
}

void store_find_idem(struct store *s, const char *requestor,
		     const char *template_id, const char *key, store_done done,
		     void *arg)
{
	store_ask(s, &store_op_find_idem,
		  &(struct store_req){.urgent = true,
				      .requestor = requestor,
				      .id = template_id,
				      .key = key,
				      .done = done,
				      .arg = arg});
}

void store_list_runs(struct store *s, const struct store_filter *f,
		     store_done done, void *arg)
{
	store_ask(s, &store_op_list_runs,
		  &(struct store_req){
		      .urgent = true, .filter = *f, .done = done, .arg = arg});
}

void store_put_artifact(struct store *s, const struct store_artifact *a,
			const char *tmp_path, enum store_urgency urgency,
			store_done done, void *arg)
{
	store_ask(s, &store_op_put_artifact,
		  &(struct store_req){.urgent = urgency != STORE_DEFERRED,
				      .retry = urgency == STORE_RETRY,
				      .artifact = *a,
				      .tmp_path = tmp_path,
				      .done = done,
				      .arg = arg});
}

/* It may wait for the end of its run to be written, but not be lost. */
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
	store_ask(s, &store_op_read_artifact,
		  &(struct store_req){.urgent = true,
				      .requestor = requestor,
				      .id = id,
				      .offset = offset,
				      .limit = limit,
				      .done = done,
				      .arg = arg});
}

void store_usage(struct store *s, const char *requestor, store_done done,
		 void *arg)
{
	store_ask(s, &store_op_usage,
		  &(struct store_req){.urgent = true,
				      .requestor = requestor,
				      .done = done,
				      .arg = arg});
}

void store_put_session(struct store *s, const struct store_session *session,
		       enum store_urgency urgency, store_done done, void *arg)
{
	store_ask(s, &store_op_put_session,
		  &(struct store_req){.urgent = urgency != STORE_DEFERRED,
				      .retry = urgency == STORE_RETRY,
				      .session = *session,
				      .done = done,
				      .arg = arg});
}

void store_get_session(struct store *s, const char *key, int64_t now_ms,
		       store_done done, void *arg)
{
	store_ask(s, &store_op_get_session,
		  &(struct store_req){.urgent = true,
				      .key = key,
				      .time_ms = now_ms,
				      .done = done,
				      .arg = arg});
}

void store_drop_session(struct store *s, const char *key,
			enum store_urgency urgency, store_done done, void *arg)
{
	store_ask(s, &store_op_drop_session,
		  &(struct store_req){.urgent = urgency != STORE_DEFERRED,
				      .retry = true,
				      .key = key,
				      .done = done,
				      .arg = arg});
}

void store_drop_sessions(struct store *s, const char *requestor)
{
	store_ask(s, &store_op_drop_sessions,
		  &(struct store_req){.retry = true, .requestor = requestor});
}

void store_recover(struct store *s, store_done done, void *arg)
{
	store_ask(
	    s, &store_op_recover,
	    &(struct store_req){.urgent = true, .done = done, .arg = arg});
}

void store_recover_begun(struct store *s, store_done done, void *arg)
{
	store_ask(s, &store_op_recover,
		  &(struct store_req){
		      .urgent = true, .begun = true, .done = done, .arg = arg});
}

void store_sweep(struct store *s, int64_t now_ms)
{
	store_ask(s, &store_op_sweep, &(struct store_req){.time_ms = now_ms});
}

void store_send_mail(struct store *s, const char *requestor, const char *id,
		     enum store_mail kind, int64_t until_ms, store_done done,
		     void *arg)
{
	store_ask(s, &store_op_send_mail,
		  &(struct store_req){.urgent = true,
				      .requestor = requestor,
				      .id = id,
				      .kind = kind,
				      .time_ms = until_ms,
				      .done = done,
				      .arg = arg});
}

void store_read_mail(struct store *s, store_done done, void *arg)
{
	store_ask(
	    s, &store_op_read_mail,
	    &(struct store_req){.urgent = true, .done = done, .arg = arg});
}

void store_show(struct store *s, const struct store_run *run)
{
	store_ask(s, &store_op_show,
		  &(struct store_req){.urgent = true, .run = *run});
}

void store_probe(struct store *s, store_done done, void *arg)
{
	store_ask(
	    s, &store_op_probe,
	    &(struct store_req){.urgent = true, .done = done, .arg = arg});
}

void store_open(struct store *s, store_done done, void *arg)
{
	store_ask(
	    s, &store_op_open,
	    &(struct store_req){.urgent = true, .done = done, .arg = arg});
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logging.c - what a run logs, as a notification for the client that waits for
 * it; for request.c and task_notify.c. What the client did not want is dropped.
 */
#include "supervisor/session/logging.h"

#include "proto/json/json_pack.h"
#include "supervisor/run/task_json.h"

void logging_tell(struct session *s, void *stream, const struct run *r,
		  const struct run_notice *said, const char *task_id)
{
	struct json_object *o;

	if (said->level > s->log_level || session_is_backlogged(s))
		return;
	o = json_pack("level:s logger:s data:S _meta?o",
		      mcp_level_name(said->level), r->template->id, said->text,
		      said->len,
		      task_id != NULL ? task_json_related(task_id) : NULL);
	session_tell(s, stream, "notifications/message", o);
	json_object_put(o);
}

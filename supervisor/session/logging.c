/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logging.c - logging/setLevel, and a run's log lines as notifications.
 * methods.c and whoever watches a run for a client call it. A level that is
 * none is an error of the request; a client that does not read gets no lines.
 */
#include "supervisor/session/logging.h"

#include "proto/json/json_pack.h"
#include "supervisor/run/task_json.h"

void logging_set_level(struct request *c)
{
	int level = mcp_level_of(json_member_str(c->msg.params, "level"));

	if (level < 0) {
		request_error(
		    c, RPC_INVALID_PARAMS, NULL,
		    "logging/setLevel needs params.level, one of "
		    "emergency, alert, critical, error, warning, notice, "
		    "info, debug");
		return;
	}
	c->session->log_level = (unsigned)level;
	session_changed(c->session);
	request_result(c, json_object_new_object());
}

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

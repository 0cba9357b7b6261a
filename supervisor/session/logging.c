/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/session/logging.h"

#include "proto/json/json.h"
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
	o = json_object_new_object();
	json_object_object_add(
	    o, "level", json_object_new_string(mcp_level_name(said->level)));
	json_object_object_add(o, "logger",
			       json_object_new_string(r->template->id));
	json_object_object_add(
	    o, "data", json_object_new_string_len(said->text, (int)said->len));
	if (task_id != NULL)
		json_object_object_add(o, "_meta", task_json_related(task_id));
	session_tell(s, stream, "notifications/message", o);
	json_object_put(o);
}

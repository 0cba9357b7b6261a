/* SPDX-License-Identifier: Apache-2.0 */
/*
 * action_session.c - keep_session, close_session and list_sessions, run in a
 * call's fiber. A session that is not the caller's is SESSION_NOT_FOUND.
 */
#include "browser/browser.h"
#include "proto/json/json_pack.h"

int action_keep_session(struct call *c)
{
	if (session_enter(c, NULL, false) < 0)
		return -1;
	c->session->kept = true;
	c->result = json_pack("sessionId:s", c->session->id);
	return 0;
}

int action_close_session(struct call *c)
{
	struct session *s;

	if (session_enter(c, arg_str(c, "sessionId"), false) < 0)
		return -1;
	s = c->session;
	c->session = NULL;
	session_close(s, "SESSION_NOT_FOUND", "close_session closed it", true);
	return 0;
}

int action_list_sessions(struct call *c)
{
	struct json_object *all = json_object_new_array();
	struct session *s;

	TAILQ_FOREACH(s, &c->b->sessions, link)
		if (session_is_of(s, c))
			json_object_array_add(all, session_view(s));
	c->result = json_pack("sessions:o", all);
	return 0;
}

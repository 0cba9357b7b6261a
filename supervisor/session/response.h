/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h - makes answers with much text on a thread: escaping, printing and
 * copying 8 MB takes the loop 100 ms and more. An answer may show a run: its
 * result or its state.
 */
#ifndef SUPERVISOR_SESSION_RESPONSE_H
#define SUPERVISOR_SESSION_RESPONSE_H

#include "supervisor/session/result/run_result.h"
#include "supervisor/session/request.h"
#include "supervisor/session/result/resource_uri.h"

#define RESPONSE_LEVELS 3

/*
 * Reports on a notification. LEFT: it was sent, or is too long ever to be sent;
 * false: the threads have too much to do now.
 */
typedef void (*response_told)(struct request *req, void *arg, bool left);

/* The material of an answer; MAKE decides which members are used. */
struct response {
	/*
	 * Make the result from M and constants alone. NULL: no result; FAULT or
	 * ERROR says why.
	 */
	struct json_object *(*make)(struct response *m);
	/* MAKE is called with the next LEVEL while the answer is too long */
	bool gives_way;
	unsigned level; /* below RESPONSE_LEVELS; 0: everything asked for */
	size_t max;	/* bytes of the message; see request_max_bytes() */
	char fault[512];
	/* Set by MAKE instead of a result: {code, message, data?}. */
	struct json_object *error;
	enum mcp_revision revision; /* of the session; set by response_send() */
	const char *text;	    /* text of LEN bytes */
	size_t len;
	bool taken;			 /* TEXT is *taken*, not *lent* */
	struct run_result_source answer; /* of a run; its view is TEXT */
	const char *note; /* *lent* for good: a text after the result */
	bool is_error;
	const char *uri, *mime_type;
	const char *part; /* *lent* for good: the member of TEXT to show */
	struct resource_uri_range piece; /* the range of PART to show */
	size_t all; /* bytes of the whole, if TEXT is a piece */
	/*
	 * *Taken*, without any other reference to any part of HEAD; or NULL. A
	 * MAKE which puts HEAD into its result sets this to NULL.
	 */
	struct json_object *head;
	/*
	 * Not an answer, but the params of the notification METHOD (*lent* for
	 * good) of the subscription REQ; TOLD reports.
	 */
	const char *method;
	response_told told;
	void *arg;
};

/*
 * Answer REQ with the result of M (texts are *lent*, unless taken): at once, or
 * for a long text after a thread has made it. Until then REQ's client counts as
 * awaiting a large answer.
 */
void response_send(struct request *req, const struct response *m);

/*
 * Answer REQ with RESULT (*taken*), to no part of which another reference exists.
 * The texts in RESULT have LEN bytes; many bytes are written on a thread.
 */
void response_tree(struct request *req, struct json_object *result, size_t len);

/*
 * Answer REQ with a tool's result: OBJ (*taken*) as structuredContent and as
 * text.
 */
void response_tool_result(struct request *req, struct json_object *obj,
			  bool is_error);
/*
 * As response_tool_result(), with NOTE (*lent* for good; may be NULL) as a
 * further text.
 */
void response_tool_result_noted(struct request *req, struct json_object *obj,
				const char *note);
/* As response_tool_result(), from an object's TEXT, which is *taken*. */
void response_tool_text(struct request *req, char *text, size_t len);

/* Answer REQ with the run A, whose texts are *lent*, now or from a thread. */
void response_run(struct request *req, const struct run_result_source *a);
/* As response_run(), for tasks/result: the answer names the task. */
void response_run_of_task(struct request *req,
			  const struct run_result_source *a);

/*
 * As response_run(), for tasks/get of the extension: TASK (*taken*) is
 * task_json_detailed() of a completed task, and gets the result of its call.
 */
void response_task(struct request *req, struct json_object *task,
		   const struct run_result_source *a);

/*
 * As response_task(), as the notification METHOD (*lent* for good) of the
 * subscription REQ. TOLD is called with ARG, now or later, unless REQ is dropped
 * before.
 */
void response_tell_task(struct request *req, const char *method,
			struct json_object *task,
			const struct run_result_source *a, response_told told,
			void *arg);

/*
 * Has the tool of template TEMPLATE_ID, as clients know it now, an
 * outputSchema? For run_result_source.promised.
 */
bool response_has_schema(const struct request *req, const char *template_id);

#endif

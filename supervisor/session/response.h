/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h - answers that are made of much text: on a thread. Escaping,
 * printing and copying 8 MB takes the loop 100 ms and more. One kind of them is
 * a run: what it gave, or how it goes.
 */
#ifndef SUPERVISOR_SESSION_RESPONSE_H
#define SUPERVISOR_SESSION_RESPONSE_H

#include "supervisor/result/run_result.h"
#include "supervisor/session/request.h"
#include "supervisor/run/resource_uri.h"

#define RESPONSE_LEVELS 3

/* It has LEFT, or cannot ever; or the threads have too much to do now. */
typedef void (*response_told)(struct request *c, void *arg, bool left);

/* What an answer is made of; which of it is used is up to MAKE. */
struct response {
	/*
	 * The result, of nothing else than M and constants. NULL: there is
	 * none, and FAULT says why.
	 */
	struct json_object *(*make)(struct response *m);
	/* It can be shorter: made again with the next LEVEL while it is too long. */
	bool gives_way;
	unsigned level; /* below RESPONSE_LEVELS; 0: all that is asked for */
	size_t max;	/* bytes of the message; see request_max_bytes() */
	char fault[512];
	/* Set by MAKE, which has then no result: {code, message, data?}. */
	struct json_object *error;
	enum mcp_revision revision; /* of the session; set by response_send() */
	const char *text;	    /* LEN bytes */
	size_t len;
	bool taken;			 /* TEXT is not lent, but taken */
	struct run_result_source answer; /* of a run; its view is TEXT */
	const char *note; /* lent for good: what is said after it */
	bool is_error;
	const char *uri, *mime_type;
	const char *part; /* lent for good: the member of TEXT that is meant… */
	struct resource_uri_range piece; /* …and so much of it */
	size_t all; /* bytes that there are, when TEXT is a piece */
	/*
	 * Taken, and nobody else has a reference to any part of it; or NULL. A
	 * MAKE that puts it into its result takes it from here.
	 */
	struct json_object *head;
	/*
	 * It is no answer of C's, but the params of this notification (lent for
	 * good) of the subscription that C is, and who asked for it hears of it.
	 */
	const char *method;
	response_told told;
	void *arg;
};

/*
 * C is answered by what M (whose texts are lent, unless taken) makes: at once,
 * or when it has much text as soon as a thread has made it. C's client counts as
 * one that awaits a large answer until then.
 */
void response_send(struct request *c, const struct response *m);

/* A tool's answer: OBJ (taken) as structuredContent and as text. */
void response_tool_result(struct request *c, struct json_object *obj,
			  bool is_error);
/* The same, with NOTE (lent for good; NULL: none) as a text of its own. */
void response_tool_result_noted(struct request *c, struct json_object *obj,
				const char *note);
/* The same, of an object's TEXT, which is taken. */
void response_tool_text(struct request *c, char *text, size_t len);

/* C is answered with A, whose texts are lent, now or from a thread. */
void response_run(struct request *c, const struct run_result_source *a);
/* The same for tasks/result: it says of which task. */
void response_run_of_task(struct request *c, const struct run_result_source *a);

/*
 * The same for tasks/get of the extension: TASK (taken) is task_json_detailed() of
 * one that is completed, and gets what its call would have been answered.
 */
void response_task(struct request *c, struct json_object *task,
		   const struct run_result_source *a);

/*
 * The same as the notification METHOD (lent for good) of the subscription that C
 * is. TOLD is called with ARG, now or later, unless C is dropped before.
 */
void response_tell_task(struct request *c, const char *method,
			struct json_object *task,
			const struct run_result_source *a, response_told told,
			void *arg);

/*
 * Does the tool of the template TEMPLATE_ID, as its clients know it now, have
 * an outputSchema? For run_result_source.promised.
 */
bool response_has_schema(const struct request *c, const char *template_id);

#endif

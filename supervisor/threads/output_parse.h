/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_parse.h - what a worker gave as its result, when that is large: read on a
 * thread, from text to a tree, and to the text that its run's view has.
 */
#ifndef SUPERVISOR_THREADS_OUTPUT_PARSE_H
#define SUPERVISOR_THREADS_OUTPUT_PARSE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct thread_pool;
struct requestor;

#define OUTPUT_PARSE_WHY_SIZE 512

/* What came of it; who is given it takes what it needs, and sets that NULL. */
struct output_parsed {
	struct json_object *tree; /* NULL: JSON null, or a fault */
	char *text;		  /* the tree, compact */
	size_t len;
	const char *fault; /* "a result that is not JSON", or NULL */
	char errmsg[OUTPUT_PARSE_WHY_SIZE]; /* more of that, or "" */
	int content_at;		      /* a reply's block that is none, or -1 */
	const char *content_expected; /* of that */
};

struct json_error;

/*
 * Why LEN bytes at TEXT are no result, which ERR says: where, what stands
 * there, and where log lines belong, which are the usual reason.
 */
void output_parse_why_stray(char errmsg[OUTPUT_PARSE_WHY_SIZE],
			    const char *text, size_t len,
			    struct json_error *err);

/* Why REPLY cannot be passed on as a tool's result; NULL: it can. */
const char *output_parse_reply_fault(struct json_object *reply);
/* Does REPLY, which has no fault, say that the run failed? */
bool output_parse_reply_failed(struct json_object *reply);

typedef void (*output_parse_done)(void *arg, struct output_parsed *out);

/*
 * Read LEN bytes at TEXT, which is taken, for Q; IS_REPLY: it is a whole tool
 * result. NULL: Q has too much under way, and TEXT has been freed.
 */
struct output_parse_job *output_parse(struct thread_pool *o,
				      struct requestor *q, char *text,
				      size_t len, bool is_reply,
				      output_parse_done done, void *arg);
void output_parse_cancel(struct output_parse_job *job); /* DONE is not called */

#endif

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

struct offload;
struct requestor;

#define OUTPUT_WHY_SIZE 512

/* What came of it; who is given it takes what it needs, and sets that NULL. */
struct output {
	struct json_object *tree; /* NULL: JSON null, or a fault */
	char *text;		  /* the tree, compact */
	size_t len;
	const char *fault; /* "a result that is not JSON", or NULL */
	char why[OUTPUT_WHY_SIZE]; /* more of that, or "" */
	int content_at;	   /* a reply's block that is none, or -1 */
	const char *content_expected; /* of that */
};

struct json_error;

/*
 * Why LEN bytes at TEXT are no result, which ERR says: where, what stands
 * there, and where log lines belong, which are the usual reason.
 */
void output_stray(char why[OUTPUT_WHY_SIZE], const char *text, size_t len,
		  struct json_error *err);

/* Why REPLY cannot be passed on as a tool's result; NULL: it can. */
const char *output_reply_fault(struct json_object *reply);

typedef void (*output_done)(void *arg, struct output *out);

/*
 * Read LEN bytes at TEXT, which is taken, for Q; IS_REPLY: it is a whole tool
 * result. NULL: Q has too much under way, and TEXT has been freed.
 */
struct output_job *output_read(struct offload *o, struct requestor *q,
			       char *text, size_t len, bool is_reply,
			       output_done done, void *arg);
void output_cancel(struct output_job *job); /* DONE is not called */

#endif

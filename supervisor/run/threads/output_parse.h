/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_parse.h - reads a worker's large result on a thread: from text to a
 * tree, and to the text stored in the run's view.
 */
#ifndef SUPERVISOR_THREADS_OUTPUT_PARSE_H
#define SUPERVISOR_THREADS_OUTPUT_PARSE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct thread_pool;
struct requestor;

#define OUTPUT_PARSE_WHY_SIZE 512

/* A result that was read. The callee takes members by setting them to NULL. */
struct output_parsed {
	struct json_object *tree; /* the result; NULL: JSON null, or a fault */
	size_t cost;		  /* bytes of memory taken by the tree */
	char *text;		  /* text of the tree, compact */
	size_t len;
	const char *fault; /* "a result that is not JSON", or NULL */
	bool too_many;	   /* the fault: more values than VALUES_MAX */
	char errmsg[OUTPUT_PARSE_WHY_SIZE]; /* details of the fault, or "" */
	/* the index of a faulty block of a reply's content, or -1 */
	int content_at;
	const char *content_expected; /* the requirement that the block fails */
};

struct json_error;

/*
 * Write into ERRMSG why LEN bytes at TEXT are no result, by the error ERR: the
 * place, the text there, and where log lines belong, which are the usual
 * reason.
 */
void output_parse_why_stray(char errmsg[OUTPUT_PARSE_WHY_SIZE],
			    const char *text, size_t len,
			    struct json_error *err);

/*
 * Return why REPLY cannot be passed on as a tool's result; NULL: there is no
 * fault.
 */
const char *output_parse_reply_fault(struct json_object *reply);
/* Does REPLY, which has no fault, say: the run failed? */
bool output_parse_reply_failed(struct json_object *reply);

typedef void (*output_parse_done)(void *arg, struct output_parsed *out);

/*
 * Read LEN bytes at TEXT (taken), of at most VALUES_MAX values, for Q;
 * IS_REPLY: the text is a whole tool result. NULL: Q has too many jobs under way, and TEXT has been freed.
 */
struct output_parse_job *output_parse(struct thread_pool *o,
				      struct requestor *q, char *text,
				      size_t len, size_t values_max,
				      bool is_reply, output_parse_done done,
				      void *arg);
/* Cancel JOB: DONE is not called. */
void output_parse_cancel(struct output_parse_job *job);

#endif

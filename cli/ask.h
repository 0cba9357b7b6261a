/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h - asks who sits at the terminal: on stderr, and reads from stdin. Each line
 * with words of a template is marked as such, so that none looks like paddock's own.
 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include <json-c/json.h>
#include <stdbool.h>

enum ask_end {
	ASK_ACCEPT,
	ASK_DECLINE,
	ASK_CANCEL,  /* ctrl-D, !cancel, or the terminal has gone */
	ASK_STOPPED, /* a signal came, which client_signal() tells */
};

/* Are stdin and stderr a terminal, and no dumb one? */
bool ask_possible(void);

/*
 * WHO, a template, asks MESSAGE: each property of SCHEMA that CONTENT lacks is asked
 * for, until the line does, and put there. All is lent. Other than ASK_ACCEPT: what
 * CONTENT has is of no use.
 */
enum ask_end ask_form(const char *who, const char *message,
		      struct json_object *schema, struct json_object *content);
/* The same without fields: yes or no, to MESSAGE, or to opening URL (not NULL). */
enum ask_end ask_consent(const char *who, const char *message, const char *url);
/*
 * Those inputs that SCHEMA requires and INPUTS lacks, without echo where they are
 * secret; a line may be @FILE or env:NAME, as of -i.
 */
enum ask_end ask_inputs(const char *who, struct json_object *schema,
			struct json_object *inputs);
/*
 * Those inputs of NAMES that INPUTS lacks, all of them without echo: they were secret
 * in a run that is tried again, and so were not kept.
 */
enum ask_end ask_secrets(const char *who, struct json_object *schema,
			 struct json_object *names, struct json_object *inputs);

#endif

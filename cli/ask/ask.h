/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h - asks the user at the terminal: writes to stderr and reads from stdin.
 * Words of a template have a mark on each line, to look unlike paddock's own.
 */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include <json-c/json.h>
#include <stdbool.h>

enum ask_end {
	ASK_ACCEPT,
	ASK_DECLINE,
	ASK_CANCEL,  /* ctrl-D, !cancel, or the terminal has gone */
	ASK_STOPPED, /* a signal came: signals_noted() returns it */
};

/* Is stdin a terminal, and stderr a terminal with TERM set? */
bool ask_possible(void);

/*
 * Show the MESSAGE of WHO, a template, and ask for each property of SCHEMA that
 * CONTENT lacks, until the line is valid; then put it into CONTENT. Everything
 * is lent. After any other end than ASK_ACCEPT the caller must not use CONTENT.
 */
enum ask_end ask_form(const char *who, const char *message,
		      struct json_object *schema, struct json_object *content);
/* Ask for a yes or no to MESSAGE, or to opening URL (not NULL). */
enum ask_end ask_consent(const char *who, const char *message, const char *url);
/* Does the user say yes to WHAT, a question of paddock's own? */
bool ask_yes(const char *what);
/*
 * Ask for the inputs that SCHEMA requires and INPUTS lacks, without echo if
 * secret; a line may be @FILE or env:NAME, as in -i.
 */
enum ask_end ask_inputs(const char *who, struct json_object *schema,
			struct json_object *inputs);
/*
 * Ask for the inputs of NAMES that INPUTS lacks, without echo: inputs that were
 * secret in a run that is tried again, and so were not kept.
 */
enum ask_end ask_secrets(const char *who, struct json_object *schema,
			 struct json_object *names, struct json_object *inputs);

#endif

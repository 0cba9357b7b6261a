/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - a run's inputs from the command line, typed by the inputsSchema. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <json-c/json.h>
#include <stddef.h>

/*
 * Put the value in WORD into INPUTS, an object. WORD is one of
 *
 *   key=value    text where SCHEMA has a string, else JSON; a list may be
 *                given element by element
 *   key=@FILE    the file's text, typed in the same way; - is stdin; @@ begins
 *                text with @
 *   key=@@FILE   where SCHEMA takes files: the file is to be uploaded, and its
 *                artifact is the input (input_upload())
 *   key=env:NAME the environment's variable NAME; env:: begins text with env:
 *   key:=JSON    JSON as it stands, or from a file (:=@FILE) or the environment
 *
 * A key with dots leads into objects where SCHEMA knows no such key. SCHEMA
 * may be NULL. 0, or -EINVAL and ERRMSG.
 */
int input_put(struct json_object *inputs, struct json_object *schema,
	      const char *word, char *errmsg, size_t size);

/*
 * Return the JSON Pointer of the member to which input_put() would put the
 * value of WORD, the caller's; NULL: WORD gives a whole input, or is invalid.
 */
char *input_member(struct json_object *schema, const char *word);

/*
 * Return the path of the file to upload in place of V, lent, if input_put()
 * made V for an upload; else NULL.
 */
const char *input_upload(struct json_object *v);

/* Put FROM's members into INTO; objects in both are merged, too. */
void input_merge(struct json_object *into, struct json_object *from);

#endif

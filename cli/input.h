/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - a run's inputs from the command line, typed by the inputsSchema. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <json-c/json.h>
#include <stddef.h>

/*
 * Put what WORD says into INPUTS, an object. WORD is one of
 *
 *   key=value    typed by SCHEMA: text where that says string, else JSON; a
 *                list may be given element by element
 *   key=@FILE    the file's text likewise; - is stdin; @@ begins text with @
 *   key=@@FILE   where SCHEMA takes files: the file is to be uploaded, and its
 *                artifact is the input (input_upload())
 *   key=env:NAME what the environment has as NAME; env:: begins text with env:
 *   key:=JSON    as it stands, or from a file (:=@FILE) or the environment
 *
 * A key with dots leads into objects where SCHEMA knows no such key. SCHEMA
 * may be NULL. 0, or -EINVAL and ERRMSG.
 */
int input_put(struct json_object *inputs, struct json_object *schema,
	      const char *word, char *errmsg, size_t size);

/*
 * Where input_put() puts what WORD says: a JSON Pointer, the caller's. NULL: it is a
 * whole input, or nothing that it takes.
 */
char *input_member(struct json_object *schema, const char *word);

/*
 * The file that is to be uploaded in the place of V, an object of input_put()'s; NULL:
 * V is no such place. Lent.
 */
const char *input_upload(struct json_object *v);

/* Put FROM's members into INTO; objects that both have are merged, too. */
void input_merge(struct json_object *into, struct json_object *from);

#endif

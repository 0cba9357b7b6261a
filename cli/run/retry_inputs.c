/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_inputs.c - inputs given anew when run.c tries a run again: from -i,
 * sorted into whole inputs and members of objects, and inputs that the server
 * did not keep, asked for on the terminal. If the user leaves the dialogue
 * nothing is run.
 */
#include "cli/run/retry_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ask/ask.h"
#include "cli/ask/input.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json.h"
#include "proto/json/json_pointer.h"

/* Does one of WORDS give the input KEY whole? */
static bool is_whole(struct json_object *schema, const struct opt_list *words,
		     const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->item[i];
		char *member = input_member(schema, word);
		bool whole =
		    member == NULL && strncmp(word, key, n) == 0 &&
		    (word[n] == '=' || strncmp(word + n, ":=", 2) == 0);

		free(member);
		if (whole)
			return true;
	}
	return false;
}

/* Return the value at POINTER in TREE, lent; NULL: none. */
static struct json_object *at(struct json_object *tree, const char *pointer)
{
	while (pointer[0] == '/') {
		char *token = json_pointer_token(&pointer);

		tree = json_member(tree, token);
		free(token);
	}
	return tree;
}

void retry_inputs_put(struct run_call *r, struct json_object *schema,
		      const struct opt_list *words, struct json_object *typed)
{
	struct json_object *rest = json_object_new_object();

	r->members = json_object_new_object();
	json_object_object_foreach(typed, key, value) {
		struct json_object *to =
		    is_whole(schema, words, key) ||
			    json_object_object_get_ex(r->inputs, key, NULL)
			? r->inputs
			: rest;
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, key, json_object_get(value));
		input_merge(to, one);
		json_object_put(one);
	}
	for (size_t i = 0; i < words->n; i++) {
		char *member = input_member(schema, words->item[i]);
		struct json_object *v =
		    member != NULL ? at(rest, member) : NULL;

		if (v != NULL)
			json_object_object_add(r->members, member,
					       json_object_get(v));
		free(member);
	}
	json_object_put(rest);
}

/* ---- inputs that were not kept ---- */

bool retry_inputs_lack(const struct run_call *r, struct json_object *refusal)
{
	struct json_object *details = json_member(refusal, "details");

	return r->again != NULL && r->schema != NULL && ask_possible() &&
	       json_member_is(refusal, "errorCode", "INVALID_PARAMETER") &&
	       json_member_is(details, "pointer", "/inputs") &&
	       json_member_is(details, "keyword", "required");
}

int retry_inputs_end(enum ask_end end)
{
	switch (end) {
	case ASK_ACCEPT:
		return 0;
	case ASK_STOPPED:
		return client_trouble();
	default:
		return message_fail(CLI_USAGE,
				    "not all inputs were given, so nothing "
				    "was run");
	}
}

int retry_inputs_ask(struct run_call *r, struct json_object *refusal)
{
	struct json_object *missing =
	    json_member(json_member(refusal, "details"), "missing");

	message_print("%s", json_member_str(refusal, "error"));
	return retry_inputs_end(
	    json_length(missing) > 0
		? ask_secrets(r->template, r->schema, missing, r->inputs)
		: ask_inputs(r->template, r->schema, r->inputs));
}

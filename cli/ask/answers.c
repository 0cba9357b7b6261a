/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.c - answers a template's questions: by --answer, by asking through
 * ask.c, or by declining with a message on stderr that shows the question and
 * how to answer. run_call.c and wait.c call it. An invalid answer is reported,
 * and asked for again if there is a terminal.
 */
#include "cli/ask/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/ask/ask.h"
#include "cli/ask/form.h"
#include "cli/ask/input_type.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define SHOWN_COLUMNS 200 /* of a message that nobody answers */
#define HINTS_MAX 5
#define SAID_MAX 5 /* declined questions shown; a template may ask on */
#define TASKS "io.modelcontextprotocol/tasks" /* extensions */
#define LATER "paddock/answersLater"
#define CONSENT "accept" /* the key of a question without fields */

bool answers_init(struct answers *a, const struct opt_list *given)
{
	*a = (struct answers){.given = given};
	for (size_t i = 0; i < given->n; i++) {
		size_t n = strcspn(given->item[i], "=");

		if (n > 0 && given->item[i][n] == '=')
			continue;
		message_print("--answer is \"%.64s\"; write key=value, as -i "
			      "has it",
			      given->item[i]);
		return false;
	}
	a->used = xcalloc(given->n + 1, sizeof(*a->used));
	return true;
}

void answers_fini(struct answers *a)
{
	free(a->used);
	*a = (struct answers){0};
}

struct json_object *answers_capabilities(bool later)
{
	struct json_object *all = json_pack(
	    "elicitation:o", json_pack("form:o url:o", json_object_new_object(),
				       json_object_new_object()));

	if (later)
		json_add(all, "extensions:o",
			 json_pack(TASKS ":o " LATER ":o",
				   json_object_new_object(),
				   json_object_new_object()));
	return all;
}

void answers_tell_rest(const struct answers *a)
{
	if (a->declined > SAID_MAX)
		message_print("%u more questions were declined",
			      a->declined - SAID_MAX);
	for (size_t i = 0; i < a->given->n; i++)
		if (!a->used[i])
			message_print("nothing asked for \"%.*s\", which "
				      "--answer gives",
				      (int)strcspn(a->given->item[i], ":="),
				      a->given->item[i]);
}

/* ---- given answers ---- */

/*
 * Return the value in WORD, if the key in WORD is KEY; *RAW: the value is JSON
 * (":="). Else NULL.
 */
static const char *word_value(const char *word, const char *key, bool *raw)
{
	size_t n = strlen(key);

	if (strncmp(word, key, n) != 0)
		return NULL;
	*raw = word[n] == ':' && word[n + 1] == '=';
	word += n + (*raw ? 1 : 0);
	return *word == '=' ? word + 1 : NULL;
}

/* Print the choices of F, which the user has not seen without a form. */
static void say_choices(const struct form_field *f)
{
	struct buf all = {0}, words = {0};

	for (size_t i = 0; i < form_options(f); i++) {
		const char *title = NULL;
		struct json_object *v = form_option(f, i, &title);

		buf_add_str(&all, i > 0 ? ", " : "");
		if (title != NULL)
			buf_add_str(&all, title);
		else
			form_show_value(&all, v);
	}
	sanitize_add(&words, buf_data(&all), buf_len(&all), SHOWN_COLUMNS);
	if (buf_len(&words) > 0)
		message_more("  it may be in words, too: %.*s",
			     (int)buf_len(&words), buf_data(&words));
	buf_fini(&all);
	buf_fini(&words);
}

/*
 * Put the given answers for KEY into CONTENT. Returns how many there were. An
 * invalid answer is reported and counts, but is not put.
 */
static size_t put_given(struct answers *a, struct json_object *schema,
			const char *key, struct json_object *content)
{
	struct form_field f;
	size_t found = 0;
	char errmsg[512];
	bool raw, bad = false;

	form_field_init(&f, schema, key);
	for (size_t i = 0; i < a->given->n; i++) {
		const char *text = word_value(a->given->item[i], key, &raw);

		if (text == NULL)
			continue;
		found++;
		a->used[i] = true;
		if (!bad)
			bad = form_put(&f, content, raw, text, errmsg,
				       sizeof(errmsg)) < 0;
	}
	if (found > 0 && !bad)
		bad = form_check(&f, json_member(content, key), errmsg,
				 sizeof(errmsg)) < 0;
	if (bad) {
		if (a->declined < SAID_MAX) {
			message_print("the answer for \"%s\" does not do: %s",
				      key, errmsg);
			say_choices(&f);
		}
		json_object_object_del(content, key);
	}
	return found;
}

static bool has_fields(struct json_object *schema)
{
	struct json_object *all = json_member(schema, "properties");

	return json_object_is_type(all, json_type_object) &&
	       json_object_object_length(all) > 0;
}

/*
 * Put all given answers into CONTENT. Returns how many there were; *LACKING:
 * the fields without an answer, required and without a default, or with an
 * invalid answer, which no default replaces.
 */
static size_t put_all_given(struct answers *a, struct json_object *schema,
			    struct json_object *content, size_t *lacking)
{
	size_t found = 0;

	*lacking = 0;
	json_object_object_foreach(json_member(schema, "properties"), key,
				   own) {
		struct form_field f;
		size_t given = put_given(a, schema, key, content);

		(void)own;
		found += given;
		form_field_init(&f, schema, key);
		if (!json_object_object_get_ex(content, key, NULL) &&
		    (given > 0 ||
		     (f.required && json_member(f.schema, "default") == NULL)))
			++*lacking;
	}
	return found;
}

/* ---- no terminal to ask at ---- */

/* Append " --answer name=VALUE" for required fields that CONTENT lacks. */
static void add_hints(struct buf *out, struct json_object *schema,
		      struct json_object *content)
{
	size_t shown = 0;

	if (!has_fields(schema)) {
		buf_add_str(out, " --answer " CONSENT "=yes");
		return;
	}
	json_object_object_foreach(json_member(schema, "properties"), key,
				   own) {
		struct form_field f;

		(void)own;
		form_field_init(&f, schema, key);
		if (json_object_object_get_ex(content, key, NULL) ||
		    !server_flags_is_plain(key) || shown == HINTS_MAX ||
		    (!f.required && json_member(schema, "required") != NULL))
			continue;
		shown++;
		buf_printf(out, " --answer %s=VALUE", key);
	}
	buf_add_str(out, shown > 0 ? "" : " --answer KEY=VALUE");
}

static void say_declined(struct answers *a, const char *who,
			 const char *message, struct json_object *schema,
			 struct json_object *content)
{
	struct buf words = {0}, hints = {0};

	if (a->declined++ >= SAID_MAX)
		return;
	sanitize_add(&words, message, strlen(message), SHOWN_COLUMNS);
	add_hints(&hints, schema, content);
	message_print("%s asks \"%.*s\", and there is no terminal to answer "
		      "at, so it is declined",
		      who, (int)buf_len(&words),
		      buf_len(&words) > 0 ? buf_data(&words) : "");
	message_more("  hint: give the answers beforehand:%.*s",
		     (int)buf_len(&hints), buf_data(&hints));
	buf_fini(&words);
	buf_fini(&hints);
}

/* ---- a single question ---- */

static enum ask_end consent(struct answers *a, const char *who,
			    const char *message, const char *url)
{
	struct json_object *yes = NULL;
	struct json_object *schema =
	    json_pack("properties:o",
		      json_pack(CONSENT ":o", json_pack("type:s", "boolean")));
	struct json_object *content = json_object_new_object();
	enum ask_end end;

	if (put_given(a, schema, CONSENT, content) > 0)
		yes = json_member(content, CONSENT);
	if (yes != NULL) {
		end = json_object_get_boolean(yes) ? ASK_ACCEPT : ASK_DECLINE;
	} else if (ask_possible()) {
		end = ask_consent(who, message, url);
	} else {
		say_declined(a, who, url != NULL ? url : message, NULL,
			     content);
		end = ASK_DECLINE;
	}
	json_object_put(content);
	json_object_put(schema);
	return end;
}

static enum ask_end fill_in(struct answers *a, const char *who,
			    const char *message, struct json_object *schema,
			    struct json_object *content)
{
	size_t lacking, found = put_all_given(a, schema, content, &lacking);

	if (found > 0 && lacking == 0) {
		json_object_object_foreach(json_member(schema, "properties"),
					   key, own) {
			struct json_object *v =
			    json_member(input_resolve(schema, own), "default");

			if (v != NULL &&
			    !json_object_object_get_ex(content, key, NULL))
				json_object_object_add(content, key,
						       json_object_get(v));
		}
		return ASK_ACCEPT;
	}
	if (ask_possible())
		return ask_form(who, message, schema, content);
	say_declined(a, who, message, schema, content);
	return ASK_DECLINE;
}

/* Return the response to an elicitation, the caller's; NULL: a signal came. */
static struct json_object *answer_form(struct answers *a, const char *who,
				       struct json_object *params)
{
	static const char *const actions[] = {[ASK_ACCEPT] = "accept",
					      [ASK_DECLINE] = "decline",
					      [ASK_CANCEL] = "cancel",
					      [ASK_STOPPED] = NULL};
	const char *message = json_member_str(params, "message");
	struct json_object *schema = json_member(params, "requestedSchema");
	struct json_object *content = NULL;
	bool is_url = json_member_is(params, "mode", "url");
	enum ask_end end;

	message = message != NULL ? message : "";
	if (is_url) {
		const char *url = json_member_str(params, "url");

		end = consent(a, who, message, url != NULL ? url : "");
	} else if (!has_fields(schema)) {
		end = consent(a, who, message, NULL);
		content = json_object_new_object();
	} else {
		content = json_object_new_object();
		end = fill_in(a, who, message, schema, content);
	}
	if (end != ASK_ACCEPT) {
		json_object_put(content);
		content = NULL;
	}
	return actions[end] == NULL
		   ? NULL
		   : json_pack("action:s content?o", actions[end], content);
}

/* ---- every question ---- */

struct json_object *answers_give(struct answers *a, const char *who,
				 struct json_object *requests)
{
	struct json_object *all = json_object_new_object();

	if (!json_object_is_type(requests, json_type_object)) {
		json_object_put(all);
		return NULL;
	}
	json_object_object_foreach(requests, key, request) {
		struct json_object *one;

		if (!json_member_is(request, "method", "elicitation/create"))
			continue;
		one = answer_form(a, who, json_member(request, "params"));
		if (one == NULL) {
			json_object_put(all);
			return NULL;
		}
		json_object_object_add(all, key, one);
	}
	if (json_object_object_length(all) > 0)
		return all;
	message_print("%s asks for something that this command cannot answer",
		      who);
	json_object_put(all);
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - the dialogue of a form on the terminal, a line at a time; answers.c,
 * run.c and artifact_write.c call it. An invalid line is reported and asked for
 * again; ctrl-D, a signal and a lost terminal end the dialogue.
 */
#include "cli/ask/ask.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/ask/form.h"
#include "cli/ask/input.h"
#include "cli/ask/input_type.h"
#include "cli/terminal/quote.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json.h"

#define LINE_BYTES (1u << 20)
#define KEY_COLUMNS 40
#define RULE_COLUMNS 120

#define ASK_AGAIN ((enum ask_end)(ASK_STOPPED + 1)) /* only from ask_word() */

/* How reading a line ended. */
enum line_end { LINE_TYPED, LINE_NONE, LINE_SIGNAL };

bool ask_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* ---- lines from stdin ---- */

static struct buf typed; /* bytes read from stdin, not yet taken */

/* Drop input that was typed before the question was shown. */
static void forget_typed(void)
{
	tcflush(STDIN_FILENO, TCIFLUSH);
	buf_fini(&typed);
}

static bool read_terminal_line(char **line)
{
	const char *data = buf_data(&typed), *end;

	end = buf_len(&typed) > 0 ? memchr(data, '\n', buf_len(&typed)) : NULL;
	if (end == NULL)
		return false;
	*line = xstrndup(data, (size_t)(end - data));
	buf_drop(&typed, (size_t)(end - data) + 1);
	return true;
}

/* Read the next line into *LINE, the caller's. */
static enum line_end read_answer_line(char **line)
{
	while (!read_terminal_line(line)) {
		struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
				      {.fd = signals_fd(), .events = POLLIN}};
		char text[4096];
		ssize_t n;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return LINE_NONE;
		if (p[1].revents != 0)
			return LINE_SIGNAL;
		if (p[0].revents == 0)
			continue;
		n = read(STDIN_FILENO, text, sizeof(text));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0 || buf_len(&typed) > LINE_BYTES)
			return LINE_NONE;
		buf_add(&typed, text, (size_t)n);
	}
	return LINE_TYPED;
}

/* ---- a field ---- */

struct question {
	const char *who;
	struct form_field field;
	bool is_input;
};

static void introduce(const struct question *q)
{
	const char *title = json_member_str(q->field.schema, "title");
	const char *text = json_member_str(q->field.schema, "description");

	quote(title);
	if (title == NULL || text == NULL || strcmp(title, text) != 0)
		quote(text);
	for (size_t i = 0; i < form_options(&q->field); i++) {
		struct json_object *v = form_option(&q->field, i, &title);
		struct buf b = {0};
		size_t left = 2;
		char mark[32];

		snprintf(mark, sizeof(mark), "  %3zu | ", i + 1);
		if (title != NULL)
			buf_add_str(&b, title);
		else
			form_show_value(&b, v);
		quote_line(mark, buf_len(&b) > 0 ? buf_data(&b) : "",
			   buf_len(&b), &left);
		buf_fini(&b);
	}
}

static void prompt(const struct question *q)
{
	const struct form_field *f = &q->field;
	struct json_object *own = json_member(f->schema, "default");
	struct buf line = {0}, part = {0};

	buf_printf(&line, "%s asks for \"", q->who);
	quote_within(&line, f->key, strlen(f->key), KEY_COLUMNS);
	buf_add_str(&line, "\", ");
	form_describe(&part, f);
	quote_within(&line, buf_data(&part), buf_len(&part), RULE_COLUMNS);
	buf_fini(&part);
	if (!f->required && own == NULL)
		buf_add_str(&line, ", or nothing");
	if (own != NULL && !f->secret) {
		form_show_value(&part, own);
		buf_add_str(&line, " [");
		quote_within(&line, buf_len(&part) > 0 ? buf_data(&part) : "",
			     buf_len(&part), KEY_COLUMNS);
		buf_add_str(&line, "]");
		buf_fini(&part);
	}
	safe_fprintf(stderr, "%.*s: ", (int)buf_len(&line), buf_data(&line));
	buf_fini(&line);
}

/*
 * Echo is switched off before the prompt: an answer typed at once would be
 * shown otherwise, and then lost by the flush.
 */
static enum line_end ask_secret(const struct question *q, char **line)
{
	struct termios was, mute;
	enum line_end end;

	if (tcgetattr(STDIN_FILENO, &was) < 0)
		return LINE_NONE;
	mute = was;
	mute.c_lflag &= ~(tcflag_t)ECHO;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &mute) < 0)
		return LINE_NONE;
	prompt(q);
	end = read_answer_line(line);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &was);
	safe_fprintf(stderr, "\n");
	return end;
}

/* Take an empty line: the default, no value, or an empty list where valid. */
static int take_nothing(const struct form_field *f, struct json_object *into,
			char *errmsg, size_t size)
{
	struct json_object *own = json_member(f->schema, "default"), *none;

	if (own != NULL) {
		json_object_object_add(into, f->key, json_object_get(own));
		return 0;
	}
	if (!f->required)
		return 0;
	none = json_object_new_array();
	if (f->several && form_check(f, none, errmsg, size) == 0) {
		json_object_object_add(into, f->key, none);
		return 0;
	}
	json_object_put(none);
	snprintf(errmsg, size, "it has to be given%s",
		 f->types == INPUT_STRING && f->options == NULL
		     ? "; \"\" is an empty text"
		     : "");
	return -EINVAL;
}

static int take_field(const struct question *q, struct json_object *into,
		      const char *line, char *errmsg, size_t size)
{
	const struct form_field *f = &q->field;
	struct json_object *value;
	int rc;

	if (line[0] == '\0')
		return take_nothing(f, into, errmsg, size);
	if (strcmp(line, "\"\"") == 0)
		line = "";
	else if (line[0] == '!' && line[1] == '!')
		line++;
	if (!q->is_input) {
		rc = form_take(f, line, &value, errmsg, size);
		if (rc == 0)
			json_object_object_add(into, f->key, value);
		return rc;
	}
	rc = form_put(f, into, false, line, errmsg, size);
	if (rc == 0 && input_upload(json_member(into, f->key)) == NULL)
		rc = form_check(f, json_member(into, f->key), errmsg, size);
	if (rc < 0)
		json_object_object_del(into, f->key);
	return rc;
}

static enum ask_end unusual(enum line_end end)
{
	safe_fprintf(stderr, "\n");
	return end == LINE_SIGNAL ? ASK_STOPPED : ASK_CANCEL;
}

/* Ask for a field until the line is valid, or the user ends the dialogue. */
static enum ask_end ask_field(const struct question *q,
			      struct json_object *into)
{
	char errmsg[512];

	introduce(q);
	for (;;) {
		char *line = NULL;
		enum line_end end;
		bool declines, cancels;
		int rc = -EINVAL;

		if (q->field.secret) {
			end = ask_secret(q, &line);
		} else {
			prompt(q);
			end = read_answer_line(&line);
		}
		if (end != LINE_TYPED)
			return unusual(end);
		declines = strcmp(line, "!decline") == 0;
		cancels = strcmp(line, "!cancel") == 0;
		if (!declines && !cancels)
			rc = take_field(q, into, line, errmsg, sizeof(errmsg));
		free(line);
		if (declines || cancels)
			return declines ? ASK_DECLINE : ASK_CANCEL;
		if (rc == 0)
			return ASK_ACCEPT;
		message_more("  that does not do: %s", errmsg);
	}
}

/* ---- a whole form ---- */

/* A pass over the fields of a form. */
struct round {
	const char *who;
	struct json_object *schema, *into;
	bool inputs; /* ask for required fields only */
	size_t asked;
};

/* Ask for KEY, unless a value is there or its field is not as REQUIRED. */
static enum ask_end ask_key(struct round *r, const char *key, bool required)
{
	struct question q = {.who = r->who, .is_input = r->inputs};

	form_field_init(&q.field, r->schema, key);
	if (json_object_object_get_ex(r->into, key, NULL) ||
	    q.field.required != required || q.field.schema == NULL)
		return ASK_ACCEPT;
	r->asked++;
	return ask_field(&q, r->into);
}

/* Ask for all fields: first the required ones, in the schema's order. */
static enum ask_end ask_fields(struct round *r)
{
	struct json_object *all = json_member(r->schema, "properties");
	enum ask_end end = ASK_ACCEPT;

	json_each(key, json_member(r->schema, "required"))
		if (end == ASK_ACCEPT && json_object_get_string(key) != NULL)
			end = ask_key(r, json_object_get_string(key), true);
	if (r->inputs || !json_object_is_type(all, json_type_object))
		return end;
	json_object_object_foreach(all, key, own) {
		(void)own;
		if (end == ASK_ACCEPT)
			end = ask_key(r, key, false);
	}
	return end;
}

/* Ask for a word: y or n, with AGAIN also a. */
static enum ask_end ask_word(const char *who, const char *what, bool again)
{
	static const struct {
		const char *word;
		enum ask_end end;
	} words[] = {{"y", ASK_ACCEPT},		{"yes", ASK_ACCEPT},
		     {"n", ASK_DECLINE},	{"no", ASK_DECLINE},
		     {"!decline", ASK_DECLINE}, {"!cancel", ASK_CANCEL},
		     {"a", ASK_AGAIN}};
	size_t n = ARRAY_LEN(words) - (again ? 0 : 1);

	for (;;) {
		char *line = NULL;
		enum line_end how;
		size_t i;

		safe_fprintf(stderr, "%s: %s (%s): ", who, what,
			     again ? "y, n, or a to answer again" : "y or n");
		how = read_answer_line(&line);
		if (how != LINE_TYPED)
			return unusual(how);
		for (i = 0; i < n && strcasecmp(words[i].word, line) != 0; i++)
			;
		free(line);
		if (i < n)
			return words[i].end;
	}
}

bool ask_yes(const char *what)
{
	forget_typed();
	return ask_word("paddock", what, false) == ASK_ACCEPT;
}

enum ask_end ask_form(const char *who, const char *message,
		      struct json_object *schema, struct json_object *content)
{
	enum ask_end end;

	forget_typed();
	message_print("%s asks:", who);
	quote(message);
	message_more("  (!decline refuses, ctrl-D cancels, an empty line takes "
		     "what stands in [ ])");
	/* several answers are sent only after a yes; "a" asks for all again */
	do {
		struct json_object *mine = json_object_new_object();
		struct round r = {.who = who, .schema = schema, .into = mine};

		input_merge(mine, content);
		end = ask_fields(&r);
		if (end == ASK_ACCEPT && r.asked > 1)
			end = ask_word(who, "send these answers?", true);
		if (end == ASK_ACCEPT)
			input_merge(content, mine);
		json_object_put(mine);
	} while (end == ASK_AGAIN);
	return end;
}

/*
 * Find the host in URL: "https://user@host:1/p" leads to "host:1", however it
 * looks. False: no URL of the web.
 */
static bool host_of(const char *url, const char **host, size_t *len)
{
	bool secure = strncasecmp(url, "https://", 8) == 0;
	const char *at = url + (secure ? 8 : 7), *user;

	if (!secure && strncasecmp(url, "http://", 7) != 0)
		return false;
	*len = strcspn(at, "/?#\\");
	while ((user = memchr(at, '@', *len)) != NULL) {
		*len -= (size_t)(user + 1 - at);
		at = user + 1;
	}
	*host = at;
	return *len > 0;
}

enum ask_end ask_consent(const char *who, const char *message, const char *url)
{
	const char *host;
	size_t len;

	forget_typed();
	message_print("%s asks%s:", who,
		      url != NULL ? " you to open a page" : "");
	quote(message);
	if (url == NULL)
		return ask_word(who, "yes?", false);
	safe_fprintf(stderr, "  | %s\n", url);
	if (!host_of(url, &host, &len)) {
		message_more("  that is no page of the web, so it is declined");
		return ASK_DECLINE;
	}
	message_more("  the page is of %.*s; paddock does not open it",
		     (int)len, host);
	return ask_word(who, "have you done what it says there?", false);
}

enum ask_end ask_inputs(const char *who, struct json_object *schema,
			struct json_object *inputs)
{
	struct round r = {
	    .who = who, .schema = schema, .into = inputs, .inputs = true};
	struct json_object *lacking = NULL;

	json_each(one, json_member(schema, "required"))
		if (lacking == NULL && json_object_get_string(one) != NULL &&
		    !json_object_object_get_ex(
			inputs, json_object_get_string(one), NULL))
			lacking = one;
	if (lacking == NULL)
		return ASK_ACCEPT;
	forget_typed();
	message_print("%s needs inputs that were not given:", who);
	message_more("  (ctrl-D leaves, @FILE takes a file's text, an empty "
		     "line takes what stands in [ ])");
	return ask_fields(&r);
}

enum ask_end ask_secrets(const char *who, struct json_object *schema,
			 struct json_object *names, struct json_object *inputs)
{
	enum ask_end end = ASK_ACCEPT;

	forget_typed();
	message_more("  (nothing of it is shown; ctrl-D leaves, env:NAME takes "
		     "it from the environment)");
	json_each(name, names) {
		struct question q = {.who = who, .is_input = true};
		const char *key = json_object_get_string(name);

		if (key == NULL || end != ASK_ACCEPT ||
		    json_object_object_get_ex(inputs, key, NULL))
			continue;
		form_field_init(&q.field, schema, key);
		q.field.required = q.field.secret = true;
		end = ask_field(&q, inputs);
	}
	return end;
}

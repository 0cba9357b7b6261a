/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.c - parses flags by tables that help and completion read as well. main.c
 * calls opt_parse(). A flag or value that does not pass gives -EINVAL with a
 * sentence: the nearest flag or value, or all values that would pass.
 */
#include "cli/terminal/opt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/errmsg.h"
#include "base/text/suggest.h"

struct parse {
	const struct opt_set *sets;
	size_t n;
	int argc, at;
	const char *const *argv;
	char *errmsg;
	size_t size;
};

void opt_list_add(struct opt_list *list, const char *item)
{
	list->item = xrealloc(list->item, (list->n + 1) * sizeof(*list->item));
	list->item[list->n++] = item;
}

void opt_list_free(struct opt_list *list)
{
	free(list->item);
	*list = (struct opt_list){0};
}

/*
 * Return the flag NAME (LEN bytes), or the flag LETTER if LETTER is not 0;
 * NULL: no such flag.
 */
static const struct opt *find_opt(const struct parse *p, const char *name,
				  size_t len, char letter)
{
	for (size_t i = 0; i < p->n; i++) {
		for (size_t j = 0; j < p->sets[i].n; j++) {
			const struct opt *o = &p->sets[i].opts[j];

			if (letter != 0 ? o->letter == letter
					: strlen(o->name) == len &&
					      memcmp(o->name, name, len) == 0)
				return o;
		}
	}
	return NULL;
}

bool opt_is(const struct opt *o, const char *word, bool *alone)
{
	size_t n = strlen(o->name);

	if (word[0] != '-' || word[1] == '\0')
		return false;
	if (word[1] != '-') {
		*alone = o->kind == OPT_FLAG || word[2] != '\0';
		return o->letter != 0 && word[1] == o->letter;
	}
	*alone = o->kind == OPT_FLAG || word[2 + n] == '=';
	return strncmp(word + 2, o->name, n) == 0 &&
	       (word[2 + n] == '\0' || word[2 + n] == '=');
}

static int refuse_unknown_flag(const struct parse *p, const char *name,
			       size_t len)
{
	char *word = xstrndup(name, len);
	struct suggest suggest;

	suggest_init(&suggest, word);
	for (size_t i = 0; i < p->n; i++)
		for (size_t j = 0; j < p->sets[i].n; j++)
			suggest_try(&suggest, p->sets[i].opts[j].name);
	if (suggest.best != NULL)
		errmsg_set(p->errmsg, p->size,
			   "there is no flag --%s; did you mean --%s?", word,
			   suggest.best);
	else
		errmsg_set(p->errmsg, p->size, "there is no flag --%s", word);
	free(word);
	return -EINVAL;
}

/* ---- values ---- */

static const char *const modes[] = {"sync", "async", "auto", NULL};
static const char *const statuses[] = {
    "queued", "running",  "succeeded", "partial_success",
    "failed", "canceled", NULL};
static const char *const clients[] = {"claude-code", "claude-desktop", "vscode",
				      "cursor", NULL};

static const struct {
	const char *arg;
	const char *const *values;
} values[] = {{"MODE", modes},
	      {"STATUS", statuses},
	      {"END", statuses + 2},
	      {"CLIENT", clients}};

const char *const *opt_values(const struct opt *o)
{
	for (size_t i = 0; o->arg != NULL && i < ARRAY_LEN(values); i++)
		if (strcmp(values[i].arg, o->arg) == 0)
			return values[i].values;
	return NULL;
}

/*
 * Refuse a VALUE of O that opt_values() does not list: "--mode cannot be
 * "asynk"; did you mean "async"?". 0 or -EINVAL.
 */
static int check_value(const struct parse *p, const struct opt *o,
		       const char *value)
{
	const char *const *may = opt_values(o);
	struct buf all = {0};
	struct suggest suggest;
	size_t i;
	int rc;

	suggest_init(&suggest, value);
	for (i = 0; may != NULL && may[i] != NULL; i++) {
		if (strcmp(may[i], value) == 0)
			return 0;
		suggest_try(&suggest, may[i]);
	}
	if (may == NULL)
		return 0;
	if (suggest.best != NULL)
		return errmsg_set(p->errmsg, p->size,
				  "--%s cannot be \"%s\"; did you mean \"%s\"?",
				  o->name, value, suggest.best);
	for (i = 0; may[i] != NULL; i++)
		buf_printf(&all, "%s%s",
			   i == 0		? ""
			   : may[i + 1] == NULL ? " or "
						: ", ",
			   may[i]);
	rc = errmsg_set(p->errmsg, p->size,
			"--%s cannot be \"%s\"; it has to be %.*s", o->name,
			value, (int)buf_len(&all), buf_data(&all));
	buf_fini(&all);
	return rc;
}

/*
 * Store VALUE for the flag O. With VALUE NULL a flag that needs a value takes
 * the next word of the command line.
 */
static int apply_opt(struct parse *p, const struct opt *o, const char *value)
{
	if (o->kind == OPT_FLAG) {
		if (value != NULL)
			return errmsg_set(p->errmsg, p->size,
					  "--%s takes no value", o->name);
		*(bool *)o->to = true;
		return 0;
	}
	if (value == NULL && p->at + 1 < p->argc)
		value = p->argv[++p->at];
	if (value == NULL)
		return errmsg_set(p->errmsg, p->size, "--%s needs a value: %s",
				  o->name, o->arg);
	if (check_value(p, o, value) < 0)
		return -EINVAL;
	if (o->kind == OPT_LIST)
		opt_list_add(o->to, value);
	else
		*(const char **)o->to = value;
	return 0;
}

/* Parse short flags: "-qv", "-ikey=value". WORD begins after the dash. */
static int parse_letters(struct parse *p, const char *word)
{
	for (; *word != '\0'; word++) {
		const struct opt *o = find_opt(p, NULL, 0, *word);
		int rc;

		if (o == NULL)
			return errmsg_set(p->errmsg, p->size,
					  "there is no flag -%c", *word);
		if (o->kind != OPT_FLAG)
			return apply_opt(p, o,
					 word[1] != '\0' ? word + 1 : NULL);
		rc = apply_opt(p, o, NULL);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int opt_parse(const struct opt_set *sets, size_t n, struct opt_list *rest,
	      int argc, const char *const *argv, char *errmsg, size_t size)
{
	struct parse p = {.sets = sets,
			  .n = n,
			  .argc = argc,
			  .argv = argv,
			  .errmsg = errmsg,
			  .size = size};
	bool operands = false;
	int rc = 0;

	for (; rc == 0 && p.at < argc; p.at++) {
		const char *word = argv[p.at];
		size_t len = strcspn(word, "=");
		const struct opt *o;

		if (operands || word[0] != '-' || word[1] == '\0')
			opt_list_add(rest, word);
		else if (strcmp(word, "--") == 0)
			operands = true;
		else if (word[1] != '-')
			rc = parse_letters(&p, word + 1);
		else if ((o = find_opt(&p, word + 2, len - 2, 0)) == NULL)
			rc = refuse_unknown_flag(&p, word + 2, len - 2);
		else
			rc = apply_opt(
			    &p, o, word[len] == '=' ? word + len + 1 : NULL);
	}
	return rc;
}

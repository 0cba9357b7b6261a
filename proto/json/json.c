/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - the JSON parser: makes a tree of the tokens of base/text/json_scan.c in
 * one pass, with a stack of open containers. json-c seeds the
 * hash of each object, so duplicates cost no more to find than the members
 * themselves. Memory that runs out aborts, as in base/mem.h.
 */
#include "proto/json/json.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_lex.h"

_Static_assert(JSON_DEPTH_MAX == JSON_SCAN_DEPTH_MAX, "the same depth");

#define QUOTED_MAX 40 /* bytes of a member's name in an error */

/*
 * json-c gives each object 16 slots (640 bytes), so "[{},{},{}..." would cost
 * 270 times its text. A small object is fitted when it closes; json-c needs
 * spare room in a table.
 */
#define SMALL_MEMBERS 2
#define SMALL_SLOTS(n) ((n) > 0 ? 2 * (n) : 1)
#define ARRAY_SLOTS 4 /* slots of an array; json-c's default is 32 */

/*
 * The cost of the parts of a tree: json-c's structs with malloc(3)'s own words,
 * measured by t_json_cost.c. VALUE_MOST is the worst case of one value, with
 * its member and its part of the tables.
 */
#define VALUE_COST 64
#define TEXT_COST 16   /* a string, on top of its bytes */
#define DOUBLE_COST 32 /* a double, for its text */
#define TABLE_COST 112 /* an object, beside its slots */
#define LIST_COST 64   /* an array, beside its slots */
#define NAME_COST 24   /* a member's name, beside its bytes */
#define VALUE_MOST 320

struct scan {
	struct json_lex x;
	struct json_object *root; /* owns all values below */
	/* the open containers, borrowed, outermost first */
	struct json_object *open[JSON_DEPTH_MAX];
	size_t depth;
	size_t values; /* count of values parsed so far */
	size_t values_max;
	size_t cost;	  /* bytes of memory of the tree */
	size_t depth_max; /* deeper values are not kept in the tree */
	struct buf key;	  /* the name of the next value, NUL-ended */
};

static const char *const expected[JSON_WANTS] = {
    [JSON_WANT_VALUE] = "a value",
    [JSON_WANT_FIRST_ITEM] = "a value or ']'",
    [JSON_WANT_MORE_ITEMS] = "',' or ']'",
    [JSON_WANT_FIRST_KEY] = "a member's name in double quotes or '}'",
    [JSON_WANT_KEY] = "a member's name in double quotes",
    [JSON_WANT_COLON] = "':' after the member's name",
    [JSON_WANT_MORE_MEMBERS] = "',' or '}'",
    [JSON_WANT_END] = "nothing more after the value",
};

/* Name the mistake of a person used to JavaScript, or return "". */
static const char *habit(const struct json_lex *x)
{
	const char *at = x->scan.p, *end = x->scan.end;
	int c = at < end ? *at : ' ';
	int next = end - at > 1 ? at[1] : ' ';

	if (c == '/' && (next == '/' || next == '*'))
		return "; JSON has no comments";
	if (c == '\'')
		return "; texts and names are in double quotes";
	if (c != '}' && c != ']')
		return "";
	while (at > x->text && json_scan_space(at - 1, at) == at)
		at--;
	return at > x->text && at[-1] == ','
		   ? "; the comma before it is one too many"
		   : "";
}

static int unexpected(struct scan *s)
{
	static const char bom[] = {'\xEF', '\xBB', '\xBF'};
	const struct json_scan *scan = &s->x.scan;
	char *text = s->x.err->text;
	size_t n;
	int rc;

	if (scan->p == s->x.text &&
	    scan->end - scan->p >= (ptrdiff_t)sizeof(bom) &&
	    memcmp(scan->p, bom, sizeof(bom)) == 0)
		return json_lex_fail(&s->x, scan->p,
				     "expected a value, found a byte "
				     "order mark");
	rc = json_lex_unexpected(&s->x, scan->p, expected[scan->want]);
	n = strlen(text);
	snprintf(text + n, sizeof(s->x.err->text) - n, "%s", habit(&s->x));
	return rc;
}

/* Add the cost of V, and of its name when V is a member. */
static void weigh_value(struct scan *s, struct json_object *v)
{
	if (v != NULL)
		s->cost += VALUE_COST;
	if (json_object_is_type(v, json_type_string))
		s->cost += TEXT_COST + (size_t)json_object_get_string_len(v);
	else if (json_object_is_type(v, json_type_double))
		s->cost += DOUBLE_COST;
	if (s->depth > 0 &&
	    json_object_is_type(s->open[s->depth - 1], json_type_object))
		s->cost += NAME_COST + buf_len(&s->key);
}

/* Add V to the innermost open container; the tree takes V. */
static void attach(struct scan *s, struct json_object *v)
{
	struct json_object *into = s->depth > 0 ? s->open[s->depth - 1] : NULL;
	int rc = 0;

	s->values++;
	if (s->depth > s->depth_max)
		return; /* the value is released when it is complete */
	weigh_value(s, v);
	if (into == NULL)
		s->root = v;
	else if (json_object_is_type(into, json_type_array))
		rc = json_object_array_add(into, v);
	else
		rc = json_object_object_add_ex(into, buf_data(&s->key), v,
					       JSON_C_OBJECT_ADD_KEY_IS_NEW);
	if (rc != 0)
		abort(); /* out of memory, as in mem.h */
}

/* Add V, a complete value whose token was just read. */
static int add_scalar(struct scan *s, struct json_object *v)
{
	attach(s, v);
	if (s->depth > s->depth_max)
		json_object_put(v);
	return 0;
}

static int open_container(struct scan *s, struct json_object *v)
{
	if (v == NULL)
		abort();
	attach(s, v);
	s->open[s->depth++] = v;
	return 0;
}

/* Close the innermost container, and add the cost of the slots. */
static int close_container(struct scan *s)
{
	struct json_object *v = s->open[--s->depth];
	int n;

	if (s->depth > s->depth_max) {
		json_object_put(v);
	} else if (json_object_is_type(v, json_type_object)) {
		n = json_object_object_length(v);
		if (n <= SMALL_MEMBERS &&
		    lh_table_resize(json_object_get_object(v),
				    SMALL_SLOTS(n)) != 0)
			abort();
		s->cost +=
		    TABLE_COST + (size_t)json_object_get_object(v)->size *
				     sizeof(struct lh_entry);
	} else {
		s->cost += LIST_COST + json_object_get_array(v)->size *
					   sizeof(struct json_object *);
	}
	return 0;
}

static int on_string(struct scan *s)
{
	struct json_object *v;
	const char *p;
	size_t n;

	if (json_lex_string(&s->x, &p, &n) != 0)
		return -EBADMSG;
	v = json_object_new_string_len(p, (int)n);
	if (v == NULL)
		abort();
	return add_scalar(s, v);
}

/* Write the N bytes at P as an error shows them: cut, no control characters. */
static const char *quoted(char out[QUOTED_MAX + 4], const char *p, size_t n)
{
	size_t k = utf8_cut(p, n, QUOTED_MAX);

	memcpy(out, p, k);
	for (size_t i = 0; i < k; i++)
		if ((unsigned char)out[i] < ' ' || out[i] == 0x7F)
			out[i] = '?';
	memcpy(out + k, k < n ? "..." : "", k < n ? 4 : 1);
	return out;
}

static int on_key(struct scan *s)
{
	char name[QUOTED_MAX + 4];
	const char *start = s->x.scan.token, *p;
	size_t n;

	if (json_lex_string(&s->x, &p, &n) != 0)
		return -EBADMSG;
	if (memchr(p, '\0', n) != NULL) /* json-c's names are C strings */
		return json_lex_unfit(
		    &s->x, start,
		    "\\u0000 in a member's name "
		    "is JSON, but this server does not take it");
	buf_drop(&s->key, buf_len(&s->key));
	buf_add(&s->key, p, n);
	buf_add(&s->key, "", 1);
	if (json_object_object_get_ex(s->open[s->depth - 1], buf_data(&s->key),
				      NULL))
		return json_lex_unfit(&s->x, start, "duplicate key \"%s\"",
				      quoted(name, p, n));
	return 0;
}

static int on_fault(struct scan *s)
{
	struct json_scan *scan = &s->x.scan;

	if (scan->fault == JSON_FAULT_UNWANTED)
		return unexpected(s);
	if (scan->fault != JSON_FAULT_TOO_DEEP)
		return json_lex_fault(&s->x, scan->fault, scan->p);
	(void)json_lex_unfit(&s->x, scan->p, "nested deeper than %d levels",
			     JSON_DEPTH_MAX);
	return -EMSGSIZE;
}

static int take_event_of(struct scan *s, enum json_event event)
{
	struct json_object *v;
	int rc;

	switch (event) {
	case JSON_OBJECT:
		return open_container(s, json_object_new_object());
	case JSON_ARRAY:
		return open_container(s,
				      json_object_new_array_ext(ARRAY_SLOTS));
	case JSON_CLOSE:
		return close_container(s);
	case JSON_KEY:
		return on_key(s);
	case JSON_STRING:
		return on_string(s);
	case JSON_NUMBER:
		rc = json_lex_number(&s->x, &v);
		return rc == 0 ? add_scalar(s, v) : rc;
	case JSON_TRUE:
	case JSON_FALSE:
		v = json_object_new_boolean(event == JSON_TRUE);
		if (v == NULL)
			abort();
		return add_scalar(s, v);
	case JSON_NULL:
		return add_scalar(s, NULL);
	default:
		return on_fault(s);
	}
}

static int scan_all(struct scan *s)
{
	struct json_lex *x = &s->x;
	enum json_event event;
	int rc;

	if (x->scan.end - x->text > INT_MAX) { /* json-c counts bytes by int */
		json_lex_fail(x, x->text + INT_MAX, "longer than %d bytes",
			      INT_MAX);
		return -EMSGSIZE;
	}
	while ((event = json_scan_next(&x->scan)) != JSON_END) {
		rc = take_event_of(s, event);
		if (rc != 0)
			return rc;
		if (s->values > s->values_max) {
			json_lex_fail(x, x->scan.p, "more than %zu values",
				      s->values_max);
			x->err->too_many = x->err->unfit = true;
			return -EMSGSIZE;
		}
	}
	return 0;
}

static int parse_text(struct scan *s, struct json_object **out,
		      const char *text, size_t len, struct json_error *err)
{
	struct json_error unread = {0};
	int rc;

	s->x = (struct json_lex){.text = text,
				 .scan = {.p = text, .end = text + len},
				 .err = err != NULL ? err : &unread};
	*s->x.err = (struct json_error){0};
	rc = scan_all(s);
	buf_fini(&s->key);
	buf_fini(&s->x.scratch);
	if (rc != 0) {
		/* open containers too deep to be part of the tree */
		for (size_t i = s->depth_max + 1; i < s->depth; i++)
			json_object_put(s->open[i]);
		json_object_put(s->root);
		s->root = NULL;
	}
	*out = s->root;
	return rc;
}

int json_parse(struct json_object **out, const char *text, size_t len,
	       struct json_error *err)
{
	size_t cost;

	return json_parse_cost(out, text, len, JSON_VALUES_MAX, &cost, err);
}

int json_parse_cost(struct json_object **out, const char *text, size_t len,
		    size_t values_max, size_t *cost, struct json_error *err)
{
	struct scan s = {.values_max = values_max, .depth_max = JSON_DEPTH_MAX};
	int rc = parse_text(&s, out, text, len, err);

	*cost = s.cost;
	return rc;
}

int json_skim(struct json_object **out, const char *text, size_t len,
	      struct json_error *err)
{
	struct scan s = {.values_max = JSON_VALUES_MAX, .depth_max = 1};

	return parse_text(&s, out, text, len, err);
}

size_t json_cost_most(const char *text, size_t len)
{
	size_t values = 1;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			in_string = !in_string;
		else if (in_string)
			i += text[i] == '\\';
		else
			values +=
			    text[i] == ',' || text[i] == '[' || text[i] == '{';
	}
	if (values > JSON_VALUES_MAX)
		values = JSON_VALUES_MAX; /* the parser stops there */
	return values * VALUE_MOST + len;
}

void json_error_place(struct json_error *err, const char *text)
{
	const char *errmsg = strstr(err->text, ": ");
	char whole[sizeof(err->text) + 48];
	size_t line, column;

	if (errmsg == NULL)
		return; /* the error has no place */
	utf8_position(text, err->at, &line, &column);
	snprintf(whole, sizeof(whole), "line %zu, column %zu%s", line, column,
		 errmsg);
	whole[sizeof(err->text) - 1] = '\0';
	utf8_mend(whole);
	memcpy(err->text, whole, sizeof(err->text));
}

const char *json_error_reason(const struct json_error *err)
{
	const char *errmsg = strstr(err->text, ": ");

	return errmsg != NULL ? errmsg + 2 : err->text;
}

struct json_object *json_text_of(const char *text, size_t len)
{
	char *good = utf8_mended(text, &len);
	struct json_object *v =
	    json_object_new_string_len(good != NULL ? good : text, (int)len);

	if (v == NULL)
		abort();
	free(good);
	return v;
}

struct json_object *json_text_new(const char *text)
{
	return json_text_of(text, strlen(text));
}

void json_set_mended(struct json_object *o, const char *key, const char *text)
{
	if (text != NULL)
		json_object_object_add(o, key, json_text_new(text));
}

size_t json_weigh(struct json_object *v, size_t most)
{
	size_t n = 1 + (size_t)json_object_get_string_len(v);

	if (json_object_is_type(v, json_type_array))
		for (size_t i = 0; n <= most && i < json_length(v); i++)
			n += json_weigh(json_object_array_get_idx(v, i),
					most - n);
	if (!json_object_is_type(v, json_type_object))
		return n;
	json_object_object_foreach(v, key, member) {
		if (n > most)
			break;
		n += strlen(key);
		n += n <= most ? json_weigh(member, most - n) : 0;
	}
	return n;
}

size_t json_length(struct json_object *list)
{
	return json_object_is_type(list, json_type_array)
		   ? json_object_array_length(list)
		   : 0;
}

bool json_items_next(struct json_items *i)
{
	if ((i->next > 0 && !i->done) || i->next >= json_length(i->list))
		return false;
	i->v = json_object_array_get_idx(i->list, i->next++);
	i->done = false;
	return true;
}

struct json_object *json_member(struct json_object *obj, const char *key)
{
	struct json_object *v = NULL;

	if (json_object_is_type(obj, json_type_object))
		json_object_object_get_ex(obj, key, &v);
	return v;
}

const char *json_member_str(struct json_object *obj, const char *key)
{
	struct json_object *v = json_member(obj, key);

	return json_object_is_type(v, json_type_string)
		   ? json_object_get_string(v)
		   : NULL;
}

bool json_member_is(struct json_object *obj, const char *key, const char *text)
{
	const char *is = json_member_str(obj, key);

	return is != NULL && strcmp(is, text) == 0;
}

int64_t json_member_int(struct json_object *obj, const char *key)
{
	struct json_object *v = json_member(obj, key);

	return json_object_is_type(v, json_type_int) ||
		       json_object_is_type(v, json_type_double)
		   ? json_object_get_int64(v)
		   : 0;
}

bool json_member_bool(struct json_object *obj, const char *key)
{
	struct json_object *v = json_member(obj, key);

	return json_object_is_type(v, json_type_boolean) &&
	       json_object_get_boolean(v);
}
